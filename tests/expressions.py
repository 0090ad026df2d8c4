"""Random expressions of engine 1, for the tests that hold one way to a gradient against another."""

import math
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from hypothesis import assume
from hypothesis import strategies as st

from tinygrad_cl import scalar
from tinygrad_cl.netcl.ops import table  # noqa: F401 (fills PRIMITIVES)
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES
from tinygrad_cl.scalar import Value, topological_order

# What one step does with two of the results so far. Every rule is there; arguments stay where each function is defined.
STEPS = {
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "a * b": lambda a, b: a * b,
    "a / (b * b + 1)": lambda a, b: a / (b * b + 1),
    "a ** 3": lambda a, b: a**3,
    "(a * a + 1) ** b": lambda a, b: (a * a + 1) ** b.tanh(),
    "(a * a + 0.5) ** -0.5": lambda a, b: (a * a + 0.5) ** -0.5,
    "2 ** tanh a": lambda a, b: 2 ** a.tanh(),
    "3 - a": lambda a, b: 3 - a,
    "2 / (a * a + 1)": lambda a, b: 2 / (a * a + 1),
    "-a": lambda a, b: -a,
}


def function(record):
    """A step with the function of Value that has the name of engine 3's record, on an argument within its domain."""
    low = record.domain[0]
    return lambda a, b: getattr(a.tanh() if low == -math.inf else a * a + (low + 0.5), record.name)() + b


STEPS |= {f"{name} + b": function(PRIMITIVES[name]) for name in PRIMITIVES if name in vars(Value)}


@dataclass(frozen=True)
class Expression:
    """A function of three numbers: each step (name, i, j) takes results i and j, counted from the last one, and adds one."""

    steps: tuple

    def __call__(self, *inputs):
        results = list(inputs)
        for name, i, j in self.steps:
            results.append(STEPS[name](results[-1 - i % len(results)], results[-1 - j % len(results)]))
        return results[-1]


@st.composite
def expressions(draw, max_steps=15):
    """(an Expression, three inputs) of which differences say something.

    No huge numbers, no ReLU near its kink, and no result far below the numbers that it was computed from: a checker sees
    the result alone, and what is rounded off the others is as large as they are.
    """
    step = st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 3), st.integers(0, 9))
    f = Expression(tuple(draw(st.lists(step, min_size=1, max_size=max_steps))))
    number = st.floats(0.1, 2).map(lambda x: round(x, 3))
    inputs = draw(
        st.lists(
            st.tuples(number, st.sampled_from([-1, 1])).map(lambda pair: pair[0] * pair[1]), min_size=3, max_size=3
        )
    )
    nodes = topological_order(f(*map(Value, inputs)))
    assume(all(abs(node.data) < min(100, 20 * abs(nodes[-1].data)) for node in nodes))
    assume(all(abs(node.parents[0].data) > 0.05 for node in nodes if node.op == "relu"))
    return f, inputs


# Edits of engine 1 that make some gradient wrong: every checker has to notice.
MUTANTS = {
    "+ with 2.001 for 2 in all": ('(1.0, 1.0), "+"', '(1.0005, 1.0005), "+"'),
    "+ forgets its right operand": ('(1.0, 1.0), "+"', '(1.0, 0.0), "+"'),
    "* keeps each factor's own value": ("(other.data, self.data)", "(self.data, other.data)"),
    "** without the exponent as factor": ("exponent * base ** (exponent - 1)", "base ** (exponent - 1)"),
    "** with the exponent not lowered": ("exponent * base ** (exponent - 1)", "exponent * base ** exponent"),
    "** without ln a": ("power * math.log(self.data)", "power"),
    "exp with slope 1": ('(result,), "exp"', '(1.0,), "exp"'),
    "log with slope a": ("1.0 / self.data", "self.data"),
    "tanh of the wrong variable": ("1.0 - t * t", "1.0 - self.data * self.data"),
    "sigmoid without its second factor": ("s * (1.0 - s)", "s"),
    "relu lets all through": ("1.0 if self.data > 0 else 0.0", "1.0"),
    "overwrites instead of accumulating": ("parent.grad += local_derivative", "parent.grad = local_derivative"),
    "walks forwards": ("in reversed(order)", "in order"),
    "forgets the incoming gradient": ("local_derivative * node.grad", "local_derivative"),
    "starts from zero": ("self.grad += 1.0", "self.grad += 0.0"),
}


def mutant(name):
    """Engine 1's module with one edit of its text."""
    old, new = MUTANTS[name]
    text = Path(scalar.__file__).read_text(encoding="utf-8")
    assert text.count(old) == 1, f"the edit of «{name}» fits {text.count(old)} places"
    module = ModuleType("mutant")
    exec(compile(text.replace(old, new), "mutant", "exec"), vars(module))
    return module
