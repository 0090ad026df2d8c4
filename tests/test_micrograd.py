"""tinygrad_cl.micrograd: engine 1 by micrograd's names."""

import doctest

import pytest

from tinygrad_cl import micrograd, scalar
from tinygrad_cl.micrograd import Value


def test_the_examples_in_the_docstrings():
    assert doctest.testmod(micrograd).failed == 0


OPERATIONS = {
    "+": lambda a, b: a + b, "*": lambda a, b: a * b, "-": lambda a, b: a - b, "/": lambda a, b: a / b,
    "2 +": lambda a, b: 2 + a, "2 *": lambda a, b: 2 * b, "2 -": lambda a, b: 2 - a, "2 /": lambda a, b: 2 / b,
    "2 **": lambda a, b: 2**a, "** 3": lambda a, b: a**3, "** b": lambda a, b: a**b, "neg": lambda a, b: -a,
    "exp": lambda a, b: a.exp(), "log": lambda a, b: a.log(), "log1p": lambda a, b: a.log1p(),
    "tanh": lambda a, b: b.tanh(), "sigmoid": lambda a, b: b.sigmoid(), "relu": lambda a, b: b.relu(),
    "scalar's +": lambda a, b: scalar.Value(1.5) + a, "scalar's *": lambda a, b: a * scalar.Value(1.5),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_numbers_and_gradients_are_engine_1s(name):
    def run(kind):
        a, b = kind(1.5), kind(-0.75)
        result = OPERATIONS[name](a, b)
        result.backward()
        return result, (result.data, a.grad, b.grad)

    result, numbers = run(Value)
    assert numbers == pytest.approx(run(scalar.Value)[1])
    assert isinstance(result, Value) or name.startswith("scalar's +")


def test_the_graph_by_its_names():
    a, b = Value(2.0, label="a"), Value(-3.0)
    c = a * b
    d = (c + a).relu() ** 2
    assert c._prev == {a, b} and a._prev == set() and (a._op, c._op, d._op) == ("", "*", "**2")
    assert next(iter(d._prev))._op == "ReLU" and "a: data=2" in repr(a)
    with pytest.raises(AttributeError):
        c._prev = set()


def test_one_node_at_a_time():
    """As in the lecture, where backward is called by hand on each node."""
    a, b = Value(2.0), Value(-3.0)
    c = a * b
    d = c + a
    d.grad = 1.0
    d._backward()
    assert (c.grad, a.grad) == (1, 1)
    c._backward()
    assert (a.grad, b.grad) == (-2, 2)


def test_comparisons_are_of_the_numbers():
    a, b = Value(1.0), Value(2.0)
    assert a < b <= 2 and b > a >= 1 and max([a, b]) is b and float(a) == 1 and not 1 > b
    assert a == a and a != Value(1.0)


def test_a_node_with_a_closure_is_refused():
    with pytest.raises(TypeError, match="no closures"):
        Value(1.0, (Value(2.0),), "sin")
