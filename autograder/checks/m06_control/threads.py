"""Check 4 of lesson 06: a mode taken along into a thread."""

from autograder.checks.check import check


@check("control.threads", points=2)
def control_threads(student, rng, tools):
    """Recorded or not as where the wrapper was made, in any thread; and nothing else changes."""
    from concurrent.futures import ThreadPoolExecutor

    engine, numbers = student.engine, rng.normal(size=3)
    modes = [bool(m) for m in rng.permutation([True, False, bool(rng.integers(2)), False, True])]

    def in_thread(function, *arguments):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(function, *arguments).result()

    def guarded(program):
        def run():
            with engine.set_grad_enabled(True):  # whatever a solution leaves behind ends here
                return program()

        return run

    def product(w):
        return w * 2

    def made(mode, function):
        with engine.set_grad_enabled(mode):
            return student.in_my_mode(function)

    def recorded_in_threads():
        w = student.Tensor(numbers, requires_grad=True)
        return [int(in_thread(made(mode, product), w).requires_grad) for mode in modes]

    def recorded_here(here):
        seen = []
        for mode in modes:
            with engine.set_grad_enabled(here):
                wrapped = made(mode, engine.is_grad_enabled)
                seen += [wrapped(), wrapped(), engine.is_grad_enabled()]
        return [int(position) for position in seen]

    def after_errors():
        seen = []

        def fail():
            seen.append(engine.is_grad_enabled())
            raise KeyError("in the function")

        for mode in modes:
            with engine.set_grad_enabled(not mode):
                try:
                    made(mode, fail)()
                    seen.append(False)
                except KeyError:
                    seen.append(True)
                seen.append(engine.is_grad_enabled())
        return [int(position) for position in seen]

    def making_changes_nothing():
        seen = []
        for mode in modes:
            with engine.set_grad_enabled(mode):
                student.in_my_mode(product)
                seen.append(engine.is_grad_enabled())
        return [int(position) for position in seen]

    def arguments():
        def combined(a, *more, scale=1.0):
            return scale * (a + 10 * sum(more))

        wrapped = made(modes[0], combined)
        return [
            wrapped(numbers[0]),
            wrapped(numbers[0], numbers[1], numbers[2], scale=3.0),
            wrapped(a=numbers[1], scale=2.0),
        ]

    def calls():
        count = []
        wrapped = made(modes[0], lambda: count.append(1))
        before = len(count)
        wrapped()
        wrapped()
        return [before, len(count), *numbers]

    return {
        "input": f"wrappers are made with recording {modes} (True: on)",
        "called in new threads: is the product recorded?": guarded(recorded_in_threads),
        "called here, recording on: inside twice, then here": guarded(lambda: recorded_here(True)),
        "called here, recording off: inside twice, then here": guarded(lambda: recorded_here(False)),
        "an error in the function: inside, did it come out, then here": guarded(after_errors),
        "in_my_mode alone: the mode afterwards": guarded(making_changes_nothing),
        "results with arguments and keyword arguments": guarded(arguments),
        "calls of the function: before the first of two calls, after both": guarded(calls),
    }


control_threads.mistake(
    "the mode is read when the wrapper is called, in the other thread",
    swap=("engine.set_grad_enabled(mode)", "engine.set_grad_enabled(engine.is_grad_enabled())"),
    hint=[
        "In the new thread, is_grad_enabled() answers for the new thread.",
        "Read it before the `def`, and keep it in a variable.",
    ],
)
control_threads.mistake(
    "always under no_grad",
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
