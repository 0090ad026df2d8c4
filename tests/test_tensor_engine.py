"""Backward: order, accumulation, freeing, dtypes, hooks, create_graph, grad()."""

import math
import threading

import numpy as np
import pytest

from tinygrad_cl.tensor import Tensor, enable_grad, grad
from tinygrad_cl.tensor.core.engine import topological_order

# -- order and accumulation -----------------------------------------------------------------------------


def test_a_diamond_counts_both_ways():
    x = Tensor(3.0, requires_grad=True)
    a = x * x
    b = a + a
    (b * a).backward()  # 2 x⁴
    assert x.grad.item() == 8 * 27


def test_doublings_cost_one_visit_each():
    x = Tensor(1.0, requires_grad=True)
    h = x
    for _ in range(60):
        h = h + h
    assert len(topological_order([h.grad_fn])) == 61
    h.backward()
    assert x.grad.item() == 2.0**60


def test_leaves_accumulate_until_zero_grad():
    x = Tensor([1.0, 2.0], requires_grad=True)
    for _ in range(3):
        (x * x).sum().backward()
    assert x.grad.data.tolist() == [6, 12]
    x.zero_grad()
    assert x.grad is None


def test_gradients_share_no_memory():
    a, b = Tensor([1.0], requires_grad=True), Tensor([1.0], requires_grad=True)
    upstream = Tensor([2.0])
    (a + b).backward(upstream)
    a.grad *= 0
    assert b.grad.item() == 2 and upstream.item() == 2
    c = Tensor([1.0, 2.0], requires_grad=True)
    c.sum().backward()
    c.grad += 1  # the gradient of a sum is a broadcast view before it arrives
    assert c.grad.data.tolist() == [2, 2]


def test_a_leaf_is_its_own_gradients_start():
    x = Tensor(3.0, requires_grad=True)
    x.backward()
    assert x.grad.item() == 1


def test_nodes_between_are_no_leaves_and_keep_no_gradient():
    x = Tensor([1.0], requires_grad=True)
    y = x * 2
    assert x.is_leaf and not y.is_leaf and y.requires_grad and x.grad_fn is None and repr(y.grad_fn) == "<MulBackward>"
    y.sum().backward()
    assert y.grad is None


def test_retain_grad_keeps_it():
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.retain_grad()
    z = (y * y).sum()
    z.retain_grad()
    x.retain_grad()  # a leaf keeps its gradient anyway
    z.backward(retain_graph=True)
    z.backward()
    assert y.grad.data.tolist() == [12, 24] and z.grad.item() == 2
    with pytest.raises(RuntimeError, match="requires no gradient"):
        Tensor(1.0).retain_grad()


# -- errors of backward ------------------------------------------------------------------------------------


def test_a_non_scalar_needs_a_gradient():
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with pytest.raises(RuntimeError, match=r"backward of shape \(2,\) needs a gradient of that shape"):
        y.backward()
    with pytest.raises(ValueError, match=r"the gradient has shape \(3,\), the tensor \(2,\)"):
        y.backward([1.0, 2.0, 3.0])
    y.backward([1.0, 10.0])
    assert x.grad.data.tolist() == [2, 20]


def test_backward_needs_something_that_requires_a_gradient():
    with pytest.raises(RuntimeError, match="requires no gradient"):
        (Tensor([1.0]) * 2).backward()


@pytest.mark.parametrize("f", [lambda x: x.exp(), lambda x: x + 1])
def test_a_graph_is_freed_and_says_so(f):
    y = f(Tensor(1.0, requires_grad=True))
    y.backward()
    with pytest.raises(RuntimeError, match=r"backward has been here before.*retain_graph=True"):
        y.backward()


def test_retain_graph():
    x = Tensor(2.0, requires_grad=True)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8


def test_a_shared_trunk_is_freed_by_the_first_loss():
    x = Tensor(2.0, requires_grad=True)
    trunk = x * x
    (trunk * 2).backward()
    with pytest.raises(RuntimeError, match="Mul: backward has been here before"):
        (trunk * 3).backward()


# -- types ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data, dtype",
    [
        (1.5, np.float32),
        ([1.5], np.float32),
        (1, np.int64),
        ([True], np.bool_),
        (np.ones(2), np.float64),
        (np.float64(1), np.float64),
        (np.ones(2, np.float16), np.float16),
        (Tensor(np.ones(2)), np.float64),
        ([], np.float32),
    ],
)
def test_float32_by_default_and_arrays_as_they_are(data, dtype):
    assert Tensor(data).dtype == dtype


F32, F64, INT = Tensor([1.5]), Tensor(np.array([1.5])), Tensor([3])


@pytest.mark.parametrize(
    "result, dtype",
    [
        (lambda: F32 * 2, np.float32),
        (lambda: 2.5 / F32, np.float32),
        (lambda: F32 * np.float64(2), np.float32),
        (lambda: np.float64(2) * F32, np.float32),
        (lambda: F32 * F64, np.float64),
        (lambda: F32 * np.ones(1), np.float64),
        (lambda: np.ones(1, np.float32) - F32, np.float32),
        (lambda: INT / 2, np.float32),
        (lambda: INT * 0.5, np.float32),
        (lambda: F32 * INT, np.float32),
        (lambda: F64 * INT, np.float64),
        (lambda: INT.mean(), np.float32),
        (lambda: INT + 1, np.int64),
        (lambda: F32 > 1, np.bool_),
        (lambda: F32.sum(), np.float32),
        (lambda: F32**0.5, np.float32),
        (lambda: 2.0**F32, np.float32),
        (lambda: F32.sigmoid(), np.float32),
        (lambda: F32.gelu(), np.float32),
    ],
)
def test_float64_comes_from_float64_alone(result, dtype):
    assert result().dtype == dtype


def test_each_gradient_has_the_type_of_its_tensor():
    a, b = Tensor([1.5], requires_grad=True), Tensor(np.array([2.5]), requires_grad=True)
    y = a.astype(np.float64) * b + a * b
    y.backward()
    assert (y.dtype, a.grad.dtype, b.grad.dtype) == (np.float64, np.float32, np.float64)


def test_data_is_copied_and_numpy_stays_on_either_side():
    array = np.ones(3)
    x = Tensor(array, requires_grad=True)
    array[:] = 5
    assert x.data.tolist() == [1, 1, 1]
    for y in (array + x, x + array, array * x, array - x, array / x, array**x, np.float32(2) * x, np.ones((3, 3)) @ x):
        assert isinstance(y, Tensor) and y.requires_grad


# -- hooks ------------------------------------------------------------------------------------------------------


def test_a_hook_of_a_leaf_may_call_backward_and_one_that_raises_leaves_no_gradient():
    x, y, other = (Tensor([2.0], requires_grad=True) for _ in range(3))
    handle = x.register_hook(enable_grad()(lambda g: (other * other).sum().backward()))
    thread = threading.Thread(target=lambda: (x * y).sum().backward(), daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive(), "the hook waits for the backward that it is called in"
    assert (x.grad.item(), y.grad.item(), other.grad.item()) == (2.0, 2.0, 4.0)
    handle.remove()
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * y).sum().backward()
    assert (x.grad.item(), y.grad.item()) == (2.0, 2.0)


def test_hooks_see_the_whole_gradient_once_and_may_replace_it():
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.data.tolist()))
    handle = y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: -g)
    (y + y * 3).sum().backward()
    assert seen == [[4, 4]] and x.grad.data.tolist() == [-80, -80]
    handle.remove()
    x.zero_grad()
    y = x * 2
    y.sum().backward()
    assert x.grad.data.tolist() == [-2, -2]
    with pytest.raises(RuntimeError, match="requires no gradient"):
        Tensor(1.0).register_hook(print)
    x.register_hook(lambda g: g.sum())
    with pytest.raises(ValueError, match=r"a hook returned shape \(\) for \(2,\)"):
        (x * 2).sum().backward()


# -- grad() and create_graph --------------------------------------------------------------------------------------


def test_grad_touches_nobodys_grad_and_goes_no_further_than_needed():
    x, w = Tensor(3.0, requires_grad=True), Tensor(2.0, requires_grad=True)
    h = x * x
    seen = []
    x.register_hook(seen.append)
    y = h * w
    (gh,) = grad(y, h, retain_graph=True)
    assert gh.item() == 2 and not seen
    gx, gw, gh = grad(y, [x, w, h])
    assert (gx.item(), gw.item(), gh.item()) == (12, 9, 2)
    assert x.grad is None and w.grad is None and h.grad is None and not gx.requires_grad


def test_grad_leaves_what_it_does_not_need_unfreed():
    x, w = Tensor(3.0, requires_grad=True), Tensor(2.0, requires_grad=True)
    h = x * x
    assert grad(h * w, h)[0].item() == 2
    h.backward()  # what lies below h was not visited
    assert x.grad.item() == 6


def test_grad_of_several_outputs():
    x = Tensor([1.0, 2.0], requires_grad=True)
    (g,) = grad([x * 2, (x * x).sum()], x, [[1.0, 10.0], None])
    assert g.data.tolist() == [4, 24]
    (g,) = grad([x, x], [x], [[1.0, 1.0], [2.0, 2.0]])
    assert g.data.tolist() == [3, 3]


def test_grad_says_what_does_not_depend():
    x, w = Tensor(3.0, requires_grad=True), Tensor(2.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="do not depend on one of the inputs"):
        grad(x * 2, w)
    assert grad(x * 2, [w, x], allow_unused=True)[0] is None
    with pytest.raises(RuntimeError, match="requires no gradient"):
        grad(x * 2, Tensor(1.0))


def test_derivatives_of_any_order():
    x = Tensor(np.array(0.7), requires_grad=True)
    y = x.sin() * x.exp()
    for n in range(1, 9):  # dⁿ/dxⁿ eˣ sin x = 2^(n/2) eˣ sin(x + nπ/4)
        (y,) = grad(y, x, create_graph=True)
        assert y.item() == pytest.approx(2 ** (n / 2) * math.exp(0.7) * math.sin(0.7 + n * math.pi / 4))


def test_backward_with_create_graph_then_backward_through_the_gradient():
    x = Tensor([1.0, 2.0], requires_grad=True)
    (x**3).sum().backward(create_graph=True)
    penalty = (x.grad * x.grad).sum()  # Σ 9 x⁴
    x.grad = None
    penalty.backward()
    assert x.grad.data.tolist() == [36, 288]


def test_hessian_vector_product_and_newton_step():
    rng = np.random.default_rng(0)
    m = rng.normal(size=(4, 4))
    a, b, v = m @ m.T + np.eye(4), rng.normal(size=4), rng.normal(size=4)
    x = Tensor(rng.normal(size=4), requires_grad=True)
    f = 0.5 * (x @ Tensor(a) @ x) - Tensor(b) @ x
    (g,) = grad(f, x, create_graph=True)
    (hv,) = grad(g @ Tensor(v), x, retain_graph=True)
    np.testing.assert_allclose(hv.data, a @ v)
    hessian = np.array([grad(g[i], x, retain_graph=True)[0].data for i in range(4)])
    np.testing.assert_allclose(x.data - np.linalg.solve(hessian, g.data), np.linalg.solve(a, b))


def test_maml_in_small_equals_the_formula():
    """L(w − α ∇L(w)) with L(w) = (w − 1)⁴: the derivative is L'(u) · (1 − α L''(w))."""
    w = Tensor(np.array(3.0), requires_grad=True)

    def loss(w):
        return (w - 1) ** 4

    (g,) = grad(loss(w), w, create_graph=True)
    loss(w - 0.01 * g).backward()
    u = 3 - 0.01 * 32
    assert w.grad.item() == pytest.approx(4 * (u - 1) ** 3 * (1 - 0.01 * 48))


def test_detach_stops_the_flow_and_shares_the_memory():
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    u = y.detach()
    assert not u.requires_grad and u.is_leaf and u.data is y.data
    (u * x).sum().backward()
    assert x.grad.data.tolist() == [1, 4]
