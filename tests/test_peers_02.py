"""Lesson 02 in PyTorch's words: the same network from the same weights has the same outputs, gradients and losses."""

import random

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace

torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is a peer to compare with, not a requirement")
nn = torch.nn

POINTS = [[0.7, -1.2], [-0.4, 0.9], [1.5, 0.3], [-1.1, -0.6], [0.2, 1.4]]
TARGETS = [0.8, -1.0, 0.3, 1.2, -0.5]


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("02_neuron")


def float64(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def both(lesson, activation, module):
    """Our MLP([2, 4, 3, 1]), and PyTorch's with its weights."""
    model = lesson["MLP"]([2, 4, 3, 1], activation, random.Random(2))
    twin = nn.Sequential(nn.Linear(2, 4), module(), nn.Linear(4, 3), module(), nn.Linear(3, 1)).double()
    linears = [part for part in twin if isinstance(part, nn.Linear)]
    with torch.no_grad():
        for linear, layer in zip(linears, model.layers, strict=True):
            linear.weight.copy_(float64([[w.data for w in neuron.w] for neuron in layer.neurons]))
            linear.bias.copy_(float64([neuron.b.data for neuron in layer.neurons]))
    return model, twin


def in_our_order(twin, part):
    """A part of each parameter, "data" or "grad", as `parameters()` of ours lists them: row by row, each with its bias."""
    linears = [layer for layer in twin if isinstance(layer, nn.Linear)]
    rows = [
        np.column_stack([getattr(layer.weight, part).numpy(), getattr(layer.bias, part).numpy()]) for layer in linears
    ]
    return np.concatenate([row.ravel() for row in rows])


@pytest.mark.parametrize("name", ["tanh", "relu", "sigmoid"])
def test_outputs_and_gradients_of_a_network(lesson, name):
    modules = {"tanh": nn.Tanh, "relu": nn.ReLU, "sigmoid": nn.Sigmoid}
    model, twin = both(lesson, getattr(lesson["Value"], name), modules[name])
    outputs = [model(x) for x in POINTS]
    answers = twin(float64(POINTS))[:, 0]
    np.testing.assert_allclose([out.data for out in outputs], answers.detach(), rtol=1e-12)

    lesson["mean_squared_error"](outputs, TARGETS).backward()
    nn.functional.mse_loss(answers, float64(TARGETS)).backward()
    np.testing.assert_allclose([p.grad for p in model.parameters()], in_our_order(twin, "grad"), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("erase", [True, False])
def test_twenty_rounds_of_training_with_and_without_zero_grad(lesson, erase):
    model, twin = both(lesson, lesson["Value"].tanh, nn.Tanh)
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
    x, t = float64(POINTS), float64(TARGETS)
    losses = []
    for _ in range(20):
        loss = nn.functional.mse_loss(twin(x)[:, 0], t)
        if erase:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    if erase:
        ours = lesson["train"](model, POINTS, TARGETS, 20, 0.1)
    else:
        ours = []
        for _ in range(20):
            loss = lesson["mean_squared_error"]([model(point) for point in POINTS], TARGETS)
            loss.backward()
            lesson["step"](model.parameters(), 0.1)
            ours.append(loss.data)
    np.testing.assert_allclose(ours, losses, rtol=1e-9)
    np.testing.assert_allclose([p.data for p in model.parameters()], in_our_order(twin, "data"), rtol=1e-9)


def test_the_slopes_of_a_dot_product(lesson):
    w, x = np.array([2.0, -1.0, 0.3]), np.array([1.0, 3.0, -0.7])
    tensors = [torch.tensor(array, requires_grad=True) for array in (w, x)]
    out = torch.dot(*tensors)
    out.backward(float64(-2.5))
    value, by_w, by_x = lesson["dot_with_slopes"](w, x, -2.5)
    np.testing.assert_allclose(value, out.item())
    np.testing.assert_allclose([by_w, by_x], [tensor.grad for tensor in tensors])


def test_ranges_of_fresh_weights(lesson):
    """Our weights start in the range of nn.Linear's: ±1/√inputs."""
    weights = np.abs([w.data for neuron in lesson["Layer"](9, 200, rng=random.Random(0)).neurons for w in neuron.w])
    theirs = nn.Linear(9, 200).weight.abs().detach().numpy()
    assert weights.max() <= 1 / 3 and theirs.max() <= 1 / 3 + 1e-6
    assert weights.max() > 0.32 and theirs.max() > 0.32
