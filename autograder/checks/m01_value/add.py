"""Check 2 of lesson 01: the sum."""

from autograder.checks.check import exercise
from autograder.checks.m01_value.closures import CLOSURES
from autograder.checks.m01_value.operators import gradients, number
from autograder.checks.value_programs import arriving, programs, two

value_add = exercise("value.add", "The sum of two Values, of a Value and a number, of a Value and itself.")
SUMS = (
    programs(
        "f",
        "a + b",
        "a + a",
        "a + 2.5",
        "a + 2",
        "a + (b + a)",
        "b + np.float64(0.5)",
        operators="+",
        nested=False,
        left=False,
    )
    * two()
)

value_add.aspect("the gradients of a and b", 1.5, cases=SUMS.add(up=arriving), device=6)(gradients)
value_add.aspect("the number and the op; a and b stay", 0.5, cases=SUMS, few=20)(number)


value_add.mistake(
    "a + 2.5 is not handled: the number has no `.data`",
    swap=("other = as_value(other)", "pass"),
    hint=["What is `other` in a + 2.5?", "First line: `other = as_value(other)`."],
)
value_add.mistake(
    "a + 2 is not handled: 2 is no `float`, but an `int`",
    swap=("other = as_value(other)", "other = Value(other) if isinstance(other, float) else other"),
    hint=["What is isinstance(2, float)?", "`as_value(other)` takes numbers of every kind."],
)
value_add.mistake(
    "`Value(self + other, …)` asks for the sum of the two boxes, so `__add__` calls itself without end",
    swap=("self.data + other.data", "self + other"),
    hint=["Whom does Python ask at self + other?", "Add the numbers: `self.data + other.data`."],
)
value_add.mistake(
    "a is changed: `self.data +=` writes the sum into it, too",
    swap=("return Value(self.data + other.data,", "self.data += other.data\n    return Value(self.data,"),
    hint=["What is in a after a + b?", "`self.data + other.data`, without `=`."],
)
value_add.mistake(
    "the numbers themselves are noted as local derivatives",
    swap=("(1.0, 1.0)", "(self.data, other.data)"),
    hint=[
        "Wiggle a by a bit. By how many bits does a + b move?",
        "Both local derivatives are 1, whatever a and b are.",
    ],
)
value_add.mistake(
    "the rule of the product is noted: b for a and a for b",
    swap=("(1.0, 1.0)", "(other.data, self.data)"),
    hint=["Wiggle a by a bit. Does it matter for a + b how large b is?", "Both local derivatives are 1."],
)
value_add.mistake(
    "only the left operand is noted as a parent",
    swap=("(self, other), (1.0, 1.0)", "(self,), (1.0,)"),
    hint=["b moves the sum, too. Does the sum know b?", "Two parents, `(self, other)`, and two local derivatives."],
)
value_add.mistake(
    "the sum knows no parents: the graph is cut here",
    swap=(', (self, other), (1.0, 1.0), "+"', ""),
    hint=[
        "The number is right, but where does it say what it was computed from?",
        "`Value(number, parents, local_derivatives, op)`: give it all four.",
    ],
)
value_add.mistake(
    "a is changed in place and returned, no new Value is made",
    source="""
@add_to_class(Value)
def __add__(self, other):
    other = as_value(other)
    self.data += other.data
    return self
""",
    hint=["What is a after a + b?", "Return a new `Value`; leave self as it is."],
)
value_add.mistake(
    "a plain number is returned, not a Value",
    source="""
@add_to_class(Value)
def __add__(self, other):
    return self.data + as_value(other).data
""",
    hint=["A plain number remembers nothing.", "Wrap it: `return Value(self.data + other.data, …)`."],
)
value_add.mistake(
    "the nudge is shared: each side gets a half",
    swap=("(1.0, 1.0)", "(0.5, 0.5)"),
    hint=[
        "If only a goes up by a bit, does a + b go up by half of it?",
        "Each local derivative asks about one parent alone: 1 and 1.",
    ],
)
value_add.mistake(
    "`grad =` overwrites in the closure: of a + a only one path is left",
    source="""
@add_to_class(Value)
def __add__(self, other):
    other = as_value(other)
    out = Value(self.data + other.data, (self, other), op="+")

    def _backward():
        self.grad = out.grad
        other.grad = out.grad
    out._backward = _backward
    return out
""",
    hint=[
        "In a + a the same box is reached twice. What does the second `=` do to the first?",
        "`+=`: over paths we add.",
    ],
)
value_add.mistake(
    "the closure adds 1 and forgets the gradient that arrives",
    source="""
@add_to_class(Value)
def __add__(self, other):
    other = as_value(other)
    out = Value(self.data + other.data, (self, other), op="+")

    def _backward():
        self.grad += 1.0
        other.grad += 1.0
    out._backward = _backward
    return out
""",
    hint=["Along a path we multiply. By what, here?", "Local derivative times `out.grad`."],
)
value_add.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_add.variant(
    "whole numbers and lists",
    source="""
@add_to_class(Value)
def __add__(self, other):
    if not isinstance(other, Value):
        other = Value(other)
    return Value(other.data + self.data, [other, self], [1, 1], "+")
""",
)
value_add.variant(
    "a number is a constant, no parent",
    source="""
@add_to_class(Value)
def __add__(self, other):
    if isinstance(other, (int, float)):
        return Value(self.data + other, (self,), (1.0,), "+")
    return Value(self.data + other.data, (self, other), (1.0, 1.0), "+")
""",
)
value_add.variant(
    "the parents the other way round: both derivatives are 1", swap=("(self, other), (1", "(other, self), (1")
)
