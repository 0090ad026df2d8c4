"""Check 4 of lesson 06: a mode taken along into a thread."""

from autograder.checks.cases import Draft, Source, Text, choice
from autograder.checks.check import exercise
from autograder.checks.programs import pick

control_threads = exercise("control.threads", "A mode taken along into a thread.")

FIVE = ("lambda *args, **kwargs: 5",)
FUNCTIONS = (
    "lambda a=2, *more, scale=1.0: scale * (a + 10 * sum(more))",
    "lambda *a, **k: 1 / 0",
    "lambda *a, **k: (a, k)",
)
NONE = (([], {}),)
ARGUMENTS = (([], {}), ([3], {}), ([1, 2, 4], {"scale": 0.5}), ([], {"a": 7}), ([3], {"scale": 2.0}))
MODES = ([False], [True], [False, True], [True, False, False])
CALLS = (  # (which wrapper, the mode there, in a thread of its own?)
    [(0, True, False)], [(0, True, True)], [(0, False, False)], [(0, True, False), (-1, False, True)], [(0, False, False), (-1, True, True)],
)  # fmt: skip


def calls(functions, arguments):
    def one(modes, calls, f, pair):
        return Draft({"modes": modes, "calls": calls, "f": Text(f), "args": pair[0], "kwargs": pair[1]})

    def draw(rng):
        modes = [bool(b) for b in rng.integers(2, size=rng.integers(1, 4))]
        made = [
            (int(rng.integers(len(modes))), bool(rng.integers(2)), bool(rng.integers(2)))
            for _ in range(rng.integers(1, 6))
        ]
        return one(modes, made, pick(rng, functions), pick(rng, arguments))

    whole = [one(modes, made, f, pair) for made in CALLS for modes in MODES for pair in arguments for f in functions]
    return Source(lambda rng: whole, draw)


def called(student, case):
    import threading

    def function(*args, **kwargs):
        seen.append(f"inside: {engine.is_grad_enabled()}")
        return case.f(*args, **kwargs)

    def call(which, mode):
        with engine.set_grad_enabled(mode):
            try:
                seen.append(str(wrapped[which](*case.args, **case.kwargs)))
            except Exception as error:
                seen.append(type(error).__name__)
            seen.append(f"afterwards: {engine.is_grad_enabled()}")

    engine, seen, wrapped = student.engine, [], []
    with engine.set_grad_enabled(True):
        for mode in case.modes:
            with engine.set_grad_enabled(mode):
                wrapped.append(student.in_my_mode(function))
                seen.append(f"where it was made: {engine.is_grad_enabled()}")
        for which, mode, elsewhere in case.calls:
            thread = threading.Thread(target=call, args=(which, mode))
            (thread.start if elsewhere else thread.run)()
            if elsewhere:
                thread.join()
    return "; ".join(seen)


control_threads.aspect("the mode of where it was made", 1, cases=calls(FIVE, NONE))(called)
control_threads.aspect("arguments, results and errors", 0.75, cases=calls(FUNCTIONS, ARGUMENTS))(called)
OVERLAPS = (
    choice("mode", False, True) * choice("there", [True, False], [False, True], [True, True]) * choice("last", 0, 1)
)


@control_threads.aspect("calls that overlap in two threads", 0.25, corner=True, cases=OVERLAPS)
def overlapping(student, case):
    import threading

    engine, seen = student.engine, {}
    inside, done = [threading.Event() for _ in "ab"], [threading.Event() for _ in "ab"]

    def function(me):
        inside[me].set()
        (done if me == case.last else inside)[1 - me].wait(2)
        return engine.is_grad_enabled()

    def call(me):
        with engine.set_grad_enabled(case.there[me]):
            seen[f"thread {me}: inside, afterwards"] = [wrapped(me), engine.is_grad_enabled()]
        done[me].set()

    with engine.set_grad_enabled(case.mode):
        wrapped = student.in_my_mode(function)
    threads = [threading.Thread(target=call, args=(me,)) for me in range(2)]
    for me, thread in enumerate(threads):
        thread.start()
        inside[me].wait(2)
    for thread in threads:
        thread.join()
    return dict(sorted(seen.items()))


control_threads.mistake(
    "the mode is read when the wrapper is called, in the other thread",
    swap=("engine.set_grad_enabled(mode)", "engine.set_grad_enabled(engine.is_grad_enabled())"),
    hint=[
        "In the new thread, is_grad_enabled() answers for the new thread.",
        "Read it before the `def`, and keep it in a variable.",
    ],
)
control_threads.mistake(
    "the function always runs under no_grad",
    swap=("engine.set_grad_enabled(mode)", "engine.no_grad()"),
    hint="And if recording was on where the wrapper was made? `set_grad_enabled(mode)`.",
)
control_threads.mistake(
    "recording is on inside, whatever it was",
    swap=("engine.set_grad_enabled(mode)", "engine.enable_grad()"),
    hint="And if recording was off where the wrapper was made? `set_grad_enabled(mode)`.",
)
control_threads.mistake(
    "the mode is set and never put back",
    swap=(
        "        with engine.set_grad_enabled(mode):\n            return function(*args, **kwargs)",
        "        engine.set_grad_enabled(mode)\n        return function(*args, **kwargs)",
    ),
    hint=["After the call, whose mode is it here?", "`with engine.set_grad_enabled(mode):` puts it back."],
)
control_threads.mistake(
    "the mode is put back by hand, and not after an error",
    swap=(
        "        with engine.set_grad_enabled(mode):\n            return function(*args, **kwargs)",
        "        before = engine.is_grad_enabled()\n        engine.set_grad_enabled(mode)\n"
        "        result = function(*args, **kwargs)\n        engine.set_grad_enabled(before)\n        return result",
    ),
    hint=["An error jumps over your last lines.", "A `with` block, or try … finally."],
)
control_threads.mistake(
    "the result is not returned",
    swap=("return function(*args, **kwargs)", "function(*args, **kwargs)"),
    hint="The wrapper computes, and then? `return`.",
)
control_threads.mistake(
    "keyword arguments are not passed on",
    swap=[
        ("def in_that_mode(*args, **kwargs)", "def in_that_mode(*args)"),
        ("function(*args, **kwargs)", "function(*args)"),
    ],
    hint="`def inner(*args, **kwargs):` and `function(*args, **kwargs)`.",
)
control_threads.mistake(
    "the mode is inverted",
    swap=("engine.set_grad_enabled(mode)", "engine.set_grad_enabled(not mode)"),
    hint="True means on: `set_grad_enabled(mode)` as it is.",
)
control_threads.mistake(
    "recording is switched off where the wrapper is made, and stays off",
    swap=("mode = engine.is_grad_enabled()", "mode = engine.is_grad_enabled()\n    engine.set_grad_enabled(False)"),
    hint="in_my_mode only asks for the mode; it does not change it.",
)
control_threads.variant(
    "with try and finally",
    source="""
import functools

def in_my_mode(function):
    mode = engine.is_grad_enabled()

    @functools.wraps(function, updated=())
    def inner(*args, **kwargs):
        before = engine.is_grad_enabled()
        engine.set_grad_enabled(mode)
        try:
            return function(*args, **kwargs)
        finally:
            engine.set_grad_enabled(before)
    return inner
""",
)
control_threads.variant(
    "an object that can be called, with no_grad and enable_grad",
    source="""
class InMyMode:
    def __init__(self, function):
        self.function = function
        self.block = engine.enable_grad if engine.is_grad_enabled() else engine.no_grad

    def __call__(self, *positional, **named):
        with self.block():
            return self.function(*positional, **named)

in_my_mode = InMyMode
""",
)
