"""Lesson 07 in PyTorch's words: the same bytes kept, the same gradients from micro-batches and from checkpoints."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace

SIZES = [5, 7, 4, 3]


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("07_memory")


@pytest.fixture
def start(lesson):
    """The numbers that weights begin with."""
    return [w.data for w in lesson["weights_of"](SIZES, dtype=np.float64)]


def data():
    rng = np.random.default_rng(3)
    return rng.normal(size=(8, SIZES[0])), rng.normal(size=(8, SIZES[-1]))


def test_the_bytes_that_forward_keeps(lesson, torch_says):
    def theirs(torch):
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
        return counted + logits.nbytes

    assert lesson["mlp_bytes"](6, SIZES) == torch_says(theirs)


def test_micro_batches(lesson, torch_says, start):
    x, y = data()
    ours = [lesson["Tensor"](w, requires_grad=True) for w in start]

    def loss_of(some_x, some_y):
        h = lesson["Tensor"](some_x)
        for w in ours:
            h = lesson["tanh_layer"](h, w)
        return lesson["mse_loss"](h, lesson["Tensor"](some_y))

    def theirs(torch):
        h, weights = torch.tensor(x), [torch.tensor(w, requires_grad=True) for w in start]
        for w in weights:
            h = (h @ w).tanh()
        loss = torch.nn.functional.mse_loss(h, torch.tensor(y))
        return loss, torch.autograd.grad(loss, weights)

    expected, gradients = torch_says(theirs, 1e-12)
    np.testing.assert_allclose(lesson["accumulate"](loss_of, x, y, 3), expected, rtol=1e-12)
    for w, gradient in zip(ours, gradients, strict=True):
        np.testing.assert_allclose(w.grad.data, gradient, rtol=1e-10, atol=1e-14)


def test_checkpoints(lesson, torch_says, start):
    x, upstream = data()
    ours = [lesson["Tensor"](w, requires_grad=True) for w in start]
    out = lesson["in_segments"](lesson["tanh_layer"], lesson["Tensor"](x), ours, 2)
    out.backward(upstream)

    def theirs(torch):
        from torch.utils.checkpoint import checkpoint

        def run(h, *part):
            for w in part:
                h = (h @ w).tanh()
            return h

        h, weights = torch.tensor(x), [torch.tensor(w, requires_grad=True) for w in start]
        for begin in range(0, len(weights), 2):
            h = checkpoint(run, h, *weights[begin : begin + 2], use_reentrant=True)
        h.backward(torch.tensor(upstream))
        return h, [w.grad for w in weights]

    expected, gradients = torch_says(theirs, 1e-12)
    np.testing.assert_allclose(out.data, expected, rtol=1e-12)
    for w, gradient in zip(ours, gradients, strict=True):
        np.testing.assert_allclose(w.grad.data, gradient, rtol=1e-10, atol=1e-14)
