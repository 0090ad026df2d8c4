"""Lesson 12 in PyTorch's words: what the lesson compiles has the values and gradients of torch."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("12_jit")


PROGRAMS = {
    "formula": (
        lambda ops, x, y: ops["tanh"](x * y + x) * ops["sigmoid"](y),
        lambda torch, x, y: torch.tanh(x * y + x) * torch.sigmoid(y),
    ),
    "numbers on both sides": (
        lambda ops, x, y: 2 / (ops["exp"](-x) + 1.5) - y,
        lambda torch, x, y: 2 / (torch.exp(-x) + 1.5) - y,
    ),
    "a leaf used five times": (
        lambda ops, x, y: (x + x) * (x + y) * x / y,
        lambda torch, x, y: (x + x) * (x + y) * x / y,
    ),
    "a slope of its own": (
        lambda ops, x, y: ops["leaky_relu"](x * y, negative_slope=0.3) + ops["sin"](y),
        lambda torch, x, y: torch.nn.functional.leaky_relu(x * y, 0.3) + torch.sin(y),
    ),
}


def derivatives(torch, f, arrays, upstream):
    """What torch says of f(torch, …): the value, and the gradient of each array."""
    leaves = [torch.tensor(array, requires_grad=True) for array in arrays]
    out = f(torch, *leaves)
    return out, torch.autograd.grad(out, leaves, torch.tensor(upstream))


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_fused_program_has_the_values_and_gradients_of_torch(lesson, torch_says, program):
    ours, theirs = PROGRAMS[program]
    x, y, upstream = np.random.default_rng(12).uniform(0.3, 2, (3, 4, 5)) * np.resize([1, -1, 1], (3, 4, 5))
    make = lambda array: lesson["Tensor"].from_host(lesson["queue"], array)
    leaves = [lesson["ag"].tensor(make(array), True) for array in (x, y)]
    fused = lesson["fuse"](lambda *nodes: ours(lesson, *nodes))
    with lesson["device"].watch() as launches:
        with lesson["ag"].Tape() as tape:
            out = fused(*leaves)
        tape.backward(out, make(upstream))
    assert [each.name for each in launches] == ["fused_forward", "fused_backward"]
    right, gradients = torch_says(lambda torch: derivatives(torch, theirs, (x, y), upstream), 1e-5)
    np.testing.assert_allclose(out.to_host(), right, rtol=1e-5, atol=1e-6)
    for leaf, gradient in zip(leaves, gradients, strict=True):
        np.testing.assert_allclose(leaf.grad.to_host(), gradient, rtol=2e-5, atol=1e-5)


def test_a_damped_oscillation(lesson, torch_says):
    t, k, upstream = np.random.default_rng(5).normal(size=(3, 7))
    lesson["register_primitive"]("damped_of_lesson_12", lesson["damped_forward"], lesson["damped_backward"], arity=2)
    try:
        leaves = [lesson["ag"].tensor(lesson["Tensor"].from_host(lesson["queue"], array), True) for array in (t, k)]
        with lesson["ag"].Tape() as tape:
            out = lesson["fuse"](lesson["either"]("damped_of_lesson_12"))(*leaves)
        tape.backward(out, lesson["Tensor"].from_host(lesson["queue"], upstream))
    finally:
        del lesson["get_primitive"].__globals__["PRIMITIVES"]["damped_of_lesson_12"]
    damped = lambda torch, t, k: torch.exp(-k * t) * torch.cos(t)
    right, gradients = torch_says(lambda torch: derivatives(torch, damped, (t, k), upstream), 1e-5)
    np.testing.assert_allclose(out.to_host(), right, rtol=1e-4, atol=1e-5)
    for leaf, gradient in zip(leaves, gradients, strict=True):
        np.testing.assert_allclose(leaf.grad.to_host(), gradient, rtol=1e-4, atol=1e-5)
