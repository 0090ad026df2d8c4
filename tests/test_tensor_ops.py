"""Every operation of engine 2: its values, its gradient, the gradient of its gradient; and the tester is tested."""

import importlib
import inspect
import pkgutil
import zlib

import numpy as np
import pytest
from tensor_ops import OPS, gradients

from tinygrad_cl import tensor
from tinygrad_cl.gradcheck import gradcheck, taylor_check
from tinygrad_cl.tensor import Function, Tensor, grad

CASES = [pytest.param(op, shapes, id=f"{op.name} {shapes}") for op in OPS for shapes in op.shapes]
ONE_EACH = [pytest.param(op, id=op.name) for op in OPS]


def inputs_of(op, shapes, dtype=np.float64):
    return op.inputs(shapes, dtype, np.random.default_rng(zlib.crc32(op.name.encode())))


def gradient_of(op):
    return lambda upstream, *inputs: gradients(op.f, inputs, upstream)[1]


def all_functions():
    """Those of both floors; not those of the ground floor that the upper has a subclass of, nor PyTorch's names."""
    names = [m.name for m in pkgutil.walk_packages(tensor.__path__, "tinygrad_cl.tensor.") if ".torch" not in m.name]
    classes = {c for name in names for _, c in inspect.getmembers(importlib.import_module(name), inspect.isclass)}
    return {c for c in classes if issubclass(c, Function) and not c.__subclasses__()}


def test_the_table_has_every_function():
    assert all_functions() == {op.function for op in OPS}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("op, shapes", CASES)
def test_values_are_numpys(op, shapes, dtype):
    inputs = inputs_of(op, shapes, dtype)
    out, grads = gradients(op.f, inputs, np.ones(np.shape(op.reference(*inputs))))
    expected = np.asarray(op.reference(*[x.astype(np.float64) for x in inputs]))
    assert out.shape == expected.shape
    assert out.dtype == (np.float64 if op.name == "cast" else dtype)
    np.testing.assert_allclose(out, expected, rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-6)
    assert [(g.shape, g.dtype) for g in grads] == [(x.shape, dtype) for x in inputs]


@pytest.mark.parametrize("op, shapes", CASES)
def test_gradients_are_those_of_central_differences(op, shapes):
    inputs = inputs_of(op, shapes)
    report = gradcheck(op.reference, gradient_of(op), inputs)
    assert report.ok, str(report)
    assert taylor_check(op.reference, gradient_of(op), inputs).ok


@pytest.mark.parametrize("op", ONE_EACH)
def test_arrays_that_are_not_contiguous(op):
    inputs = inputs_of(op, op.case())
    strided = [np.repeat(x.T, 2, axis=-1)[..., ::2].T if x.ndim else x for x in inputs]
    assert any(not x.flags.c_contiguous for x in strided) or all(x.ndim < 2 for x in strided)
    upstream = np.random.default_rng(5).normal(size=np.shape(op.reference(*inputs)))
    for expected, got in zip(gradients(op.f, inputs, upstream)[1], wrapped_gradients(op.f, strided, upstream)):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def wrapped_gradients(f, arrays, upstream):
    leaves = [Tensor.wrap(x).requires_grad_() for x in arrays]
    f(*leaves).backward(upstream.T.copy().T)
    return [leaf.grad.data for leaf in leaves]


@pytest.mark.parametrize("op", ONE_EACH)
def test_only_the_gradients_that_are_asked_for(op):
    inputs = inputs_of(op, op.case())
    upstream = np.random.default_rng(5).normal(size=np.shape(op.reference(*inputs)))
    expected = gradients(op.f, inputs, upstream)[1]
    for k in range(len(inputs)):
        leaves = [Tensor(x, requires_grad=i == k) for i, x in enumerate(inputs)]
        op.f(*leaves).backward(upstream)
        assert [leaf.grad is not None for leaf in leaves] == [i == k for i in range(len(inputs))]
        np.testing.assert_array_equal(leaves[k].grad.data, expected[k])


@pytest.mark.parametrize("op, shapes", CASES)
def test_double_backward(op, shapes):
    """The gradient is a function of the inputs and of the upstream gradient; here is its own gradient."""
    inputs = inputs_of(op, shapes)
    upstream = np.random.default_rng(5).normal(size=np.shape(op.reference(*inputs)))

    def first(*leaves):
        grads = grad(op.f(*leaves[:-1]), leaves[:-1], [leaves[-1]], create_graph=True)
        return tensor.cat([g.flatten() for g in grads])

    def numeric(*arrays):
        return first(*[Tensor(np.asarray(x), requires_grad=True) for x in arrays]).data

    def second(upstream, *arrays):
        return [
            np.zeros(np.shape(x)) if g is None else g for g, x in zip(gradients(first, arrays, upstream)[1], arrays)
        ]

    report = gradcheck(numeric, second, [*inputs, upstream])
    assert report.ok, str(report)


WRONG = {
    "a factor": lambda part: part * 1.001,
    "the sign": lambda part: -part,
    "the axis": lambda part: part.flip(tuple(range(part.ndim))) if part.ndim else part * 2,
    "nothing": lambda part: part * 0,
}


@pytest.mark.parametrize("how", WRONG)
@pytest.mark.parametrize("op", ONE_EACH)
def test_the_tester_rejects_a_wrong_rule(op, how, monkeypatch):
    """Every gradient of every rule, wrong one at a time."""
    inputs = inputs_of(op, op.case())
    upstream = np.random.default_rng(5).normal(size=np.shape(op.reference(*inputs)))
    right_gradients = gradients(op.f, inputs, upstream)[1]
    right_rule = op.function.backward
    for k in range(len(inputs)):

        def wrong_rule(ctx, grad, k=k):
            parts = right_rule(ctx, grad)
            parts = parts if isinstance(parts, tuple) else (parts,)
            first = next(i for i, needed in enumerate(ctx.needs_input_grad) if needed)
            return tuple(
                WRONG[how](part) if i == first + k and part is not None else part for i, part in enumerate(parts)
            )

        monkeypatch.setattr(op.function, "backward", staticmethod(wrong_rule))
        wrong_gradients = gradients(op.f, inputs, upstream)[1]
        differ = any(not np.array_equal(x, y) for x, y in zip(wrong_gradients, right_gradients))
        assert differ or how == "the axis" or not np.any(right_gradients[k])
        assert gradcheck(op.reference, gradient_of(op), inputs).ok == (not differ)
