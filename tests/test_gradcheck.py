"""The checks of gradients: no right gradient is rejected, and every wrong one is."""

import numpy as np
import pytest
from expressions import MUTANTS, STEPS, expressions, mutant
from hypothesis import given

from tinygrad_cl import scalar
from tinygrad_cl.gradcheck import (
    compare,
    device_gradient,
    gradcheck,
    numerical_gradient,
    remainders_of,
    taylor_check,
)
from tinygrad_cl.opencl import NoDeviceError, default_device
from tinygrad_cl.scalar import Value

SEEDS = range(60)
CHECKS = [gradcheck, taylor_check]


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def softmax_gradient(upstream, x):
    p = softmax(x)
    return p * (upstream - np.sum(upstream * p))


def layer(x, w, b):
    return np.tanh(x @ w + b)


def layer_gradient(upstream, x, w, b):
    t = upstream * (1 - layer(x, w, b) ** 2)
    return t @ w.T, x.T @ t, t.sum(axis=0)


def square(x):
    return x @ x


# function, its gradient, shapes of its inputs
RIGHT = {
    "layer": (layer, layer_gradient, [(2, 3), (3, 4), (4,)]),
    "softmax": (softmax, softmax_gradient, [(5,)]),
    "sum of squares": (lambda x: np.sum(x * x), lambda u, x: 2 * u * x, [(7,)]),
    "matrix square": (square, lambda u, x: u @ x.T + x.T @ u, [(3, 3)]),
    "transpose": (np.transpose, lambda u, x: u.T, [(3, 3)]),
    "relu": (lambda x: np.maximum(x, 0), lambda u, x: u * (x > 0), [(4, 2)]),
    "cube of a number": (lambda x: x**3, lambda u, x: u * 3 * x**2, [()]),
    "constant": (lambda x: 0 * x + 1, lambda u, x: 0 * x, [(3,)]),
    "linear": (lambda x: 3 * x, lambda u, x: 3 * u, [(2,)]),
}

# the function's name in RIGHT, a wrong gradient
WRONG = {
    "2.001 for 2": ("sum of squares", lambda u, x: 2.001 * u * x),
    "the 2 is missing": ("sum of squares", lambda u, x: u * x),
    "the sign": ("sum of squares", lambda u, x: -2 * u * x),
    "zero": ("softmax", lambda u, x: 0 * x),
    "upstream ignored": ("softmax", lambda u, x: softmax_gradient(np.ones_like(x), x)),
    "diagonal only": ("softmax", lambda u, x: u * softmax(x) * (1 - softmax(x))),
    "overwritten instead of accumulated": ("matrix square", lambda u, x: x.T @ u),
    "not transposed": ("matrix square", lambda u, x: u @ x + x @ u),
    "identity for a transpose": ("transpose", lambda u, x: u),
    "the mask alone": ("relu", lambda u, x: 1.0 * (x > 0)),
    "all let through": ("relu", lambda u, x: u),
    "one entry of one input": (
        "layer",
        lambda u, x, w, b: [g + 1e-3 * (np.arange(g.size).reshape(g.shape) == 1) for g in layer_gradient(u, x, w, b)],
    ),
    "tanh of the wrong variable": (
        "layer",
        lambda u, x, w, b: [u * (1 - (x @ w + b) ** 2) @ w.T, *layer_gradient(u, x, w, b)[1:]],
    ),
    "x² instead of 3x²": ("cube of a number", lambda u, x: u * x**2),
}


def inputs_away_from_kinks(shapes, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return [(rng.choice([-1, 1], shape) * rng.uniform(0.2, 1.5, shape)).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", RIGHT)
def test_no_right_gradient_is_rejected(name, dtype, check):
    f, gradient, shapes = RIGHT[name]
    for seed in SEEDS:
        report = check(f, gradient, inputs_away_from_kinks(shapes, seed, dtype), rng=seed)
        assert report and "right" in str(report) and "WRONG" not in str(report), (seed, str(report))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", WRONG)
def test_every_wrong_gradient_is_caught(name, check):
    function, gradient = WRONG[name]
    f, _, shapes = RIGHT[function]
    for seed in SEEDS:
        inputs = inputs_away_from_kinks(shapes, seed)
        if name == "all let through" and (inputs[0] > 0).all():
            continue  # here it is right
        report = check(f, gradient, inputs, rng=seed)
        assert not report and "WRONG" in str(report), (seed, str(report))


@pytest.mark.parametrize("name", sorted(WRONG.keys() - {"2.001 for 2", "one entry of one input"}))
def test_in_float32_all_but_half_a_thousandth_is_caught(name):
    function, gradient = WRONG[name]
    f, _, shapes = RIGHT[function]
    inputs = inputs_away_from_kinks(shapes, 3, np.float32)
    assert not gradcheck(f, gradient, inputs)


def two_ways(engine, f):
    """f's value and its gradient by an engine, as NumPy callables."""

    def data(*numbers):
        return f(*map(engine.Value, numbers)).data

    def gradient(upstream, *numbers):
        leaves = [engine.Value(x) for x in numbers]
        (f(*leaves) * upstream).backward()
        return [leaf.grad for leaf in leaves]

    return data, gradient


def every_step(a, b):
    """All rules in one expression, so that no mutant can hide; each with a weight of its own."""
    total = a.relu() * 0.3 + (a * b).relu() + (a * a).log() * 0.7 + (a * a + 1) ** (b * b)
    for k, step in enumerate(STEPS.values()):
        total = total + step(a, b) * (0.5 + 0.1 * k)
    return total


@pytest.mark.parametrize("check", CHECKS)
def test_engine_1_is_right_and_every_mutant_of_it_is_caught(check):
    assert check(*two_ways(scalar, every_step), [0.8, -0.6])
    passed = [name for name in MUTANTS if check(*two_ways(mutant(name), every_step), [0.8, -0.6])]
    assert not passed


# -- central differences ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype, worst", [(np.float64, 1e-9), (np.float32, 2e-3)])
def test_the_step_suits_the_precision(dtype, worst):
    x = np.linspace(-300, 300, 401, dtype=dtype)[None]
    x = x[np.abs(x) > 0.01]
    (measured,) = numerical_gradient(lambda x: x * x, [x], np.ones_like(x))
    assert np.max(np.abs(measured / (2 * x.astype(float)) - 1)) < worst


def test_the_step_is_the_one_really_taken():
    (measured,) = numerical_gradient(lambda x: np.sum(x), [np.full(3, 1000.3, np.float32)], step=1e-6)
    assert measured.tolist() == [1, 1, 1]  # 1e-3 is no whole number of float32 steps there


def test_shapes_types_and_inputs_are_kept():
    x, n = np.arange(6.0).reshape(2, 3), np.arange(3)
    before = x.copy()
    gradients = numerical_gradient(lambda x, n: np.sum(x * n), [x, n])
    assert [g.shape for g in gradients] == [(2, 3), (3,)] and (x == before).all()
    assert np.allclose(gradients[0], np.broadcast_to(n, (2, 3))) and np.allclose(gradients[1], x.sum(axis=0))


def test_a_function_that_works_in_place_does_no_harm():
    def halve(x):
        x *= 0.5
        return np.sum(x)

    assert np.allclose(numerical_gradient(halve, [np.ones(3)]), 0.5)


def test_an_array_needs_an_upstream_gradient_of_its_shape():
    with pytest.raises(ValueError, match=r"f returns shape \(3,\), so the upstream gradient needs that shape"):
        numerical_gradient(np.exp, [np.ones(3)])


# -- reports ---------------------------------------------------------------------------------------------


def test_the_report_names_the_worst_entry():
    def off(upstream, x):
        g = 2 * upstream * x
        g[1, 2] += 0.5
        return g

    report = gradcheck(lambda x: np.sum(x * x), off, [np.ones((2, 3))])
    (worst,) = report.inputs
    assert not report.ok and worst.index == (1, 2) and worst.error == pytest.approx(0.5)
    assert str(report).startswith("input 0: WRONG, worst at [1, 2]: expected ") and "got" in str(report)


@pytest.mark.parametrize(
    "got, message",
    [
        (None, "input 0: WRONG, there is no gradient: None"),
        (np.ones(3), r"the gradient has shape (3,), but should have (2, 3)"),
        (np.full((2, 3), np.nan), "got nan"),
    ],
)
def test_what_cannot_be_compared_is_wrong(got, message):
    report = gradcheck(lambda x: np.sum(x * x), lambda u, x: [got], [np.ones((2, 3))])
    assert not report and message in str(report)


def test_a_missing_gradient_is_said():
    with pytest.raises(ValueError, match="1 gradients came back for 2 inputs"):
        gradcheck(lambda a, b: a * b, lambda u, a, b: [u * b], [1.0, 2.0])


@pytest.mark.parametrize(
    "expected, got, ok",
    [
        (np.inf, np.inf, True),
        (np.inf, 1.0, False),
        (np.nan, np.nan, False),
        (1.0, np.nan, False),
        (0.0, 0.0, True),
        (np.zeros(0), np.zeros(0), True),
        (1.0, 1.1, False),
    ],
)
def test_compare_in_corners(expected, got, ok):
    assert compare(expected, got, tolerance=0.01).ok is ok


# -- Taylor ----------------------------------------------------------------------------------------------


def test_the_measured_orders_are_two_and_one():
    f, gradient = np.exp, lambda u, x: u * np.exp(x)
    right, wrong = taylor_check(f, gradient, [np.ones(3)]), taylor_check(f, lambda u, x: u * x, [np.ones(3)])
    assert right.order == pytest.approx(2, abs=0.05) and wrong.order == pytest.approx(1, abs=0.05)
    steps, remainders, rounding = remainders_of(f, gradient, [np.ones(3)])
    assert (steps[:-1] / steps[1:] == 2).all() and steps.shape == remainders.shape and rounding < 1e-12


def test_a_gradient_that_is_not_finite_is_wrong():
    report = taylor_check(np.exp, lambda u, x: u * np.nan, [1.0])
    assert not report and "WRONG" in str(report)


# -- on the device ---------------------------------------------------------------------------------------


@given(expressions())
def test_the_device_agrees_with_engine_1(case):
    try:
        if not default_device().fp64:
            pytest.skip("the device has no double precision; test_traced.py holds float32 against its own rounding")
    except NoDeviceError as error:
        pytest.skip(str(error))
    tolerance = 1e-6
    f, inputs = case
    value, gradient = device_gradient(f, inputs)
    leaves = [Value(x) for x in inputs]
    out = f(*leaves)
    out.backward()
    assert value == pytest.approx(out.data, rel=tolerance, abs=tolerance)
    scale = 1 + max(abs(leaf.grad) for leaf in leaves)
    assert gradient == pytest.approx([leaf.grad for leaf in leaves], rel=tolerance, abs=tolerance * scale)


def test_a_constant_has_gradient_zero_on_the_device():
    try:
        value, gradient = device_gradient(lambda a, b: 7, [1.0, 2.0])
    except NoDeviceError as error:
        pytest.skip(str(error))
    assert value == 7 and gradient.tolist() == [0, 0] and gradient.dtype == np.float64
