"""Check 6 of lesson 07: the same random numbers in every call."""

import numpy as np

from autograder.checks.check import check


@check("memory.replay", points=3)
def memory_replay(student, rng, tools):
    """Later calls repeat the first, and nobody else notices."""
    seed, other = (int(s) for s in rng.integers(1, 10_000, size=2))
    x = rng.normal(size=(4, 7))

    def draw(size=6):
        return student.default_generator().random(size)

    def noisy(scale=1.0):
        return scale * draw(5)

    def first_call():
        student.manual_seed(seed)
        return student.replayable(noisy)()

    def calls(number):
        student.manual_seed(seed)
        run = student.replayable(noisy)
        return np.stack([run() for _ in range(number)])

    def with_draws_between():
        student.manual_seed(seed)
        run = student.replayable(noisy)
        draw(3)
        first = run()
        draw(11)
        return np.stack([first, run()])

    def draws_around():
        student.manual_seed(seed)
        run = student.replayable(noisy)
        before = draw(3)
        run()
        between = draw(3)
        run()
        run()
        return np.concatenate([before, between, draw(3)])

    def two_of_them():
        student.manual_seed(seed)
        a, b = student.replayable(noisy), student.replayable(noisy)
        results = [a(), b(), b(), a()]
        return np.stack(results)

    def seeded_between():
        student.manual_seed(seed)
        run = student.replayable(noisy)
        first = run()
        student.manual_seed(other)
        start = draw(2)
        second = run()
        return np.concatenate([first, start, second, draw(2)])

    def masks():
        student.manual_seed(seed)
        run = student.replayable(lambda t: student.dropout(t, 0.4))
        a, b = (run(student.Tensor(x, requires_grad=True)) for _ in range(2))
        return np.stack([a.data, b.data])

    def gradient():
        student.manual_seed(seed)
        run = student.replayable(lambda t, w: student.dropout(t * w, 0.4))
        t = student.Tensor(x, requires_grad=True)
        run(t, student.Tensor(2.0))
        run(t, student.Tensor(3.0)).backward(x)
        return t.grad.data

    def other_arguments():
        student.manual_seed(seed)
        run = student.replayable(noisy)
        return np.stack([run(2.0), run(-3.0)])

    def how_often():
        count = []
        run = student.replayable(lambda: count.append(1) or 1.0)
        made = len(count)
        run()
        run()
        return [made, len(count)]

    return {
        "input": f"manual_seed({seed})",
        "the first call": first_call,
        "three calls": lambda: calls(3),
        "two calls, others draw before and between": with_draws_between,
        "what others draw before, between and after the calls": draws_around,
        "two functions a, b, called a, b, b, a": two_of_them,
        "manual_seed between two calls: all that is drawn": seeded_between,
        "dropout, twice": masks,
        "dropout(x · w), called with w = 2, then w = 3: gradient of the second": gradient,
        "other arguments in the second call": other_arguments,
        "runs of the function: when wrapped, after two calls": how_often,
    }


memory_replay.mistake(
    "nothing is repeated: each call draws new numbers",
    source="""
def replayable(function):
    def run(*inputs):
        return function(*inputs)

    return run
""",
    hint=["What is the generator's state when the second call begins?", "Put it back to what it was before the first."],
)
memory_replay.mistake(
    "the state is noted when the function is wrapped, not right before its first call",
    source="""
def replayable(function):
    first = default_generator().bit_generator.state
    done = False

    def run(*inputs):
        nonlocal done
        if not done:
            done = True
            return function(*inputs)
        generator = default_generator()
        now = generator.bit_generator.state
        generator.bit_generator.state = first
        result = function(*inputs)
        generator.bit_generator.state = now
        return result

    return run
""",
    hint=["Somebody may draw between wrapping and the first call.", "Note the state inside `run`, in the first call."],
)
memory_replay.mistake(
    "the state is noted when the function is wrapped, and the first call starts from it, too",
    source="""
def replayable(function):
    first = default_generator().bit_generator.state

    def run(*inputs):
        generator = default_generator()
        now = generator.bit_generator.state
        generator.bit_generator.state = first
        result = function(*inputs)
        generator.bit_generator.state = now
        return result

    return run
""",
    hint=[
        "Then two layers in a row throw the same dice.",
        "The first call draws as usual; note the state right before it.",
    ],
)
memory_replay.mistake(
    "the state is noted after the first call",
    swap=(
        "            first = now\n            return function(*inputs)\n",
        "            result = function(*inputs)\n            first = generator.bit_generator.state\n            return result\n",
    ),
    hint=["From where did the first call start?", "Note the state before you call the function."],
)
memory_replay.mistake(
    "the generator is not put back after a later call",
    swap=("        generator.bit_generator.state = now\n", ""),
    hint=[
        "Who draws after the second call gets numbers that were there before.",
        "Note the state before a later call, and assign it after.",
    ],
)
memory_replay.mistake(
    "after a later call the generator is where the first call began",
    swap=("generator.bit_generator.state = now", "generator.bit_generator.state = first"),
    hint=[
        "Where was the generator right before this later call?",
        "Two states are kept: `first`, and `now`, which goes back in at the end.",
    ],
)
memory_replay.mistake(
    "the generator is kept, not its state",
    swap=[
        ("now = generator.bit_generator.state", "now = generator"),
        ("state = first", "state = first.bit_generator.state"),
        ("state = now", "state = now.bit_generator.state"),
    ],
    hint=[
        "Your name holds the generator, and that one moves on.",
        "`generator.bit_generator.state` gives a copy of where it is.",
    ],
)
memory_replay.mistake(
    "`first` is a global name, one for all functions",
    swap=[
        ("    first = None\n", "    global first\n    first = None\n"),
        ("        nonlocal first\n", "        global first\n"),
    ],
    hint=[
        "Two replayable functions: how many beginnings are there?",
        "A name of `replayable` itself, and `nonlocal` in `run`.",
    ],
)
memory_replay.mistake(
    "the second function does not take inputs",
    swap=[("def run(*inputs)", "def run()"), ("function(*inputs)", "function()")],
    hint="`run` is called as the function would be: `def run(*inputs)`, and hand them on.",
)
memory_replay.mistake(
    "the generator is put back after the first call, too",
    source="""
def replayable(function):
    first = None

    def run(*inputs):
        nonlocal first
        generator = default_generator()
        now = generator.bit_generator.state
        first = now if first is None else first
        generator.bit_generator.state = first
        result = function(*inputs)
        generator.bit_generator.state = now
        return result

    return run
""",
    hint=["After the first call, others have to draw new numbers.", "Only a later call puts the state back."],
)
memory_replay.mistake(
    "every call starts from the seed 0",
    source="""
def replayable(function):
    def run(*inputs):
        manual_seed(0)
        return function(*inputs)

    return run
""",
    hint=[
        "The first call has to draw as ever, or all layers get the same mask.",
        "Note `bit_generator.state` before the first call.",
    ],
)
memory_replay.mistake(
    "a later call starts where the one before did",
    swap=(
        "        now = generator.bit_generator.state\n        if first is None:\n            first = now\n",
        "        now = generator.bit_generator.state\n        if first is None:\n            first = now\n"
        "        else:\n            first, now = now, first\n        if first is now:\n",
    ),
    hint=["Three calls, three times the same numbers?", "`first` is noted once, and stays."],
)
memory_replay.mistake(
    "the result is remembered, and returned again",
    source="""
def replayable(function):
    first = None

    def run(*inputs):
        nonlocal first
        if first is None:
            first = function(*inputs)
        return first

    return run
""",
    hint=[
        "With other inputs, or with recording on, the second call has something else to compute.",
        "Repeat the random numbers, not the result.",
    ],
)
memory_replay.mistake(
    "the generator is fetched when the function is wrapped; manual_seed makes a new one",
    source="""
def replayable(function):
    first = None
    generator = default_generator()

    def run(*inputs):
        nonlocal first
        now = generator.bit_generator.state
        if first is None:
            first = now
            return function(*inputs)
        generator.bit_generator.state = first
        result = function(*inputs)
        generator.bit_generator.state = now
        return result

    return run
""",
    hint=["What does manual_seed do with the generator that you hold?", "Ask for `default_generator()` in each call."],
)
memory_replay.variant(
    "a list in place of nonlocal, try and finally",
    source="""
def replayable(function):
    states = []

    def run(*inputs, **options):
        bits = default_generator().bit_generator
        now = bits.state
        states.append(now)
        try:
            bits.state = states[0]
            return function(*inputs, **options)
        finally:
            if len(states) > 1:
                bits.state = now

    return run
""",
)
memory_replay.variant(
    "a class",
    source="""
import copy

class replayable:
    def __init__(self, function):
        self.function, self.first = function, None

    def __call__(self, *inputs):
        generator = default_generator()
        if self.first is None:
            self.first = copy.deepcopy(generator.bit_generator)
            return self.function(*inputs)
        here = copy.deepcopy(generator.bit_generator)
        generator.bit_generator.state = self.first.state
        result = self.function(*inputs)
        generator.bit_generator.state = here.state
        return result
""",
)
