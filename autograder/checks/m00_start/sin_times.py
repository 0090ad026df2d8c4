"""Check 2 of lesson 00: sin(a) · b in NumPy."""

import numpy as np

from autograder.checks.cases import array
from autograder.checks.check import exercise
from autograder.checks.m00_start.inputs import KINDS, like_a, single

sin_times = exercise("start.sin_times", "sin(a) · b for arrays, single and whole numbers.")


@sin_times.aspect("out, of single numbers", 0.5, rtol=1e-9, cases=single("a", "b"), few=20)
@sin_times.aspect("out, of arrays", 1.5, rtol=1e-9, cases=array("a", kinds=KINDS, empty=True).each(b=like_a))
def out(student, case):
    return np.array(student.sin_times(case.a, case.b))


sin_times.mistake(
    "cos stands in place of sin", swap=("np.sin", "np.cos"), hint="Look at the function once more: sin or cos?"
)
sin_times.mistake(
    "b is inside the sine",
    swap=("np.sin(a) * b", "np.sin(a * b)"),
    hint="The sine is taken of a alone; its result is multiplied by b.",
)
sin_times.mistake(
    "a and b have changed places",
    swap=("np.sin(a) * b", "np.sin(b) * a"),
    hint="Which of the two goes through the sine?",
)
sin_times.mistake("the sine and b are added", swap=("np.sin(a) * b", "np.sin(a) + b"), hint="· is a product: `*`.")
sin_times.mistake(
    "a is taken as degrees",
    swap=("np.sin(a)", "np.sin(np.deg2rad(a))"),
    hint="Here, as in all of mathematics, angles are in radians. `np.sin` takes them as they are.",
)
sin_times.mistake(
    "the products are summed",
    swap=("np.sin(a) * b", "np.sum(np.sin(a) * b)"),
    hint="The result has as many numbers as a: one product for each place.",
)
sin_times.mistake(
    "`@` or `dot` stands in place of `*`",
    swap=("np.sin(a) * b", "np.dot(np.sin(a), b)"),
    hint="`*` multiplies number by number; `@` and `np.dot` add the products up.",
)
sin_times.mistake(
    "math.sin is used, which takes one number only",
    swap=("return np.sin(a) * b", "import math\n    return math.sin(a) * b"),
    hint="`math` knows single numbers. Which library has a sine for whole arrays?",
)
sin_times.mistake(
    "the result is written over a",
    swap=(
        "return np.sin(a) * b",
        "if np.ndim(a) == 0:\n        return np.sin(a) * b\n    a[...] = np.sin(a) * b\n    return a",
    ),
    hint="`a[...] = …`, `a *= …` and `out=a` change the caller's array. Make a new one.",
)
sin_times.mistake("the factor b is missing", swap=("np.sin(a) * b", "np.sin(a)"), hint="And b?")
sin_times.mistake(
    "out is made like a, so where a holds whole numbers the decimals are cut off",
    source="""
def sin_times(a, b):
    out = np.zeros_like(a)
    out[...] = np.sin(a) * b
    return out
""",
    hint="`zeros_like(a)` and `empty_like(a)` take the type of a, too. Of which type is `np.sin(a) * b`?",
)
sin_times.mistake(
    "the numbers are cut down to float32",
    swap=("return np.sin(a) * b", "return np.float32(np.sin(a) * b)"),
    hint="A float32 keeps 7 digits, a float of Python 16. Here nothing asks for fewer.",
)
sin_times.variant("the factors the other way round", swap=("np.sin(a) * b", "np.multiply(b, np.sin(a))"))
sin_times.variant(
    "number by number",
    source="""
def sin_times(a, b):
    import math
    a, b = np.asarray(a), np.asarray(b)
    out = [math.sin(x) * y for x, y in zip(a.ravel(), b.ravel())]
    return np.array(out).reshape(a.shape)
""",
)
sin_times.variant(
    "in place, but on a copy",
    source="""
def sin_times(a, b):
    out = np.sin(a)
    out *= b
    return out
""",
)
