"""Lesson 08 in PyTorch's words: where PyTorch is installed, the same rules and the same programs give the same numbers."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace

torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is a peer to compare with, not a requirement")


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("08_custom")


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def both(lesson, ours, theirs, inputs, upstream, v):
    """Value, gradients, and the gradient of ⟨∂L/∂x, v⟩ for the first input x: [ours, theirs]."""
    leaves = [lesson["Tensor"](x, requires_grad=True) for x in inputs]
    y = ours(*leaves)
    first = lesson["grad"](y, leaves, upstream, create_graph=True)
    second = lesson["grad"]((first[0] * v).sum(), leaves[0])
    mine = [t.data for t in (y, *first, *second)]
    leaves = [torch.tensor(x, requires_grad=True) for x in inputs]
    y = theirs(*leaves)
    first = torch.autograd.grad(y, leaves, torch.tensor(upstream), create_graph=True)
    second = torch.autograd.grad((first[0] * torch.tensor(v)).sum(), leaves[0])
    return zip(mine, [t.detach().numpy() for t in (y, *first, *second)], strict=True)


def test_straight_through_is_the_detach_trick(lesson, rng):
    x, upstream = rng.normal(size=(2, 3, 4))
    leaf, twin = lesson["Tensor"](x, requires_grad=True), torch.tensor(x, requires_grad=True)
    y = lesson["Quantize"].apply(leaf, step=0.3, limit=1.0)
    y.backward(upstream)
    cut = torch.clamp(twin, -1.0, 1.0)
    z = cut + (0.3 * torch.round(cut / 0.3) - cut).detach()
    z.backward(torch.tensor(upstream))
    np.testing.assert_allclose(y.data, z.detach().numpy(), atol=1e-12)
    np.testing.assert_array_equal(leaf.grad.data, twin.grad.numpy())


def test_masked_softmax(lesson, rng):
    x, upstream, v = rng.normal(size=(3, 3, 5))
    mask = np.array([[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 1, 1]], bool)
    for mine, theirs in both(
        lesson,
        lambda x: lesson["MaskedSoftmax"].apply(x, mask),
        lambda x: x.masked_fill(~torch.tensor(mask), float("-inf")).softmax(-1),
        [x],
        upstream,
        v,
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_swiglu(lesson, rng):
    a, b, upstream, v = rng.normal(size=(4, 3, 4))
    for mine, theirs in both(
        lesson, lesson["SwiGLU"].apply, lambda a, b: torch.nn.functional.silu(a) * b, [a, b], upstream, v
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_hessian_vector_product_and_newtons_step(lesson, rng):
    x, v, c = rng.normal(size=(3, 4))

    def ours(x):
        return (x * c).exp().sum() + ((x * x).sum() + 1.0) ** 2

    def theirs(x):
        return (x * torch.tensor(c)).exp().sum() + ((x * x).sum() + 1.0) ** 2

    point = torch.tensor(x, requires_grad=True)
    _, product = torch.autograd.functional.hvp(theirs, point, torch.tensor(v))
    np.testing.assert_allclose(lesson["hvp"](ours, x, v), product.numpy(), rtol=1e-10)
    hessian = torch.autograd.functional.hessian(theirs, point)
    (gradient,) = torch.autograd.grad(theirs(point), point)
    np.testing.assert_allclose(
        lesson["newton_step"](ours, x), x - torch.linalg.solve(hessian, gradient).numpy(), rtol=1e-9
    )


def test_gradient_through_a_gradient_step(lesson, rng):
    starts = [rng.normal(size=shape) for shape in ((3, 4), (4,), (4, 2))]
    batches = [(rng.normal(size=(n, 3)), rng.normal(size=(n, 2))) for n in (5, 6, 7, 4)]

    def loss(weights, batch):
        x, y = batch
        return ((((x @ weights[0] + weights[1]).tanh() @ weights[2]) - y) ** 2).mean()

    tasks = [batches[:2], batches[2:]]
    mine = lesson["meta_gradient"](loss, [lesson["Tensor"](w, requires_grad=True) for w in starts], tasks, 0.3)
    weights, total = [torch.tensor(w, requires_grad=True) for w in starts], 0.0
    for support, query in [[tuple(map(torch.tensor, batch)) for batch in task] for task in tasks]:
        inner = torch.autograd.grad(loss(weights, support), weights, create_graph=True)
        total = total + loss([w - 0.3 * g for w, g in zip(weights, inner)], query)
    for ours, theirs in zip(mine, torch.autograd.grad(total / len(tasks), weights), strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-10)
