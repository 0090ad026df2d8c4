"""Gradients that are measured on the device are those of engine 2, and catch a rule that is off by a little."""

import numpy as np
import pytest

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl import measured
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.tensor import Function, Tensor
from tinygrad_cl.tensor.matmul import MatMul

TOLERANCE = {8: 1e-7, 4: 2e-2}


@pytest.fixture
def close():
    tolerance = TOLERANCE[measured.real_type(manager.default("auto")).itemsize]
    return lambda got, expected: np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def test_the_value_and_the_gradients_of_a_product(close):
    rng = np.random.default_rng(0)
    a, b, upstream = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    close(measured.value(ag.matmul, a, b), a @ b)
    for got, expected in zip(measured.gradients(ag.matmul, upstream, a, b), (upstream @ b.T, a.T @ upstream), strict=True):
        close(got, expected)


def test_integers_are_indices_and_have_no_gradient(close):
    rng = np.random.default_rng(1)
    weight, idx, upstream = rng.normal(size=(4, 3)), np.array([2, 0, 2]), rng.normal(size=(3, 3))
    gradient, none = measured.gradients(ag.embedding, upstream, weight, idx)
    expected = np.zeros((4, 3))
    np.add.at(expected, idx, upstream)
    close(gradient, expected)
    assert none is None


def test_as_a_function_of_engine_2_it_takes_part_in_a_graph(close):
    rng = np.random.default_rng(2)
    arrays, upstream = (rng.normal(size=(2, 3)), rng.normal(size=(3, 2))), rng.normal(size=(2, 2))

    def gradients(function):
        a, b = (Tensor(x, requires_grad=True) for x in arrays)
        (function.apply(a * 2, b) + 1).backward(upstream)
        return a.grad.numpy(), b.grad.numpy()

    for got, expected in zip(gradients(measured.function(ag.matmul, Function)), gradients(MatMul), strict=True):
        close(got, expected)


def test_options_go_to_the_function(close):
    x, upstream = np.random.default_rng(3).normal(size=(2, 3)), np.array([[0.5], [-2.0]])
    close(measured.gradients(lambda x, axis: ag.sum(x, axis, keepdims=True), upstream, x, axis=1)[0], np.broadcast_to(upstream, (2, 3)))
