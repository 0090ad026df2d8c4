"""Small programs of the tape's operations, as text, with two leaves and the gradient that arrives."""

import numpy as np

from autograder.checks.cases import NO_DERIVATIVE, Draft, Source, Text, fixed, literal

ODD = "apply_op(lambda a, b: a + b, lambda g: {}, x, w)"  # an operation without a name, whose rule says …
SMALL = (
    "x * w", "x * w + x", "x + w", "sin(x + w) * x", "x + x", "[a := x + w, a * a][-1]", ODD.format("[None, g]"), "x * x", "x",
    f"[a := sin(w), {ODD.format('[g, None]').replace(', w)', ', a)')}][-1]", "x * 2.0 - w", "total(x * w)", ODD.format("[g, None]"),
    "[a := x + w, b := a * x, a + b * b][-1]", "[a := x + w, a + x + w + x][-1]", ODD.format("(None, g)") + " * x", "relu(x) * 3 + w * 0",
    "[x + w, x][-1]", ODD.format("[g * 2.0, g]"), "apply_op(lambda a: a * 1.0, lambda g: g, x * w)",
)  # fmt: skip
SHAPES = (((2,), (2,)), ((2, 3), (1, 3)), ((), ()), ((3,), (2, 3)), ((2, 2), ()), ((2, 1), (1, 2)), ((2, 3), (2, 3)))
NUMPY = {"sin": np.sin, "total": np.sum, "relu": np.abs, "apply_op": lambda fn, rule, *args: fn(*args), "np": np}


def tenths(shape, rng):
    """Numbers of one decimal between −1 and 1, small ones, since products of products are taken."""
    numbers = rng.permutation([*range(1, 10), *range(-9, 0)]) / 10
    return numbers[: int(np.prod(shape))].reshape(shape)


def put(array):
    return Text(f"Tensor.from_host(queue, {literal(array)})")


def leaf(array, requires_grad=True):
    return Text(f"tensor({put(array).expression}, {requires_grad})")


def program(text, shapes, requires, rng):
    """The inputs x, w, formula, and grad, which has the shape of the result; None, by default, for a single number."""
    x, w = (tenths(shape, rng) for shape in shapes)
    shape = np.shape(eval(f"lambda x, w: {text}", dict(NUMPY))(x, w))
    tags = [f"{name} requires no gradient" for name, wanted in zip("xw", requires) if not wanted]
    tags += ["a leaf is broadcast"] * (len({shape, *shapes}) > 1)
    tags += [NO_DERIVATIVE] * any(rule in text for rule in ("[g, None]", "None, g", "g * 2.0"))
    leaves = {"x": leaf(x, requires[0]), "w": leaf(w, requires[1]), "formula": Text(f"lambda x, w: {text}")}
    return Draft(leaves | {"grad": tenths(shape, rng) if shape or rng.integers(2) else None}, tuple(tags))


def small(rng):
    for place, text in enumerate(SMALL):
        yield program(text, SHAPES[place % len(SHAPES)], (True, "apply_op" in text or place % 4 < 3), rng)


def drawn(rng, steps=4):
    known, lines = ["x", "w"], []
    for name in "abcd"[: rng.integers(1, steps + 1)]:
        one, two = rng.choice(known, 2)
        options = f"{one} * {two}|{one} + {two}|{one} - {two}|sin({one})|{two} * 2.0|{known[-1]} * {one}|{known[-1]} + {two}|total({one})"
        lines.append(f"{name} := {rng.choice(options.split('|'))}")
        known.append(name)
    requires = ((True, True), (True, True), (True, False), (False, True))[rng.integers(4)]
    if requires != (True, True):
        lines.append(f"{known[-1]} * x + w")  # so that the result requires a gradient
    return program(f"[{', '.join(lines)}][-1]", SHAPES[rng.integers(len(SHAPES))], requires, rng)


PROGRAMS = Source(small, drawn)


def given(text, grad=np.array([1.0, 10.0]), requires=True):
    x, w = leaf(np.array([0.5, -1.0]), requires), leaf(np.array([2.0, 3.0]))
    return {"x": x, "w": w, "formula": Text(f"lambda x, w: {text}"), "grad": grad}


REPEATED = (("x + x", 3), ("x + w", 3), ("x + x", 12), ("x + w", 1100))
LONG = fixed(
    given("w + x + x + x", requires=False),
    *[given(f"[x := {step} for _ in range({times})][-1]") for step, times in REPEATED],
)
DROPPED = "[a := sin(w), apply_op(lambda a, b: a + b, lambda g: [g, None], x, a)][-1]"  # a gets nothing
RETAINED = fixed(
    *[given("[a := x + w, a * a][-1]") | {"retain": retain, "calls": 1} for retain in (True, False)],
    given(DROPPED) | {"retain": True, "calls": 1},
)
RETAINED += PROGRAMS.add(retain=lambda rng: bool(rng.integers(4)), calls=lambda rng: 1 + int(rng.integers(3) == 0))
WRONG_GRADS = given("x * w", None), given("x * w", np.ones((2, 1)))
REFUSED = fixed(*WRONG_GRADS, given("x * 2.0", requires=False), given(ODD.format("[g]")))
PAIRED = (
    *"x + w|x * w|x|w + x + x|x + x|w * 2.0|[a := x + w, a + a][-1]|total(x * w) + x".split("|"),
    ODD.format("[g, None]"),
)


def two_programs(rng, first=None, second=None):
    """Two programs of the same leaves, and whether x.grad is set to None between their calls of backward."""
    emptied = bool(second is None and rng.random() < 0.25)
    first, second = (Text(f"lambda x, w: {text or rng.choice(PAIRED)}") for text in (first, second))
    shape = ((2,), (1,), (2, 2))[rng.integers(3)]
    inputs = {"x": leaf(tenths(shape, rng)), "w": leaf(tenths(shape, rng)), "first": first, "second": second}
    return Draft(inputs | {"emptied": emptied, "grad": tenths(shape, rng)})


def small_pairs(rng):
    """First programs after which x.grad is still what the first left there, or w takes part and gets nothing; then any."""
    fixed = [(first, "w * 2.0") for first in PAIRED] + [("x * w", PAIRED[-1])]
    return [two_programs(rng, *pair) for pair in fixed + [()] * 10]


TWO_PROGRAMS = Source(small_pairs, two_programs)
