"""Gradients that are measured on the device are those of engine 2, and catch a rule that is off by a little."""

import numpy as np

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl import measured
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor as NetclTensor
from tinygrad_cl.tensor import Function, Tensor
from tinygrad_cl.tensor.core.matmul import MatMul

TOLERANCE = {8: 1e-7, 4: 2e-2}


def close(got, expected):
    tolerance = TOLERANCE[measured.real_type(manager.default("auto")).itemsize]
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def test_the_value_and_the_gradients_of_a_product():
    rng = np.random.default_rng(0)
    a, b, upstream = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    close(measured.value(ag.matmul, a, b), a @ b)
    for got, expected in zip(
        measured.gradients(ag.matmul, upstream, a, b), (upstream @ b.T, a.T @ upstream), strict=True
    ):
        close(got, expected)


def test_integers_are_indices_and_have_no_gradient():
    rng = np.random.default_rng(1)
    weight, idx, upstream = rng.normal(size=(4, 3)), np.array([2, 0, 2]), rng.normal(size=(3, 3))
    gradient, none = measured.gradients(ag.embedding, upstream, weight, idx)
    expected = np.zeros((4, 3))
    np.add.at(expected, idx, upstream)
    close(gradient, expected)
    assert none is None


def test_as_a_function_of_engine_2_it_takes_part_in_a_graph():
    rng = np.random.default_rng(2)
    arrays, upstream = (rng.normal(size=(2, 3)), rng.normal(size=(3, 2))), rng.normal(size=(2, 2))

    def gradients(function):
        a, b = (Tensor(x, requires_grad=True) for x in arrays)
        (function.apply(a * 2, b) + 1).backward(upstream)
        return a.grad.numpy(), b.grad.numpy()

    for got, expected in zip(gradients(measured.function(ag.matmul, Function)), gradients(MatMul), strict=True):
        close(got, expected)


def test_options_go_to_the_function():
    x, upstream = np.random.default_rng(3).normal(size=(2, 3)), np.array([[0.5], [-2.0]])
    close(
        measured.gradients(lambda x, axis: ag.sum(x, axis, keepdims=True), upstream, x, axis=1)[0],
        np.broadcast_to(upstream, (2, 3)),
    )


def test_a_measured_tensor_has_the_values_and_gradients_of_engine_2():
    rng = np.random.default_rng(4)
    arrays = {"x": rng.normal(size=(3, 4)), "w": rng.normal(size=(4, 2)), "b": rng.normal(size=2)}

    def program(tensor):
        leaves = [tensor(array, requires_grad=name != "x") for name, array in arrays.items()]
        x, w, b = leaves
        h = (x @ w + b).tanh()
        h = h - 2 * h[1] / (3 + h * h)
        loss = (1 - h.reshape(2, 3).transpose(0, 1) * h**2).exp().sum(axis=1, keepdims=True)
        upstream = np.arange(1.0, 4.0).reshape(3, 1)
        loss.backward(upstream)
        (-(x @ w)).sum().backward()
        return [leaf.grad if leaf.grad is None else leaf.grad.data for leaf in leaves] + [loss.data]

    expected, got = program(Tensor), program(measured.MeasuredTensor)
    assert got[0] is expected[0] is None
    for one, other in zip(got[1:], expected[1:], strict=True):
        close(one, other)


def test_a_measured_tensor_can_become_what_was_computed_from_it():
    x = measured.MeasuredTensor(np.array([0.5, -1.5]), requires_grad=True)
    y = x * 3
    before = y * 1
    y.become(y.copy().exp() * x)
    y.sum().backward()
    close(x.grad.data, np.exp(3 * x.data) * (1 + 3 * x.data))
    close(before.data, 3 * x.data)


def test_on_the_tape_it_takes_part_in_a_graph():
    rng = np.random.default_rng(5)
    queue = manager.default("auto").queue
    table, idx, upstream = rng.normal(size=(4, 3)), np.array([2, 0, 2]), rng.normal(size=(3, 3))

    def program(rows):
        x = ag.tensor(NetclTensor.from_host(queue, table), True)
        with ag.Tape() as tape:
            out = rows(ag.tanh(x)) * x[:3]
        tape.backward(out, upstream)
        return out.to_host(), x.grad.to_host()

    rows = lambda x: ag.embedding(x, idx)
    out, grad = program(measured.on_tape(rows))
    expected, slope = program(rows)
    tolerance = max(1e-5, TOLERANCE[measured.real_type(manager.default("auto")).itemsize])  # Nodes are float32
    np.testing.assert_allclose(out, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(grad, slope, rtol=tolerance, atol=tolerance)
    with ag.Tape():
        assert measured.on_tape(ag.tanh)(ag.tensor(NetclTensor.from_host(queue, table), True)).op_name == "measured"
