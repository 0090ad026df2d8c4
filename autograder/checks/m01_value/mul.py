"""Check 3 of lesson 01: the product."""

from autograder.checks.check import exercise
from autograder.checks.m01_value.closures import CLOSURES
from autograder.checks.m01_value.operators import gradients, number
from autograder.checks.value_programs import arriving, programs, two

value_mul = exercise("value.mul", "The product of two Values, of a Value and a number, of a Value and itself.")
PRODUCTS = (
    programs(
        "f",
        "a * b",
        "a * a",
        "a * 2.5",
        "a * 2",
        "a * (b * a)",
        "b * np.float64(0.5)",
        "b * 0",
        operators="*",
        nested=False,
        left=False,
    )
    * two()
)

value_mul.aspect("the gradients of a and b", 1.5, cases=PRODUCTS.add(up=arriving), device=6)(gradients)
value_mul.aspect("the number and the op; a and b stay", 0.5, cases=PRODUCTS, few=20)(number)


value_mul.mistake(
    "each factor keeps its own value as local derivative, not the other's",
    swap=("(other.data, self.data)", "(self.data, other.data)"),
    hint=[
        "Wiggle only a: how much does a · b move? Is that a, or is it b?",
        "The order of the derivatives is the order of the parents: for self the number other.data.",
    ],
)
value_mul.mistake(
    "the rule of the sum is noted: 1 and 1",
    swap=("(other.data, self.data)", "(1.0, 1.0)"),
    hint=["Let b be 100. Wiggle a by 1: does the product move by 1?", "For a it is b, for b it is a."],
)
value_mul.mistake(
    "the product itself is noted as both local derivatives",
    swap=("(other.data, self.data)", "(self.data * other.data, self.data * other.data)"),
    hint=["The strip in the drawing: bit times which side?", "One side only: b for a, a for b."],
)
value_mul.mistake(
    "a · 2.5 is not handled: the number has no `.data`",
    swap=("other = as_value(other)", "pass"),
    hint=["What is `other` in a * 2.5?", "First line: `other = as_value(other)`."],
)
value_mul.mistake(
    "b · 2 is not handled: 2 is no `float`, but an `int`",
    swap=("other = as_value(other)", "other = Value(other) if isinstance(other, float) else other"),
    hint=["What is isinstance(2, float)?", "`as_value(other)` takes numbers of every kind."],
)
value_mul.mistake(
    "the boxes are noted as local derivatives, not their numbers",
    swap=("(other.data, self.data)", "(other, self)"),
    hint=["A local derivative is a number. What is `other`?", "`(other.data, self.data)`."],
)
value_mul.mistake(
    "`Value(self * other, …)` asks for the product of the two boxes, so `__mul__` calls itself without end",
    swap=("self.data * other.data", "self * other"),
    hint=["Whom does Python ask at self * other?", "Multiply the numbers: `self.data * other.data`."],
)
value_mul.mistake(
    "the product is divided by each factor, and a factor may be 0",
    swap=("(other.data, self.data)", "(self.data * other.data / self.data, self.data * other.data / other.data)"),
    hint=["What is 0 / 0?", "Product over a is b: take b itself, `other.data`."],
)
value_mul.mistake(
    "a is changed: `self.data *=` writes the product into it, too",
    source="""
@add_to_class(Value)
def __mul__(self, other):
    other = as_value(other)
    local_derivatives = (other.data, self.data)
    self.data *= other.data
    return Value(self.data, (self, other), local_derivatives, "*")
""",
    hint=["What is in a after a * b?", "`self.data * other.data`, without `=`."],
)
value_mul.mistake(
    "only the left factor is noted as a parent",
    swap=("(self, other), (other.data, self.data)", "(self,), (other.data,)"),
    hint=["b moves the product, too. Does the product know b?", "Two parents, two local derivatives."],
)
value_mul.mistake(
    "only the right factor gets a gradient: the left one counts as a constant",
    swap=("(other.data, self.data)", "(0.0, self.data)"),
    hint=["If only a moves, does a · b stand still?", "The local derivative for self is other.data."],
)
value_mul.mistake(
    "the product knows no parents: the graph is cut here",
    swap=(', (self, other), (other.data, self.data), "*"', ""),
    hint=[
        "The number is right, but where does it say what it was computed from?",
        "`Value(number, parents, local_derivatives, op)`: give it all four.",
    ],
)
value_mul.mistake(
    "the number is still the sum: copied from `__add__`",
    swap=("self.data * other.data, (", "self.data + other.data, ("),
    hint=["Look at the first thing you give to Value(…).", "`self.data * other.data`."],
)
value_mul.mistake(
    "`grad =` overwrites in the closure: of a · a only one path is left",
    source="""
@add_to_class(Value)
def __mul__(self, other):
    other = as_value(other)
    out = Value(self.data * other.data, (self, other), op="*")

    def _backward():
        self.grad = other.data * out.grad
        other.grad = self.data * out.grad
    out._backward = _backward
    return out
""",
    hint=[
        "In a · a the same box is reached twice. What does the second `=` do to the first?",
        "`+=`: over paths we add.",
    ],
)
value_mul.mistake(
    "the closure forgets the gradient that arrives",
    source="""
@add_to_class(Value)
def __mul__(self, other):
    other = as_value(other)
    out = Value(self.data * other.data, (self, other), op="*")

    def _backward():
        self.grad += other.data
        other.grad += self.data
    out._backward = _backward
    return out
""",
    hint=["Along a path we multiply. What came down the path so far?", "Local derivative times `out.grad`."],
)
value_mul.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_mul.variant(
    "parents the other way round",
    source="""
@add_to_class(Value)
def __mul__(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return Value(other.data * self.data, [other, self], [self.data, other.data], op="*")
""",
)
value_mul.variant(
    "a square is one edge, a number is no parent",
    source="""
@add_to_class(Value)
def __mul__(self, other):
    if other is self:
        return Value(self.data ** 2, (self,), (2 * self.data,), "*")
    if not isinstance(other, Value):
        return Value(self.data * other, (self,), (other,), "*")
    return Value(self.data * other.data, (self, other), (other.data, self.data), "*")
""",
)
