"""PyTorch as a peer of the tests. Where it is installed, it is asked; elsewhere its recorded answers stand in for it.

A test asks with a function of the module torch, and gets what that returns, with NumPy arrays in place of tensors:

    def test_exp(torch_says):
        expected = torch_says(lambda torch: torch.exp(torch.tensor([1.0, 2.0])), rtol=1e-6)
        np.testing.assert_allclose(ours, expected, rtol=1e-6)

The recordings are in torch_answers/, a file for each file of tests. Where PyTorch is installed, they have to be what it
says. `pytest --record-torch` writes them anew. A question depends on nothing but the test: its random numbers come from
a generator that the test makes.

Each of these tests is run again with a wrong number in one answer, for every array in turn: then it has to fail.
"""

import importlib.util
import inspect
import json
import math
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parent / "torch_answers"
HOW = "where PyTorch is installed, `python -m pytest --record-torch` records them anew"
ERROR = "RuntimeError: "  # how PyTorch says no


# -- answers: an array, a RuntimeError, or a list of answers --------------------------------------


def plain(answer):
    """What PyTorch answered, with arrays in place of tensors and numbers."""
    if isinstance(answer, (list, tuple)):
        return [plain(each) for each in answer]
    if isinstance(answer, RuntimeError):
        return answer
    return answer.numpy(force=True) if hasattr(answer, "numpy") else np.asarray(answer)


def encoded(answer, rtol):
    """An answer as text: "float64 (2, 3): 0.5 …", with as many digits as a comparison within `rtol` needs."""
    if isinstance(answer, list):
        return [encoded(each, rtol) for each in answer]
    if isinstance(answer, RuntimeError):
        return ERROR + str(answer).partition("\n")[0]
    digits = min(9 if answer.dtype == np.float32 else 17, 2 + math.ceil(-math.log10(rtol)))
    numbers = [f"{x:.{digits}g}" if answer.dtype.kind == "f" else str(int(x)) for x in answer.flat]
    return " ".join([f"{answer.dtype} {answer.shape}:", *numbers])


def decoded(text):
    """The answer that `encoded` wrote."""
    if isinstance(text, list):
        return [decoded(each) for each in text]
    if text.startswith(ERROR):
        return RuntimeError(text.removeprefix(ERROR))
    head, _, numbers = text.partition(":")
    dtype, _, shape = head.partition(" ")
    shape = tuple(int(n) for n in shape.strip("()").split(",") if n)
    return np.array([float(x) for x in numbers.split()]).astype(dtype).reshape(shape)


def leaves(answer):
    """The arrays and errors that an answer consists of."""
    return [leaf for each in answer for leaf in leaves(each)] if isinstance(answer, list) else [answer]


def same(recorded, answer, rtol):
    """Whether a recorded array is that array, within `rtol` of its largest number; whether both are errors."""
    if isinstance(recorded, RuntimeError) or isinstance(answer, RuntimeError):
        return type(recorded) is type(answer)
    largest = np.abs(answer[np.isfinite(answer)]).max(initial=0)
    return (recorded.shape, recorded.dtype) == (answer.shape, answer.dtype) and np.allclose(
        recorded, answer, rtol=0, atol=rtol * largest, equal_nan=True
    )


def spoil(array, rtol):
    """Make the largest number of an array wrong: by a factor of 1.001, or by ten times what is tolerated."""
    if array.dtype.kind != "f":
        array.flat[0] = not array.flat[0] if array.dtype == bool else array.flat[0] + 1
        return
    place = np.argmax(np.where(np.isfinite(array), np.abs(array), 0))
    number, error = array.flat[place], max(1e-3, 10 * rtol)
    array.flat[place] = number * (1 + error) if math.isfinite(number) and number else error


# -- the fixture ----------------------------------------------------------------------------------


class Peer:
    """Answers the questions of one test, in PyTorch's stead where there is no PyTorch.

    torch      the module, or None
    recorded   the answers on record, in the order of the questions; None: do not look at them
    given      (answer, rtol) of each question so far
    """

    def __init__(self, torch, recorded):
        self.torch, self.recorded, self.given = torch, recorded, []

    def __call__(self, question, rtol=1e-7):
        """What `question` returns when it is called with torch, as arrays; a RuntimeError that it raises is raised.

        rtol   the tolerance of the comparison that follows
        """
        answer = self.ask(question) if self.torch else self.on_record()
        if self.torch and self.recorded is not None:
            before, now = leaves(self.on_record()), leaves(answer)
            if len(before) != len(now) or not all(map(same, before, now, [rtol] * len(now))):
                pytest.fail(f"PyTorch {self.torch.__version__} answers\n{now}\non record is\n{before}\n({HOW})")
        self.given.append((answer, rtol))
        if isinstance(answer, RuntimeError):
            raise answer
        return answer

    def ask(self, question):
        try:
            return plain(question(self.torch))
        except RuntimeError as error:
            return error

    def on_record(self):
        if len(self.given) >= len(self.recorded):
            pytest.fail(f"no answers of PyTorch to this test are on record ({HOW})")
        return self.recorded[len(self.given)]

    def wrong(self):
        """(where, a peer that gives these answers, with a wrong number there, or with no error there)."""
        for n, (answer, rtol) in enumerate(self.given):
            for k, leaf in enumerate(leaves(answer)):
                answers = deepcopy([each for each, _ in self.given])
                if isinstance(leaf, RuntimeError):
                    answers[n] = np.zeros(())
                elif leaf.size:
                    spoil(leaves(answers[n])[k], rtol)
                else:
                    continue
                yield f"array {k} of answer {n}, {leaf!r}", Peer(None, answers)


@cache
def recordings(name):
    """{function: {parameters: answers}} of a file of tests."""
    file = FOLDER / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))["answers"] if file.exists() else {}


@pytest.fixture
def torch_says(request):
    """torch_says(question, rtol): PyTorch's answer, see above."""
    torch = importlib.import_module("torch") if importlib.util.find_spec("torch") else None
    file, function = request.node.path.stem, request.node.originalname
    parameters = request.node.name.removeprefix(function)
    if not request.config.getoption("--record-torch"):
        yield Peer(torch, decoded(recordings(file).get(function, {}).get(parameters, [])))
        return
    peer = Peer(torch, None)
    yield peer
    answers = request.config.stash[RECORDED].setdefault(file, {}).setdefault(function, {})
    answers[parameters] = [encoded(*each) for each in peer.given]


def must_notice(test, peer):
    """`test` takes a peer, and has to fail when one of the answers that `peer` gave is wrong."""
    if not peer.given:
        pytest.fail("this test has torch_says, and asks nothing")
    for where, wrong in peer.wrong():
        try:
            test(wrong)
        except (AssertionError, pytest.fail.Exception):
            continue
        pytest.fail(f"this test passes with a wrong number in {where}")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    result = yield
    peer = pyfuncitem.funcargs.get("torch_says")
    if isinstance(peer, Peer):
        values = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
        must_notice(lambda wrong: pyfuncitem.obj(**values | {"torch_says": wrong}), peer)
    return result


# -- pytest --record-torch ------------------------------------------------------------------------

RECORDED = pytest.StashKey[dict]()


def pytest_addoption(parser):
    parser.addoption("--record-torch", action="store_true", help="ask PyTorch alone, and record what it says")


def pytest_configure(config):
    config.stash[RECORDED] = {}
    if config.getoption("--record-torch"):
        if not importlib.util.find_spec("torch"):
            raise pytest.UsageError("PyTorch is not installed: pip install tinygrad-cl-course[peers]")
        if hasattr(config, "workerinput") or config.getoption("numprocesses", None):
            raise pytest.UsageError("PyTorch's answers are recorded by one process: leave -n out")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--record-torch"):
        items[:] = [item for item in items if "torch_says" in getattr(item, "fixturenames", ())]


def pytest_sessionfinish(session):
    """Write what was recorded: of a file of tests, all that ran."""
    for file, answers in session.config.stash[RECORDED].items():
        FOLDER.mkdir(exist_ok=True)
        text = json.dumps({"torch": importlib.import_module("torch").__version__, "answers": answers}, indent=0)
        (FOLDER / f"{file}.json").write_text(text + "\n", encoding="utf-8")
