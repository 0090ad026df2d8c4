"""Lesson 11 in PyTorch's words: each way to write sin(a) · b has the values and gradients of torch."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace

WAYS = {"sin_times": [(4, 5), (5,)], "sin_times_frugal": [(4, 1), (4, 5)], "sin_times_fused": [(4, 5), (4, 5)]}


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("11_custom_op")


@pytest.mark.parametrize("way", WAYS)
def test_values_and_gradients_are_those_of_torch(lesson, torch_says, way):
    rng = np.random.default_rng(11)
    arrays = [rng.normal(size=shape) for shape in WAYS[way]]
    upstream = rng.normal(size=np.broadcast_shapes(*WAYS[way]))
    a, b = map(lesson["leaf"], arrays)
    with lesson["ag"].Tape() as tape:
        out = lesson[way](a, b)
    tape.backward(out, upstream)

    def theirs(torch):
        x, y = leaves = [torch.tensor(array, requires_grad=True) for array in arrays]
        out = torch.sin(x) * y
        return out, *torch.autograd.grad(out, leaves, torch.tensor(upstream))

    for ours, other in zip((out, a.grad, b.grad), torch_says(theirs, 1e-5), strict=True):
        np.testing.assert_allclose(ours.to_host(), other, rtol=1e-5, atol=1e-6)
