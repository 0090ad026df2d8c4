"""Check 5 of lesson 01: the operations made of others."""

from autograder.checks.check import exercise
from autograder.checks.m01_value.closures import CLOSURES
from autograder.checks.m01_value.operators import whole
from autograder.checks.value_programs import arriving, programs, two

value_derived = exercise(
    "value.derived", "Minus, divided by, and a number on the left.", needs=("value.add", "value.mul", "value.pow")
)

OPERATORS = {  # points, and programs
    "−a": (0.25, "-a", "-(a * b)", "-(-a)"),
    "a − b": (0.5, "a - b", "a - 2.5", "a - a", "a - 2", "(s := a + b) - a * s", "a - np.float64(0.5)"),
    "a / b": (0.5, "a / b", "a / 2.5", "a / a", "a / 4", "(s := a * b) / (s + a)", "a / np.float64(0.5)"),
    "2.5 + a": (0.25, "2.5 + a", "sum([a, b, a])", "2 + a * b", "0 + a", "np.float64(0.5) + a"),
    "2.5 − a": (0.5, "2.5 - a", "2 - a * b", "0 - a", "np.float64(0.5) - b"),
    "2.5 · a": (0.25, "2.5 * a", "2 * (a + b)", "0 * a", "np.float64(0.5) * b"),
    "2.5 / a": (0.5, "2.5 / a", "2 / (a * b)", "0 / a", "1 / b", "np.float64(0.5) / b"),
    "2.5 ** a": (0.25, "2.5 ** a", "2 ** (a * b)", "1 ** b", "np.float64(0.5) ** b"),
}
NUMBERS = two((2.0, -3.0), (-0.5, 1.5), (2.0, 2.0), (1.0, 3.0), (-3.0, -0.5))

for name, (points, *texts) in OPERATORS.items():
    cases = programs("f", *texts, operators="") * NUMBERS
    value_derived.aspect(name, points, cases=cases.add(up=arriving), device=2, few=7, many=32)(whole)


value_derived.mistake(
    "`__rsub__` computes self − other: the number stood on the left",
    swap=("as_value(other) - self", "self - as_value(other)"),
    hint=["At 5 − a Python calls a.__rsub__(5). Which of the two is self?", "other − self, with `as_value(other)`."],
)
value_derived.mistake(
    "`__rtruediv__` computes self / other: the number stood on the left",
    swap=("as_value(other) / self", "self / as_value(other)"),
    hint=[
        "At 5 / a Python calls a.__rtruediv__(5). Which of the two is self?",
        "other / self, with `as_value(other)`.",
    ],
)
value_derived.mistake(
    "`__rpow__` computes self ** other: the number stood on the left",
    swap=("as_value(other) ** self", "self ** other"),
    hint=["At 2 ** a Python calls a.__rpow__(2). Which of the two is the base?", "`as_value(other) ** self`."],
)
value_derived.mistake(
    "`__radd__` calls itself without end",
    swap=("as_value(other) + self", "other + self"),
    hint=[
        "Inside, `other` is still a plain number. Whom does Python ask at number + Value?",
        "`as_value(other) + self`, or `self + other`.",
    ],
)
value_derived.mistake(
    "`__rmul__` calls itself without end",
    swap=("as_value(other) * self", "other * self"),
    hint=[
        "Inside, `other` is still a plain number. Whom does Python ask at number * Value?",
        "`as_value(other) * self`, or `self * other`.",
    ],
)
value_derived.mistake(
    "`__rsub__` calls itself without end",
    swap=("as_value(other) - self", "other - self"),
    hint=[
        "Inside, `other` is still a plain number. Whom does Python ask at number − Value?",
        "`as_value(other) - self`.",
    ],
)
value_derived.mistake(
    "`__rtruediv__` calls itself without end",
    swap=("as_value(other) / self", "other / self"),
    hint=[
        "Inside, `other` is still a plain number. Whom does Python ask at number / Value?",
        "`as_value(other) / self`.",
    ],
)
value_derived.mistake(
    "−a asks for 0 − a, 0 − a asks for −a, and so on without end",
    swap=("self * -1.0", "0 - self"),
    hint=[
        "Follow it: which method answers 0 − self, and what does that one ask for?",
        "−a is a · (−1): `self * -1.0`.",
    ],
)
value_derived.mistake(
    "`__radd__` knows only a `float` on the left, and sum(…) begins with the whole number 0",
    swap=("as_value(other) + self", "(Value(other) if isinstance(other, float) else other) + self"),
    hint=["sum([a, b]) is 0 + a + b. Who adds 0 and a?", "`as_value(other) + self` takes numbers of every kind."],
)
value_derived.mistake(
    "a − 2.5 is a new leaf: the graph is cut where a number is subtracted",
    swap=("self + -as_value(other)", "self + -other if isinstance(other, Value) else Value(self.data - other)"),
    hint=[
        "The number is right. Does a − 2.5 know that it came from a?",
        "One line serves both: `self + -as_value(other)`.",
    ],
)
value_derived.mistake(
    "a − b is computed as b − a",
    swap=("self + -as_value(other)", "as_value(other) + -self"),
    hint=["Which of the two gets the minus?", "self + (−other)."],
)
value_derived.mistake(
    "`__sub__` adds: the minus is lost",
    swap=("self + -as_value(other)", "self + as_value(other)"),
    hint=["Try it with 5 − 3.", "self + (−other)."],
)
value_derived.mistake(
    "a − b hands b its gradient without the minus",
    swap=(
        "return self + -as_value(other)",
        """other = as_value(other)
    return Value(self.data - other.data, (self, other), (1.0, 1.0), "-")""",
    ),
    hint=[
        "If b goes up, where does a − b go?",
        "The local derivatives are 1 and −1; or let + and − do it: self + (−other).",
    ],
)
value_derived.mistake(
    "−a is a new leaf: the graph is cut here",
    swap=("self * -1.0", "Value(-self.data)"),
    hint=["The number is right. Does −a know that it came from a?", "`self * -1.0`: the product knows its parents."],
)
value_derived.mistake(
    "a / b multiplies: the exponent −1 is missing",
    swap=("self * as_value(other) ** -1", "self * as_value(other)"),
    hint=["Try it with 6 / 2.", "a / b = a · b⁻¹."],
)
value_derived.mistake(
    "the minus is missing in the derivative of a / b for b",
    swap=(
        "return self * as_value(other) ** -1",
        """other = as_value(other)
    return Value(self.data / other.data, (self, other), (1 / other.data, self.data / other.data ** 2), "/")""",
    ),
    hint=["If b grows, a / b shrinks.", "∂(a / b)/∂b = −a / b²; or let the product and the power do it."],
)
value_derived.mistake(
    "`2.5 ** a` uses only a's number: the graph is cut here",
    swap=("as_value(other) ** self", "as_value(other) ** self.data"),
    hint=["a is the exponent, and it moves the result. Does the result know it?", "`as_value(other) ** self`."],
)
value_derived.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_derived.variant(
    "sums and products turned round",
    source="""
@add_to_class(Value)
def __neg__(self):
    return -1 * self

@add_to_class(Value)
def __sub__(self, other):
    return self + (-other)

@add_to_class(Value)
def __truediv__(self, other):
    return self * other ** -1

@add_to_class(Value)
def __radd__(self, other):
    return self + other

@add_to_class(Value)
def __rsub__(self, other):
    return -self + other

@add_to_class(Value)
def __rmul__(self, other):
    return self * other

@add_to_class(Value)
def __rtruediv__(self, other):
    return self ** -1 * other

@add_to_class(Value)
def __rpow__(self, other):
    return Value(other) ** self
""",
)
value_derived.variant(
    "each with its own rule",
    source="""
@add_to_class(Value)
def __neg__(self):
    return Value(-self.data, [self], [-1], "neg")

@add_to_class(Value)
def __sub__(self, other):
    other = as_value(other)
    return Value(self.data - other.data, [self, other], [1, -1], "-")

@add_to_class(Value)
def __truediv__(self, other):
    other = as_value(other)
    return Value(self.data / other.data, [self, other], [1 / other.data, -self.data / other.data ** 2], "/")

@add_to_class(Value)
def __radd__(self, other):
    return Value(other + self.data, [self], [1], "+")

@add_to_class(Value)
def __rsub__(self, other):
    return Value(other - self.data, [self], [-1], "-")

@add_to_class(Value)
def __rmul__(self, other):
    return Value(other * self.data, [self], [other], "*")

@add_to_class(Value)
def __rtruediv__(self, other):
    return Value(other / self.data, [self], [-other / self.data ** 2], "/")

@add_to_class(Value)
def __rpow__(self, other):
    power = other ** self.data
    return Value(power, [self], [power * math.log(other)], "**")
""",
)
value_derived.variant("−a by dividing", swap=("self * -1.0", "self / -1.0"))
value_derived.variant("the sum takes plain numbers itself", swap=("-as_value(other)", "-other"))
value_derived.variant("a plain number has a power of its own", swap=("as_value(other) ** -1", "other ** -1"))
