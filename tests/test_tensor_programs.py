"""Shapes, indices and programs at random: un-broadcasting, stacks of matrices, second derivatives; engine 1 agrees."""

import numpy as np
import pytest
from expressions import expressions
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tinygrad_cl.gradcheck import gradcheck
from tinygrad_cl.scalar import Value
from tinygrad_cl.tensor import Tensor, cat, grad, unbroadcast, where


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


@pytest.mark.parametrize(
    "grad_shape, shape", [((3,), (2, 3)), ((2, 3), (2,)), ((2, 3), (3, 1)), ((), (1,)), ((15,), (3,))]
)
def test_unbroadcast_refuses_what_does_not_broadcast(grad_shape, shape):
    with pytest.raises(ValueError, match="does not fit an input of shape"):
        unbroadcast(np.zeros(grad_shape), shape)


@given(
    hnp.mutually_broadcastable_shapes(signature="(n,k),(k,m)->(n,m)", max_dims=2, max_side=3, min_side=0),
    st.integers(0, 99),
)
def test_stacks_of_matrices_of_any_shape(shapes, seed):
    rng = np.random.default_rng(seed)
    a, b = [rng.normal(size=shape) for shape in shapes.input_shapes]

    def gradient(upstream, a, b):
        x, y = Tensor(a, requires_grad=True), Tensor(b, requires_grad=True)
        (x @ y).backward(upstream)
        return x.grad.data, y.grad.data

    report = gradcheck(np.matmul, gradient, [a, b])
    assert report.ok, str(report)


@given(
    hnp.array_shapes(min_dims=1, max_dims=3, max_side=3).flatmap(lambda s: st.tuples(st.just(s), hnp.basic_indices(s)))
)
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
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "a * b": lambda a, b: a * b,
    "a / (b² + 1)": lambda a, b: a / (b * b + 1),
    "tanh a": lambda a, b: a.tanh(),
    "sigmoid a": lambda a, b: a.sigmoid(),
    "gelu a": lambda a, b: a.gelu(),
    "exp tanh a": lambda a, b: a.tanh().exp(),
    "log(a² + 1)": lambda a, b: (a * a + 1).log(),
    "(a² + 1) ** 0.3": lambda a, b: (a**2 + 1) ** 0.3,
    "(a² + 1) ** tanh b": lambda a, b: (a * a + 1) ** b.tanh(),
    "softmax a": lambda a, b: a.softmax(0) if a.ndim else None,
    "log softmax a": lambda a, b: a.log_softmax() if a.ndim else None,
    "sum": lambda a, b: a.sum(),
    "sum of axis 0": lambda a, b: a.sum(0) if a.ndim else None,
    "mean kept": lambda a, b: a.mean(-1, keepdims=True) if a.ndim else None,
    "a.T": lambda a, b: a.T,
    "flatten": lambda a, b: a.flatten(),
    "a[None]": lambda a, b: a[None] if a.ndim < 4 else None,
    "a[::-1]": lambda a, b: a[::-1] if a.ndim else None,
    "a[[0, 0]]": lambda a, b: a[[0, 0]] if a.ndim else None,
    "expand": lambda a, b: a.expand(2, *a.shape) if a.ndim < 4 else None,
    "cumsum": lambda a, b: a.cumsum(0) if a.ndim else None,
    "a @ b": lambda a, b: a @ b,
    "a @ b.mT": lambda a, b: a @ b.mT if b.ndim > 1 else None,
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


@given(
    st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=12),
    st.lists(st.sampled_from([(), (1,), (3,), (2, 3), (3, 2), (2, 1), (1, 3), (2, 3, 3)]), min_size=1, max_size=3),
    st.integers(0, 99),
)
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
    loss = sum(
        sum((sum((weights[i][j] * row[i] for i in range(3)), biases[j])).relu() * last[j] for j in range(4)).sigmoid()
        for row in x
    )
    loss.backward()
    tw, tb, tl = [Tensor(p, requires_grad=True) for p in (w1, b1, w2)]
    out = ((Tensor(x) @ tw + tb).relu() @ tl).sigmoid().sum()
    out.backward()
    assert out.item() == pytest.approx(loss.data)
    np.testing.assert_allclose(tw.grad.data, [[v.grad for v in row] for row in weights])
    np.testing.assert_allclose(tb.grad.data, [v.grad for v in biases])
    np.testing.assert_allclose(tl.grad.data, [v.grad for v in last])
