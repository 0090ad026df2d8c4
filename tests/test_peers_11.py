"""Lesson 11 in PyTorch's words: each way to write sin(a) · b has the values and gradients of torch."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace

torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is a peer to compare with, not a requirement")

WAYS = {"sin_times": [(4, 5), (5,)], "sin_times_frugal": [(4, 1), (4, 5)], "sin_times_fused": [(4, 5), (4, 5)]}


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("11_custom_op")


@pytest.mark.parametrize("way", WAYS)
def test_values_and_gradients_are_those_of_torch(lesson, way):
    rng = np.random.default_rng(11)
    arrays = [rng.normal(size=shape) for shape in WAYS[way]]
    upstream = rng.normal(size=np.broadcast_shapes(*WAYS[way]))
    a, b = map(lesson["leaf"], arrays)
    with lesson["ag"].Tape() as tape:
        out = lesson[way](a, b)
    tape.backward(out, upstream)
    x, y = (torch.tensor(array, requires_grad=True) for array in arrays)
    right = torch.sin(x) * y
    right.backward(torch.tensor(upstream))
    for ours, theirs in ((out, right.detach()), (a.grad, x.grad), (b.grad, y.grad)):
        np.testing.assert_allclose(ours.to_host(), theirs.numpy(), rtol=1e-5, atol=1e-6)
