"""Operations that are not elementwise: `ag.sum`, `ag.reshape`, … take Nodes, Tensors, arrays and numbers, and return a Node."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import DTypeLike

from tinygrad_cl.netcl.autograd.kept import apply_op
from tinygrad_cl.netcl.autograd.node import apply_primitive, tensor_node
from tinygrad_cl.netcl.autograd.rules import max_min_rule, sum_rule
from tinygrad_cl.netcl.autograd.steps import register_step
from tinygrad_cl.netcl.autograd.types import Axes, Operand
from tinygrad_cl.netcl.core.device import INT32
from tinygrad_cl.netcl.ops import elementwise, reduction, scan
from tinygrad_cl.netcl.ops.primitives import get_primitive
from tinygrad_cl.netcl.ops.shapes import normal_axes
from tinygrad_cl.netcl.tape.modes import state
from tinygrad_cl.netcl.tape.node import Node
from tinygrad_cl.netcl.tape.tape import Tape

__all__ = ["broadcast_to", "cast", "cumsum", "max", "mean", "min", "primitive", "reshape", "sum", "transpose"]


def primitive(name: str) -> Callable[..., Node]:
    """A primitive of the table as a function, also one that you registered."""
    record = get_primitive(name)
    operation = partial(apply_primitive, name)
    operation.__name__ = operation.__qualname__ = name
    constants = "".join(f"; {key}={value} by default" for key, value in record.attrs.items())
    operation.__doc__ = f"{name}: {record.formula}{constants}"
    return operation


def sum(x: Operand, axis: Axes = None, keepdims: bool = False, tape: Tape | None = None) -> Node:
    """Σ x over one axis, several or all.    ∂Σx/∂x = 1"""
    return reduced("sum", x, axis, keepdims, tape)


def mean(x: Operand, axis: Axes = None, keepdims: bool = False, tape: Tape | None = None) -> Node:
    """Σ x / n over one axis, several or all.    ∂(Σx / n)/∂x = 1 / n"""
    return reduced("mean", x, axis, keepdims, tape)


def max(x: Operand, axis: Axes = None, keepdims: bool = False, tape: Tape | None = None) -> Node:
    """The largest element along axes.    ∂max/∂x = 1 there, 0 elsewhere; ties share it equally"""
    return reduced("max", x, axis, keepdims, tape)


def min(x: Operand, axis: Axes = None, keepdims: bool = False, tape: Tape | None = None) -> Node:
    """The smallest element along axes.    ∂min/∂x = 1 there, 0 elsewhere; ties share it equally"""
    return reduced("min", x, axis, keepdims, tape)


def reduced(how, x, axis, keepdims, tape):
    """The reduction `how`: "sum", "mean", "max" or "min"."""
    attrs = {"axis": axis, "keepdims": keepdims}
    if state.trace is not None:
        return state.trace.operation(how, (x,), attrs)
    x = tensor_node(how, x)
    out = reduction.reduce(x.value, how, axis, keepdims)
    rule = max_min_rule(x.value, out, axis) if how in ("max", "min") else sum_rule(x.value, axis, how == "mean")
    return apply_op(lambda value: out, rule, x, tape=tape, op_name=how, attrs=attrs)


def cumsum(x: Operand, axis: int, tape: Tape | None = None) -> Node:
    """Running sums along one axis: yᵢ = x₀ + … + xᵢ.    ∂L/∂xᵢ = gᵢ + gᵢ₊₁ + …"""
    return apply_op(
        partial(scan.cumsum, axis=axis),
        lambda grad: [scan.cumsum(grad, axis, backward=True)],
        tensor_node("cumsum", x),
        tape=tape,
        op_name="cumsum",
        attrs={"axis": axis},
    )


register_step("cumsum", cumsum, lambda x, axis: x)


def reshape(x: Operand, shape: int | Sequence[int], tape: Tape | None = None) -> Node:
    """The same elements in another shape; nothing is copied. The gradient gets the shape of x."""
    x = tensor_node("reshape", x)
    before, attrs = x.shape, {"shape": shape}
    forward, backward = lambda value: value.reshape(shape), lambda grad: [grad.reshape(before)]
    return apply_op(forward, backward, x, tape=tape, op_name="reshape", attrs=attrs)


def transpose(x: Operand, axes: Sequence[int] | None = None, tape: Tape | None = None) -> Node:
    """The axes in another order, reversed by default. The gradient gets the inverse permutation."""
    x = tensor_node("transpose", x)
    order = tuple(range(x.value.ndim))[::-1] if axes is None else normal_axes(axes, x.shape)
    inverse = tuple(order.index(axis) for axis in range(len(order)) if axis in order)
    forward = partial(elementwise.permute, axes=order)

    def differentiate(grad):
        return [elementwise.permute(grad, inverse)]

    return apply_op(forward, differentiate, x, tape=tape, op_name="transpose", attrs={"axes": order})


def broadcast_to(x: Operand, shape: Sequence[int], tape: Tape | None = None) -> Node:
    """x broadcast to `shape`. The gradient is summed over the copies."""
    x, forward = tensor_node("broadcast_to", x), partial(elementwise.broadcast_to, shape=shape)
    return apply_op(forward, lambda grad: [grad], x, tape=tape, op_name="broadcast_to", attrs={"shape": shape})


def cast(x: Operand, dtype: DTypeLike, tape: Tape | None = None) -> Node:
    """x in another dtype: "float32", "float64", or "int32" for indices, rounded towards 0. The gradient is
    cast back; an int32 result has none.
    """
    x, forward = tensor_node("cast", x), partial(elementwise.cast, dtype=dtype)
    backward = None if np.dtype(dtype) == INT32 else lambda grad: [grad]  # the engine fits the dtype
    return apply_op(forward, backward, x, tape=tape, op_name="cast", attrs={"dtype": dtype})
