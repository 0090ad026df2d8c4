"""Check 9 of lesson 04: two switches, one for the process and one for a block."""

from autograder.checks.cases import Draft, Source
from autograder.checks.check import exercise

function_record = exercise(
    "function.record",
    "Two switches, one for the process and one for a block.",
    needs=("function.apply", "function.add_mul"),
)


def walk(student, case):
    """Whether -x is recorded after each step, with both switches on at first."""
    import threading

    def look():
        found.append((-student.Tensor([1.0], requires_grad=True)).requires_grad)

    process, switch, blocks, found, error = student.process, student.switch, [], [], KeyError("inside")
    before, process["autograd"], switch.on = (process["autograd"], switch.on), True, True
    try:
        for step in case.steps:
            if step in ("record", "pause"):
                blocks.append(getattr(student, step)())
            elif step == "with":
                blocks[-1].__enter__()
            elif step == "end":
                blocks.pop().__exit__(None, None, None)
            elif step == "error":
                blocks.pop().__exit__(KeyError, error, None)
            elif step == "off-by-hand":
                process["autograd"] = False
            elif step == "thread":
                thread = threading.Thread(target=look)
                thread.start()
                thread.join()
            else:
                student.enable_autograd(*{"off": [False], "on": [True], "default": []}[step])
            look()
    finally:
        process["autograd"], switch.on = before
    return {str(i): "recorded" if on else "not recorded" for i, on in enumerate(found)}


def scripts(*small: str, switches: tuple[str, ...] = (), ends: tuple[str, ...] = ("end",)) -> Source:
    """Steps: the small scripts, or drawn ones with these switches and blocks that end so."""

    def draw(rng):
        steps, opened = [], 0
        for _ in range(rng.integers(2, 7)):
            step = (*switches, "record", "pause", "leave", "thread")[rng.integers(len(switches) + 4)]
            if step in ("record", "pause"):
                between = [switches[rng.integers(len(switches))]] if switches and rng.random() < 0.4 else []
                steps += [step, *between, "with"]
                opened += 1
            elif step != "leave":
                steps.append(step)
            elif opened:
                steps.append(ends[rng.integers(len(ends))])
                opened -= 1
        steps += [ends[0]] * opened
        return Draft({"steps": steps}, tuple(f"there is {step!r}" for step in sorted(set(steps))))

    listed = [
        Draft({"steps": text.split()}, tuple(f"there is {step!r}" for step in sorted(set(text.split()))))
        for text in small
    ]
    return Source(lambda rng: listed, draw)


SWITCHES = "off", "on", "default", "off-by-hand"
BLOCKS = scripts(
    "pause with end",
    "pause with record with end end",
    "record with pause with end end",
    "pause with pause with end end",
    "pause with record with pause with end end end",
    "pause thread with end",
    "record with end",
    "pause with thread end thread",
)
ERRORS = scripts(
    "pause with error",
    "record with error",
    "pause with record with error error",
    "record with pause with error end",
    ends=("error", "end"),
)
PROCESS = scripts(
    "off",
    "off on",
    "off off on on off",
    "off-by-hand on",
    "off-by-hand off default",
    "off default default",
    "on on off",
    "default off thread on thread",
    "off pause with end on",
    "off pause with on record with off end end on",
    "off record with end",
    "pause with on end",
    "off record on with end",
    "record off with on end",
    switches=SWITCHES,
)

function_record.aspect("record and pause", 1, cases=BLOCKS, few=20)(walk)
function_record.aspect("enable_autograd", 0.75, cases=PROCESS, few=28)(walk)
function_record.aspect("after an error", 0.25, cases=ERRORS, corner=True, few=12)(walk)


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
