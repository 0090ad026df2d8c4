"""Check 4 of lesson 06: a mode taken along into a thread."""

from autograder.checks.cases import Text, choice
from autograder.checks.check import exercise

control_threads = exercise("control.threads", "A mode taken along into a thread.")

MODES = choice("modes", [False], [True], [False, True], [True, False, False])
CALLS = choice(  # (which wrapper, the mode there, in a thread of its own?)
    "calls", [(0, True, False)], [(0, True, True)], [(0, False, False)], [(0, True, False), (-1, False, True)], [(0, False, False), (-1, True, True), (0, True, True)]
)  # fmt: skip
FUNCTIONS = choice(
    "f",
    *map(
        Text, ("lambda a=2, *more, k=1.0: k * (a + 10 * sum(more))", "lambda *a, **k: 1 / 0", "lambda *a, **k: (a, k)")
    ),
)
ARGUMENTS = choice("args", [], [3], [1, 2, 4]) * choice("options", {}, {"k": 0.5})


def called(student, case):
    import threading

    def function(*args, **options):
        seen.append(f"inside: {engine.is_grad_enabled()}")
        return case.f(*args, **options)

    def call(which, mode):
        with engine.set_grad_enabled(mode):
            try:
                seen.append(str(wrapped[which](*case.args, **case.options)))
            except Exception as error:
                seen.append(type(error).__name__)
            seen.append(f"afterwards: {engine.is_grad_enabled()}")

    engine, seen, wrapped = student.engine, [], []
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


FIVE = choice("f", Text("lambda: 5")) * choice("args", []) * choice("options", {})
control_threads.aspect("the mode of where it was made", 1, cases=MODES * CALLS * FIVE)(called)
control_threads.aspect("arguments, results and errors", 0.75, cases=MODES * CALLS * FUNCTIONS * ARGUMENTS)(called)


@control_threads.aspect(
    "calls that overlap in two threads",
    0.25,
    corner=True,
    cases=choice("mode", False, True) * choice("there", [True, False], [False, True]) * choice("last", 0, 1),
)
def overlapping(student, case):
    import threading

    engine, seen = student.engine, {}
    inside, done = ([threading.Event() for _ in range(2)] for _ in range(2))

    def function(me):
        inside[me].set()
        (done if me == case.last else inside)[1 - me].wait(2)

    def call(me):
        with engine.set_grad_enabled(case.there[me]):
            try:
                wrapped(me)
            except Exception as error:
                seen[f"raised in thread {me}"] = error
            seen[f"afterwards in thread {me}"] = engine.is_grad_enabled()
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
    "the mode is read when the result is called, not when in_my_mode is",
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
control_threads.variant(
    "with the function of exercise 3",
    source="""
def in_my_mode(function):
    return in_mode(function, engine.is_grad_enabled())
""",
)
