"""Check 9 of lesson 04: two switches, one for the process and one for a block."""

import numpy as np

from autograder.checks.check import check


@check("function.record", points=2, needs=("function.apply", "function.add_mul"))
def function_record(student, rng, tools):
    """What is recorded, switch by switch; every switch is put back afterwards."""
    x_data = rng.normal(size=(3, 2))

    def safely(run):
        """Run with both switches on, and put them back whatever happens."""
        before = dict(student.switches)
        student.switches.update(process=True, block=True)
        try:
            return [*run(), float(x_data[0, 0])]
        finally:
            student.switches.update(before)

    def recorded():
        x = student.Tensor(x_data, requires_grad=True)
        out = x * x_data
        return [bool(out.requires_grad), out.grad_fn is not None]

    def numbers_while_off():
        student.enable_autograd(False)
        x = student.Tensor(x_data, requires_grad=True)
        return [*(x * x_data).data.ravel(), *recorded()]

    def again(*turns):
        found = []
        for turn in turns:
            student.enable_autograd() if turn is None else student.enable_autograd(turn)
            found += recorded()
        return found

    def off_in_record():
        student.enable_autograd(False)
        with student.record():
            inside = recorded()
        return inside + recorded()

    def on_in_pause():
        with student.pause():
            student.enable_autograd(True)
            inside = recorded()
        return inside + recorded()

    def nested():
        found = recorded()
        with student.pause():
            found += recorded()
            with student.record():
                found += recorded()
                with student.pause():
                    found += recorded()
                found += recorded()
            found += recorded()
        return found + recorded()

    def only_made():
        """record() and pause() change nothing before `with`."""
        block = student.pause()
        found = recorded()
        with block:
            found += recorded()
        with student.set_grad_enabled(False):
            student.record()
            found += recorded()
        return found + recorded()

    def interrupted():
        found = []
        for mode in (student.pause, student.record):
            try:
                with mode():
                    raise KeyError("an error inside")
            except KeyError:
                found += recorded()
        return found

    def block_of_before():
        """Off, a block, on: what the block has switched is back."""
        student.enable_autograd(False)
        with student.pause():
            pass
        student.enable_autograd(True)
        return recorded()

    def on_after_all():
        """The switch was off already, not by enable_autograd."""
        student.switches["process"] = False
        return again(None)

    def pause_in_pause():
        with student.pause():
            with student.pause():
                found = recorded()
            found += recorded()
        return found + recorded()

    def saved_in_record():
        student.enable_autograd(False)
        student.enable_autograd()
        x = student.Tensor(x_data, requires_grad=True)
        with student.pause(), student.record():
            y = x * x
        node = y.grad_fn
        return np.ravel(node.saved[0]) if node is not None else [0.0]

    return {
        "input": f"x = {np.round(x_data, 3).tolist()}; 1: recorded, 0: not (requires_grad, grad_fn); the last number is x[0, 0]",
        "off: the numbers; recorded": lambda: safely(numbers_while_off),
        "off, on": lambda: safely(lambda: again(False, True)),
        "off, off, on, on, off": lambda: safely(lambda: again(False, False, True, True, False)),
        "off, on without an argument, twice": lambda: safely(lambda: again(False, None, None)),
        "off by hand, on": lambda: safely(on_after_all),
        "pause in pause: inside, after the inner, after both": lambda: safely(pause_in_pause),
        "off: in record(), after it": lambda: safely(off_in_record),
        "on in pause(), and after it": lambda: safely(on_in_pause),
        "pause, record in it, pause in it, and back": lambda: safely(nested),
        "pause() made, entered; record() only made": lambda: safely(only_made),
        "after an error in pause(), in record()": lambda: safely(interrupted),
        "off, an empty block, on": lambda: safely(block_of_before),
        "record() in pause(): what is saved of x · x": lambda: safely(saved_in_record),
    }


function_record.mistake(
    "the switch is turned over, not set",
    swap=('switches["process"] = bool(enabled)', 'switches["process"] = not switches["process"]'),
    hint=["Call enable_autograd() twice. Is it on?", "Set it to what is asked for."],
)
function_record.mistake(
    "it can only be switched on",
    swap=('switches["process"] = bool(enabled)', 'switches["process"] = True'),
    hint=["What does enable_autograd(False) do?", "`bool(enabled)`."],
)
function_record.mistake(
    "the switch of the block is set, so a block puts it back",
    swap=('switches["process"]', 'switches["block"]'),
    hint=["Off for the process: what does record() do then?", '`switches["process"]`.'],
)
function_record.mistake(
    "a local variable is set, not the switch",
    swap=('switches["process"] = bool(enabled)', "process = bool(enabled)"),
    hint=["Where does is_grad_enabled look?", '`switches["process"] = …`.'],
)
function_record.mistake(
    "record goes over the process's switch",
    source="""
def enable_autograd(enabled=True):
    switches["process"] = bool(enabled)


@contextmanager
def record():
    before = dict(switches)
    switches.update(process=True, block=True)
    try:
        yield
    finally:
        switches.update(before)


def pause():
    return set_grad_enabled(False)
""",
    hint=["Off means off, in every block.", "`record` has to do with the block's switch only."],
)
function_record.mistake(
    "record does nothing inside pause",
    swap=("return set_grad_enabled(True)", 'return set_grad_enabled(switches["block"])'),
    hint=["pause, and record in it: who wins?", "The inner block: `set_grad_enabled(True)`."],
)
function_record.mistake(
    "pause and record are exchanged",
    swap=[("set_grad_enabled(True)", "set_grad_enabled(0)"), ("set_grad_enabled(False)", "set_grad_enabled(True)")],
    hint=["Which of the two records?", "record: True; pause: False."],
)
function_record.mistake(
    "after pause recording is always on, whatever it was before",
    source="""
def enable_autograd(enabled=True):
    switches["process"] = bool(enabled)


def record():
    return set_grad_enabled(True)


@contextmanager
def pause():
    switches["block"] = False
    try:
        yield
    finally:
        switches["block"] = True
""",
    hint=["pause in a pause: what is it after the inner one?", "As it was before: `set_grad_enabled` remembers that."],
)
function_record.mistake(
    "an error in the block leaves the switch where it was put",
    source="""
def enable_autograd(enabled=True):
    switches["process"] = bool(enabled)


@contextmanager
def switched(to):
    before = switches["block"]
    switches["block"] = to
    yield
    switches["block"] = before


def record():
    return switched(True)


def pause():
    return switched(False)
""",
    hint=[
        "What runs after `yield` if there was an error in the block?",
        "try … finally, or simply `set_grad_enabled`.",
    ],
)
function_record.mistake(
    "record and pause switch at once, not for a block",
    source="""
class Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def enable_autograd(enabled=True):
    switches["process"] = bool(enabled)


def record():
    switches["block"] = True
    return Nothing()


def pause():
    switches["block"] = False
    return Nothing()
""",
    hint=["What is it after the block?", "Return a with-block that puts it back: `set_grad_enabled(…)`."],
)
function_record.variant("what is asked for is kept as it is", swap=("bool(enabled)", "enabled"))
function_record.variant(
    "with blocks of their own, by a class",
    source="""
def enable_autograd(enabled=True):
    if enabled:
        switches["process"] = True
    else:
        switches["process"] = False


class Mode:
    def __init__(self, recording):
        self.recording = recording

    def __enter__(self):
        self.before = switches["block"]
        switches["block"] = self.recording

    def __exit__(self, *error):
        switches["block"] = self.before


def record():
    return Mode(True)


def pause():
    return Mode(False)
""",
)
function_record.variant(
    "generators that use the given one",
    source="""
def enable_autograd(enabled=True):
    switches.update(process=enabled)


@contextmanager
def record():
    with set_grad_enabled(True):
        yield


@contextmanager
def pause():
    with set_grad_enabled(False):
        yield
""",
)
