"""One formula on many sets of tensors, in place, by one launch: what an optimizer does to a model.

A model has many parameters, most of them small, and a launch has its price. So one kernel goes
through all of them, one after the other, and each work-item finds the tensors its place is in. With
six parameters, a captured step of Adam takes 5 % less time than with a launch for each (PoCL).
"""

import numpy as np

from tinygrad_cl.netcl.core.device import plans
from tinygrad_cl.netcl.core.tensor import refuse_indices
from tinygrad_cl.netcl.ops import elementwise_source as source
from tinygrad_cl.netcl.ops.elementwise import Operand, work_items


def update(formula, rows, shared=()):
    """Compute a Formula for each row of operands; its result number k overwrites operand number k.

    rows     [(v0, v1, …), …]: Tensors of one size in each row; a column may have one number in each
    shared   further operands, the same for all rows: Tensors of one number

    Every result is computed from the old numbers. No tensor that is overwritten may stand in two
    places. ValueError if sizes do not fit or devices differ, TypeError if dtypes do.
    """
    rows = [row for row in rows if row[0].layout.size]
    if not rows:
        return
    tensors = [x for row in rows for x in row]
    key = (update, formula, len(rows), *[x.layout for x in tensors], *[x.layout for x in shared])
    steps = plans.table.get(key)
    if steps is None:
        steps = plans.table[key] = make_steps(formula, rows, shared)
    launch, last = rows[0][0].layout.device.launch, [x.buffer for x in shared]
    for kernel, size, group, begin, end in steps:
        launch(kernel, size, group, [x.buffer for x in tensors[begin:end]] + last)


def make_steps(formula, rows, shared):
    """The launches: (kernel, size, group, numbers of the first tensor and of that after the last).

    Each takes as many rows as it has room for: devices limit the bytes of a kernel's arguments.
    """
    layout, width = rows[0][0].layout, len(rows[0])
    device, dtype = layout.device, layout.dtype
    check(formula.name, layout, [x for row in rows for x in row] + list(shared))
    if any(x.size != 1 for x in shared):
        raise ValueError(f"{formula.name}: what all rows share is one number")
    along = [step_along(formula, rows, column) for column in range(width)] + [0] * len(shared)
    operands = [Operand(dtype.name, step) for step in along]
    lanes = device.choices.lanes[dtype]
    room = device.found.handle.max_parameter_size // 8 - len(shared)  # 8 bytes each
    most = room // (1 + width)  # a length, and the tensors
    steps = []
    for begin in range(0, len(rows), most):
        sizes = [row[0].size for row in rows[begin : begin + most]]
        text = update_source(formula, operands, dtype.name, lanes, len(sizes), width)
        pointers = [None] * (len(sizes) * width + len(shared))
        kernel = device.kernel(
            text, source.kernel_name(formula), [*map(np.int64, sizes)], pointers, source.options(dtype.name)
        )
        size, group = work_items(device.choices, sum(-(-size // lanes) for size in sizes), [])
        steps.append((kernel, size, group, begin * width, (begin + len(sizes)) * width))
    return steps


def check(name, layout, tensors):
    """All tensors lie on one device and have one dtype, which is none of indices."""
    refuse_indices(name, [layout])
    if any(x.device is not layout.device for x in tensors):
        raise ValueError(f"{name}: the tensors lie on different devices")
    if any(x.dtype != layout.dtype for x in tensors):
        raise TypeError(f"{name}: the tensors have different dtypes")


def step_along(formula, rows, column):
    """How far this operand moves from number to number: 0 where it is a single one, else 1."""
    if column >= len(formula.expressions) and all(row[column].size == 1 for row in rows):
        return 0
    for row in rows:
        if row[column].size != row[0].size:
            raise ValueError(f"{formula.name}: shapes {row[0].shape} and {row[column].shape} do not go together")
    return 1


def update_source(formula, operands, dtype, lanes, rows, width):
    """The kernel. Arguments: the length of each row; its tensors, row by row; the shared ones.

    The places of all rows are numbered through, each row filled up to whole vectors.
    """
    written = range(len(formula.expressions))
    columns = range(width)
    parameters = [f"const long n_{row}" for row in range(rows)]
    parameters += [
        f"__global {'' if column in written else 'const '}T *x{column}_{row}"
        for row in range(rows)
        for column in columns
    ]
    parameters += [source.parameter(number, operand) for number, operand in list(enumerate(operands))[width:]]
    lines = [
        "long i = (long)get_global_id(0) * LANES, n;",
        f"__global T {', '.join(f'*out{number}' for number in written)};",
        f"__global const T {', '.join(f'*x{column}' for column in columns)};",
    ]
    for row in range(rows):
        begin = "if (i" if row == 0 else f"else if ((i -= WHOLE(n_{row - 1}))"
        found = [
            f"n = n_{row};",
            *[f"out{number} = x{number}_{row};" for number in written],
            *[f"x{column} = x{column}_{row};" for column in columns],
        ]
        lines.append(f"{begin} < WHOLE(n_{row})) {{ {' '.join(found)} }}")
    lines.append("else return;")
    return (
        f"{source.settings(dtype, lanes)}"
        "#define WHOLE(n) (((n) + LANES - 1) / LANES * LANES)\n"
        f"__kernel void {source.kernel_name(formula)}({', '.join(parameters)}) {{\n    " + "\n    ".join(lines) + "\n"
        f"{source.whole_and_rest(formula, operands, dtype, lanes, 'n')}}}\n"
    )
