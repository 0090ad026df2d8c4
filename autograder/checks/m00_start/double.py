"""Check 1 of lesson 00: a first function."""

from autograder.checks.cases import choice, number
from autograder.checks.check import exercise

double = exercise("start.double", "Twice a number: positive, 0, negative, not whole.")


@double.aspect(
    "twice x",
    1,
    rtol=1e-12,
    atol=0.0,
    cases=choice("x", 21, 3, 0, -4, 1000) + number("x", 2.5, -0.75, 0.0, 1.2345, 1e-9, 1e9, -1e-3),
)
def twice(student, case):
    return student.double(case.x)


double.mistake(
    "the result is printed and not returned",
    swap=("return 2 * x", "print(2 * x)"),
    hint="A function gives its result back with `return`; `print` only shows it.",
)
double.mistake("the number is squared", swap=("2 * x", "x ** 2"), hint="`x ** 2` is x · x. Twice x is another number.")
double.mistake("2 is added", swap=("2 * x", "2 + x"), hint="Twice 21 is 42, and 2 + 21 is 23.")
double.mistake(
    "the number comes back unchanged", swap=("2 * x", "x"), hint="Something must happen to x before `return`."
)
double.mistake(
    "the decimals are cut off", swap=("2 * x", "2 * int(x)"), hint="`int` cuts off what is behind the point."
)
double.mistake(
    "it answers for the number of the example only",
    swap=("2 * x", "42"),
    hint="The check calls your function with other numbers than the example. Compute with `x`.",
)
double.mistake("the sign is lost", swap=("2 * x", "2 * abs(x)"), hint="What is twice −3?")
double.mistake("it is divided by 2", swap=("2 * x", "x / 2"), hint="Twice 21 is 42; half of it is 10.5.")
double.mistake(
    "for 0 nothing is returned: `if x:` is not met",
    swap=("return 2 * x", "if x:\n        return 2 * x"),
    hint="To `if`, the number 0 counts as False. What is returned then?",
)
double.variant("added to itself", swap=("2 * x", "x + x"))
double.variant(
    "over a name",
    source="""
def double(x):
    result = x
    result += x
    return result
""",
)
double.variant("a lambda", source="double = lambda x: x * 2.0")
