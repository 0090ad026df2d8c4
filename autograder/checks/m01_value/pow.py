"""Check 4 of lesson 01: the power."""

from autograder.checks.cases import Text, choice, number
from autograder.checks.check import exercise
from autograder.checks.m01_value.closures import CLOSURES
from autograder.checks.m01_value.operators import whole
from autograder.checks.value_programs import arriving, programs, two

value_pow = exercise("value.pow", "The power: with a number as exponent, and with a Value as exponent.")
BASES = number("a", 2.0, -3.0, 0.0, 0.5, 1.0, 4.0, -0.5)
POWERS = choice("n", 3, 2.0, -1, 0.5, 1, -2, 0, 1.5, -0.5, Text("np.float64(3)"))


@value_pow.aspect(
    "a ** n, n a number",
    1.25,
    device=4,
    cases=(BASES * POWERS)
    .where(lambda a, n: a > 0 or n >= 1 and n == int(n) or a < 0 and n == int(n))
    .add(up=arriving),
)
def plain(student, case, tools):
    a = student.Value(case.a)
    y = a**case.n
    found = {"y.data": y.data, "y.op": y.op, "parents of y": len(y.parents), "a.data": a.data}
    yield
    tools.backpropagate(y, case.up)
    return found | {"a.grad": a.grad}


BOXES = programs("f", "a ** b", "a ** a", "b ** (a ** b)", "b ** a", operators=["**"], left=False)
NUMBERS = two((3.0, 2.0), (0.5, 1.5), (2.0, 2.0), (1.0, 3.0), (0.2, 0.7), low=0.1, high=1.9)
value_pow.aspect("a ** n, n a Value", 1.25, cases=(BOXES * NUMBERS).add(up=arriving), device=4, few=20)(whole)


REFUSED = (
    programs("f", "a ** b", operators="")
    * number("a", -2.0, 0.0, -0.5, -3.0, high=-0.1)
    * number("b", 3.0, 2.0, 0.5, 1.0, low=0.1)
)
value_pow.aspect(
    "ValueError unless a > 0, if n is a Value", 0.5, corner=True, few=12, many=40, cases=REFUSED.add(up=arriving)
)(whole)

value_pow.mistake(
    "the exponent comes down but does not go down: n · aⁿ",
    swap=("(slope,)", "(exponent * power,)"),
    hint=["The slope of a³ is 3a². What is yours?", "`power_and_slope` gives you both numbers: use the second."],
)
value_pow.mistake(
    "the exponent goes down but does not come down: aⁿ⁻¹",
    swap=("(slope,)", "(slope / exponent,)"),
    hint=["The slope of a³ is 3a². What is yours?", "n · aⁿ⁻¹: the factor n is missing."],
)
value_pow.mistake(
    "`(slope)` has no comma, so it is no tuple",
    swap=("(slope,)", "(slope)"),
    hint=["What does Python say to type((2.0))?", "`(slope,)`."],
)
value_pow.mistake(
    "an exponent that is a Value gets no gradient",
    swap=("(self, exponent), (slope, power * math.log(self.data))", "(self,), (slope,)"),
    hint=[
        "If n is a Value, it moves the result, too.",
        "Two parents then: `(self, exponent)`, and aⁿ · ln a is the second derivative.",
    ],
)
value_pow.mistake(
    "an exponent that is a Value is not handled",
    source="""
@add_to_class(Value)
def __pow__(self, exponent):
    power, slope = power_and_slope(self.data, exponent)
    return Value(power, (self,), (slope,), "**")
""",
    hint=[
        "The docstring has a second case.",
        "`if not isinstance(exponent, Value):` is the first, below it comes the second, with two parents.",
    ],
)
value_pow.mistake(
    "the derivative for the exponent lacks ln a",
    swap=("power * math.log(self.data)", "power"),
    hint=["Only e is a base whose power is its own slope.", "For the base a: aⁿ · ln a."],
)
value_pow.mistake(
    "the logarithm is taken of the exponent, not of the base",
    swap=("power * math.log(self.data)", "power * math.log(exponent.data)"),
    hint=["In eⁿ·ˡⁿᵃ, what stands beside n?", "`math.log(self.data)`."],
)
value_pow.mistake(
    "the derivative for the exponent takes the slope in place of the power",
    swap=("power * math.log(self.data)", "slope * math.log(self.data)"),
    hint=["aⁿ · ln a: is your first factor aⁿ?", "`power`, the first of the two numbers."],
)
value_pow.mistake(
    "a power with a plain number goes through the logarithm, so a negative base or a base of 0 fails",
    source="""
@add_to_class(Value)
def __pow__(self, exponent):
    if not isinstance(exponent, Value):
        power = math.exp(exponent * math.log(self.data))
        return Value(power, (self,), (exponent * power / self.data,), "**")
    power = math.exp(exponent.data * math.log(self.data))
    return Value(power, (self, exponent), (exponent.data * power / self.data, power * math.log(self.data)), "**")
""",
    hint=[
        "(−2)³ is −8. What does the logarithm of −2 say to that?",
        "For a plain number as exponent use `power_and_slope`.",
    ],
)
value_pow.mistake(
    "the slope is taken as n · aⁿ / a, so 0 ** 2 divides by 0",
    swap=("(slope,)", "(exponent * power / self.data,)"),
    hint=[
        "For a = 0 the slope of a² is 0. What does your formula do there?",
        "`power_and_slope` gives you both numbers: use the second.",
    ],
)
value_pow.mistake(
    "only an `int` counts as a plain number, so a ** 2.0 goes the way of a Value",
    source="""
@add_to_class(Value)
def __pow__(self, exponent):
    if isinstance(exponent, int):
        power, slope = power_and_slope(self.data, exponent)
        return Value(power, (self,), (slope,), "**")
    exponent = as_value(exponent)
    power, slope = power_and_slope(self.data, exponent.data)
    return Value(power, (self, exponent), (slope, power * math.log(self.data)), "**")
""",
    hint=["What is isinstance(2.0, int)?", "Ask the other way round: `if not isinstance(exponent, Value):`."],
)
value_pow.mistake(
    "the logarithm is taken of |a|, so a negative base passes unnoticed",
    swap=[("self.data <= 0", "self.data == 0"), ("math.log(self.data)", "math.log(abs(self.data))")],
    hint=["(−2)ⁿ is no real number for most n. Is there a slope along n?", "ValueError unless a > 0."],
)
value_pow.mistake(
    "for a base that is not above 0 the exponent gets a gradient of 0, and no error",
    source="""
@add_to_class(Value)
def __pow__(self, exponent):
    if not isinstance(exponent, Value):
        power, slope = power_and_slope(self.data, exponent)
        return Value(power, (self,), (slope,), "**")
    power, slope = power_and_slope(self.data, exponent.data)
    return Value(power, (self, exponent), (slope, power * math.log(self.data) if self.data > 0 else 0.0), "**")
""",
    hint=["A wrong number that looks right costs more time than an error.", "ValueError unless a > 0."],
)
value_pow.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_pow.variant(
    "the rule written out, Value first",
    source="""
@add_to_class(Value)
def __pow__(self, n):
    if isinstance(n, Value):
        if self.data <= 0:
            raise ValueError("the base must be above 0")
        p = self.data ** n.data
        return Value(p, [self, n], [n.data * self.data ** (n.data - 1), p * math.log(self.data)], "**")
    return Value(self.data ** n, [self], [n * self.data ** (n - 1)], "**")
""",
)
value_pow.variant(
    "both cases collected in lists",
    source="""
@add_to_class(Value)
def __pow__(self, exponent):
    n = exponent.data if isinstance(exponent, Value) else exponent
    power, slope = power_and_slope(self.data, n)
    parents, slopes = [self], [slope]
    if isinstance(exponent, Value):
        parents.append(exponent)
        slopes.append(power * math.log(self.data))
    return Value(power, parents, slopes, "**")
""",
)
value_pow.variant("no guard: math.log refuses the same", swap=("self.data <= 0", "False"))
value_pow.variant("the guard lets 0 pass: math.log refuses it", swap=("self.data <= 0", "self.data < 0"))
value_pow.variant("the guard begins at −1: math.log refuses the rest", swap=("self.data <= 0", "self.data <= -1"))
