"""tinygrad_cl.tensor.mxnet: programs of Dive into Deep Learning, in MXNet's words."""

import numpy
import pytest

from tinygrad_cl.tensor import is_grad_enabled
from tinygrad_cl.tensor.mxnet import autograd, np, npx

npx.set_np()


def test_nothing_is_recorded_outside_of_record():
    x = np.arange(4)
    x.attach_grad()
    y = x * x
    assert x.dtype == numpy.float32 and not y.requires_grad and not autograd.is_recording()
    with autograd.record():
        assert autograd.is_recording()
        z = (x * x).sum()
        with autograd.pause():
            assert not autograd.is_recording() and not (x * x).requires_grad
        assert autograd.is_recording()
    assert not autograd.is_recording() and is_grad_enabled()
    z.backward()
    assert x.grad.data.tolist() == [0, 2, 4, 6]


def test_a_leaf_changes_in_place_outside_of_record():
    """d2l's own sgd; inside, where its old value would be lost, it is refused."""
    w = np.array([1, 2])
    w.attach_grad()
    for _ in range(2):
        with autograd.record():
            loss = (w * w).sum()
        loss.backward()
        w[:] = w - 0.25 * w.grad
    w -= 0.125
    w *= 2
    assert w.asnumpy().tolist() == [0.25, 0.75] and w.requires_grad
    with autograd.record(), pytest.raises(RuntimeError, match="leaf"):
        w += 1


@pytest.mark.parametrize("seed", range(3))
def test_gradients_through_control_flow(seed):
    def f(a):
        b = a + a
        while np.linalg.norm(b) < 500:
            b = b * 2
        return b if b.sum() > 0 else -7 * b

    np.random.seed(seed)
    a = np.random.normal()
    a.attach_grad()
    with autograd.record():
        d = f(a)
    d.backward()
    assert a.shape == () and a.grad == d / a


def test_heads():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y, z = x * 2, x * x
        (dx,) = autograd.grad([y, z], [x], [np.ones(2), np.array([1.0, 10.0])], retain_graph=True)
        slope = autograd.grad(z, x, create_graph=True)
    assert dx.data.tolist() == [4, 42] and slope.data.tolist() == [2, 4]
    assert autograd.grad(slope, x, np.array([1.0, 5.0])).data.tolist() == [2, 10]


def test_functions_by_numpys_names():
    x = np.array([[1.0, -2.0], [3.0, 0.5]])
    a = x.asnumpy()
    same = {
        "exp": np.exp(x), "sin": np.sin(x), "cos": np.cos(x), "tanh": np.tanh(x), "abs": np.abs(x),
    }  # fmt: skip
    for name, got in same.items():
        numpy.testing.assert_allclose(got.data, getattr(numpy, name)(a), rtol=1e-6)
    for name in ("sum", "mean", "max", "min", "var"):
        numpy.testing.assert_allclose(getattr(np, name)(x, axis=0).data, getattr(numpy, name)(a, axis=0), rtol=1e-6)
    assert np.log(np.ones(2)).data.tolist() == [0, 0] and np.sqrt(np.full((1,), 4)).item() == 2
    assert np.maximum(x, 0).data.tolist() == npx.relu(x).data.tolist() and np.minimum(x, 0).data.min() == -2
    assert np.concatenate([x, x], axis=1).shape == (2, 4) and np.stack([x, x]).shape == (2, 2, 2)
    assert (
        np.zeros_like(x).data.sum() == 0 and np.ones_like(x).data.sum() == 4 and np.zeros((2,)).dtype == numpy.float32
    )
    assert np.where(x > 0, x, 0.0).data.tolist() == [[1, 0], [3, 0.5]] and np.reshape(x, (4,)).shape == (4,)
    assert float(npx.softmax(x).sum()) == pytest.approx(2) and np.dot(x, x).shape == (2, 2)
    draws = np.random.uniform(2, 3, size=(100,)).data
    assert 2 <= draws.min() < draws.max() < 3 and np.random.normal(5, 0.1, (3, 2)).shape == (3, 2)
    modules = (autograd, np, npx)
    assert all(hasattr(module, name) for module in modules for name in module.__all__)
    with pytest.raises(TypeError, match="takes a tensor"):
        np.exp(1.0)
