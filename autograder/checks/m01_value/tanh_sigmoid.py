"""Check 7 of lesson 01: tanh and sigmoid."""

from autograder.checks.cases import number
from autograder.checks.check import exercise
from autograder.checks.m01_value.closures import CLOSURES
from autograder.checks.m01_value.operators import function
from autograder.checks.value_programs import arriving, programs

value_tanh_sigmoid = exercise("value.tanh_sigmoid", "Two S-shaped curves, on both sides of 0, near it and far out.")
NUMBERS = number("a", 1.0, -0.5, 0.0, 2.0, -3.0, 0.01, 5.0, -6.0, 20.0, -20.0)
FAR = number("a", 1000.0, -1000.0, 400.0, -400.0, -40.0, 40.0, -710.0, 710.0)

for name, points in (("tanh", 1.25), ("sigmoid", 1.25)):
    cases = programs("f", f"a.{name}()", f"a.{name}().{name}()", f"(a * a).{name}()", operators="", names="a") * NUMBERS
    value_tanh_sigmoid.aspect(f"{name}, and its gradient", points, cases=cases.add(up=arriving), device=4)(function)
value_tanh_sigmoid.aspect(
    "both, far out",
    0.5,
    cases=programs("f", "a.sigmoid()", "a.tanh()", operators="", names="a") * FAR.add(up=arriving),
    few=16,
    many=40,
)(function)


value_tanh_sigmoid.mistake(
    "tanh's derivative is 1 − t, the square is missing",
    swap=("1.0 - t * t", "1.0 - t"),
    hint=["tanh is as steep at −a as at a. Is yours?", "1 − t²."],
)
value_tanh_sigmoid.mistake(
    "tanh's derivative is 1 − a², with the input in place of the result",
    swap=("1.0 - t * t", "1.0 - self.data * self.data"),
    hint=["Far out, tanh is flat: 0. What is 1 − a² for a = 5?", "1 − t², with t = tanh a."],
)
value_tanh_sigmoid.mistake(
    "tanh's derivative is 1 − tanh(t)²: tanh is applied twice",
    swap=("1.0 - t * t", "1.0 - math.tanh(t) ** 2"),
    hint=["t is tanh a already.", "1 − t², nothing more."],
)
value_tanh_sigmoid.mistake(
    "tanh's derivative is 1 + t²: the sign of the tangent's",
    swap=("1.0 - t * t", "1.0 + t * t"),
    hint=["Where is tanh steepest: at 0 or far out?", "1 − t². The plus belongs to tan."],
)
value_tanh_sigmoid.mistake(
    "tanh knows no parent: the graph is cut here",
    swap=('Value(t, (self,), (1.0 - t * t,), "tanh")', "Value(t)"),
    hint=["The number is right. Does it know what it came from?", "One parent, `(self,)`, and one local derivative."],
)
value_tanh_sigmoid.mistake(
    "sigmoid's derivative is a · (1 − a), with the input in place of the result",
    swap=("s * (1.0 - s)", "self.data * (1.0 - self.data)"),
    hint=["A slope of sigmoid is never negative. Yours?", "s · (1 − s), with the result s."],
)
value_tanh_sigmoid.mistake(
    "sigmoid got tanh's rule, 1 − s²",
    swap=("s * (1.0 - s)", "1.0 - s * s"),
    hint=["Far to the left, sigmoid is 0 and flat. What is 1 − 0²?", "s · (1 − s)."],
)
value_tanh_sigmoid.mistake(
    "sigmoid's derivative is s alone: (1 − s) is missing",
    swap=("s * (1.0 - s)", "s"),
    hint=["Far to the right sigmoid is 1 and flat.", "s · (1 − s)."],
)
value_tanh_sigmoid.mistake(
    "sigmoid has the wrong sign in the exponent, so it falls",
    swap=("1.0 if self.data >= 0 else small", "small if self.data >= 0 else 1.0"),
    hint=["sigmoid should go up from left to right.", "1 / (1 + e⁻ᵃ): the exponent is −a."],
)
value_tanh_sigmoid.mistake(
    "sigmoid asks for e¹⁰⁰⁰, and no float is that large",
    source="""
@add_to_class(Value)
def tanh(self):
    t = math.tanh(self.data)
    return Value(t, (self,), (1 - t ** 2,), "tanh")

@add_to_class(Value)
def sigmoid(self):
    s = 1 / (1 + math.exp(-self.data))
    return Value(s, (self,), (s * (1 - s),), "sigmoid")
""",
    hint=[
        "The formula is right. Which exponent does it meet at a = −1000?",
        "For negative a: math.exp(a) / (1 + math.exp(a)), the same number, and nothing large in it.",
    ],
)
value_tanh_sigmoid.mistake(
    "tanh asks for e²ᵃ, and no float is that large for a = 400",
    swap=("t = math.tanh(self.data)", "e = math.exp(2 * self.data); t = (e - 1) / (e + 1)"),
    hint=["The formula is right. Which exponent does it meet at a = 400?", "`math.tanh(self.data)`."],
)
value_tanh_sigmoid.mistake(
    "the closures forget the gradient that arrives",
    source="""
@add_to_class(Value)
def tanh(self):
    out = Value(math.tanh(self.data), (self,), op="tanh")

    def _backward():
        self.grad += 1 - out.data ** 2
    out._backward = _backward
    return out

@add_to_class(Value)
def sigmoid(self):
    out = Value((1 + math.tanh(self.data / 2)) / 2, (self,), op="sigmoid")

    def _backward():
        self.grad += out.data * (1 - out.data)
    out._backward = _backward
    return out
""",
    hint=["Along a path we multiply. What came down the path so far?", "Local derivative times `out.grad`."],
)
value_tanh_sigmoid.mistake(
    "sigmoid has a case for a > 0 and one for a < 0, and none for 0",
    source="""
@add_to_class(Value)
def tanh(self):
    t = math.tanh(self.data)
    return Value(t, (self,), (1 - t ** 2,), "tanh")

@add_to_class(Value)
def sigmoid(self):
    if self.data > 0:
        s = 1 / (1 + math.exp(-self.data))
    if self.data < 0:
        s = math.exp(self.data) / (1 + math.exp(self.data))
    return Value(s, (self,), (s * (1 - s),), "sigmoid")
""",
    hint=["Which of your cases takes a = 0?", "`else` in place of the second condition."],
)
value_tanh_sigmoid.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_tanh_sigmoid.variant(
    "made of exp and /",
    source="""
@add_to_class(Value)
def tanh(self):
    e = (-2 * (self if self.data >= 0 else -self)).exp()
    return (1 - e) / (1 + e) * (1 if self.data >= 0 else -1)

@add_to_class(Value)
def sigmoid(self):
    if self.data >= 0:
        return 1 / (1 + (-self).exp())
    return self.exp() / (1 + self.exp())
""",
)
value_tanh_sigmoid.variant(
    "NumPy, where exp(1000) is inf",
    source="""
import numpy as np

@add_to_class(Value)
def tanh(self):
    t = np.tanh(self.data)
    return Value(t, [self], [1 - t ** 2], "tanh")

@add_to_class(Value)
def sigmoid(self):
    with np.errstate(over="ignore"):
        s = 1 / (1 + np.exp(-self.data))
    return Value(s, [self], [s * (1 - s)], "sigmoid")
""",
)
value_tanh_sigmoid.variant(
    "sigmoid is a tanh",
    source="""
@add_to_class(Value)
def tanh(self):
    t = math.tanh(self.data)
    return Value(t, (self,), ((1 + t) * (1 - t),), "tanh")

@add_to_class(Value)
def sigmoid(self):
    return 0.5 + 0.5 * (0.5 * self).tanh()
""",
)
value_tanh_sigmoid.variant("at 0 both branches give 1", swap=("self.data >= 0", "self.data > 0"))
