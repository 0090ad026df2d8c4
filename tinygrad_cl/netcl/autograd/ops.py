"""The operations by name: `ag.add`, `ag.relu`, `ag.sum`, … take Nodes, Tensors, arrays and numbers,
and give a Node. The elementwise ones are read from the table (`ops.table`)."""

from functools import partial

import numpy as np

from tinygrad_cl.netcl.autograd.modes import state
from tinygrad_cl.netcl.autograd.node import Node, apply_op, apply_primitive, as_nodes, matmul
from tinygrad_cl.netcl.autograd.rules import extreme_rule, sum_rule
from tinygrad_cl.netcl.autograd.steps import register_step
from tinygrad_cl.netcl.core.device import INT32
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops import elementwise, reduction, scan
from tinygrad_cl.netcl.ops.primitives import get_primitive

__all__ = [
    "abs",
    "absolute_error",
    "add",
    "broadcast_to",
    "cast",
    "clamp",
    "cos",
    "cumsum",
    "div",
    "elu",
    "eq",
    "exp",
    "ge",
    "gelu",
    "gt",
    "le",
    "leaky_relu",
    "log",
    "log_loss",
    "logistic_loss",
    "lt",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mul",
    "ne",
    "neg",
    "pow",
    "primitive",
    "reciprocal",
    "relu",
    "reshape",
    "rsqrt",
    "sigmoid",
    "sin",
    "softplus",
    "sqrt",
    "square",
    "squared_error",
    "sub",
    "sum",
    "swish",
    "tanh",
    "tensor",
    "transpose",
    "where",
]


def tensor(x, requires_grad=None):
    """A leaf Node that holds the Tensor x; by default it requires a gradient if x does (a
    Parameter).
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"ag.tensor wraps a Tensor, not {type(x).__name__}: Tensor.from_host makes one")
    if requires_grad and x.dtype == INT32:
        raise TypeError("an int32 tensor holds indices, and indices have no gradient")
    return Node(x, x.requires_grad if requires_grad is None else bool(requires_grad))


def primitive(name):
    """The operation of a record of the table, as a function: also for one that you registered."""
    record = get_primitive(name)
    operation = partial(apply_primitive, name)
    operation.__name__ = operation.__qualname__ = name
    constants = "".join(f"; {key}={value} by default" for key, value in record.attrs.items())
    operation.__doc__ = f"{name}: {record.formula}{constants}"
    return operation


abs = primitive("abs")
absolute_error = primitive("absolute_error")
add = primitive("add")
clamp = primitive("clamp")
cos = primitive("cos")
div = primitive("div")
elu = primitive("elu")
eq = primitive("eq")
exp = primitive("exp")
ge = primitive("ge")
gelu = primitive("gelu")
gt = primitive("gt")
le = primitive("le")
leaky_relu = primitive("leaky_relu")
log = primitive("log")
log_loss = primitive("log_loss")
logistic_loss = primitive("logistic_loss")
lt = primitive("lt")
maximum = primitive("maximum")
minimum = primitive("minimum")
mul = primitive("mul")
ne = primitive("ne")
neg = primitive("neg")
pow = primitive("pow")
reciprocal = primitive("reciprocal")
relu = primitive("relu")
rsqrt = primitive("rsqrt")
sigmoid = primitive("sigmoid")
sin = primitive("sin")
softplus = primitive("softplus")
sqrt = primitive("sqrt")
square = primitive("square")
squared_error = primitive("squared_error")
sub = primitive("sub")
swish = primitive("swish")
tanh = primitive("tanh")
where = primitive("where")


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


def cumsum(x, axis, tape=None):
    """Running sums along one axis: yᵢ = x₀ + … + xᵢ.    ∂L/∂xᵢ = gᵢ + gᵢ₊₁ + …: from the other end"""
    return apply_op(
        partial(scan.cumsum, axis=axis),
        lambda grad: [scan.cumsum(grad, axis, backward=True)],
        x,
        tape=tape,
        op_name="cumsum",
        attrs={"axis": axis},
    )


register_step("cumsum", cumsum, lambda x, axis: x)


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
