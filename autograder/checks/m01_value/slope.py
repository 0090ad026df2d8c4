"""Check 1 of lesson 01: the slope, measured."""

from autograder.checks.cases import Text, choice, fixed, number
from autograder.checks.check import exercise

value_slope = exercise("value.slope", "The slope of a function, measured with two points.")

CURVES = choice(
    "f",
    *map(
        Text, ("lambda x: x * x", "lambda x: x ** 3 - 2 * x", "math.exp", "math.cos", "lambda x: 2.5 * x", "math.sin")
    ),
)
PLACES = number("x", 2.0, -1.5, 0.0, 0.7, 3.0, -3.0) + choice("x", 2, 0)


@value_slope.aspect("the slope, with the usual step", 1, cases=CURVES * PLACES, rtol=1e-8)
def usual(student, case):
    return student.slope(case.f, case.x)


@value_slope.aspect(
    "the slope, with a step of its own",
    1,
    rtol=1e-8,
    cases=CURVES * PLACES * choice("h", 0.25, 1.0, 0.1, 1, 0.001) + fixed(f=Text("abs"), x=1e-6, h=1e-7),
)
def wide(student, case):
    return student.slope(case.f, case.x, h=case.h)


value_slope.mistake(
    "only one side is measured: f(x + h) − f(x)",
    swap=("left, right = x - h, x + h", "left, right = x, x + h"),
    hint=[
        "Where is the second point? The line should touch the curve on both sides of x.",
        "Go h to the left as well: f(x + h) − f(x − h), and the two are 2h apart.",
    ],
)
value_slope.mistake(
    "the rise over two steps is divided by one step",
    swap=("(right - left)", "h"),
    hint=["Your slopes are all too steep, by the same factor. Which one?", "From x − h to x + h it is 2h, not h."],
)
value_slope.mistake(
    "`/ 2 * h` divides by 2 and then multiplies by h",
    swap=("/ (right - left)", "/ 2 * h"),
    hint=["What does Python make of 8 / 2 * 4?", "Parentheses: … / (2 * h)."],
)
value_slope.mistake(
    "only f(x − h) is divided: parentheses are missing around the difference",
    swap=("(f(right) - f(left)) / (right - left)", "f(right) - f(left) / (right - left)"),
    hint=["Division goes before subtraction.", "Put the whole difference into parentheses: (f(x + h) - f(x - h)) / …"],
)
value_slope.mistake(
    "the points are the wrong way round: left minus right",
    swap=("f(right) - f(left)", "f(left) - f(right)"),
    hint=["Every slope has the wrong sign.", "Right minus left, over right minus left."],
)
value_slope.mistake(
    "h is not used: a step of its own is written into the function",
    swap=("left, right = x - h, x + h", "left, right = x - 1e-5, x + 1e-5"),
    hint=["With the usual step all is right. With another one?", "h is an argument: use it and no number of your own."],
)
value_slope.mistake(
    "the step is too small: f(x + h) and f(x − h) agree in nearly all digits",
    swap=("left, right = x - h, x + h", "h = 1e-13; left, right = x - h, x + h"),
    hint=["A float has 16 digits. How many are left after the subtraction?", "Keep to the h that was given."],
)
value_slope.mistake(
    "the step is a part of x, so at 0 there is none",
    swap=("left, right = x - h, x + h", "left, right = x - h * x, x + h * x"),
    hint=["What is your step at x = 0?", "h itself is the step, not a share of x."],
)
value_slope.mistake(
    "the result is not returned",
    swap=("return (", "result = ("),
    hint=["What does a function give back that has no `return`?", "return the result; a name inside is forgotten."],
)
value_slope.mistake(
    "the result is rounded",
    swap=("return (f(right) - f(left)) / (right - left)", "return round((f(right) - f(left)) / (right - left), 6)"),
    hint=["The example rounds the slope for the eye. Who rounds it there?", "Return the quotient as it is."],
)
value_slope.mistake(
    "the sign is lost: where the curve falls, the slope is negative",
    swap=("return (f(right) - f(left)) / (right - left)", "return abs(f(right) - f(left)) / (right - left)"),
    hint=["How steep is cos where it goes down?", "Right minus left, without `abs`."],
)
value_slope.variant(
    "divided by 2h",
    source="""
def slope(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) / (2 * h)
""",
)
value_slope.variant(
    "the mean of the slopes on both sides",
    source="""
def slope(f, x, h=1e-5):
    forward = (f(x + h) - f(x)) / h
    backward = (f(x) - f(x - h)) / h
    return (forward + backward) / 2
""",
)
value_slope.variant(
    "a NumPy number",
    source="""
import numpy as np
def slope(f, x, h=1e-5):
    return np.divide(f(x + h) - f(x - h), 2 * h)
""",
)
value_slope.variant(
    "the points named the other way round: both differences change their sign", swap=("x - h, x + h", "x + h, x - h")
)
