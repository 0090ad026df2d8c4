"""Check 8 of lesson 01: the rectifier."""

from autograder.checks.cases import number
from autograder.checks.check import exercise
from autograder.checks.m01_value.closures import CLOSURES
from autograder.checks.m01_value.operators import function
from autograder.checks.value_programs import arriving, programs

value_relu = exercise("value.relu", "The rectifier: right of 0, left of 0, at 0.")
NUMBERS = number("a", 2.0, -3.0, 0.5, -0.5, 7.0, -70.0, 70.0, 0.001, -0.001, 1e-9, 1e6, -1e6).where(lambda a: a != 0)
PROGRAMS = programs("f", "a.relu()", "a.relu().relu()", "(a * a).relu()", "(a + a).relu()", operators="", names="a")

value_relu.aspect("relu, and its gradient", 1.5, cases=PROGRAMS * NUMBERS.add(up=arriving), device=4)(function)
value_relu.aspect(
    "the gradient at 0", 0.25, corner=True, few=10, many=16, cases=PROGRAMS * number("a", 0.0, -0.0).add(up=arriving)
)(function)


@value_relu.aspect("a box of its own, with one parent", 0.25, cases=NUMBERS, corner=True, few=10, many=24)
def box(student, case):
    a = student.Value(case.a)
    return {"the parent is a": any(parent is a for parent in a.relu().parents)}


value_relu.mistake(
    "at 0 the gradient is let through",
    swap=("self.data > 0", "self.data >= 0"),
    hint=["At the kink a choice is needed; the docstring makes it.", "0 at 0: `>`, not `>=`."],
)
value_relu.mistake(
    "at 0 the mean of both slopes is taken",
    swap=("else 0.0,)", "else 0.5 * (self.data == 0),)"),
    hint=["That is what a central difference measures at a kink; the docstring makes another choice.", "0 at 0."],
)
value_relu.mistake(
    "the gradient is let through on both sides",
    swap=("(1.0 if self.data > 0 else 0.0,)", "(1.0,)"),
    hint=["Left of 0 the result does not move at all.", "The local derivative is 0 where a ≤ 0."],
)
value_relu.mistake(
    "the result is noted as local derivative, not its slope",
    swap=("1.0 if self.data > 0", "self.data if self.data > 0"),
    hint=["Wiggle a = 5 by a bit: does relu(a) move by 5 bits?", "1 where a > 0."],
)
value_relu.mistake(
    "the result is the mask, 0 or 1, not a",
    swap=("max(self.data, 0.0)", "self.data > 0"),
    hint=["relu(3) is 3.", "max(0, a)."],
)
value_relu.mistake(
    "left of 0 it leaks: a hundredth comes through",
    swap=[("max(self.data, 0.0)", "max(self.data, 0.01 * self.data)"), ("else 0.0", "else 0.01")],
    hint=["That is a leaky ReLU: a good thing, but another one.", "0 where a ≤ 0, result and slope."],
)
value_relu.mistake(
    "it is the absolute value: left of 0 the sign is flipped",
    source="""
@add_to_class(Value)
def relu(self):
    return Value(abs(self.data), (self,), (1.0 if self.data > 0 else -1.0 if self.data < 0 else 0.0,), "relu")
""",
    hint=["relu(−3) is 0.", "max(0, a)."],
)
value_relu.mistake(
    "a plain 0 is returned left of 0, not a Value",
    source="""
@add_to_class(Value)
def relu(self):
    if self.data <= 0:
        return 0.0
    return Value(self.data, (self,), (1.0,), "relu")
""",
    hint=["What is the type of relu(−3)?", "A `Value` on both sides."],
)
value_relu.mistake(
    "the sign of the gradient decides, not the sign of a",
    source="""
@add_to_class(Value)
def relu(self):
    out = Value(max(0.0, self.data), (self,), op="relu")

    def _backward():
        self.grad += max(0.0, out.grad)
    out._backward = _backward
    return out
""",
    hint=["Whether a nudge comes through depends on where a is.", "`(self.data > 0) * out.grad`."],
)
value_relu.mistake(
    "the closure forgets the gradient that arrives",
    source="""
@add_to_class(Value)
def relu(self):
    out = Value(max(0.0, self.data), (self,), op="relu")

    def _backward():
        self.grad += self.data > 0
    out._backward = _backward
    return out
""",
    hint=["Along a path we multiply. What came down the path so far?", "Local derivative times `out.grad`."],
)
value_relu.mistake(
    "the result is cut off at 6",
    swap=[("max(self.data, 0.0)", "min(max(self.data, 0.0), 6.0)"), ("if self.data > 0", "if 0 < self.data < 6")],
    hint=["That is ReLU6, which some networks for telephones use. What is relu(70)?", "max(0, a), with no upper end."],
)
value_relu.mistake(
    "a is changed: the result is written into it, too",
    swap=("return Value(max(self.data, 0.0)", "self.data = max(self.data, 0.0)\n    return Value(self.data"),
    hint=["What is in b after b.relu()?", "Leave `self.data` as it is; the result belongs into the new Value."],
)
value_relu.mistake(
    "no box of its own is made: a itself is returned, or a constant that does not know a",
    source="""
@add_to_class(Value)
def relu(self):
    return self if self.data > 0 else Value(0)
""",
    hint=[
        "The docstring shows one local derivative for each of −2, 0 and 2.",
        "A new `Value` on both sides of 0, with the parent `(self,)`.",
    ],
)
value_relu.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_relu.variant(
    "max, and a truth value as slope",
    source="""
@add_to_class(Value)
def relu(self):
    return Value(max(0, self.data), [self], [self.data > 0], "ReLU")
""",
)
value_relu.variant(
    "times a mask, so that −0.0 comes out",
    source="""
@add_to_class(Value)
def relu(self):
    return self * float(self.data > 0)
""",
)
