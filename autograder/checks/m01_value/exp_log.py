"""Check 6 of lesson 01: exp and log."""

from autograder.checks.cases import number
from autograder.checks.check import exercise
from autograder.checks.m01_value.closures import CLOSURES
from autograder.checks.m01_value.operators import function
from autograder.checks.value_programs import arriving, programs

value_exp_log = exercise("value.exp_log", "The exponential and the logarithm, alone and one in the other.")

EXPS = programs("f", "a.exp()", "a.exp().exp()", operators="", names="a") * number(
    "a", 1.0, -2.0, 0.0, 3.0, -1.0, 0.5
) + programs("f", "a.exp()", names="a") * number("a", -30.0, 30.0, 5.0, 200.0, -200.0, low=-30.0, high=30.0)
LOGS = programs("f", "a.log()", "(a * a).log()", operators="", names="a") * number(
    "a", 4.0, 0.5, 1.0, 10.0, 0.01, 0.0001, 1e-9, 1e6, low=0.05, high=9.0
) + programs("f", "a.exp().log()", operators="", names="a") * number("a", -0.5, 2.0)
value_exp_log.aspect("exp, and its gradient", 0.9, cases=EXPS.add(up=arriving), device=3, atol=0.0)(function)
value_exp_log.aspect("log, and its gradient", 0.9, cases=LOGS.add(up=arriving), device=3, atol=0.0)(function)


@value_exp_log.aspect(
    "ValueError for the log of what is not above 0",
    0.2,
    corner=True,
    few=8,
    many=24,
    cases=number("a", -1.0, 0.0, -0.5, -2.0, -30.0, high=-0.01),
)
def refused(student, case):
    return student.Value(case.a).log().data


value_exp_log.mistake(
    "exp is treated as a power: n · aⁿ⁻¹",
    swap=("(result,)", "(self.data * math.exp(self.data - 1),)"),
    hint=["In eᵃ the variable stands in the exponent, not in the base.", "∂eᵃ/∂a = eᵃ, the result itself."],
)
value_exp_log.mistake(
    "exp keeps a as its local derivative, not the result",
    swap=("(result,)", "(self.data,)"),
    hint=["exp is its own slope: which number is that?", "The local derivative is `result`."],
)
value_exp_log.mistake(
    "exp has the local derivative 1",
    swap=("(result,)", "(1.0,)"),
    hint=["Is eᵃ as steep at 3 as at 0?", "The local derivative is `result`."],
)
value_exp_log.mistake(
    "the slope of exp is taken at the result, not at a",
    swap=("(result,)", "(math.exp(result),)"),
    hint=["exp is applied once too often.", "The local derivative is `result` as it is."],
)
value_exp_log.mistake(
    "log keeps 1 / ln a as its local derivative",
    swap=("1.0 / self.data", "1.0 / math.log(self.data)"),
    hint=["One over what: the result or the input?", "1 / a."],
)
value_exp_log.mistake(
    "log keeps a, not 1 / a",
    swap=("1.0 / self.data", "self.data"),
    hint=["Is the logarithm steeper at 10 than at 1?", "1 / a."],
)
value_exp_log.mistake(
    "the logarithm has the base 10",
    swap=("Value(math.log(self.data)", "Value(math.log10(self.data)"),
    hint=["Which logarithm has the slope 1 / a?", "math.log, to the base e."],
)
value_exp_log.mistake(
    "log accepts numbers that have no logarithm",
    source="""
@add_to_class(Value)
def exp(self):
    result = math.exp(self.data)
    return Value(result, (self,), (result,), "exp")

@add_to_class(Value)
def log(self):
    safe = max(abs(self.data), 1e-12)
    return Value(math.log(safe), (self,), (1.0 / safe,), "log")
""",
    hint=[
        "A wrong number that looks right costs more time than an error.",
        "ValueError unless a > 0: math.log says it by itself.",
    ],
)
value_exp_log.mistake(
    "exp and log know no parents: the graph is cut here",
    source="""
@add_to_class(Value)
def exp(self):
    return Value(math.exp(self.data))

@add_to_class(Value)
def log(self):
    return Value(math.log(self.data))
""",
    hint=[
        "The numbers are right. Do they know what they came from?",
        "One parent, `(self,)`, and one local derivative.",
    ],
)
value_exp_log.mistake(
    "the closures forget the gradient that arrives",
    source="""
@add_to_class(Value)
def exp(self):
    out = Value(math.exp(self.data), (self,), op="exp")

    def _backward():
        self.grad += out.data
    out._backward = _backward
    return out

@add_to_class(Value)
def log(self):
    out = Value(math.log(self.data), (self,), op="log")

    def _backward():
        self.grad += 1 / self.data
    out._backward = _backward
    return out
""",
    hint=["Along a path we multiply. What came down the path so far?", "Local derivative times `out.grad`."],
)
value_exp_log.mistake(
    "`(self)` has no comma, so it is no tuple",
    swap=("(self,)", "(self)"),
    hint=["What does Python say to type((2.0))?", "`(self,)`."],
)
value_exp_log.mistake(
    "log adds a small number to a, to be safe from 0",
    source="""
@add_to_class(Value)
def exp(self):
    result = math.exp(self.data)
    return Value(result, (self,), (result,), "exp")

@add_to_class(Value)
def log(self):
    if self.data <= 0:
        raise ValueError("no logarithm")
    return Value(math.log(self.data + 1e-8), (self,), (1.0 / (self.data + 1e-8),), "log")
""",
    hint=[
        "Near 0 the logarithm is steep. What does your small number do to ln 0.0001?",
        "`math.log(self.data)`; at 0 an error is wanted.",
    ],
)
value_exp_log.mistake(
    "exp clamps its input, to be safe from large numbers",
    swap=("math.exp(self.data)", "math.exp(min(self.data, 20.0))"),
    hint=["What comes out for a = 30?", "`math.exp(self.data)`; where no float is large enough, Python says so."],
)
value_exp_log.mistake(
    "a is changed: the result is written into it, too",
    swap=[
        ("result = math.exp(self.data)", "self.data = result = math.exp(self.data)"),
        (
            "return Value(math.log(self.data), (self,), (1.0 / self.data,)",
            "slope, self.data = 1.0 / self.data, math.log(self.data)\n    return Value(self.data, (self,), (slope,)",
        ),
    ],
    hint=["What is in a after a.exp()?", "Give the result a name of its own; leave `self.data` as it is."],
)
value_exp_log.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_exp_log.variant(
    "NumPy's functions",
    source="""
import numpy as np

@add_to_class(Value)
def exp(self):
    e = np.exp(self.data)
    return Value(e, [self], [e], "exp")

@add_to_class(Value)
def log(self):
    if not self.data > 0:
        raise ValueError("no logarithm")
    return Value(np.log(self.data), [self], [np.divide(1, self.data)], "log")
""",
)
value_exp_log.variant(
    "e to the power, from other operations",
    source="""
@add_to_class(Value)
def exp(self):
    return math.e ** self

@add_to_class(Value)
def log(self):
    return Value(math.log(self.data), (self,), (self.data ** -1,), "ln")
""",
)
value_exp_log.variant("no guard: math.log refuses the same", swap=("self.data <= 0", "False"))
value_exp_log.variant("the guard lets 0 pass: math.log refuses it", swap=("self.data <= 0", "self.data < 0"))
value_exp_log.variant("the guard begins at −1: math.log refuses the rest", swap=("self.data <= 0", "self.data <= -1"))
