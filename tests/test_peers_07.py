"""Lesson 07 in PyTorch's words: the same bytes kept, the same gradients from micro-batches and from checkpoints."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace

torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is a peer to compare with, not a requirement")

SIZES = [5, 7, 4, 3]


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("07_memory")


@pytest.fixture
def twins(lesson):
    """Weights of ours, and PyTorch's with the same numbers."""
    ours = lesson["weights_of"](SIZES, dtype=np.float64)
    return ours, [torch.tensor(w.data, requires_grad=True) for w in ours]


def data():
    rng = np.random.default_rng(3)
    return rng.normal(size=(8, SIZES[0])), rng.normal(size=(8, SIZES[-1]))


def test_the_bytes_that_forward_keeps(lesson):
    kept = {}

    def note(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    layers = [torch.nn.Linear(n, m) for n, m in zip(SIZES, SIZES[1:])]
    parameters = {p.untyped_storage().data_ptr() for layer in layers for p in layer.parameters()}
    h = torch.randn(6, SIZES[0])
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        for layer in layers[:-1]:
            h = layer(h).relu()
        logits = layers[-1](h)
    counted = sum(storage.nbytes() for place, storage in kept.items() if place not in parameters)
    # cross_entropy comes on top: it keeps an array of the size of its logits, there (log softmax) as here
    assert counted + logits.nbytes == lesson["mlp_bytes"](6, SIZES)


def test_micro_batches(lesson, twins):
    (x, y), (ours, theirs) = data(), twins

    def loss_of(some_x, some_y):
        h = lesson["Tensor"](some_x)
        for w in ours:
            h = lesson["tanh_layer"](h, w)
        return lesson["mse_loss"](h, lesson["Tensor"](some_y))

    loss = lesson["accumulate"](loss_of, x, y, 3)
    h = torch.tensor(x)
    for w in theirs:
        h = (h @ w).tanh()
    expected = torch.nn.functional.mse_loss(h, torch.tensor(y))
    expected.backward()
    np.testing.assert_allclose(loss, expected.item(), rtol=1e-12)
    for w, twin in zip(ours, theirs):
        np.testing.assert_allclose(w.grad.data, twin.grad, rtol=1e-10, atol=1e-14)


def test_checkpoints(lesson, twins):
    from torch.utils.checkpoint import checkpoint

    (x, upstream), (ours, theirs) = data(), twins
    out = lesson["in_segments"](lesson["tanh_layer"], lesson["Tensor"](x), ours, 2)
    out.backward(upstream)

    def run(h, *part):
        for w in part:
            h = (h @ w).tanh()
        return h

    h = torch.tensor(x)
    for start in range(0, len(theirs), 2):
        h = checkpoint(run, h, *theirs[start : start + 2], use_reentrant=True)
    h.backward(torch.tensor(upstream))
    np.testing.assert_allclose(out.data, h.detach(), rtol=1e-12)
    for w, twin in zip(ours, theirs):
        np.testing.assert_allclose(w.grad.data, twin.grad, rtol=1e-10, atol=1e-14)
