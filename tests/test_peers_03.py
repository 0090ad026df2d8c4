"""The functions and the network of lesson 03 give PyTorch's gradients."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("03_broadcast")


def held_against_torch(torch_says, f, twin, rule, *shapes):
    """f takes arrays, its twin tensors; the rule takes the upstream gradient and the arrays."""
    rng = np.random.default_rng(len(shapes))
    arrays = [rng.normal(size=shape) for shape in shapes]
    grad = np.asarray(rng.normal(size=f(*arrays).shape))

    def theirs(torch):
        tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
        return torch.autograd.grad(twin(*tensors), tensors, torch.tensor(grad))

    ours = rule(grad, *map(np.asarray, arrays))
    for mine, other in zip(ours if isinstance(ours, tuple) else (ours,), torch_says(theirs, 1e-12), strict=True):
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "a, b", [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (3,)), ((2, 1, 4), (3, 1)), ((), (2, 3)), ((), ())]
)
def test_products(lesson, torch_says, a, b):
    held_against_torch(torch_says, np.multiply, lambda x, y: x * y, lesson["mul_backward"], a, b)
    assert lesson["broadcast_shape"](a, b) == tuple(
        torch_says(lambda torch: np.array(torch.broadcast_shapes(a, b), int))
    )


@pytest.mark.parametrize(
    "a, b",
    [
        ((2, 3), (3, 4)),
        ((3,), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3,)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((5, 2, 3), (3,)),
        ((3,), (5, 3, 4)),
        ((6, 1, 2, 3), (5, 3, 4)),
    ],
)
def test_matrix_products(lesson, torch_says, a, b):
    held_against_torch(torch_says, np.matmul, lambda x, y: x @ y, lesson["matmul_backward"], a, b)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1, (0, 2), (0, -1)])
def test_sums_and_means(lesson, torch_says, axis, keepdims):
    for name in ("sum", "mean"):
        held_against_torch(
            torch_says,
            lambda x: getattr(x, name)(axis, keepdims=keepdims),
            lambda x: getattr(x, name)(axis, keepdim=keepdims),
            lambda grad, x: lesson[f"{name}_backward"](grad, x, axis, keepdims),
            (2, 3, 4),
        )


@pytest.mark.parametrize("shape", [(3, 4), (4,), (3, 1), (1, 4), (2, 1, 4), (1, 1), ()])
def test_unbroadcast_is_sum_to_size(lesson, torch_says, shape):
    grad = np.random.default_rng(0).normal(size=(2, 3, 4))
    theirs = torch_says(lambda torch: torch.tensor(grad).sum_to_size(shape), 1e-12)
    np.testing.assert_allclose(lesson["unbroadcast"](grad, shape), theirs, rtol=1e-12)


def test_xor_is_trained_alike(lesson, torch_says):
    rng = np.random.default_rng(1)
    x, target = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([[0.0], [1], [1], [0]])
    start = [rng.normal(size=(2, 3)), np.zeros(3), rng.normal(size=(3, 1)), np.zeros(1)]
    losses, parameters = lesson["train"](x, target, start, 600, 0.05)

    def theirs(torch):
        tensors = [torch.tensor(p, requires_grad=True) for p in start]
        descent, losses = torch.optim.SGD(tensors, lr=0.05), []
        for _ in range(600):
            z = torch.tensor(x) @ tensors[0] + tensors[1]
            loss = ((z * z @ tensors[2] + tensors[3] - torch.tensor(target)) ** 2).mean()
            descent.zero_grad()
            loss.backward()
            descent.step()
            losses.append(loss.detach())
        return torch.stack(losses), tensors

    their_losses, tensors = torch_says(theirs, 1e-9)
    np.testing.assert_allclose(losses, their_losses, rtol=1e-9)
    for mine, other in zip(parameters, tensors, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-10)
    assert losses[-1] < 1e-3 < losses[0]
