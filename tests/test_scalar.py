"""Engine 1: micrograd's numbers, every rule against the complex step, deep and wide graphs, and clear errors."""

import doctest
import math
import time
import weakref
from fractions import Fraction

import numpy as np
import pytest
from cycles import no_cycles
from expressions import Expression, expressions
from hypothesis import example, given

from tinygrad_cl import scalar
from tinygrad_cl.gradcheck import gradcheck, taylor_check
from tinygrad_cl.netcl.ops import table  # noqa: F401 (fills PRIMITIVES)
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES
from tinygrad_cl.scalar import Value, topological_order

inf, nan = math.inf, math.nan


def complex_step(f, inputs):
    """∂f/∂inputs without any difference, so exact to rounding: Im f(x + ih) / h (Squire and Trapp 1998)."""
    h = 1e-30
    return [f(*[x + 1j * h * (i == k) for k, x in enumerate(inputs)]).imag / h for i in range(len(inputs))]


def gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    out = f(*leaves)
    out.backward()
    return out.data, [leaf.grad for leaf in leaves]


def test_a_value_is_true_where_its_number_is():
    assert [bool(Value(x)) for x in (0.0, -0.0, 1e-300, -2.0, inf, nan)] == [False, False, True, True, True, True]
    assert "zero" == ("positive" if Value(3.0) - 3 else "zero")


def test_values_are_equal_if_they_are_the_same_node():
    """So that a topological order can ask whether a node is in a list: see the docstring of Value."""
    a, b = Value(1.0), Value(1.0)
    assert a == a and a != b and b not in [a] and len({a, b}) == 2
    assert "whether v and w are the same node" in " ".join(Value.__doc__.split())


def test_the_examples_in_the_docstrings():
    result = doctest.testmod(scalar)
    assert result.failed == 0 and result.attempted > 20


# -- micrograd's two tests and the example in its README -------------------------------------------------


def relu(x):
    """For Values and for the complex numbers of the complex step."""
    return x.relu() if isinstance(x, Value) else x * (x.real > 0)


def sanity(x):
    z = 2 * x + 2 + x
    q = relu(z) + z * x
    h = relu(z * z)
    return h + q + q * x


def more_ops(a, b):
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + relu(b + a)
    d += 3 * d + relu(b - a)
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    return g


@pytest.mark.parametrize(
    "f, inputs, value, expected",
    [
        (sanity, [-4.0], -20.0, [46.0]),
        (more_ops, [-4.0, 2.0], 24.7041, [138.8338, 645.5773]),
    ],
)
def test_micrograds_expressions_give_micrograds_numbers(f, inputs, value, expected):
    data, grads = gradients(f, inputs)
    assert data == pytest.approx(value, abs=5e-5)
    assert grads == pytest.approx(expected, abs=5e-5)
    assert data == pytest.approx(f(*[complex(x) for x in inputs]).real, rel=1e-14)
    assert grads == pytest.approx(complex_step(f, inputs), rel=1e-12)


# -- every rule ------------------------------------------------------------------------------------------

OPERATORS = {
    "a + b": lambda a, b: a + b,
    "a + 2": lambda a, b: a + 2,
    "2 + a": lambda a, b: 2 + a,
    "a - b": lambda a, b: a - b,
    "a - 2": lambda a, b: a - 2,
    "2 - a": lambda a, b: 2 - a,
    "a * b": lambda a, b: a * b,
    "a * 3": lambda a, b: a * 3,
    "3 * a": lambda a, b: 3 * a,
    "a / b": lambda a, b: a / b,
    "a / 4": lambda a, b: a / 4,
    "4 / a": lambda a, b: 4 / a,
    "a ** b": lambda a, b: a**b,
    "a ** -2.5": lambda a, b: a**-2.5,
    "2 ** a": lambda a, b: 2**a,
    "(-a) ** 3": lambda a, b: (-a) ** 3,
    "-a": lambda a, b: -a,
    "a ** 0": lambda a, b: a**0 * b,
    "a * a + a": lambda a, b: a * a + a,
}
FUNCTIONS = {name: PRIMITIVES[name].reference for name in PRIMITIVES if name in vars(Value)}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("inputs", [(0.7, 1.9), (2.3, -0.4), (1e-3, 3.0)])
def test_operators_against_the_complex_step(name, inputs):
    f = OPERATORS[name]
    data, grads = gradients(f, inputs)
    assert data == pytest.approx(f(*map(complex, inputs)).real, rel=1e-13)
    assert grads == pytest.approx(complex_step(f, inputs), rel=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("x", [0.3, 1.0, 4.5, 1e-9])
def test_functions_against_the_complex_step(name, x):
    data, grads = gradients(lambda a: getattr(a, name)(), [x])
    assert data == pytest.approx(FUNCTIONS[name](x).real, rel=1e-14)
    assert grads == pytest.approx(complex_step(FUNCTIONS[name], [x]), rel=1e-12)


# Its curvature along the first direction that `taylor_check` takes is next to nothing.
UNEVEN = Expression(
    (
        ("a - b", 0, 1),
        *[("(a * a + 0.5) ** -0.5", 0, 0)] * 2,
        ("exp + b", 2, 8),
        *[("(a * a + 0.5) ** -0.5", 0, 0)] * 2,
        ("a / (b * b + 1)", 2, 7),
        ("a - b", 0, 9),
        ("(a * a + 0.5) ** -0.5", 0, 0),
        *[("2 ** tanh a", 2, 0)] * 2,
        *[("(a * a + 0.5) ** -0.5", 0, 0)] * 3,
        ("a / (b * b + 1)", 3, 4),
    )
)


@given(expressions())
@example((UNEVEN, [-0.791, 1.996, -0.791]))
def test_random_expressions_pass_both_checks(case):
    f, inputs = case

    def data(*numbers):
        return f(*map(Value, numbers)).data

    def gradient(upstream, *numbers):
        return gradients(lambda *leaves: f(*leaves) * upstream, numbers)[1]

    report = gradcheck(data, gradient, inputs)
    assert report, report
    if any(abs(g) > 1e-8 * abs(data(*inputs)) for g in gradient(1.0, *inputs)):  # else what remains is rounding at once
        report = taylor_check(data, gradient, inputs)
        assert report, (report, report.steps, report.remainders)


@pytest.mark.parametrize("number", [2, True, np.float32(1.5), np.float64(1.5), np.int64(3), Fraction(3, 2)])
def test_every_kind_of_real_number_is_taken_on_either_side(number):
    a, x = Value(5.0), float(number)
    assert type(Value(number).data) is float and Value(number).data == x
    results = [
        a + number,
        number + a,
        a - number,
        number - a,
        a * number,
        number * a,
        a / number,
        number / a,
        a**number,
        number**a,
    ]
    assert [r.data for r in results] == pytest.approx(
        [5 + x, x + 5, 5 - x, x - 5, 5 * x, x * 5, 5 / x, x / 5, 5**x, x**5]
    )
    assert all(type(r) is Value and type(r.data) is float for r in results)


@pytest.mark.parametrize(
    "f, data, slope",
    [
        (lambda a: a**0, 1.0, 0.0),
        (lambda a: (a - a) ** 0, 1.0, 0.0),
        (lambda a: a.relu(), 2.0, 1.0),
        (lambda a: (a * 1e4).sigmoid(), 1.0, 0.0),
        (lambda a: (a * -1e4).sigmoid(), 0.0, 0.0),
        (lambda a: (a * 1e4).tanh(), 1.0, 0.0),
        (lambda a: (a * -inf).exp() * 0, 0.0, nan),
        (lambda a: a * 1e308 * 10, inf, inf),
        (lambda a: (a * nan).relu(), nan, nan),
        (lambda a: a**inf, inf, inf),
    ],
)
def test_corners_follow_the_arithmetic_of_floats(f, data, slope):
    got, grads = gradients(f, [2.0])
    assert [got, *grads] == pytest.approx([data, slope], nan_ok=True)


@pytest.mark.parametrize("a, expected", [(0.0, (inf,)), (-0.0, (inf,))])
def test_the_square_root_is_vertical_at_zero(a, expected):
    assert (Value(a) ** 0.5).local_derivatives == expected


@pytest.mark.parametrize(
    "mistake, error, message",
    [
        (lambda: Value("2"), TypeError, "a Value holds one real number, not '2'"),
        (lambda: Value(1j), TypeError, "one real number"),
        (lambda: Value(np.ones(2)), TypeError, "one real number"),
        (lambda: Value(Value(2.0)), TypeError, "one real number"),
        (lambda: Value(2.0) + None, TypeError, "one real number, not None"),
        (lambda: Value(2.0) ** "2", TypeError, "an exponent is a number or a Value, not '2'"),
        (lambda: Value(0.0).log(), ValueError, r"log\(0\): the logarithm needs a number above 0"),
        (lambda: Value(-1.5).log(), ValueError, r"log\(-1.5\)"),
        (lambda: Value(710.0).exp(), OverflowError, r"exp\(710\) is larger than any float"),
        (lambda: Value(1.0) / 0, ZeroDivisionError, "a negative power of 0 is a division by 0"),
        (lambda: 1 / Value(0.0), ZeroDivisionError, "a negative power of 0"),
        (lambda: Value(0.0) ** -0.5, ZeroDivisionError, r"0 \*\* -0.5"),
        (lambda: Value(-8.0) ** (1 / 3), ValueError, r"\(-8\) \*\* 0.333333 is no real number"),
        (lambda: Value(-2.0) ** inf, ValueError, r"\(-2\) \*\* inf is no real number"),
        (lambda: Value(-2.0) ** nan, ValueError, r"\(-2\) \*\* nan is no real number"),
        (lambda: Value(10.0) ** 400, OverflowError, r"\(10\) \*\* 400, or its slope, is larger than any float"),
        (lambda: Value(1e-200) ** -1, OverflowError, "or its slope, is larger"),
        (lambda: Value(2.0) ** 10**400, OverflowError, "int too large"),
        (lambda: Value(-2.0) ** Value(2.0), ValueError, "for a > 0 only; if the exponent is a constant"),
        (lambda: 0 ** Value(2.0), ValueError, r"0 \*\* Value"),
    ],
)
def test_an_error_is_one_clear_sentence(mistake, error, message):
    with pytest.raises(error, match=message) as caught:
        mistake()
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


# -- graphs ----------------------------------------------------------------------------------------------


def test_a_chain_of_100_000_nodes():
    a = Value(1.0)
    out = a
    for _ in range(100_000):
        out = out + 1e-5
    out.backward()
    assert a.grad == 1.0 and out.data == pytest.approx(2.0)
    out.zero_grad()
    assert a.grad == 0.0


def test_two_to_the_1000_paths_are_one_visit_per_node():
    a = Value(1.0)
    out = a
    for _ in range(1000):
        out = out + out
    start = time.perf_counter()
    out.backward()
    assert a.grad == 2.0**1000 and time.perf_counter() - start < 1
    assert len(topological_order(out)) == 1001


@given(expressions())
def test_the_order_has_every_node_once_and_after_its_parents(case):
    f, inputs = case
    out = f(*map(Value, inputs))
    order = topological_order(out)
    position = {node: k for k, node in enumerate(order)}
    assert len(position) == len(order) and order[-1] is out
    assert all(position[parent] < position[node] for node in order for parent in node.parents)


def test_leaves_accumulate_over_calls_and_nodes_between_do_not():
    a = Value(3.0)
    square = a * a
    out = square * 2 + a
    out.backward()
    out.backward()
    assert (a.grad, square.grad, out.grad) == (26.0, 2.0, 1.0)
    square.backward()
    assert (a.grad, square.grad) == (32.0, 1.0)
    out.zero_grad()
    out.backward()
    assert (a.grad, square.grad, out.grad) == (13.0, 2.0, 1.0)


def test_backward_on_a_leaf():
    a = Value(3.0)
    a.backward()
    a.backward()
    assert a.grad == 2.0


def test_a_node_made_by_hand_takes_part():
    a, b = Value(3.0), Value(4.0)
    out = Value(10.0, (a, b, a), (2.0, -5.0, 0.5), "mine", label="out")
    (out * 2).backward()
    assert (a.grad, b.grad, out.label, out.op) == (5.0, -10.0, "out", "mine")


def test_a_constant_exponent_is_no_parent_and_a_value_is():
    a, n = Value(3.0), Value(2.0)
    assert (a**2).parents == (a,) and (a**n).parents == (a, n)


def test_no_reference_cycles():
    with no_cycles():
        a = Value(0.5)
        out = ((a * a + 2) ** a).exp().log().tanh().sigmoid().relu() / 3
        out.backward()
        alive = weakref.ref(out)
        del out
        assert alive() is None


def test_a_reference_cycle_would_be_seen():
    with pytest.raises(AssertionError, match="in reference cycles.*Value"), no_cycles():
        a = Value(1.0)
        a.parents = (a,)
        del a


def test_repr_is_short():
    assert repr(Value(1 / 3, label="a")) == "Value(a: data=0.333333, grad=0)"
