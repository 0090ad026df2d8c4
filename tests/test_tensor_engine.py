"""Backward: un-broadcasting, order, accumulation, freeing, hooks, create_graph, grad(); deep graphs, no reference cycles."""

import math
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from cycles import no_cycles
from expressions import expressions
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tinygrad_cl.gradcheck import gradcheck
from tinygrad_cl.scalar import Value
from tinygrad_cl.tensor import Tensor, cat, grad, unbroadcast, where
from tinygrad_cl.tensor.engine import topological_order


@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3, min_side=0), st.integers(0, 99))
def test_unbroadcast_is_the_adjoint_of_broadcasting(shapes, seed):
    """⟨broadcast(x), g⟩ = ⟨x, unbroadcast(g)⟩ for every x and g."""
    rng = np.random.default_rng(seed)
    shape, result = shapes.input_shapes[0], shapes.result_shape
    x, g = rng.normal(size=shape), rng.normal(size=result)
    down = unbroadcast(g, shape)
    assert down.shape == shape
    assert np.sum(np.broadcast_to(x, result) * g) == pytest.approx(np.sum(x * down), abs=1e-9)
    as_tensor = unbroadcast(Tensor(g), shape)
    assert as_tensor.shape == shape and np.array_equal(as_tensor.data, down)


@pytest.mark.parametrize("grad_shape, shape", [((3,), (2, 3)), ((2, 3), (2,)), ((2, 3), (3, 1)), ((), (1,)), ((15,), (3,))])
def test_unbroadcast_refuses_what_does_not_broadcast(grad_shape, shape):
    with pytest.raises(ValueError, match="does not fit an input of shape"):
        unbroadcast(np.zeros(grad_shape), shape)


@given(hnp.mutually_broadcastable_shapes(signature="(n,k),(k,m)->(n,m)", max_dims=2, max_side=3, min_side=0), st.integers(0, 99))
def test_stacks_of_matrices_of_any_shape(shapes, seed):
    rng = np.random.default_rng(seed)
    a, b = [rng.normal(size=shape) for shape in shapes.input_shapes]
    def gradient(upstream, a, b):
        x, y = Tensor(a, requires_grad=True), Tensor(b, requires_grad=True)
        (x @ y).backward(upstream)
        return x.grad.data, y.grad.data
    report = gradcheck(np.matmul, gradient, [a, b])
    assert report.ok, str(report)


@given(hnp.array_shapes(min_dims=1, max_dims=3, max_side=3).flatmap(lambda s: st.tuples(st.just(s), hnp.basic_indices(s))))
def test_any_basic_index(shape_and_index):
    shape, index = shape_and_index
    x = Tensor(np.random.default_rng(0).normal(size=shape), requires_grad=True)
    upstream = np.random.default_rng(1).normal(size=x.data[index].shape)
    x[index].backward(upstream)
    expected = np.zeros(shape)
    expected[index] += upstream
    np.testing.assert_array_equal(x.grad.data, expected)


# What one step of a random program does with two of the arrays so far; None where the shapes do not allow it.
STEPS = {
    "a + b": lambda a, b: a + b, "a - b": lambda a, b: a - b, "a * b": lambda a, b: a * b, "a / (b² + 1)": lambda a, b: a / (b * b + 1),
    "tanh a": lambda a, b: a.tanh(), "sigmoid a": lambda a, b: a.sigmoid(), "gelu a": lambda a, b: a.gelu(),
    "exp tanh a": lambda a, b: a.tanh().exp(), "log(a² + 1)": lambda a, b: (a * a + 1).log(), "(a² + 1) ** 0.3": lambda a, b: (a ** 2 + 1) ** 0.3,
    "(a² + 1) ** tanh b": lambda a, b: (a * a + 1) ** b.tanh(), "softmax a": lambda a, b: a.softmax(0) if a.ndim else None,
    "log softmax a": lambda a, b: a.log_softmax() if a.ndim else None, "sum": lambda a, b: a.sum(),
    "sum of axis 0": lambda a, b: a.sum(0) if a.ndim else None, "mean kept": lambda a, b: a.mean(-1, keepdims=True) if a.ndim else None,
    "a.T": lambda a, b: a.T, "flatten": lambda a, b: a.flatten(), "a[None]": lambda a, b: a[None] if a.ndim < 4 else None,
    "a[::-1]": lambda a, b: a[::-1] if a.ndim else None, "a[[0, 0]]": lambda a, b: a[[0, 0]] if a.ndim else None,
    "expand": lambda a, b: a.expand(2, *a.shape) if a.ndim < 4 else None, "cumsum": lambda a, b: a.cumsum(0) if a.ndim else None,
    "a @ b": lambda a, b: a @ b, "a @ b.mT": lambda a, b: a @ b.mT if b.ndim > 1 else None,
    "cat": lambda a, b: cat([a, b], -1) if a.ndim == b.ndim and a.ndim else None,
    "where": lambda a, b: where(a.data > 0.1, b, a * 0.5) if a.shape == b.shape else None,
    "b in place": lambda a, b: b.clone().__iadd__(a) if np.broadcast_shapes(a.shape, b.shape) == b.shape else None,
}


def program(steps, *leaves):
    """One number, from all that was computed; a step whose shapes do not fit is left out."""
    results = list(leaves)
    for name, i, j in steps:
        try:
            new = STEPS[name](results[-1 - i % len(results)], results[-1 - j % len(results)])
        except ValueError:
            continue
        if new is not None and new.size < 200:
            results.append(new)
    return sum((k + 1) * (r * 0.1).tanh().sum() for k, r in enumerate(results))


@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=12),
       st.lists(st.sampled_from([(), (1,), (3,), (2, 3), (3, 2), (2, 1), (1, 3), (2, 3, 3)]), min_size=1, max_size=3), st.integers(0, 99))
def test_random_programs_and_their_second_derivatives(steps, shapes, seed):
    rng = np.random.default_rng(seed)
    inputs = [rng.normal(size=shape) for shape in shapes]
    directions = [rng.normal(size=shape) for shape in shapes]

    def along(t):
        """L, and ∂L/∂x and ∂²L/∂x² along the direction, at x + t · direction."""
        leaves = [Tensor(x + t * v, requires_grad=True) for x, v in zip(inputs, directions)]
        loss = program(steps, *leaves)
        first = sum((g * Tensor(v)).sum() for g, v in zip(grad(loss, leaves, create_graph=True), directions))
        second = grad(first, leaves, allow_unused=True) if first.requires_grad else [None]
        return loss.item(), first.item(), sum(np.sum(g.data * v) for g, v in zip(second, directions) if g is not None)

    h = 1e-5
    (value, first, second), high, low = along(0.0), along(h), along(-h)
    assume(np.isfinite([value, first, second, high[0], low[0]]).all() and max(map(abs, (value, first, second))) < 1e4)
    assume(abs(high[1] - 2 * first + low[1]) < 1e-4)  # no jump of `where` in between
    assert (high[0] - low[0]) / (2 * h) == pytest.approx(first, rel=1e-4, abs=1e-4)
    assert (high[1] - low[1]) / (2 * h) == pytest.approx(second, rel=1e-3, abs=1e-3)


@given(expressions())
def test_engine_1_and_engine_2_agree_on_numbers(expression):
    """Random expressions, written once, run on both engines."""
    f, inputs = expression
    values = [Value(x) for x in inputs]
    tensors = [Tensor(np.array(x), requires_grad=True) for x in inputs]
    a, b = f(*values), f(*tensors)
    assert b.item() == pytest.approx(a.data, rel=1e-12)
    a.backward()
    b.backward()
    for v, t in zip(values, tensors):
        assert (0 if t.grad is None else t.grad.item()) == pytest.approx(v.grad, rel=1e-9, abs=1e-12)


def test_an_mlp_of_values_and_one_of_tensors():
    rng = np.random.default_rng(0)
    x, w1, b1, w2 = rng.normal(size=(5, 3)), rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4)
    weights = [[Value(w) for w in row] for row in w1]
    biases, last = [Value(b) for b in b1], [Value(w) for w in w2]
    loss = sum(sum((sum((weights[i][j] * row[i] for i in range(3)), biases[j])).relu() * last[j] for j in range(4)).sigmoid()
               for row in x)
    loss.backward()
    tw, tb, tl = [Tensor(p, requires_grad=True) for p in (w1, b1, w2)]
    out = ((Tensor(x) @ tw + tb).relu() @ tl).sigmoid().sum()
    out.backward()
    assert out.item() == pytest.approx(loss.data)
    np.testing.assert_allclose(tw.grad.data, [[v.grad for v in row] for row in weights])
    np.testing.assert_allclose(tb.grad.data, [v.grad for v in biases])
    np.testing.assert_allclose(tl.grad.data, [v.grad for v in last])


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

@pytest.mark.parametrize("data, dtype", [
    (1.5, np.float32), ([1.5], np.float32), (1, np.int64), ([True], np.bool_), (np.ones(2), np.float64),
    (np.float64(1), np.float64), (np.ones(2, np.float16), np.float16), (Tensor(np.ones(2)), np.float64), ([], np.float32),
])
def test_float32_by_default_and_arrays_as_they_are(data, dtype):
    assert Tensor(data).dtype == dtype


F32, F64, INT = Tensor([1.5]), Tensor(np.array([1.5])), Tensor([3])


@pytest.mark.parametrize("result, dtype", [
    (lambda: F32 * 2, np.float32), (lambda: 2.5 / F32, np.float32), (lambda: F32 * np.float64(2), np.float32),
    (lambda: np.float64(2) * F32, np.float32), (lambda: F32 * F64, np.float64), (lambda: F32 * np.ones(1), np.float64),
    (lambda: np.ones(1, np.float32) - F32, np.float32), (lambda: INT / 2, np.float32), (lambda: INT * 0.5, np.float32),
    (lambda: F32 * INT, np.float32), (lambda: F64 * INT, np.float64), (lambda: INT.mean(), np.float32),
    (lambda: INT + 1, np.int64), (lambda: F32 > 1, np.bool_), (lambda: F32.sum(), np.float32), (lambda: F32 ** 0.5, np.float32),
    (lambda: 2.0 ** F32, np.float32), (lambda: F32.sigmoid(), np.float32), (lambda: F32.gelu(), np.float32),
])
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
    for y in (array + x, x + array, array * x, array - x, array / x, array ** x, np.float32(2) * x, np.ones((3, 3)) @ x):
        assert isinstance(y, Tensor) and y.requires_grad


# -- hooks ------------------------------------------------------------------------------------------------------

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
    (x ** 3).sum().backward(create_graph=True)
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


# -- depth, memory, threads ------------------------------------------------------------------------------------------

def test_a_chain_of_100_000_nodes_forward_backward_and_garbage():
    x = Tensor(1.0, requires_grad=True)
    h = x
    for _ in range(100_000):
        h = h + 0.5
    h.backward()
    assert x.grad.item() == 1
    h = x
    for _ in range(100_000):
        h = h * 1.0
    del h  # never went backward: all nodes are freed at once


def test_time_per_node_does_not_grow_with_the_graph():
    def per_node(length):
        x = Tensor(1.0, requires_grad=True)
        best = math.inf
        for _ in range(3):
            start = time.perf_counter()
            h = x
            for _ in range(length):
                h = h * 1.0
            h.backward()
            best = min(best, (time.perf_counter() - start) / length)
        return best

    assert per_node(20_000) < 5 * per_node(1_000)


def build(x):
    y = ((x @ x).relu().exp().softmax() * x).sum()
    y.retain_grad()
    y.register_hook(lambda g: g)
    return y


@pytest.mark.parametrize("what", ["no backward", "backward", "retained", "grad", "in place"])
def test_a_graph_needs_no_garbage_collector(what):
    x = Tensor(np.ones((2, 2)), requires_grad=True)
    with no_cycles():
        y = build(x)
        node = weakref.ref(y.grad_fn.next_nodes[0])
        if what == "backward":
            y.backward()
        elif what == "retained":
            y.backward(retain_graph=True)
        elif what == "grad":
            (g,) = grad(y, x, create_graph=True)
            (g * g).sum().backward()
            del g
            x.grad = None
        elif what == "in place":
            y += 1
            y *= y
        del y
        assert node() is None


def test_an_add_keeps_no_array_alive():
    x = Tensor(np.ones(3), requires_grad=True)
    y = x * 2
    array = weakref.ref(y.data)
    z = y + 1
    del y
    assert array() is None
    z.sum().backward()
    assert x.grad.data.tolist() == [2, 2, 2]


def test_threads_add_to_one_leaf_without_loss(request):
    request.addfinalizer(lambda interval=sys.getswitchinterval(): sys.setswitchinterval(interval))
    sys.setswitchinterval(1e-6)
    x = Tensor(0.0, requires_grad=True)

    def work():
        for _ in range(200):
            (x * 1.0).backward()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.item() == 1600


def test_detach_stops_the_flow_and_shares_the_memory():
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    u = y.detach()
    assert not u.requires_grad and u.is_leaf and u.data is y.data
    (u * x).sum().backward()
    assert x.grad.data.tolist() == [1, 4]
