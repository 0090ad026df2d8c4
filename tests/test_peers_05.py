"""Lesson 05 in PyTorch's words: the same functions, losses and optimizers give the same values, gradients and training."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace
from tinygrad_cl.datasets import load_digits

ROWS, COLUMNS = [[0], [2], [0]], [[1, 3, 3]]
TARGET = np.random.default_rng(1).normal(size=(3, 4, 5))
PROGRAMS = {  # ours with the lesson's names, and PyTorch's with the module's
    "relu": (lambda x, names: x.relu(), lambda x, torch: torch.relu(x)),
    "sigmoid": (lambda x, names: x.sigmoid(), lambda x, torch: torch.sigmoid(x)),
    "tanh": (lambda x, names: x.tanh(), lambda x, torch: torch.tanh(x)),
    "gelu": (lambda x, names: x.gelu(), lambda x, torch: torch.nn.functional.gelu(x, approximate="tanh")),
    "softmax": (lambda x, names: x.softmax(axis=1), lambda x, torch: x.softmax(1)),
    "mse": (
        lambda x, names: names["mse_loss"](x, names["Tensor"](TARGET)),
        lambda x, torch: torch.nn.functional.mse_loss(x, torch.tensor(TARGET)),
    ),
    "bce": (
        lambda x, names: names["binary_cross_entropy_with_logits"](x, names["Tensor"](TARGET > 0)),
        lambda x, torch: torch.nn.functional.binary_cross_entropy_with_logits(
            x, torch.tensor(TARGET > 0, dtype=torch.float64)
        ),
    ),
    "bce of large logits": (
        lambda x, names: names["binary_cross_entropy_with_logits"](1000 * x, names["Tensor"](TARGET > 0)),
        lambda x, torch: torch.nn.functional.binary_cross_entropy_with_logits(
            1000 * x, torch.tensor(TARGET > 0, dtype=torch.float64)
        ),
    ),
    "cross-entropy": (
        lambda x, names: names["cross_entropy"](x[0], [4, 0, 2, 4]),
        lambda x, torch: torch.nn.functional.cross_entropy(x[0], torch.tensor([4, 0, 2, 4])),
    ),
    "cross-entropy of large logits": (
        lambda x, names: names["cross_entropy"](1000 * x[1], [4, 0, 2, 4]),
        lambda x, torch: torch.nn.functional.cross_entropy(1000 * x[1], torch.tensor([4, 0, 2, 4])),
    ),
    "permute": (lambda x, names: x.permute(2, 0, 1), lambda x, torch: x.permute(2, 0, 1)),
    "slice": (lambda x, names: x[1:, ::2, -1], lambda x, torch: x[1:, ::2, -1]),
    "repeated pairs": (
        lambda x, names: x[ROWS, COLUMNS],
        lambda x, torch: x[torch.tensor(ROWS), torch.tensor(COLUMNS)],
    ),
    "embedding": (
        lambda x, names: names["embedding"]([[2, 0], [2, 2]], x[0]),
        lambda x, torch: torch.nn.functional.embedding(torch.tensor([[2, 0], [2, 2]]), x[0]),
    ),
    "max": (lambda x, names: x.max(axis=(0, 2)), lambda x, torch: x.amax((0, 2))),
    "max of ties": (lambda x, names: (x * 0).max(axis=1) + x.max(), lambda x, torch: (x * 0).amax(1) + x.amax()),
}


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("05_layers")


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(lesson, torch_says, name):
    ours, twin = PROGRAMS[name]
    numbers = np.random.default_rng(0).normal(size=(3, 4, 5))
    x = lesson["Tensor"](numbers, requires_grad=True)
    out = ours(x, lesson)
    upstream = np.asarray(np.random.default_rng(2).normal(size=out.shape))
    out.backward(upstream)

    def theirs(torch):
        x = torch.tensor(numbers, requires_grad=True)
        out = twin(x, torch)
        return out, *torch.autograd.grad(out, x, torch.tensor(upstream))

    answer, gradient = torch_says(theirs, 1e-12)
    np.testing.assert_allclose(out.data, answer, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(x.grad.data, gradient, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "name, options",
    [
        ("SGD", dict(lr=0.1)),
        ("SGD", dict(lr=0.1, momentum=0.9)),
        ("SGD", dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)),
        ("Adam", dict(lr=0.01)),
        ("Adam", dict(lr=0.01, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1)),
    ],
    ids=str,
)
def test_twenty_steps_on_the_digits(lesson, torch_says, name, options):
    """On the pixels in the middle: sixteen say enough, and give few weights to compare."""
    images, labels = load_digits()
    pixels, rng = images.reshape(-1, 8, 8)[:, 2:6, 2:6].reshape(-1, 16) / 16, np.random.default_rng(0)
    weights = [rng.normal(size=(16, 6)) / 3, rng.normal(size=6), rng.normal(size=(6, 10)) / 2]
    batches = [(pixels[rows], labels[rows].astype(int)) for rows in (slice(32 * k, 32 * k + 32) for k in range(20))]

    def train(leaf, loss_of, optimizer):
        w, b, v = parameters = [leaf(x, requires_grad=True) for x in weights]
        optimizer, losses = optimizer(parameters, **options), []
        for x, y in batches:
            loss = loss_of((leaf(x) @ w + b).relu() @ v, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return np.array(losses), parameters

    def theirs(torch):
        loss_of = lambda x, y: torch.nn.functional.cross_entropy(x, torch.tensor(y))
        return train(torch.tensor, loss_of, getattr(torch.optim, name))

    losses, parameters = train(lesson["Tensor"], lesson["cross_entropy"], lesson[name])
    their_losses, their_parameters = torch_says(theirs, 1e-9)
    np.testing.assert_allclose(losses, their_losses, rtol=1e-9)
    for mine, other in zip(parameters, their_parameters, strict=True):
        np.testing.assert_allclose(mine.data, other, rtol=1e-8, atol=1e-10)
