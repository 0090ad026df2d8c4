"""Check 9 of lesson 04: two switches, one for the process and one for a block."""

import numpy as np

from autograder.checks.check import check


@check("function.record", points=2, needs=("function.apply", "function.add_mul"))
def function_record(student, rng, tools):
    """What is recorded, switch by switch; every switch is put back afterwards."""
    x_data = rng.normal(size=(3, 2))

    def safely(run):
        """Run with both switches on, and put them back whatever happens."""
        before = student.process["autograd"], student.switch.on
        student.process["autograd"], student.switch.on = True, True
        try:
            return [*run(), float(x_data[0, 0])]
        finally:
            student.process["autograd"], student.switch.on = before

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
        with student.GradMode(False):
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
        student.process["autograd"] = False
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
        return np.ravel(node.kept[0]) if node is not None else [0.0]

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
    "the switch is toggled, not set",
    swap=('process["autograd"] = bool(enabled)', 'process["autograd"] = not process["autograd"]'),
    hint=["Call enable_autograd() twice. Is it on?", "Set it to what is asked for."],
)
function_record.mistake(
    "it can only be switched on",
    swap=('process["autograd"] = bool(enabled)', 'process["autograd"] = True'),
    hint=["What does enable_autograd(False) do?", "`bool(enabled)`."],
)
function_record.mistake(
    "the switch of the block is set, so a block puts it back",
    swap=('process["autograd"] = bool(enabled)', "switch.on = bool(enabled)"),
    hint=["Off for the process: what does record() do then?", '`process["autograd"]`.'],
)
function_record.mistake(
    "a local variable is set, not the switch",
    swap=('process["autograd"] = bool(enabled)', "enabled = bool(enabled)"),
    hint=["Where does is_grad_enabled look?", '`process["autograd"] = …`.'],
)
function_record.mistake(
    "record goes over the process's switch",
    source="""
import contextlib


def enable_autograd(enabled=True):
    process["autograd"] = bool(enabled)


@contextlib.contextmanager
def record():
    before = process["autograd"], switch.on
    process["autograd"] = switch.on = True
    try:
        yield
    finally:
        process["autograd"], switch.on = before


def pause():
    return GradMode(False)
""",
    hint=["Off means off, in every block.", "`record` has to do with the block's switch only."],
)
function_record.mistake(
    "record does nothing inside pause",
    swap=("return GradMode(True)", "return GradMode(switch.on)"),
    hint=["pause, and record in it: who wins?", "The inner block: `GradMode(True)`."],
)
function_record.mistake(
    "pause and record are exchanged",
    swap=[("GradMode(True)", "GradMode(0)"), ("GradMode(False)", "GradMode(True)")],
    hint=["Which of the two records?", "record: True; pause: False."],
)
function_record.mistake(
    "after pause recording is always on, whatever it was before",
    source="""
import contextlib


def enable_autograd(enabled=True):
    process["autograd"] = bool(enabled)


def record():
    return GradMode(True)


@contextlib.contextmanager
def pause():
    switch.on = False
    try:
        yield
    finally:
        switch.on = True
""",
    hint=["pause in a pause: what is it after the inner one?", "As it was before: `GradMode` remembers that."],
)
function_record.mistake(
    "an error in the block leaves the switch where it was put",
    source="""
import contextlib


def enable_autograd(enabled=True):
    process["autograd"] = bool(enabled)


@contextlib.contextmanager
def switched(to):
    before = switch.on
    switch.on = to
    yield
    switch.on = before


def record():
    return switched(True)


def pause():
    return switched(False)
""",
    hint=[
        "What runs after `yield` if there was an error in the block?",
        "try … finally, or simply `GradMode`.",
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
    process["autograd"] = bool(enabled)


def record():
    switch.on = True
    return Nothing()


def pause():
    switch.on = False
    return Nothing()
""",
    hint=["What is it after the block?", "Return a with-block that puts it back: `GradMode(…)`."],
)
function_record.variant("what is asked for is kept as it is", swap=("bool(enabled)", "enabled"))
function_record.variant(
    "with blocks of their own, by a class",
    source="""
def enable_autograd(enabled=True):
    if enabled:
        process["autograd"] = True
    else:
        process["autograd"] = False


class Mode:
    def __init__(self, recording):
        self.recording = recording

    def __enter__(self):
        self.before = switch.on
        switch.on = self.recording

    def __exit__(self, *error):
        switch.on = self.before


def record():
    return Mode(True)


def pause():
    return Mode(False)
""",
)
function_record.variant(
    "generators that use the given one",
    source="""
import contextlib


def enable_autograd(enabled=True):
    process.update(autograd=enabled)


@contextlib.contextmanager
def record():
    with GradMode(True):
        yield


@contextlib.contextmanager
def pause():
    with GradMode(False):
        yield
""",
)
