"""Elementwise operations: one kernel for each formula and kind of operands, one plan for each set
of layouts.
"""

import functools
from dataclasses import dataclass

import numpy as np
import pyopencl as cl

from tinygrad_cl.netcl.core.device import INT32, divisible, plans
from tinygrad_cl.netcl.core.tensor import Tensor, layout_of, refuse_indices
from tinygrad_cl.netcl.ops import elementwise_source as source
from tinygrad_cl.netcl.ops.primitives import Formula


def elementwise_unary(x, expression):
    """The C expression of v0 at every number of x: `elementwise_unary(x, expression="sin(v0)")`."""
    return compute(formula_of(expression, 1), (x,))


def elementwise_binary(x, y, expression):
    """The C expression of v0 and v1 at every number of x and y, broadcast as in NumPy; one may be a
    number.

    `elementwise_binary(x, y, expression="MUL(v0, v1)")`; ops.primitives says what an expression may
    use.
    """
    return compute(formula_of(expression, 2), (x, y))


@functools.lru_cache(maxsize=1024)
def formula_of(expression, arity):
    """The Formula of a C expression that somebody wrote, the same object for the same text."""
    return Formula("elementwise", (expression,), arity)


def compute(formula, operands):
    """The result of a Formula as a new Tensor of the broadcast shape, by one launch.

    operands   Tensors, float32 or float64, and numbers; the result has the widest dtype among the
               Tensors

    Raises ValueError for shapes that do not broadcast and for tensors of two devices, TypeError
    where no operand is
    a Tensor, pyopencl.RuntimeError where the expression is no C.
    """
    plan, arguments = planned(formula, operands)
    return plan.run(arguments)


def compute_into(target, formula, operands):
    """As `compute`, but the result overwrites `target`, which has its layout and may be an
    operand.
    """
    plan, arguments = planned(formula, operands)
    if plan.layout is not target.layout:
        raise ValueError(f"{formula.name} gives {plan.layout}, which does not fit into {target}")
    plan.run(arguments, target.buffer)


def compute_all(formula, operands):
    """As `compute`, for a Formula of several expressions: a list of Tensors, still by one
    launch.
    """
    plan, arguments = planned(formula, operands)
    return plan.run_all(arguments)


def planned(formula, operands):
    """(the Plan for a Formula and operands, what its kernel gets of them: buffers and numbers)."""
    key, arguments = [formula], []
    for x in operands:
        if isinstance(x, Tensor):
            key.append(x.layout)
            arguments.append(x.buffer)
        else:
            key.append(None)
            arguments.append(x)
    key = tuple(key)
    return plans.table.get(key) or make_plan(key), arguments


class Plan:
    """A kernel with all that stays the same from call to call.

    kernel        its first arguments, lengths and strides, are set
    size, group   numbers of work-items
    layout        of each of the results, `outputs` in number
    """

    __slots__ = ("kernel", "size", "group", "layout", "outputs", "launch", "allocate")

    def __init__(self, kernel, size, group, layout, outputs):
        self.kernel, self.size, self.group = kernel, size, group
        self.layout, self.outputs = layout, outputs
        self.launch, self.allocate = layout.device.launch, layout.device.pool.allocate

    def run(self, arguments, buffer=None):
        """The result, a new Tensor; in `buffer` where one is given, which may be an operand's
        own.

        arguments   the operands' buffers, and numbers
        """
        layout = self.layout
        if buffer is None:
            buffer = self.allocate(layout.nbytes)
        if layout.size:
            self.launch(self.kernel, self.size, self.group, (buffer, *arguments))
        return Tensor(layout, buffer)

    def run_all(self, arguments):
        """The results, a list of new Tensors."""
        layout = self.layout
        buffers = [self.allocate(layout.nbytes) for _ in range(self.outputs)]
        if layout.size:
            self.launch(self.kernel, self.size, self.group, (*buffers, *arguments))
        return [Tensor(layout, buffer) for buffer in buffers]


@dataclass(frozen=True)
class Operand:
    """What the source of a kernel depends on: the dtype's name, None for a number, and the step
    along a row.

    step   0: one number for all; 1: neighbours; None: any other, an argument
    """

    dtype: str | None
    step: int | None


def make_plan(key):
    """The Plan for (formula, layout of each operand, None for a number), which it also keeps."""
    formula, *layouts = key
    refuse_indices(formula.name, [layout for layout in layouts if layout is not None])
    out = joint_layout(formula.name, formula.arity, layouts)
    strides = [layout and broadcast_strides(layout.shape, out.shape) for layout in layouts]
    plan = plans.table[key] = strided_plan(formula, out, layouts, strides)
    return plan


def joint_layout(name, arity, layouts):
    """The Layout to which operands broadcast, checked: the widest dtype among those that are no
    indices.

    layouts   of each operand, None for a number
    """
    tensors = [layout for layout in layouts if layout is not None]
    if len(layouts) != arity:
        raise TypeError(f"{name} takes {arity} operands, not {len(layouts)}")
    if not tensors:
        raise TypeError(f"{name} needs a Tensor among its operands")
    device = tensors[0].device
    if any(layout.device is not device for layout in tensors):
        raise ValueError(f"{name}: the operands lie on different devices")
    try:
        shape = np.broadcast_shapes(*[layout.shape for layout in tensors])
    except ValueError:
        shapes = " and ".join(str(layout.shape) for layout in tensors)
        raise ValueError(f"{name}: shapes {shapes} do not broadcast") from None
    dtypes = [layout.dtype for layout in tensors if layout.dtype != INT32]
    return layout_of(device, shape, np.result_type(*dtypes))


def strided_plan(formula, out, layouts, strides):
    """The Plan that computes `out` from operands that walk its shape with the given strides (None:
    a number).
    """
    if not out.size:
        return Plan(None, None, None, out, len(formula.expressions))
    shape, strides = merge_axes(out.shape, strides)
    if shape == [1]:  # one number: any step will do, so it can be that of a kernel for many
        strides = [walk and [1] for walk in strides]
    *outer, length = shape
    steps = [walk and (walk[-1] if walk[-1] in (0, 1) else None) for walk in strides]
    operands = [Operand(layout and layout.dtype.name, step) for layout, step in zip(layouts, steps)]
    gathers = any(walk and step is None for walk, step in zip(strides, steps))
    constants = [length, *outer]
    if outer or gathers:
        write = functools.partial(source.rows_source, outer=len(outer))
        for walk, step in zip(strides, steps):
            if walk:
                constants += walk[:-1] if step is not None else walk
    else:  # nothing repeats along outer axes: one line of numbers is all there is
        write = source.flat_source
    choices = out.device.choices
    kernel, lanes = build(
        formula, out, operands, 1 if gathers else choices.lanes[out.dtype], write, tuple(map(np.int64, constants))
    )
    size, group = work_items(choices, -(-length // lanes), outer)
    return Plan(kernel, size, group, out, len(formula.expressions))


def build(formula, out, operands, lanes, write, constants):
    """(kernel, lanes): with vectors, or number by number where the expression does not compile for
    vectors.
    """
    dtype, name = out.dtype.name, source.kernel_name(formula)
    arguments = [None] * len(formula.expressions)
    arguments += [None if operand.dtype else out.dtype.type for operand in operands]
    for width in sorted({1, lanes}, reverse=True):
        text = write(formula, operands, dtype, width)
        try:
            return out.device.kernel(text, name, constants, arguments, source.options(dtype)), width
        except cl.RuntimeError:
            if width == 1:
                raise


def work_items(choices, along, outer):
    """(global size, local size) for `along` work-items on the last axis, for each place on the
    outer ones; the kernel guards its edges.
    """
    rows = [int(np.prod(outer))] if outer else []
    if not choices.group:
        return tuple(map(divisible, (along, *rows))), None
    group = min(choices.group, 1 << (along - 1).bit_length())  # whole groups
    return (-(-along // group) * group, *rows), (group, *[1] * len(rows))


def broadcast_strides(shape, target):
    """For each axis of `target`, how far a contiguous tensor of `shape` moves along it: 0 where it
    repeats.

    >>> broadcast_strides((3, 1), (2, 3, 4))
    [0, 1, 0]
    """
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(0 if length == 1 else step)
        step *= length
    return [0] * (len(target) - len(shape)) + strides[::-1]


def merge_axes(shape, strides):
    """The same walk with as few axes as can be: (shape, strides), lists; axes of length 1 go,
    neighbours merge.

    >>> merge_axes((2, 3, 4), [[12, 4, 1], [0, 4, 1], None])
    ([2, 12], [[12, 1], [0, 1], None])
    """
    merged, walks = [], [[] if walk is not None else None for walk in strides]
    for axis, length in enumerate(shape):
        if length == 1:
            continue
        inner = [walk and walk[axis] for walk in strides]
        if merged and all(walk is None or walk[-1] == step * length for walk, step in zip(walks, inner)):
            merged[-1] *= length
            for walk, step in zip(walks, inner):
                if walk is not None:
                    walk[-1] = step
        else:
            merged.append(length)
            for walk, step in zip(walks, inner):
                if walk is not None:
                    walk.append(step)
    if not merged:
        return [1], [None if walk is None else [0] for walk in strides]
    return merged, walks


def permute(x, axes=None):
    """The axes of x in another order, reversed by default, as a new contiguous tensor:
    numpy.transpose.
    """
    axes = tuple(range(x.ndim))[::-1] if axes is None else tuple(axes)
    if sorted(axes) != list(range(x.ndim)):
        raise ValueError(f"{axes} is no order of the axes of shape {x.shape}")
    own = broadcast_strides(x.shape, x.shape)
    return _copy(x, [x.shape[axis] for axis in axes], [own[axis] for axis in axes])


def broadcast_to(x, shape):
    """x repeated to `shape`, as a new contiguous tensor: numpy.broadcast_to. ValueError where it
    does not fit.
    """
    shape = tuple(shape)
    if np.broadcast_shapes(x.shape, shape) != shape:
        raise ValueError(f"shape {x.shape} does not broadcast to {shape}")
    return _copy(x, shape, broadcast_strides(x.shape, shape))


def cast(x, dtype):
    """x with its numbers in another dtype, a new tensor; towards 0 where they become int32."""
    return _copy(x, x.shape, broadcast_strides(x.shape, x.shape), dtype)


def _copy(x, shape, strides, dtype=None):
    key = (_copy, x.layout, *shape, *strides, dtype)
    plan = plans.table.get(key)
    if plan is None:
        out = layout_of(x.device, shape, dtype or x.dtype)
        copy = formula_of("v0", 1)
        plan = plans.table[key] = strided_plan(copy, out, [x.layout], [strides])
    return plan.run((x.buffer,))
