"""Elementwise operations: loop nests of a Formula, one plan for the same specs."""

import functools

import numpy as np

from tinygrad_cl.netcl.core.device import plans
from tinygrad_cl.netcl.core.memory import writes
from tinygrad_cl.netcl.core.tensor import Tensor, refuse_indices, spec_of
from tinygrad_cl.netcl.ops.loop_nest import LoopNest
from tinygrad_cl.netcl.ops.loop_plan import nest_plan
from tinygrad_cl.netcl.ops.primitives import Formula
from tinygrad_cl.netcl.ops.shapes import broadcast_strides, joint_spec


def elementwise_unary(x, expression):
    """The C expression of v0 at every element of x: `elementwise_unary(x, expression="sin(v0)")`."""
    return compute(formula_of(expression, 1), (x,))


def elementwise_binary(x, y, expression):
    """The C expression of v0 and v1 at every element of x and y, broadcast as in NumPy; one of them may be
    a number.

    `elementwise_binary(x, y, expression="MUL(v0, v1)")`; ops.primitives lists the macros that an
    expression may use.
    """
    return compute(formula_of(expression, 2), (x, y))


@functools.lru_cache(maxsize=1024)
def formula_of(expression, arity):
    """The Formula of a C expression, the same object for the same text."""
    return Formula("elementwise", (expression,), arity)


def compute(formula, operands, into=None):
    """The result of a Formula as a new Tensor of the broadcast shape, by one launch.

    operands   Tensors, float32 or float64, and numbers; the result has the widest dtype among the
               Tensors
    into       a Tensor of the result's spec whose old numbers nobody needs any more: the result
               lies in its memory; it may be an operand

    ValueError for shapes that do not broadcast and for tensors on two devices, TypeError if no operand
    is a Tensor, pyopencl.RuntimeError if the expression does not compile.
    """
    plan, arguments = planned(formula, operands)
    if into is None:
        return plan.one(arguments)
    if plan.spec is not into.spec:
        raise ValueError(f"{formula.name} gives {plan.spec}, which does not fit into {into}")
    return plan.one(arguments, into.buffer)


def compute_into(target, formula, operands):
    """As `compute`, but the result overwrites `target`, which has the same TensorSpec and may be an operand.
    A backward pass that needs the old elements will be an error.
    """
    compute(formula, operands, target)
    writes.note((target.buffer.int_ptr,))


def compute_all(formula, operands):
    """As `compute`, for a Formula of several expressions: a list of Tensors, by one launch."""
    plan, arguments = planned(formula, operands)
    return plan.run(arguments)


def planned(formula, operands):
    """(the Plan for a Formula and operands, what its kernel gets of them: buffers and numbers)."""
    key, arguments = [formula], []
    for x in operands:
        if isinstance(x, Tensor):
            key.append(x.spec)
            arguments.append(x.buffer)
        else:
            key.append(None)
            arguments.append(x)
    key = tuple(key)
    return plans.table.get(key) or make_plan(key), arguments


def make_plan(key):
    """The Plan for (formula, spec of each operand, None for a number), which it also keeps."""
    formula, *specs = key
    refuse_indices(formula.name, [spec for spec in specs if spec is not None])
    out = joint_spec(formula.name, formula.arity, specs)
    strides = [spec and broadcast_strides(spec.shape, out.shape) for spec in specs]
    plan = plans.table[key] = strided_plan(formula, out, zip(specs, strides))
    return plan


def strided_plan(formula, out, inputs):
    """The Plan that computes results like `out` from inputs, (TensorSpec, strides) of each, (None, None)
    for a number.
    """
    nest = formula_nest(formula, out.dtype.name)
    return nest_plan(nest, out, list(inputs), [out] * len(formula.expressions))


def formula_nest(formula, dtype, in_place=False):
    """A Formula as a LoopNest: an output for each expression."""
    values = [f"y{number}" for number in range(len(formula.expressions))]
    return LoopNest(
        f"{formula.name}_kernel",  # no function of OpenCL C has that name: `exp` is taken
        tuple(f"v{number}" for number in range(formula.arity)),
        tuple(f"const V {value} = {expression};" for value, expression in zip(values, formula.expressions)),
        tuple((value, dtype) for value in values),
        in_place=in_place,
    )


def permute(x, axes=None):
    """The axes of x in another order, reversed by default, as a new contiguous tensor: numpy.transpose."""
    axes = tuple(range(x.ndim))[::-1] if axes is None else tuple(axes)
    if sorted(axes) != list(range(x.ndim)):
        raise ValueError(f"{axes} is no order of the axes of shape {x.shape}")
    own = broadcast_strides(x.shape, x.shape)
    return _copy(x, [x.shape[axis] for axis in axes], [own[axis] for axis in axes])


def broadcast_to(x, shape):
    """x broadcast to `shape`, as a new contiguous tensor: numpy.broadcast_to. ValueError if it does not fit."""
    shape = tuple(shape) if np.ndim(shape) else (shape,)
    if np.broadcast_shapes(x.shape, shape) != shape:
        raise ValueError(f"shape {x.shape} does not broadcast to {shape}")
    return _copy(x, shape, broadcast_strides(x.shape, shape))


def cast(x, dtype):
    """x in another dtype, a new tensor; rounded towards 0 for int32."""
    return _copy(x, x.shape, broadcast_strides(x.shape, x.shape), dtype)


def _copy(x, shape, strides, dtype=None):
    key = (_copy, x.spec, *shape, *strides, dtype)
    plan = plans.table.get(key)
    if plan is None:
        out = spec_of(x.device, shape, dtype or x.dtype)
        plan = plans.table[key] = strided_plan(formula_of("v0", 1), out, [(x.spec, strides)])
    return plan.one((x.buffer,))
