"""Check 6 of lesson 07: the same random numbers in every call."""

from autograder.checks.check import exercise
from autograder.checks.programs import pick, printed, scripts

memory_replay = exercise("memory.replay", "The same random numbers in every call.")

A, B = (f"{name} = replayable(lambda n=2, k=1.0: k * default_generator().random(n))" for name in "ab")
DRAW, SEED, DRAWN = "print(default_generator().random(2))", "manual_seed({})", "default_generator().random(3)"
CALLS = ("print(a())", "print(b())", "a()", "b()", "print(a(4))", "print(b(1, k=3.0))", "print(a(k=2.0))")


def start(rng):
    return [SEED.format(rng.integers(1, 99)), *[DRAWN] * rng.integers(2), A, *[DRAWN] * rng.integers(2), B]


def repeated(rng):
    return [
        *start(rng),
        *(pick(rng, (*CALLS[:4], DRAWN)) for _ in range(rng.integers(2, 6))),
        "print(a())",
        "print(a())",
    ]


def unnoticed(rng):
    lines = [pick(rng, (*CALLS[:4], DRAW, DRAW, SEED.format(rng.integers(1, 99)))) for _ in range(rng.integers(2, 7))]
    return [*start(rng), *lines, "a()", DRAW, "print(a())", DRAW]


def inputs(rng):
    return [*start(rng), *(pick(rng, (*CALLS, DRAW)) for _ in range(rng.integers(3, 7)))]


FIRST = [
    [SEED.format(7), A, *lines]
    for lines in (
        ["print(a())"],
        ["print(a())"] * 3,
        ["print(a())", DRAWN, "print(a())"],
        [DRAWN, "print(a())", "print(a())"],
    )
]
FIRST += [
    [SEED.format(7), A, B, *lines]
    for lines in (["print(a())", "print(b())", "print(a())", "print(b())"], ["print(b())", "print(a())", "print(a())"])
]
NOTICED = [
    [SEED.format(7), A, *lines]
    for lines in (
        ["a()", DRAW],
        ["a()", "a()", DRAW],
        [DRAWN, "a()", DRAWN, "a()", DRAW],
        ["a()", SEED.format(8), "print(a())", DRAW],
    )
]
DROPOUT = [
    "run = replayable(lambda t, w: dropout(t * w, 0.4))",
    "x = Tensor(np.ones((2, 5)), requires_grad=True)",
    "print(run(x, 2.0))",
    "y = run(x, 3.0)",
    "print(y)",
    "y.sum().backward()",
    "print(x.grad)",
]
COUNT = [
    "calls = []",
    "run = replayable(lambda: calls.append(1) or len(calls))",
    "print(len(calls))",
    "print(run())",
    "print(run())",
    "print(run())",
]
INPUTS = [
    [SEED.format(seed), *lines]
    for seed in (3, 4)
    for lines in (DROPOUT, [A, "print(a(3))", "print(a(1))", "print(a(2, k=2.0))"], [DRAWN, *COUNT])
]

memory_replay.aspect("later calls repeat the first", 1.25, cases=scripts(FIRST, repeated))(printed)
memory_replay.aspect("nobody else notices", 1, cases=scripts(NOTICED, unnoticed))(printed)
memory_replay.aspect("the function's own arguments and results", 0.75, cases=scripts(INPUTS, inputs))(printed)


memory_replay.mistake(
    "nothing is repeated: each call draws new numbers",
    source="""
def replayable(function):
    def run(*inputs, **options):
        return function(*inputs, **options)

    return run
""",
    hint=["What is the generator's state when the second call begins?", "Put it back to what it was before the first."],
)
memory_replay.mistake(
    "arguments with a name are not taken",
    swap=[("def run(*inputs, **options)", "def run(*inputs)"), ("function(*inputs, **options)", "function(*inputs)")],
    hint="`def run(*inputs, **options):`, and hand both on.",
)
memory_replay.mistake(
    "the state is noted when the function is wrapped, not right before its first call",
    source="""
def replayable(function):
    first = default_generator().bit_generator.state
    done = False

    def run(*inputs, **options):
        nonlocal done
        if not done:
            done = True
            return function(*inputs, **options)
        generator = default_generator()
        now = generator.bit_generator.state
        generator.bit_generator.state = first
        result = function(*inputs, **options)
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

    def run(*inputs, **options):
        generator = default_generator()
        now = generator.bit_generator.state
        generator.bit_generator.state = first
        result = function(*inputs, **options)
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
        "            first = now\n            return function(*inputs, **options)\n",
        "            result = function(*inputs, **options)\n            first = generator.bit_generator.state\n            return result\n",
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
    swap=[("def run(*inputs, **options)", "def run()"), ("function(*inputs, **options)", "function()")],
    hint="`run` is called as the function would be: `def run(*inputs, **options)`, and hand them on.",
)
memory_replay.mistake(
    "the generator is put back after the first call, too",
    source="""
def replayable(function):
    first = None

    def run(*inputs, **options):
        nonlocal first
        generator = default_generator()
        now = generator.bit_generator.state
        first = now if first is None else first
        generator.bit_generator.state = first
        result = function(*inputs, **options)
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
    def run(*inputs, **options):
        manual_seed(0)
        return function(*inputs, **options)

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

    def run(*inputs, **options):
        nonlocal first
        if first is None:
            first = function(*inputs, **options)
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

    def run(*inputs, **options):
        nonlocal first
        now = generator.bit_generator.state
        if first is None:
            first = now
            return function(*inputs, **options)
        generator.bit_generator.state = first
        result = function(*inputs, **options)
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

    def __call__(self, *inputs, **options):
        generator = default_generator()
        if self.first is None:
            self.first = copy.deepcopy(generator.bit_generator)
            return self.function(*inputs, **options)
        here = copy.deepcopy(generator.bit_generator)
        generator.bit_generator.state = self.first.state
        result = self.function(*inputs, **options)
        generator.bit_generator.state = here.state
        return result
""",
)
