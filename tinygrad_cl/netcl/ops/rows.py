"""Operations on rows: an element of the result depends on the whole row, as in a softmax.

A RowFormula describes several reductions along a row, and elementwise steps, fused into one kernel.
The kernel reads each row as often as the formula needs it.
"""

from dataclasses import dataclass

import numpy as np

from tinygrad_cl.netcl.core.device import divisible, plans
from tinygrad_cl.netcl.core.tensor import Tensor, refuse_indices, spec_of
from tinygrad_cl.netcl.ops import rows_source as source
from tinygrad_cl.netcl.ops.c_source import options
from tinygrad_cl.netcl.ops.elementwise import permute
from tinygrad_cl.netcl.ops.loop_nest import Schedule
from tinygrad_cl.netcl.ops.loop_plan import Plan, inputs_along
from tinygrad_cl.netcl.ops.shapes import broadcast_strides, joint_spec, merge_axes, one_axis


@dataclass(frozen=True, eq=False)
class RowFormula:
    """What one kernel computes of every row. Compared by identity.

    name          name of the kernel
    inputs        the names of its inputs
    steps         (name, how, expression), in order. `how` is "sum", "mean" or "max": the expression
                  is reduced along the row; None: it has one value for the row; "keep": its value at
                  each place is stored, in the memory of the first output, for the steps after it,
                  until something else is stored there
    outputs       expressions, each computed at every place of the row
    row_outputs   expressions, each with one value for the row
    indices       the inputs that may be int32

    Expressions are C, of inputs, of steps before them, of `place`, the position in the
    row from 0, and of N, the length of the row; T and V as in ops.primitives.
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

    operands   Tensors and numbers. They broadcast to one shape, whose last axis is the row
    wanted     for each output whether to compute it: None is returned for the others; by default all

    Outputs have the joint shape, row outputs a last axis of length 1; dtypes as in `compute`.

    Raises ValueError for shapes that do not broadcast and tensors of two devices, TypeError where
    no operand is a Tensor, or one holds indices and may not.
    """
    key = (formula, wanted, *[x.spec if isinstance(x, Tensor) else None for x in operands])
    plan = plans.table.get(key)
    if plan is None:
        plan = plans.table[key] = make_plan(*key)
    results = plan.run(operands)
    if wanted is None:
        return results
    rest = iter(results)
    return [next(rest) if want else None for want in wanted]


def make_plan(formula, wanted, *specs):
    """The Plan for these operands: a TensorSpec for each, None for a number."""
    refuse_indices(
        formula.name,
        [spec for spec, name in zip(specs, formula.inputs) if spec is not None and name not in formula.indices],
    )
    joint = joint_spec(formula.name, len(formula.inputs), specs)
    device, shape, dtype = joint.device, joint.shape, joint.dtype
    if not shape:
        raise ValueError(f"{formula.name}: a single number has no rows")
    wanted = wanted or (True,) * (len(formula.outputs) + len(formula.row_outputs))
    if not (formula.outputs and wanted[0]) and "keep" in [how for _, how, _ in formula.steps]:
        raise ValueError(f"{formula.name} keeps numbers in the memory of its first output, which is not wanted")
    row_spec = spec_of(device, (*shape[:-1], 1), dtype)
    kinds = [joint] * len(formula.outputs) + [row_spec] * len(formula.row_outputs)
    results = [spec for spec, want in zip(kinds, wanted) if want]
    if not row_spec.size:
        return Plan(device, results)
    strides = [spec and broadcast_strides(spec.shape, shape) for spec in specs]
    outer, walks = merge_axes(shape[:-1], [each and each[:-1] for each in strides])
    walks = [each and [*walk, each[-1]] for walk, each in zip(walks, strides)]
    inputs, steps = inputs_along(specs, walks)
    lanes, group = lanes_and_group(device.launch_config, dtype, shape[-1])
    s = Schedule(dtype.name, (False,) * len(outer) + (True,), lanes=lanes, group=group, chains=2 if lanes > 1 else 1)
    text = source.rows_source(formula, inputs, wanted, s)
    kinds = [None] * len(results) + [None if spec else dtype.type for spec in specs]
    constants = map(np.int64, (*outer, shape[-1], *steps))
    kernel = device.kernel(text, f"{formula.name}_kernel", tuple(constants), kinds, options(dtype.name))
    size, group = ((group, 1, row_spec.size), (group, 1, 1)) if group > 1 else ((1, 1, divisible(row_spec.size)), None)
    return Plan(device, results, text, (kernel,), size, group)


def lanes_and_group(config, dtype, length):
    """(elements per vector, work-items for each row): on a GPU no more than the row has elements."""
    if not config.local_memory:
        return config.lanes[dtype], 1
    return 1, min(config.group, 1 << max(length - 1, 0).bit_length())


def along(formula, axis, *operands):
    """The first output of a RowFormula whose rows lie along any axis; all operands have as many axes."""
    (result,) = compute_rows(formula, [axis_to_end(x, axis) for x in operands])
    return axis_from_end(result, axis)


def axis_to_end(x, axis):
    """x with one axis moved to the end; x itself if it is there."""
    if axis in (-1, x.ndim - 1):
        return x
    axis = one_axis(axis, x.shape)
    return permute(x, (*range(axis), *range(axis + 1, x.ndim), axis))


def axis_from_end(x, axis):
    """x with its last axis moved to position `axis`: the inverse of `axis_to_end`."""
    if axis in (-1, x.ndim - 1):
        return x
    axis = one_axis(axis, x.shape)
    return permute(x, (*range(axis), x.ndim - 1, *range(axis, x.ndim - 1)))
