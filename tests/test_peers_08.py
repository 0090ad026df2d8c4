"""Lesson 08 in PyTorch's words: the same rules and the same programs give the same numbers."""

from functools import partial

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("08_custom")


def numbers(shape):
    return np.random.default_rng(8).normal(size=shape)


def same_derivatives(lesson, torch_says, ours, theirs, inputs, upstream, v):
    """Value, gradients, and the gradient of ⟨∂L/∂x, v⟩ for the first input x: of f on our tensors, its twin on theirs."""

    def derivatives(f, tensor, grad):
        leaves = [tensor(x, requires_grad=True) for x in inputs]
        y = f(*leaves)
        first = grad(y, leaves, tensor(upstream), create_graph=True)
        return [y, *first, *grad((first[0] * tensor(v)).sum(), leaves[0])]

    expected = torch_says(lambda torch: derivatives(partial(theirs, torch), torch.tensor, torch.autograd.grad), 1e-12)
    for mine, other in zip(derivatives(ours, lesson["Tensor"], lesson["grad"]), expected, strict=True):
        np.testing.assert_allclose(mine.data, other, atol=1e-12)


def test_straight_through_is_the_detach_trick(lesson, torch_says):
    x, upstream = numbers((2, 3, 4))
    leaf = lesson["Tensor"](x, requires_grad=True)
    y = lesson["Quantize"].apply(leaf, step=0.3, limit=1.0)
    y.backward(upstream)

    def theirs(torch):
        x_ = torch.tensor(x, requires_grad=True)
        cut = torch.clamp(x_, -1.0, 1.0)
        y = cut + (0.3 * torch.round(cut / 0.3) - cut).detach()
        return y, *torch.autograd.grad(y, x_, torch.tensor(upstream))

    value, gradient = torch_says(theirs, 1e-15)
    np.testing.assert_allclose(y.data, value, atol=1e-12)
    np.testing.assert_array_equal(leaf.grad.data, gradient)


def test_masked_softmax(lesson, torch_says):
    x, upstream, v = numbers((3, 3, 5))
    mask = np.array([[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 1, 1]], bool)
    same_derivatives(
        lesson,
        torch_says,
        lambda x: lesson["MaskedSoftmax"].apply(x, mask),
        lambda torch, x: x.masked_fill(~torch.tensor(mask), float("-inf")).softmax(-1),
        [x],
        upstream,
        v,
    )


def test_swiglu(lesson, torch_says):
    a, b, upstream, v = numbers((4, 3, 4))
    swiglu = lambda torch, a, b: torch.nn.functional.silu(a) * b
    same_derivatives(lesson, torch_says, lesson["SwiGLU"].apply, swiglu, [a, b], upstream, v)


def test_hessian_vector_product_and_newtons_step(lesson, torch_says):
    x, v, c = numbers((3, 4))

    def f(x, c):
        return (x * c).exp().sum() + ((x * x).sum() + 1.0) ** 2

    def theirs(torch):
        g, point = lambda x: f(x, torch.tensor(c)), torch.tensor(x, requires_grad=True)
        _, product = torch.autograd.functional.hvp(g, point, torch.tensor(v))
        (gradient,) = torch.autograd.grad(g(point), point)
        return product, torch.tensor(x) - torch.linalg.solve(torch.autograd.functional.hessian(g, point), gradient)

    product, newton = torch_says(theirs, 1e-10)
    np.testing.assert_allclose(lesson["hvp"](lambda x: f(x, c), x, v), product, rtol=1e-10)
    np.testing.assert_allclose(lesson["newton_step"](lambda x: f(x, c), x), newton, rtol=1e-9)


def test_gradient_through_a_gradient_step(lesson, torch_says):
    rng = np.random.default_rng(8)
    starts = [rng.normal(size=shape) for shape in ((3, 4), (4,), (4, 2))]
    batches = [(rng.normal(size=(n, 3)), rng.normal(size=(n, 2))) for n in (5, 6, 7, 4)]

    def loss(weights, batch):
        x, y = batch
        return ((((x @ weights[0] + weights[1]).tanh() @ weights[2]) - y) ** 2).mean()

    def theirs(torch):
        weights, total = [torch.tensor(w, requires_grad=True) for w in starts], 0.0
        for support, query in [[tuple(map(torch.tensor, batch)) for batch in task] for task in tasks]:
            inner = torch.autograd.grad(loss(weights, support), weights, create_graph=True)
            total = total + loss([w - 0.3 * g for w, g in zip(weights, inner)], query)
        return torch.autograd.grad(total / len(tasks), weights)

    tasks = [batches[:2], batches[2:]]
    mine = lesson["meta_gradient"](loss, [lesson["Tensor"](w, requires_grad=True) for w in starts], tasks, 0.3)
    for ours, other in zip(mine, torch_says(theirs, 1e-10), strict=True):
        np.testing.assert_allclose(ours, other, atol=1e-10)
