"""Lesson 05 in PyTorch's words: the same functions, losses and optimizers give the same values, gradients and training."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace

torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is a peer to compare with, not a requirement")
F = torch.nn.functional

ROWS, COLUMNS = [[0], [2], [0]], [[1, 3, 3]]
TARGET = np.random.default_rng(1).normal(size=(3, 4, 5))
PROGRAMS = {  # ours with the lesson's names, and PyTorch's
    "relu": (lambda x, names: x.relu(), F.relu),
    "sigmoid": (lambda x, names: x.sigmoid(), torch.sigmoid),
    "tanh": (lambda x, names: x.tanh(), torch.tanh),
    "gelu": (lambda x, names: x.gelu(), lambda x: F.gelu(x, approximate="tanh")),
    "softmax": (lambda x, names: x.softmax(axis=1), lambda x: x.softmax(1)),
    "mse": (
        lambda x, names: names["mse_loss"](x, names["Tensor"](TARGET)),
        lambda x: F.mse_loss(x, torch.tensor(TARGET)),
    ),
    "bce": (
        lambda x, names: names["binary_cross_entropy_with_logits"](x, names["Tensor"](TARGET > 0)),
        lambda x: F.binary_cross_entropy_with_logits(x, torch.tensor(TARGET > 0, dtype=torch.float64)),
    ),
    "bce of large logits": (
        lambda x, names: names["binary_cross_entropy_with_logits"](1000 * x, names["Tensor"](TARGET > 0)),
        lambda x: F.binary_cross_entropy_with_logits(1000 * x, torch.tensor(TARGET > 0, dtype=torch.float64)),
    ),
    "cross-entropy": (
        lambda x, names: names["cross_entropy"](x[0], [4, 0, 2, 4]),
        lambda x: F.cross_entropy(x[0], torch.tensor([4, 0, 2, 4])),
    ),
    "cross-entropy of large logits": (
        lambda x, names: names["cross_entropy"](1000 * x[1], [4, 0, 2, 4]),
        lambda x: F.cross_entropy(1000 * x[1], torch.tensor([4, 0, 2, 4])),
    ),
    "permute": (lambda x, names: x.permute(2, 0, 1), lambda x: x.permute(2, 0, 1)),
    "slice": (lambda x, names: x[1:, ::2, -1], lambda x: x[1:, ::2, -1]),
    "repeated pairs": (lambda x, names: x[ROWS, COLUMNS], lambda x: x[torch.tensor(ROWS), torch.tensor(COLUMNS)]),
    "embedding": (
        lambda x, names: names["embedding"]([[2, 0], [2, 2]], x[0]),
        lambda x: F.embedding(torch.tensor([[2, 0], [2, 2]]), x[0]),
    ),
    "max": (lambda x, names: x.max(axis=(0, 2)), lambda x: x.amax((0, 2))),
    "max of ties": (lambda x, names: (x * 0).max(axis=1) + x.max(), lambda x: (x * 0).amax(1) + x.amax()),
}


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("05_layers")


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(lesson, name):
    ours, theirs = PROGRAMS[name]
    numbers = np.random.default_rng(0).normal(size=(3, 4, 5))
    x, twin = lesson["Tensor"](numbers, requires_grad=True), torch.tensor(numbers, requires_grad=True)
    out, answer = ours(x, lesson), theirs(twin)
    upstream = np.random.default_rng(2).normal(size=out.shape)
    out.backward(upstream)
    answer.backward(torch.tensor(upstream))
    np.testing.assert_allclose(out.data, answer.detach(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(x.grad.data, twin.grad, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "name, options",
    [
        ("SGD", dict(lr=0.1)),
        ("SGD", dict(lr=0.1, momentum=0.9)),
        ("SGD", dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)),
        ("Adam", dict(lr=0.01)),
        ("Adam", dict(lr=0.01, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1)),
    ],
)
def test_twenty_steps_on_the_digits(lesson, name, options):
    from tinygrad_cl.datasets import load_digits

    images, labels = load_digits()
    pixels, rng = images.reshape(-1, 64) / 16, np.random.default_rng(0)
    weights = [rng.normal(size=(64, 12)) / 6, rng.normal(size=12), rng.normal(size=(12, 10)) / 3]
    ours = [lesson["Tensor"](w, requires_grad=True) for w in weights]
    theirs = [torch.tensor(w, requires_grad=True) for w in weights]
    optimizer, twin = lesson[name](ours, **options), getattr(torch.optim, name)(theirs, **options)
    for k in range(20):
        rows = slice(32 * k, 32 * k + 32)
        w, b, v = ours
        loss = lesson["cross_entropy"]((lesson["Tensor"](pixels[rows]) @ w + b).relu() @ v, labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        w, b, v = theirs
        answer = F.cross_entropy(
            (torch.tensor(pixels[rows]) @ w + b).relu() @ v, torch.tensor(labels[rows].astype(int))
        )
        twin.zero_grad()
        answer.backward()
        twin.step()
        np.testing.assert_allclose(loss.item(), answer.item(), rtol=1e-9)
    for mine, other in zip(ours, theirs):
        np.testing.assert_allclose(mine.data, other.detach(), rtol=1e-8, atol=1e-10)
