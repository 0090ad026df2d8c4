"""Operations that are not elementwise: `ag.sum`, `ag.reshape`, … take Nodes, Tensors, arrays and numbers, and give a Node."""

from functools import partial

import numpy as np

from tinygrad_cl.netcl.autograd.node import apply_primitive
from tinygrad_cl.netcl.autograd.rules import extreme_rule, sum_rule
from tinygrad_cl.netcl.core.device import INT32
from tinygrad_cl.netcl.ops import elementwise, reduction
from tinygrad_cl.netcl.ops.primitives import get_primitive
from tinygrad_cl.netcl.tape.modes import state
from tinygrad_cl.netcl.tape.node import as_nodes
from tinygrad_cl.netcl.tape.tape import apply_op

__all__ = ["broadcast_to", "cast", "max", "mean", "min", "primitive", "reshape", "sum", "transpose"]


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
    (x,) = as_nodes((x,))
    return apply_op(
        partial(reduction.reduce_sum, axis=axis, keepdims=keepdims),
        sum_rule(x.value, axis),
        x,
        tape=tape,
        op_name="sum",
        attrs={"axis": axis, "keepdims": keepdims},
    )


def mean(x, axis=None, keepdims=False, tape=None):
    """Σ x / n over one axis, several or all.    ∂(Σx / n)/∂x = 1 / n"""
    (x,) = as_nodes((x,))
    return apply_op(
        partial(reduction.reduce_mean, axis=axis, keepdims=keepdims),
        sum_rule(x.value, axis, mean=True),
        x,
        tape=tape,
        op_name="mean",
        attrs={"axis": axis, "keepdims": keepdims},
    )


def max(x, axis=None, keepdims=False, tape=None):
    """The largest number along axes.    ∂max/∂x = 1 there, 0 elsewhere; equal ones share it."""
    return extreme("max", x, axis, keepdims, tape)


def min(x, axis=None, keepdims=False, tape=None):
    """The smallest number along axes.    ∂min/∂x = 1 there, 0 elsewhere; equal ones share it."""
    return extreme("min", x, axis, keepdims, tape)


def extreme(how, x, axis, keepdims, tape):
    """max or min."""
    if state.trace is not None:
        return state.trace.operation(how, (x,), {"axis": axis, "keepdims": keepdims})
    (x,) = as_nodes((x,))
    out = reduction.reduce(x.value, how, axis, keepdims)
    return apply_op(
        lambda value: out,
        extreme_rule(x.value, out, axis),
        x,
        tape=tape,
        op_name=how,
        attrs={"axis": axis, "keepdims": keepdims},
    )


def reshape(x, shape, tape=None):
    """The same numbers under another shape; nothing is copied. The gradient is shaped back."""
    (x,) = as_nodes((x,))
    before = x.shape
    return apply_op(
        lambda value: value.reshape(shape),
        lambda grad: [grad.reshape(before)],
        x,
        tape=tape,
        op_name="reshape",
        attrs={"shape": shape},
    )


def transpose(x, axes=None, tape=None):
    """The axes in another order, reversed by default. The gradient takes the way back."""
    (x,) = as_nodes((x,))
    order = tuple(range(x.value.ndim))[::-1] if axes is None else tuple(axes)
    back = tuple(order.index(axis) for axis in range(len(order)) if axis in order)
    return apply_op(
        lambda value: elementwise.permute(value, order),
        lambda grad: [elementwise.permute(grad, back)],
        x,
        tape=tape,
        op_name="transpose",
        attrs={"axes": order},
    )


def broadcast_to(x, shape, tape=None):
    """x repeated to `shape`. The gradient is summed over what was repeated."""
    (x,) = as_nodes((x,))
    return apply_op(
        lambda value: elementwise.broadcast_to(value, shape),
        lambda grad: [grad],
        x,
        tape=tape,
        op_name="broadcast_to",
        attrs={"shape": shape},
    )


def cast(x, dtype, tape=None):
    """x with its numbers in another dtype: "float32", "float64", or towards 0 to the indices of
    "int32". The gradient is cast back; through indices there is none.
    """
    (x,) = as_nodes((x,))
    back = None if np.dtype(dtype) == INT32 else lambda grad: [grad]  # the engine fits the dtype
    return apply_op(
        lambda value: elementwise.cast(value, dtype), back, x, tape=tape, op_name="cast", attrs={"dtype": dtype}
    )
