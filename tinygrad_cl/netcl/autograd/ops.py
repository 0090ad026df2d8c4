"""Operations that are not elementwise: `ag.sum`, `ag.reshape`, … take Nodes, Tensors, arrays and numbers, and give a Node."""

from functools import partial

import numpy as np

from tinygrad_cl.netcl.autograd.kept import apply_op
from tinygrad_cl.netcl.autograd.node import apply_primitive, tensor_node
from tinygrad_cl.netcl.autograd.rules import extreme_rule, sum_rule
from tinygrad_cl.netcl.autograd.steps import register_step
from tinygrad_cl.netcl.core.device import INT32
from tinygrad_cl.netcl.ops import elementwise, reduction, scan
from tinygrad_cl.netcl.ops.primitives import get_primitive
from tinygrad_cl.netcl.ops.shapes import normal_axes
from tinygrad_cl.netcl.tape.modes import state

__all__ = ["broadcast_to", "cast", "cumsum", "max", "mean", "min", "primitive", "reshape", "sum", "transpose"]


def primitive(name):
    """The operation of a record of the table, as a function: also for one that you registered."""
    record = get_primitive(name)
    operation = partial(apply_primitive, name)
    operation.__name__ = operation.__qualname__ = name
    constants = "".join(f"; {key}={value} by default" for key, value in record.attrs.items())
    operation.__doc__ = f"{name}: {record.formula}{constants}"
    return operation


def sum(x, axis=None, keepdims=False, tape=None):
    """Σ x over one axis, several or all.    ∂Σx/∂x = 1"""
    return reduced("sum", x, axis, keepdims, tape)


def mean(x, axis=None, keepdims=False, tape=None):
    """Σ x / n over one axis, several or all.    ∂(Σx / n)/∂x = 1 / n"""
    return reduced("mean", x, axis, keepdims, tape)


def max(x, axis=None, keepdims=False, tape=None):
    """The largest number along axes.    ∂max/∂x = 1 there, 0 elsewhere; equal ones share it."""
    return reduced("max", x, axis, keepdims, tape)


def min(x, axis=None, keepdims=False, tape=None):
    """The smallest number along axes.    ∂min/∂x = 1 there, 0 elsewhere; equal ones share it."""
    return reduced("min", x, axis, keepdims, tape)


def reduced(how, x, axis, keepdims, tape):
    """One of the four."""
    attrs = {"axis": axis, "keepdims": keepdims}
    if state.trace is not None:
        return state.trace.operation(how, (x,), attrs)
    x = tensor_node(how, x)
    out = reduction.reduce(x.value, how, axis, keepdims)
    rule = extreme_rule(x.value, out, axis) if how in ("max", "min") else sum_rule(x.value, axis, how == "mean")
    return apply_op(lambda value: out, rule, x, tape=tape, op_name=how, attrs=attrs)


def cumsum(x, axis, tape=None):
    """Running sums along one axis: yᵢ = x₀ + … + xᵢ.    ∂L/∂xᵢ = gᵢ + gᵢ₊₁ + …: from the other end"""
    return apply_op(
        partial(scan.cumsum, axis=axis),
        lambda grad: [scan.cumsum(grad, axis, backward=True)],
        tensor_node("cumsum", x),
        tape=tape,
        op_name="cumsum",
        attrs={"axis": axis},
    )


register_step("cumsum", cumsum, lambda x, axis: x)


def reshape(x, shape, tape=None):
    """The same numbers under another shape; nothing is copied. The gradient is shaped back."""
    x = tensor_node("reshape", x)
    before, attrs = x.shape, {"shape": shape}
    there, back = lambda value: value.reshape(shape), lambda grad: [grad.reshape(before)]
    return apply_op(there, back, x, tape=tape, op_name="reshape", attrs=attrs)


def transpose(x, axes=None, tape=None):
    """The axes in another order, reversed by default. The gradient takes the way back."""
    x = tensor_node("transpose", x)
    order = tuple(range(x.value.ndim))[::-1] if axes is None else normal_axes(axes, x.shape)
    back = tuple(order.index(axis) for axis in range(len(order)) if axis in order)
    there = partial(elementwise.permute, axes=order)

    def differentiate(grad):
        return [elementwise.permute(grad, back)]

    return apply_op(there, differentiate, x, tape=tape, op_name="transpose", attrs={"axes": order})


def broadcast_to(x, shape, tape=None):
    """x repeated to `shape`. The gradient is summed over what was repeated."""
    x, there = tensor_node("broadcast_to", x), partial(elementwise.broadcast_to, shape=shape)
    return apply_op(there, lambda grad: [grad], x, tape=tape, op_name="broadcast_to", attrs={"shape": shape})


def cast(x, dtype, tape=None):
    """x with its numbers in another dtype: "float32", "float64", or towards 0 to the indices of
    "int32". The gradient is cast back; through indices there is none.
    """
    x, there = tensor_node("cast", x), partial(elementwise.cast, dtype=dtype)
    back = None if np.dtype(dtype) == INT32 else lambda grad: [grad]  # the engine fits the dtype
    return apply_op(there, back, x, tape=tape, op_name="cast", attrs={"dtype": dtype})
