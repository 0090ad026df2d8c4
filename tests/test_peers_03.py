"""The functions and the network of lesson 03 give PyTorch's gradients."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is a peer to compare with, not a requirement")
pytest.importorskip("jupytext", reason="jupytext is not installed: it reads the lesson")

from autograder.judge.reference import reference_namespace  # noqa: E402

LESSON = reference_namespace("03_broadcast")


def held_against_torch(f, rule, *shapes):
    """f takes arrays and tensors alike; the rule takes the upstream gradient and the arrays."""
    rng = np.random.default_rng(len(shapes))
    arrays = [rng.normal(size=shape) for shape in shapes]
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    y = f(*tensors)
    grad = rng.normal(size=tuple(y.shape))
    y.backward(torch.tensor(grad))
    ours = rule(np.asarray(grad), *map(np.asarray, arrays))
    for mine, tensor in zip(ours if isinstance(ours, tuple) else (ours,), tensors):
        assert mine.shape == tuple(tensor.shape)
        np.testing.assert_allclose(mine, tensor.grad.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "a, b", [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (3,)), ((2, 1, 4), (3, 1)), ((), (2, 3)), ((), ())]
)
def test_products(a, b):
    held_against_torch(lambda x, y: x * y, LESSON["mul_backward"], a, b)
    assert LESSON["broadcast_shape"](a, b) == tuple(torch.broadcast_shapes(a, b))


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
def test_matrix_products(a, b):
    held_against_torch(lambda x, y: x @ y, LESSON["matmul_backward"], a, b)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1, (0, 2), (0, -1)])
def test_sums_and_means(axis, keepdims):
    for name in ("sum", "mean"):
        held_against_torch(
            lambda x: getattr(x, name)(axis, keepdim=keepdims),
            lambda grad, x: LESSON[f"{name}_backward"](grad, x, axis, keepdims),
            (2, 3, 4),
        )


@pytest.mark.parametrize("shape", [(3, 4), (4,), (3, 1), (1, 4), (2, 1, 4), (1, 1), ()])
def test_unbroadcast_is_sum_to_size(shape):
    grad = np.random.default_rng(0).normal(size=(2, 3, 4))
    np.testing.assert_allclose(
        LESSON["unbroadcast"](grad, shape), torch.tensor(grad).sum_to_size(shape).numpy(), rtol=1e-12
    )


def test_xor_is_trained_alike():
    rng = np.random.default_rng(1)
    x, target = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([[0.0], [1], [1], [0]])
    start = [rng.normal(size=(2, 3)), np.zeros(3), rng.normal(size=(3, 1)), np.zeros(1)]
    losses, parameters = LESSON["train"](x, target, start, 600, 0.05)

    tensors = [torch.tensor(p, requires_grad=True) for p in start]
    descent = torch.optim.SGD(tensors, lr=0.05)
    for loss in losses:
        z = torch.tensor(x) @ tensors[0] + tensors[1]
        theirs = ((z * z @ tensors[2] + tensors[3] - torch.tensor(target)) ** 2).mean()
        assert theirs.item() == pytest.approx(loss, rel=1e-9)
        descent.zero_grad()
        theirs.backward()
        descent.step()
    for mine, tensor in zip(parameters, tensors):
        np.testing.assert_allclose(mine, tensor.detach().numpy(), rtol=1e-8, atol=1e-10)
    assert losses[-1] < 1e-3 < losses[0]
