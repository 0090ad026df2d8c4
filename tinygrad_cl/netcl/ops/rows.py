"""Operations on rows: those in which a number depends on all numbers of its row, as in a softmax.

A RowFormula says what is computed, in C; one kernel computes it, and reads each row as often as the
formula needs it.
"""

import operator
from dataclasses import dataclass

import numpy as np

from tinygrad_cl.netcl.core.device import plans
from tinygrad_cl.netcl.core.tensor import Tensor, layout_of, refuse_indices
from tinygrad_cl.netcl.ops import rows_source as source
from tinygrad_cl.netcl.ops.elementwise import Operand, broadcast_strides, joint_layout, merge_axes, permute
from tinygrad_cl.netcl.ops.elementwise_source import options
from tinygrad_cl.netcl.ops.reduction import normal_axes


@dataclass(frozen=True, eq=False)
class RowFormula:
    """What one kernel computes of every row. Compared by identity.

    name          the kernel's
    inputs        the names of its inputs
    steps         (name, how, expression), in order. How "sum", "mean" or "max" joins the numbers
                  of the expression over the row to one; None: it is one; "keep": it has one for
                  each place, which wait in the memory of the first output until another step, or
                  the output itself, is stored there
    outputs       expressions, each computed at every place of the row
    row_outputs   expressions, each one number of the row
    indices       the inputs that may be int32

    Expressions are C, of inputs, of steps before them, of `place`, which counts the numbers of a
    row from 0, and of N, how many there are; T and V as in ops.primitives.
    """

    name: str
    inputs: tuple
    steps: tuple
    outputs: tuple = ()
    row_outputs: tuple = ()
    indices: tuple = ()

    def __post_init__(self):
        for name, how, _ in self.steps:
            if how not in (None, "sum", "mean", "max", "keep"):
                raise ValueError(
                    f'{self.name}: how the step {name} is computed is "sum", "mean", "max", "keep" or None, not {how!r}'
                )


def compute_rows(formula, operands, wanted=None):
    """The outputs of a RowFormula, then its row outputs, as new Tensors, by one launch: a list.

    operands   Tensors and numbers. They broadcast to one shape, whose last axis is the row; each
               Tensor has whole rows, one number for each row, (…, 1), or one row for all, (n,)
    wanted     for each output whether it is computed, else None comes back; by default all are

    Outputs have the joint shape, row outputs a last axis of length 1; dtypes as in `compute`.

    Raises ValueError for shapes that do not fit and tensors of two devices, TypeError where no
    operand is a Tensor, or one holds indices and may not.
    """
    key = (formula, wanted, *[x.layout if isinstance(x, Tensor) else None for x in operands])
    plan = plans.table.get(key)
    if plan is None:
        plan = plans.table[key] = make_plan(*key)
    return plan.run(operands)


class Plan:
    """A kernel with all that stays the same from call to call.

    outputs       the Layout of each output, None where it is not wanted
    size, group   numbers of work-items
    """

    def __init__(self, kernel, size, group, outputs, device):
        self.kernel, self.size, self.group = kernel, size, group
        self.outputs, self.device = outputs, device

    def run(self, operands):
        allocate = self.device.pool.allocate
        results = [layout and Tensor(layout, allocate(layout.nbytes)) for layout in self.outputs]
        if self.size[0]:
            buffers = [result.buffer for result in results if result is not None]
            self.device.launch(
                self.kernel,
                self.size,
                self.group,
                [*buffers, *[x.buffer if isinstance(x, Tensor) else x for x in operands]],
            )
        return results


def make_plan(formula, wanted, *layouts):
    """The Plan for these operands: a Layout for each, None for a number."""
    refuse_indices(
        formula.name,
        [layout for layout, name in zip(layouts, formula.inputs) if layout is not None and name not in formula.indices],
    )
    joint = joint_layout(formula.name, len(formula.inputs), layouts)
    device, shape, dtype = joint.device, joint.shape, joint.dtype
    if not shape:
        raise ValueError(f"{formula.name}: a single number has no rows")
    wanted = wanted or (True,) * (len(formula.outputs) + len(formula.row_outputs))
    if not (formula.outputs and wanted[0]) and "keep" in [how for _, how, _ in formula.steps]:
        raise ValueError(f"{formula.name} keeps numbers in the memory of its first output, which is not wanted")
    row_layout = layout_of(device, (*shape[:-1], 1), dtype)
    kinds = [joint] * len(formula.outputs) + [row_layout] * len(formula.row_outputs)
    outputs = [layout if want else None for layout, want in zip(kinds, wanted)]
    walks = [layout and row_walk(formula.name, layout, shape) for layout in layouts]
    operands = [Operand(layout and layout.dtype.name, walk and walk[1]) for layout, walk in zip(layouts, walks)]
    length = shape[-1]
    lanes, group = lanes_and_group(device.choices, dtype, length)
    text = source.rows_source(formula, operands, wanted, dtype.name, lanes, group)
    constants = [*map(np.int64, (length, *[walk[0] for walk in walks if walk]))]
    arguments = [None for each in outputs if each is not None]
    arguments += [None if layout else dtype.type for layout in layouts]
    kernel = device.kernel(text, source.kernel_name(formula), constants, arguments, options(dtype.name))
    return Plan(kernel, (row_layout.size * group,), (group,), outputs, device)


def lanes_and_group(choices, dtype, length):
    """(numbers per vector, work-items for each row): on a GPU as many as the row has numbers for."""
    if not choices.local_memory:
        return choices.lanes[dtype], 1
    return 1, min(choices.group, 1 << max(length - 1, 0).bit_length())


def row_walk(name, layout, shape):
    """(how far the next row is, how far the next number of a row): 0 where the operand repeats.

    ValueError if it repeats along some of the outer axes and not along others.
    """
    *outer, step = broadcast_strides(layout.shape, shape)
    strides = merge_axes(shape[:-1], [outer])[1][0]
    if len(strides) > 1:
        raise ValueError(
            f"{name}: an operand of shape {layout.shape} has neither all rows of "
            f"{shape}, nor one number for each, nor one row for all"
        )
    return strides[0], step


def along(formula, axis, *operands):
    """The first output of a RowFormula whose rows lie along any axis of its operands, all of one
    number of axes.
    """
    (result,) = compute_rows(formula, [axis_to_end(x, axis) for x in operands])
    return axis_from_end(result, axis)


def axis_to_end(x, axis):
    """x with one axis moved to the end; x itself if it is there."""
    if axis in (-1, x.ndim - 1):
        return x
    axis = one_axis(axis, x.shape)
    return permute(x, (*range(axis), *range(axis + 1, x.ndim), axis))


def axis_from_end(x, axis):
    """x with its last axis moved to this place: the way back of `axis_to_end`."""
    if axis in (-1, x.ndim - 1):
        return x
    axis = one_axis(axis, x.shape)
    return permute(x, (*range(axis), x.ndim - 1, *range(axis, x.ndim - 1)))


def one_axis(axis, shape):
    """The axis meant, as a number from 0. ValueError if it is not there, TypeError for several."""
    return normal_axes(operator.index(axis), shape)[0]
