"""Check 6 of lesson 08: the remainders of Taylor's formula."""

import numpy as np

from autograder.checks.cases import choice
from autograder.checks.check import exercise
from autograder.checks.m08_custom.functions import ALONG

custom_taylor = exercise("custom.taylor", "What the first-order guess leaves, for right gradients and wrong ones.")

STEPS = choice(
    "steps", [0.5, 0.25], [1.0], [0.25, 1.0, 0.5], [0.5, 0.5], [0.0, -0.5, 2.0], [1.0, 0.5, 0.25, 0.125, 0.0625], []
)


@custom_taylor.aspect("the remainders", 2, cases=ALONG * STEPS)
def remainders(student, case):
    return np.array(list(student.taylor_remainders(case.f, case.gradient, case.x, case.v, case.steps)), float)


custom_taylor.mistake(
    "the step is missing in the first-order guess",
    swap=("- step * rise", "- rise"),
    hint=["The guess is how far f rises on a way of ε v. Which ε is in yours?", "ε · Σ gradient · v."],
)
custom_taylor.mistake(
    "f(x) is not taken off",
    swap=("abs(f(x + step * v) - start - step * rise)", "abs(f(x + step * v) - step * rise)"),
    hint=["For a tiny step, nothing should be left. What is left of yours?", "f(x + ε v) − f(x) − ε Σ gradient · v."],
)
custom_taylor.mistake(
    "the first-order guess is added, not taken off",
    swap=("- step * rise", "+ step * rise"),
    hint=["What is left should be small for a right gradient.", "Minus."],
)
custom_taylor.mistake(
    "no absolute value is taken",
    swap=("float(abs(f(x + step * v) - start - step * rise))", "float(f(x + step * v) - start - step * rise)"),
    hint=["A remainder below 0 cannot be drawn on a logarithmic axis.", "`abs(…)`."],
)
custom_taylor.mistake(
    "the guess is left out: what is left is only f(x + ε v) − f(x)",
    swap=(" - step * rise", ""),
    hint=["Half the step, half the rest, for right gradients and wrong ones.", "Take off ε Σ gradient · v as well."],
)
custom_taylor.mistake(
    "the rest is divided by the step: then it is a slope's error, of order one less",
    swap=("- step * rise))", "- step * rise) / step)"),
    hint=["Half the step should leave a quarter.", "Do not divide."],
)
custom_taylor.mistake(
    "the rest is divided by the square of the step: a right gradient gives a constant",
    swap=("- step * rise))", "- step * rise) / step ** 2)"),
    hint=["That is half the curvature, a good number, but not the remainder.", "Do not divide."],
)
custom_taylor.mistake(
    "x wanders: each step starts where the last one ended",
    source="""
def taylor_remainders(f, gradient, x, v, steps):
    start, rise, rest = f(x), np.sum(gradient * v), []
    for step in steps:
        x = x + step * v
        rest.append(float(abs(f(x) - start - step * rise)))
    return rest
""",
    hint=["Where does the second step start?", "Each from x: `f(x + step * v)`."],
)
custom_taylor.mistake(
    "the mean is taken in place of the sum",
    swap=("np.sum(gradient * v)", "np.mean(gradient * v)"),
    hint=["All numbers move at once, and their effects add up.", "`np.sum`."],
)
custom_taylor.mistake(
    "v is left out of the guess: the sum of the gradient alone",
    swap=("np.sum(gradient * v)", "np.sum(gradient)"),
    hint=["Which way do we walk?", "Σ gradient · v."],
)
custom_taylor.mistake(
    "central differences are taken: the guess is compared with both sides, and curvature cancels",
    swap=("abs(f(x + step * v) - start - step * rise)", "abs((f(x + step * v) - f(x - step * v)) / 2 - step * rise)"),
    hint=[
        "What is left falls with ε³ in yours. A good idea, but another one.",
        "f(x + ε v) − f(x) − ε Σ gradient · v.",
    ],
)
custom_taylor.mistake(
    "steps are sorted, so the answers come in another order",
    swap=("for step in steps]", "for step in sorted(steps, reverse=True)]"),
    hint=["Which answer belongs to which step?", "In the order of `steps`."],
)
custom_taylor.mistake(
    "`gradient @ v` is a product of matrices, unless both are vectors",
    swap=("np.sum(gradient * v)", "gradient @ v"),
    hint=["x may have any shape.", "Number by number: `np.sum(gradient * v)`."],
)
custom_taylor.mistake(
    "the rest is taken relative to f(x), so that nothing can be said where f is 0",
    swap=("- step * rise))", "- step * rise) / abs(start))"),
    hint=["Half the step, a quarter of the rest: for that, no division is needed.", "Do not divide."],
)
custom_taylor.variant(
    "all at once, an array",
    source="""
def taylor_remainders(f, gradient, x, v, steps):
    values = np.array([f(x + e * v) for e in steps])
    return np.abs(values - f(x) - np.asarray(steps) * np.vdot(gradient, v))
""",
)
custom_taylor.variant(
    "a generator, with the guess made of the step itself",
    source="""
def taylor_remainders(f, gradient, x, v, steps):
    for step in steps:
        way = step * v
        yield np.abs(f(x + way) - (f(x) + (gradient * way).sum()))
""",
)
custom_taylor.variant(
    "NumPy's numbers",
    swap=("float(abs(f(x + step * v) - start - step * rise))", "abs(f(x + step * v) - start - step * rise)"),
)
custom_taylor.variant(
    "the other sign within the absolute value",
    swap=("f(x + step * v) - start - step * rise", "step * rise - (f(x + step * v) - start)"),
)
