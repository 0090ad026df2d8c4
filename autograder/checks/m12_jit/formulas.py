"""Formulas that are traced, as text: functions of leaves x, y and of `silent`, which wants no gradient."""

from autograder.checks.cases import Draft, Source, Text

SMALL = (
    "x - y", "x * y + x", "tanh(x)", "leaky_relu(x, negative_slope=0.3) / y", "2.0 - x", "(lambda s: s * s - y)(x + y)", "x * x",
    "operation('where', x, y, x > 0) * x - tanh(silent)", "tanh(x * y + x) * sigmoid(y)", "exp(-x) - 0.5 * y / x", "silent * x + silent",
    "(lambda s: sin(s) * y + s)(y - x * silent)", "x", "x > y", "(x > 0) * y",
)  # fmt: skip
STEPS = "{0} - {1}|{0} * {1}|{0} + {1}|{1} * {0}|tanh({0})|0.5 - {0}|{0} / 1.5|-{0}|sin({1})|leaky_relu({0}, negative_slope=0.2)|sigmoid({1})|{0} * {0}".split(
    "|"
)


def formula(text):
    tags = {
        "a leaf is used more than once": max(text.count("x"), text.count("y")) > 1,
        "a constant takes part": any(digit in text for digit in "0123456789"),
        "an operation is not commutative": "-" in text or "/" in text,
        "a leaf wants no gradient": "silent" in text,
    }
    return Draft({"formula": Text(f"lambda x, y, silent: {text}")}, tuple(tag for tag, holds in tags.items() if holds))


def drawn(rng):
    """Steps of which each may use all before it."""
    known, steps = ["x", "y", "silent"], []
    for name in "abcde"[: rng.integers(2, 6)]:
        one, two = rng.choice(known, 2)
        steps.append(f"{name} := {STEPS[rng.integers(len(STEPS))].format(one, two)}")
        known.append(name)
    return formula(f"[{', '.join(steps)}, {known[-1]} * x - {rng.choice(known)}][-1]")


FORMULAS = Source(lambda rng: [formula(text) for text in SMALL], drawn)
