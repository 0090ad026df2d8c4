"""Lesson 14 in PyTorch's words: what several processes compute together is what torch computes of the whole batch."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace
from tinygrad_cl.netcl.distributed.simulated import simulate

ROWS = 11


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("14_parallel")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(14)
    return rng.normal(size=(ROWS, 6)), rng.normal(size=(ROWS, 3))


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_the_gradients_of_a_network(lesson, rows, torch_says, processes):
    x, y = rows
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape) for shape in [(6, 16), (16,), (16, 3), (3,)]]
    ag, on_device = lesson["ag"], lesson["on_device"]

    def loss_of(parameters, x, y):
        w1, b1, w2, b2 = parameters
        hidden = ag.tanh(ag.matmul(on_device(x), w1) + b1)
        return ag.mean(ag.square(ag.matmul(hidden, w2) + b2 - on_device(y)))

    def program(comm):
        queue = lesson["manager"].default("auto").queue
        parameters = [lesson["Parameter"].from_host(queue, array) for array in arrays]
        loss = lesson["parallel_gradients"](comm, loss_of, parameters, x, y)
        return loss, np.concatenate([parameter.grad.to_host().ravel() for parameter in parameters])

    def theirs(torch):
        w1, b1, w2, b2 = parameters = [torch.tensor(array, requires_grad=True) for array in arrays]
        loss = torch.nn.functional.mse_loss(torch.tanh(torch.tensor(x) @ w1 + b1) @ w2 + b2, torch.tensor(y))
        return loss, torch.cat([gradient.flatten() for gradient in torch.autograd.grad(loss, parameters)])

    expected, gradient = torch_says(theirs, 1e-5)
    for loss, found in simulate(program, processes)[0]:
        assert loss == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(found, gradient, rtol=1e-4, atol=1e-6)


def squares_gradient(w, x, y):
    """The gradient of the mean of the squared errors: 2/n · Xᵀ (X w − y)."""
    return 2 / len(x) * x.T @ (x @ w - y)


def squares_loss(torch, w, x, y):
    return torch.nn.functional.mse_loss(torch.tensor(x) @ w, torch.tensor(y))


def test_micro_batches_of_unequal_shares(lesson, rows, torch_says):
    x, y = rows[0], rows[1][:, 0]
    w = np.linspace(-1, 1, 6)
    shares = np.split(np.arange(ROWS), [1, 6, 6])  # 1, 5, no and 5 rows

    def program(comm):
        mine = shares[comm.rank]
        return lesson["micro_gradients"](comm, squares_gradient, w, x[mine], y[mine], 2)

    def theirs(torch):
        weights = torch.tensor(w, requires_grad=True)
        return torch.autograd.grad(squares_loss(torch, weights, x, y), weights)[0]

    expected = torch_says(theirs)
    for gradient in simulate(program, len(shares))[0]:
        np.testing.assert_allclose(gradient, expected)


def test_local_steps_are_sgd_and_then_a_weighted_mean(lesson, rows, torch_says):
    x, y = rows[0], rows[1][:, 0]
    w, shares = np.zeros(6), np.split(np.arange(ROWS), [2, 6])

    def theirs(torch):
        results = []
        for mine in shares:
            weights = torch.tensor(w, requires_grad=True)
            optimizer = torch.optim.SGD([weights], lr=0.05)
            for _ in range(4):
                optimizer.zero_grad()
                squares_loss(torch, weights, x[mine], y[mine]).backward()
                optimizer.step()
            results.append(weights * len(mine))
        return sum(results) / ROWS

    def program(comm):
        mine = shares[comm.rank]
        return lesson["local_round"](comm, squares_gradient, w, x[mine], y[mine], 0.05, 4)

    expected = torch_says(theirs)
    for result in simulate(program, len(shares))[0]:
        np.testing.assert_allclose(result, expected)
