"""Matrix products of engine 3: any transposition, any batch."""

from dataclasses import dataclass

import numpy as np

from tinygrad_cl.netcl.core.device import plans
from tinygrad_cl.netcl.core.memory import SLACK
from tinygrad_cl.netcl.core.tensor import Tensor, layout_of, refuse_indices
from tinygrad_cl.netcl.ops import matmul_source as source
from tinygrad_cl.netcl.ops.elementwise import broadcast_to

DIRECT = 2**20  # bytes of B that stay in a core's cache: a larger one is packed


def matmul(a, b, transpose_a=False, transpose_b=False):
    """A · B as a new Tensor, as numpy.matmul: (…, M, K) · (…, K, N) = (…, M, N), batches broadcast.

    transpose_a, transpose_b   use the matrix with its last two axes swapped: nothing is copied for
                               it
    A vector is a row on the left and a column on the right, and the result has one axis less.

    ValueError if the shapes do not fit, TypeError if the dtypes differ.
    """
    key = (matmul, a.layout, b.layout, transpose_a, transpose_b)
    plan = plans.table.get(key)
    if plan is None:
        plan = plans.table[key] = make_plan(a.layout, b.layout, transpose_a, transpose_b)
    return plan.run(a, b)


@dataclass(frozen=True)
class Matrices:
    """A batch of matrices in memory: number (i, j) of matrix n lies at n · batch + i · row + j ·
    column.
    """

    rows: int
    columns: int
    row: int
    column: int
    batch: int

    def transposed(self):
        return Matrices(self.columns, self.rows, self.column, self.row, self.batch)


class Plan:
    """The launches of one product.

    packs   for A and for B: None, or (kernel, size, bytes of the packed matrix)
    last    (kernel, size, group) of the product itself
    whole   the shapes to which A and B are repeated first, where their batches differ in some axes
    """

    def __init__(self, out, packs, last, whole=(None, None)):
        self.out, self.packs, self.last, self.whole = out, packs, last, whole

    def run(self, a, b):
        out, device = self.out, self.out.device
        if self.last is None:  # nothing to add up
            return Tensor.full(device.queue, out.shape, 0, out.dtype)
        buffers = []
        for x, shape, pack in zip((a, b), self.whole, self.packs):
            buffer = x.buffer if shape is None else broadcast_to(x, shape).buffer
            if pack:
                kernel, size, nbytes = pack
                packed = device.pool.allocate(nbytes)
                device.launch(kernel, size, None, (packed, buffer))
                buffer = packed
            buffers.append(buffer)
        result = device.pool.allocate(out.nbytes)
        kernel, size, group = self.last
        device.launch(kernel, size, group, (result, *buffers))
        return Tensor(out, result)


def make_plan(a, b, transpose_a, transpose_b):
    """The Plan for two layouts."""
    refuse_indices("matmul", [a, b])
    if a.device is not b.device:
        raise ValueError("matmul: the operands lie on different devices")
    if a.dtype != b.dtype:
        raise TypeError(f"matmul takes two tensors of one dtype, not {a.dtype} and {b.dtype}")
    shapes = f"{a.shape}{'ᵀ' if transpose_a else ''} and {b.shape}{'ᵀ' if transpose_b else ''}"
    if not a.shape or not b.shape:
        raise ValueError(f"matmul takes no single numbers: shapes {shapes}")
    a_shape = (1, *a.shape) if len(a.shape) == 1 else a.shape
    b_shape = (*b.shape, 1) if len(b.shape) == 1 else b.shape
    a_batch, b_batch = a_shape[:-2], b_shape[:-2]
    try:
        batch = np.broadcast_shapes(a_batch, b_batch)
    except ValueError:
        raise ValueError(f"matmul: the batches of shapes {shapes} do not broadcast") from None
    count = int(np.prod(batch))
    first, whole_a = matrices(a_shape, batch, count)
    second, whole_b = matrices(b_shape, batch, count)
    first = first.transposed() if transpose_a and len(a.shape) > 1 else first
    second = second.transposed() if transpose_b and len(b.shape) > 1 else second
    if first.columns != second.rows:
        raise ValueError(f"matmul: shapes {shapes} do not fit, {first.columns} columns meet "
                         f"{second.rows} rows")
    shape = batch + (first.rows,) * (len(a.shape) > 1) + (second.columns,) * (len(b.shape) > 1)
    out = layout_of(a.device, shape, a.dtype)
    if not out.size or not first.columns:
        return Plan(out, (None, None), None)
    if first.row == first.columns and second.batch == 0 and count > 1 and first.batch:
        first = Matrices(first.rows * count, first.columns, first.row, 1, 0)  # one tall matrix
        count = 1
    write = local_plan if a.device.choices.local_memory else registers_plan
    packs, last = write(a.device, out.dtype, first, second, count)
    return Plan(out, packs, last, (whole_a, whole_b))


def matrices(shape, batch, count):
    """(Matrices, None, or the shape to which the tensor is to be repeated first)."""
    *own, rows, columns = shape
    size = int(np.prod(own))
    if size == count or size == 1:
        return Matrices(rows, columns, columns, 1, rows * columns if size > 1 else 0), None
    return Matrices(rows, columns, columns, 1, rows * columns), (*batch, rows, columns)


def registers_plan(device, dtype, a, b, count):
    """(packs, last) for a CPU: A and B as they are while they are small and lie well, else
    packed.
    """
    choices = device.choices
    lanes = choices.lanes[dtype]
    # A tile may read behind the end of B, within the slack.
    width = min(lanes * choices.vectors, SLACK // dtype.itemsize)
    direct = b.column == 1 and b.rows * b.columns * dtype.itemsize <= DIRECT
    rows = choices.rows if direct else min(choices.rows, 8)
    panels, tiles = -(-b.columns // width), -(-a.rows // rows)
    packs = [None, None]
    if a.column != 1 and a.rows * a.columns * dtype.itemsize > DIRECT:
        packs[0] = pack(device, dtype, a.transposed(), rows, count)
        a_steps = (a.columns * rows, 1, rows, tiles * a.columns * rows if a.batch else 0)
    else:
        a_steps = (rows * a.row, a.row, a.column, a.batch)
    if direct:
        b_steps = (width, b.row, b.batch)
    else:
        packs[1] = pack(device, dtype, b, width, count)
        b_steps = (b.rows * width, width, panels * b.rows * width if b.batch else 0)
    text = source.registers_source(dtype.name, lanes, rows, width // lanes)
    constants = [*map(np.int64, (a.rows, b.columns, a.columns, *a_steps, *b_steps))]
    kernel = device.kernel(text, "matmul_registers", constants, (None,) * 3)
    return packs, (kernel, (panels, tiles, count), (1, 1, 1))


def pack(device, dtype, x, width, count):
    """(kernel, size, bytes): the matrices x (K, N) as panels of `width` columns, filled up with
    zeros.
    """
    panels = -(-x.columns // width)
    many = count if x.batch else 1
    constants = [*map(np.int64, (x.rows, x.columns, x.row, x.column, x.batch))]
    kernel = device.kernel(source.pack_source(dtype.name, width), "pack", constants, (None, None))
    return kernel, (panels, x.rows, many), many * panels * x.rows * width * dtype.itemsize


def local_plan(device, dtype, a, b, count):
    """(packs, last) for a GPU: tiles in local memory, as large as a group of work-items allows."""
    side = 16 if device.choices.group >= 256 else 4
    block, depth = 4, 16
    tile = side * block
    text = source.local_source(dtype.name, side, block, depth)
    constants = [*map(np.int64, (a.rows, b.columns, a.columns, a.row, a.column, a.batch,
                                 b.row, b.column, b.batch))]
    kernel = device.kernel(text, "matmul_local", constants, (None,) * 3)
    size = (-(-b.columns // tile) * side, -(-a.rows // tile) * side, count)
    return (None, None), (kernel, size, (side, side, 1))
