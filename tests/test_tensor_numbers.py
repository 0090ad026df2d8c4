"""Where floating-point numbers end: extremes, ties, kinks, NaN and Inf, 0 as a base; dropout's statistics."""

import warnings

import numpy as np
import pytest

from tinygrad_cl.tensor import (
    Tensor,
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    dropout,
    manual_seed,
    mse_loss,
    where,
)

inf, nan = np.inf, np.nan


def value_and_gradient(f, x, upstream=None, dtype=np.float32):
    x = Tensor(np.array(x, dtype), requires_grad=True)
    y = f(x)
    y.backward(np.ones(y.shape) if upstream is None else upstream)
    return y.data.tolist(), x.grad.data.tolist()


@pytest.mark.parametrize(
    "f, x, value, gradient",
    [
        (lambda x: x.sigmoid(), [-1000.0, 0.0, 1000.0, -inf, inf], [0, 0.5, 1, 0, 1], [0, 0.25, 0, 0, 0]),
        (lambda x: x.tanh(), [-1000.0, 1000.0, inf], [-1, 1, 1], [0, 0, 0]),
        (lambda x: x.gelu(), [-100.0, 0.0, 100.0], [0, 0, 100], [0, 0.5, 1]),
        (lambda x: x.relu(), [-1.0, 0.0, 1.0, -inf, inf], [0, 0, 1, 0, inf], [0, 0, 1, 0, 1]),
        (lambda x: x.softmax(), [1000.0, 0.0, -1000.0], [1, 0, 0], [0, 0, 0]),
        (lambda x: x.softmax(), [0.0, -inf, 0.0], [0.5, 0, 0.5], [0, 0, 0]),
        (lambda x: x.log_softmax(), [1000.0, 0.0], [0, -1000], [-1, 1]),
        (abs, [-1.0, 0.0, 2.0], [1, 0, 2], [-1, 0, 1]),
        (lambda x: cross_entropy(x.reshape(1, 3), [1]), [1000.0, 0.0, -1000.0], 1000, [1, -1, 0]),
        (lambda x: cross_entropy(x.reshape(1, 2), [0]), [1000.0, -1000.0], 0, [0, 0]),
        (lambda x: binary_cross_entropy_with_logits(x, [1.0, 0.0]), [-1000.0, 1000.0], 1000, [-0.5, 0.5]),
        (lambda x: binary_cross_entropy_with_logits(x, [0.0, 1.0]), [-1000.0, 1000.0], 0, [0, 0]),
        (lambda x: binary_cross_entropy(x, [0.0, 1.0]), [0.0, 1.0], 0, [0, 0]),
        (lambda x: binary_cross_entropy(x, [1.0, 0.0]), [0.0, 1.0], 100, [-5e11, 5e11]),
        (lambda x: mse_loss(x, Tensor([1.0])), [1.0], 0, [0]),
        (lambda x: x.max(), [3.0, 1.0, 3.0], 3, [0.5, 0, 0.5]),
        (lambda x: x.min(0), [2.0, 2.0, 2.0, 2.0], 2, [0.25] * 4),
        (lambda x: x.max(), [1.0, nan, 2.0, nan], nan, [0, 0.5, 0, 0.5]),
        (lambda x: x.max(), [1.0, inf, -inf], inf, [0, 1, 0]),
        (lambda x: x.maximum(1.0), [0.0, 1.0, 2.0], [1, 1, 2], [0, 0.5, 1]),
        (lambda x: x.minimum(1.0), [0.0, 1.0, 2.0], [0, 1, 1], [1, 0.5, 0]),
        (lambda x: x**2, [0.0], [0], [0]),
        (lambda x: x**1, [0.0], [0], [1]),
        (lambda x: x**0, [0.0], [1], [0]),
        (lambda x: x ** Tensor([2.0, 0.0, 1.0], requires_grad=True), [0.0, 0.0, 0.0], [0, 1, 0], [0, 0, 1]),
        (lambda x: x**3, [-2.0], [-8], [12]),
        (lambda x: 0.0**x, [2.0, 0.5], [0, 0], [0, 0]),
        (lambda x: where(x > 0, x, 0.0), [-inf, nan, 2.0], [0, 0, 2], [0, 0, 1]),
        (lambda x: x.sum(), [nan, inf, 1.0], nan, [1, 1, 1]),
    ],
)
def test_the_extremes(f, x, value, gradient):
    got_value, got_gradient = value_and_gradient(f, x)
    np.testing.assert_allclose(got_value, value, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(got_gradient, gradient, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "f, x, value, gradient",
    [
        (lambda x: x.log(), [0.0], -inf, inf),
        (lambda x: x.sqrt(), [0.0], 0, inf),
        (lambda x: 1 / x, [0.0], inf, -inf),
        (lambda x: x**0.5, [0.0], 0, inf),
        (lambda x: x.exp(), [1000.0], inf, inf),
        (lambda x: x.log(), [-1.0], nan, -1),
        (lambda x: 0.0**x, [-2.0], inf, -inf),
    ],
)
def test_numpy_warns_where_numbers_end_and_the_limit_comes_out(f, x, value, gradient):
    with pytest.warns(RuntimeWarning):
        got = value_and_gradient(f, x)
    np.testing.assert_array_equal(np.ravel(got), [value, gradient])


@pytest.mark.parametrize("bad", [nan, inf])
def test_a_bad_number_in_the_upstream_gradient_arrives(bad):
    for f in (lambda x: x * 2, lambda x: x.exp(), lambda x: x.tanh(), lambda x: x.reshape(2, 1), lambda x: x[[1, 0]]):
        _, gradient = value_and_gradient(f, [1.0, 2.0], np.full(f(Tensor([1.0, 2.0])).shape, bad))
        assert not np.isfinite(gradient).any()


def test_the_second_derivative_of_a_power_at_0():
    x = Tensor(np.array([0.0, 2.0]), requires_grad=True)
    (x**2).sum().backward(create_graph=True)
    first, x.grad = x.grad, None
    first.sum().backward()
    assert x.grad.data.tolist() == [2, 2]


def test_sums_of_many_float32_numbers_stay_exact():
    x = Tensor(np.full(1_000_000, 0.1, np.float32), requires_grad=True)
    x.mean().backward()
    assert x.grad.data[0] == np.float32(1e-6) and x.mean().item() == pytest.approx(0.1, rel=1e-6)


def test_dropout_keeps_the_mean_drops_the_share_and_repeats_itself():
    x = Tensor(np.ones(20_000), requires_grad=True)
    manual_seed(3)
    y = dropout(x, 0.3)
    assert abs(np.mean(y.data == 0) - 0.3) < 0.01 and y.data.mean() == pytest.approx(1, abs=0.02)
    y.sum().backward()
    assert np.array_equal(x.grad.data, y.data)
    assert not np.array_equal(dropout(x, 0.3).data, y.data)
    manual_seed(3)
    assert np.array_equal(dropout(x, 0.3).data, y.data)
    own = [dropout(x, 0.3, generator=np.random.default_rng(3)).data for _ in range(2)]
    assert np.array_equal(*own)
    assert dropout(x, 0.3, training=False) is x and dropout(x, 0.0) is x
    assert not dropout(x, 1.0).data.any()


def test_nothing_warns_in_an_ordinary_step():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = Tensor(np.random.default_rng(0).normal(size=(4, 3)), requires_grad=True)
        cross_entropy((x @ x.T).relu().softmax(), [0, 1, 2, 3]).backward()
    assert np.isfinite(x.grad.data).all()
