"""Lesson 02 in PyTorch's words: the same network from the same weights has the same outputs, gradients and losses."""

import random

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace

POINTS = [[0.7, -1.2], [-0.4, 0.9], [1.5, 0.3], [-1.1, -0.6], [0.2, 1.4]]
TARGETS = [0.8, -1.0, 0.3, 1.2, -0.5]


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("02_neuron")


def network(lesson, activation):
    """Our MLP([2, 4, 3, 1]), and its parameters: for each layer a matrix of weights and a vector of biases."""
    model = lesson["MLP"]([2, 4, 3, 1], activation, random.Random(2))
    weights = [
        ([[w.data for w in neuron.w] for neuron in layer.neurons], [neuron.b.data for neuron in layer.neurons])
        for layer in model.layers
    ]
    return model, weights


def twin_of(torch, weights, activation):
    """PyTorch's network with these weights; `activation` is the name of a module."""
    layers = []
    for weight, bias in weights:
        linear = torch.nn.Linear(len(weight[0]), len(weight)).double()
        with torch.no_grad():
            linear.weight.copy_(torch.tensor(weight, dtype=torch.float64))
            linear.bias.copy_(torch.tensor(bias, dtype=torch.float64))
        layers += [linear, getattr(torch.nn, activation)()]
    return torch.nn.Sequential(*layers[:-1])


def in_our_order(torch, twin, part):
    """A part of each parameter, "data" or "grad", as `parameters()` of ours lists them: row by row, each with its bias."""
    linears = [layer for layer in twin if isinstance(layer, torch.nn.Linear)]
    rows = [torch.column_stack([getattr(layer.weight, part), getattr(layer.bias, part)]).flatten() for layer in linears]
    return torch.cat(rows)


def loss_of(torch, answers):
    return torch.nn.functional.mse_loss(answers[:, 0], torch.tensor(TARGETS, dtype=torch.float64))


@pytest.mark.parametrize("name, module", [("tanh", "Tanh"), ("relu", "ReLU"), ("sigmoid", "Sigmoid")])
def test_outputs_and_gradients_of_a_network(lesson, torch_says, name, module):
    model, weights = network(lesson, getattr(lesson["Value"], name))
    outputs = [model(x) for x in POINTS]
    lesson["mean_squared_error"](outputs, TARGETS).backward()

    def theirs(torch):
        twin = twin_of(torch, weights, module)
        answers = twin(torch.tensor(POINTS, dtype=torch.float64))
        loss_of(torch, answers).backward()
        return answers[:, 0], in_our_order(torch, twin, "grad")

    answers, gradients = torch_says(theirs, 1e-12)
    np.testing.assert_allclose([out.data for out in outputs], answers, rtol=1e-12)
    np.testing.assert_allclose([p.grad for p in model.parameters()], gradients, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("erase", [True, False])
def test_twenty_rounds_of_training_with_and_without_zero_grad(lesson, torch_says, erase):
    model, weights = network(lesson, lesson["Value"].tanh)

    def theirs(torch):
        twin = twin_of(torch, weights, "Tanh")
        optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
        losses = []
        for _ in range(20):
            loss = loss_of(torch, twin(torch.tensor(POINTS, dtype=torch.float64)))
            if erase:
                optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return torch.tensor(losses, dtype=torch.float64), in_our_order(torch, twin, "data")

    if erase:
        ours = lesson["train"](model, POINTS, TARGETS, 20, 0.1)
    else:
        ours = []
        for _ in range(20):
            loss = lesson["mean_squared_error"]([model(point) for point in POINTS], TARGETS)
            loss.backward()
            lesson["step"](model.parameters(), 0.1)
            ours.append(loss.data)
    losses, parameters = torch_says(theirs, 1e-9)
    np.testing.assert_allclose(ours, losses, rtol=1e-9)
    np.testing.assert_allclose([p.data for p in model.parameters()], parameters, rtol=1e-9)


def test_the_slopes_of_a_dot_product(lesson, torch_says):
    w, x = np.array([2.0, -1.0, 0.3]), np.array([1.0, 3.0, -0.7])

    def theirs(torch):
        tensors = [torch.tensor(array, requires_grad=True) for array in (w, x)]
        out = torch.dot(*tensors)
        return out, torch.autograd.grad(-2.5 * out, tensors)

    out, gradients = torch_says(theirs)
    value, by_w, by_x = lesson["dot_with_slopes"](w, x, -2.5)
    np.testing.assert_allclose(value, out)
    np.testing.assert_allclose([by_w, by_x], gradients)


def test_ranges_of_fresh_weights(lesson, torch_says):
    """Our weights start in the range of nn.Linear's: ±1/√inputs, which 1,800 weights come close to."""
    weights = np.abs([w.data for neuron in lesson["Layer"](9, 200, rng=random.Random(0)).neurons for w in neuron.w])

    def theirs(torch):
        torch.manual_seed(0)
        return torch.nn.Linear(9, 200).weight.abs().max()

    largest = torch_says(theirs)
    assert 0.333 < largest <= 1 / 3 + 1e-6 and 0.333 < weights.max() <= 1 / 3
