"""Random programs on engines 2 and 3: values, gradients and errors are what the reference says, and where it is installed PyTorch.

A failure prints the shortest program that shows it, as Python that runs. `python -m fuzz.campaign` tries more of them.
"""

import contextlib
import importlib.util
import re
from types import SimpleNamespace

import numpy as np
import pytest
from fuzz.campaign import campaign, reduced
from fuzz.differences import DIFFERENCES, explain
from fuzz.engines import run
from fuzz.programs import generate, quiet, source
from fuzz.reference import Node, Reference, differentiate, graph, moved, way
from fuzz.words import WORDS

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.tensor import Function, Tensor

long = pytest.mark.long
has_torch = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not has_torch, reason="PyTorch is not installed")

# Engine, beside whom, first seed, how many programs. Of engine 3 as many as a minute of compiling kernels on one core allows.
CAMPAIGNS = [
    pytest.param("tensor", "reference", 0, 1000, id="engine 2"),
    pytest.param("netcl", "reference", 0, 200, id="engine 3"),
    pytest.param("netcl", "tensor", 0, 20, id="engines 3 and 2, NaN and infinities"),
    *[
        pytest.param("tensor", "reference", at, 5000, id=f"engine 2, {at}", marks=long)
        for at in range(1000, 21000, 5000)
    ],
    *[pytest.param("netcl", "reference", at, 1250, id=f"engine 3, {at}", marks=long) for at in range(1000, 6000, 1250)],
    *[
        pytest.param("netcl", "tensor", at, 500, id=f"engines 3 and 2, {at}", marks=long)
        for at in range(1000, 2000, 500)
    ],
    *[
        pytest.param("tensor", "torch", at, 5000, id=f"engine 2 and PyTorch, {at}", marks=[long, needs_torch])
        for at in range(0, 20000, 5000)
    ],
]


@pytest.mark.parametrize("engine, peer, first, programs", CAMPAIGNS)
def test_random_programs_agree(engine, peer, first, programs):
    odd = True if peer == "tensor" else None
    count = campaign(engine, range(first, first + programs), peer, explain(engine, peer), most=3, odd=odd)
    assert not count.found, "\n\n".join(map(str, count.found))
    assert count.programs == programs and count.statements > 5 * programs


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda each: each.reason)
def test_each_difference_is_still_there(difference):
    """Its example shows it, and the entry explains it: else the entry is to go."""
    peer = re.findall(r"\w+", difference.peer)[0]
    if peer == "torch" and not has_torch:
        pytest.skip("PyTorch is not installed")
    found, _ = run(difference.program, difference.engine, peer)
    assert found is not None, "it is there no longer"
    assert difference.explains(found), str(found)


# -- tests of the fuzzer: faults that are put in are found, and made short ---------------------------


class Slope(Function):
    """tanh, but for its slope."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(np.tanh(x))
        return np.tanh(x)

    @staticmethod
    def backward(ctx, grad):
        (t,) = ctx.saved_tensors
        return grad * (1 - t)


class WrongSlope(Tensor):
    def tanh(self):
        return Slope.apply(self)


class WrongValue(Tensor):
    def cos(self):
        return self.sin()


class WrongShape(Tensor):
    def mean(self, axis=None, keepdims=False):
        return super().mean(axis)


class WrongType(Tensor):
    def exp(self):
        return super().exp().astype(np.float64)


class NoSentence(Tensor):
    def flatten(self):
        return self.flat


class OneMore(Tensor):
    def log1p(self):
        raise RuntimeError("this is not done on Sundays")


class Forgets(Tensor):
    def accumulate_grad(self, grad):
        self.grad = grad.clone()


class NoVersion(Tensor):
    @property
    def version(self):
        found = super().version
        found.count = 0  # whenever somebody looks: no change is noticed
        return found


# What is broken: the kind of disagreement, and how many statements are left.
FAULTS = [
    (WrongSlope, "gradient", 3),
    (WrongValue, "value", 2),
    (WrongShape, "shape", 2),
    (WrongType, "dtype", 2),
    (NoSentence, "no sentence", 2),
    (OneMore, "no sentence", 2),
    (Forgets, "gradient", 4),
    (NoVersion, "gradient", 6),
]


def first_found(engine, faults, kind):
    """What is found first of a kind, reduced."""
    explained = explain(engine, "reference")
    for seed in range(3000):
        found, _ = run(generate(seed, [engine], odd=False), engine, faults=faults)
        if found and found.kind == kind:
            found = reduced(found, engine, faults=faults)
            if not explained(found):
                return found
    raise AssertionError("nothing was found")


@pytest.mark.parametrize("broken, kind, most", FAULTS, ids=[each[0].__name__ for each in FAULTS])
def test_a_fault_of_engine_2_is_found_and_reduced(broken, kind, most):
    found = first_found("tensor", {"Tensor": broken}, kind)
    assert len(found.program) <= most, source(found.program, "tensor")


def test_a_fault_of_engine_3_is_found_and_reduced():
    slopeless = SimpleNamespace(**vars(ag))
    slopeless.sum = lambda x, *options: ag.apply_op(lambda v: ag.sum(v, *options).value, lambda g: [g * 0.5], x)
    found = first_found("netcl", {"ag": slopeless}, "gradient")
    assert len(found.program) <= 3, source(found.program, "netcl")


def test_what_is_printed_runs_by_itself():
    """A program as text, without the fuzzer's objects, gives the same."""
    program = generate(5, ["tensor"], odd=False)
    assert run(program, "tensor")[0] is None
    names = {}
    exec(source(program, "tensor"), names)
    reference = Reference()
    for statement in program:
        reference.step(statement)
    for name, x in reference.variables.items():
        np.testing.assert_allclose(names[name].data, x.data, rtol=1e-6)


def test_the_same_seed_makes_the_same_program():
    assert [generate(seed, ["tensor"]) for seed in range(20)] == [generate(seed, ["tensor"]) for seed in range(20)]


def test_every_word_and_every_kind_of_statement_is_said():
    """In the programs of `make test`: no word is left out by chance, or by a draw that never fits."""
    for engine, programs in [("tensor", 1000), ("netcl", 400)]:
        said = {each.name for seed in range(programs) for each in generate(seed, [engine])}
        assert said == {word.name for word in WORDS if getattr(word, engine) is not None}


# -- tests of the reference: complex steps are derivatives --------------------------------------------


def test_the_reference_differentiates_as_differences_do():
    """The gradient of each program's last tensor, by complex steps and by real differences."""
    compared = 0
    for seed in range(800):
        program = generate(seed, ["tensor"], odd=False)
        if "f4" in source(program, "tensor"):
            continue
        reference = Reference()
        with quiet():
            for statement in program:
                with contextlib.suppress(Exception):  # a statement without a meaning changes nothing
                    reference.step(statement)
            compared += differences_agree(reference)
    assert compared > 100


def differences_agree(reference):
    """Whether there was something to compare; it asserts that it agrees."""
    results = [x for x in reference.variables.values() if x is not None and x.node and not x.leaf]
    root = results[-1].node if results else None
    leaves = [node for node in graph(root) if node.owner and node.base.size] if root else []
    nodes = graph(root) if root else []
    if not leaves or any(type(node) is not Node or not np.isfinite(node.base).all() for node in nodes):
        return False
    numbers = np.concatenate([leaf.base.ravel() for leaf in leaves])
    if not numbers.all() or len(set(numbers)) < len(
        numbers
    ):  # ties and zeros: there are kinks, with slopes by convention
        return False
    target, upstream = leaves[0], np.ones(root.base.shape)
    exact = differentiate(root, target, upstream)
    order = way(root, target)
    first = np.zeros(target.base.shape)
    first.flat[0] = 1
    below, high = [moved(order, {target: h * first}).sum() / h for h in (-1e-6, 1e-6)]
    if not np.isclose(below, high, rtol=1e-4, atol=1e-6) or np.isnan(exact).any():  # a kink, or a pole
        return False
    assert high == pytest.approx(exact.flat[0], rel=1e-3, abs=1e-4)
    return True
