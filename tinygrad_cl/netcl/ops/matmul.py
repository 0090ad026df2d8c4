"""Matrix products of engine 3: any transposition, any batch, with an elementwise epilogue, in one launch."""

import math
from dataclasses import dataclass

import numpy as np

from tinygrad_cl.netcl.core.device import plans
from tinygrad_cl.netcl.core.memory import SLACK
from tinygrad_cl.netcl.core.tensor import Tensor, refuse_indices, spec_of
from tinygrad_cl.netcl.ops import matmul_source as source
from tinygrad_cl.netcl.ops.c_source import options
from tinygrad_cl.netcl.ops.elementwise import broadcast_to, compute, compute_all
from tinygrad_cl.netcl.ops.primitives import Formula

PRODUCT = Formula("product", ("v0",), 1)
FEW = 4  # tiles that do not pay for a copy of their panel of B


def matmul(a, b, transpose_a=False, transpose_b=False, epilogue=PRODUCT, operands=()):
    """A · B as a new Tensor, as numpy.matmul: (…, M, K) · (…, K, N) = (…, M, N), batches broadcast.

    transpose_a, transpose_b   use the matrix with its last two axes swapped, without a copy
    epilogue, operands         a Formula of v0, the product, and of v1, v2, …, the operands: it is
                               what is stored. An operand is a Tensor of the result's shape, or of N
                               numbers, one for each column. With several expressions the result is
                               a list of Tensors.

    A vector is a row on the left and a column on the right, and the result has one axis less.

    ValueError if the shapes do not fit, TypeError if the dtypes differ.
    """
    key = (matmul, a.spec, b.spec, transpose_a, transpose_b, epilogue, *[x.spec for x in operands])
    plan = plans.table.get(key)
    if plan is None:
        plan = plans.table[key] = make_plan(*key[1:6], key[6:])
    return plan.run(a, b, operands)


@dataclass(frozen=True)
class Matrices:
    """A batch of matrices in memory: element (i, j) of matrix n is at n · batch + i · row + j · column."""

    rows: int
    columns: int
    row: int
    column: int
    batch: int

    def transposed(self):
        return Matrices(self.columns, self.rows, self.column, self.row, self.batch)


class Plan:
    """The launches of one product.

    epilogue   the Formula of what is stored
    first      None, or (kernel, size, bytes) of the launch that rewrites A
    last       (kernel, size, group) of the product itself; None where there is nothing to add up
    whole      the shapes to which A and B are repeated first, where their batches differ in some
               axes
    """

    def __init__(self, out, epilogue, first, last, whole=(None, None)):
        self.out, self.epilogue = out, epilogue
        self.first, self.last, self.whole = first, last, whole

    def run(self, a, b, operands):
        out, device = self.out, self.out.device
        single = len(self.epilogue.expressions) == 1
        if self.last is None:
            zeros = Tensor.full(device.queue, out.shape, 0, out.dtype)
            return (compute if single else compute_all)(self.epilogue, (zeros, *operands))
        first, second = (
            x.buffer if shape is None else broadcast_to(x, shape).buffer for x, shape in zip((a, b), self.whole)
        )
        if self.first:
            kernel, size, nbytes = self.first
            rewritten = device.pool.allocate(nbytes)
            device.launch(kernel, size, None, (rewritten, first))
            first = rewritten
        results = [device.pool.allocate(out.nbytes) for _ in self.epilogue.expressions]
        kernel, size, group = self.last
        device.launch(kernel, size, group, (*results, first, second, *[x.buffer for x in operands]))
        return Tensor(out, results[0]) if single else [Tensor(out, buffer) for buffer in results]


def product_spec(a, b, transpose_a=False, transpose_b=False):
    """The TensorSpec of A · B, from those of A and B."""
    return make_plan(a, b, transpose_a, transpose_b, PRODUCT, ()).out


def make_plan(a, b, transpose_a, transpose_b, epilogue, operands):
    """The Plan for the TensorSpecs of A, B and the operands."""
    check_specs(a, b, *operands)
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
    count = math.prod(batch)
    first, whole_a = matrices(a_shape, batch, count)
    second, whole_b = matrices(b_shape, batch, count)
    first = first.transposed() if transpose_a and len(a.shape) > 1 else first
    second = second.transposed() if transpose_b and len(b.shape) > 1 else second
    if first.columns != second.rows:
        raise ValueError(f"matmul: shapes {shapes} do not fit, {first.columns} columns meet {second.rows} rows")
    shape = batch + (first.rows,) * (len(a.shape) > 1) + (second.columns,) * (len(b.shape) > 1)
    out = spec_of(a.device, shape, a.dtype)
    kinds = kinds_of(operands, out, second.columns, epilogue)
    if not out.size or not first.columns:
        return Plan(out, epilogue, None, None)
    if first.row == first.columns and second.batch == 0 and count > 1 and first.batch:
        first = Matrices(first.rows * count, first.columns, first.row, 1, 0)  # one tall matrix
        count = 1
    write = local_plan if a.device.launch_config.local_memory else registers_plan
    return Plan(
        out,
        epilogue,
        *write(a.device, out.dtype, first, second, count, epilogue.expressions, kinds),
        (whole_a, whole_b),
    )


def check_specs(*specs):
    """ValueError unless all are on one device, TypeError unless they have one dtype, not int32."""
    refuse_indices("matmul", specs)
    if len({spec.device for spec in specs}) > 1:
        raise ValueError("matmul: the operands lie on different devices")
    if len({spec.dtype for spec in specs}) > 1:
        dtypes = " and ".join(str(spec.dtype) for spec in specs)
        raise TypeError(f"matmul takes tensors of one dtype, not {dtypes}")


def kinds_of(operands, out, columns, epilogue):
    """For each operand of the epilogue whether it is a "matrix" or a "row"."""
    if epilogue.arity != 1 + len(operands):
        raise TypeError(
            f"matmul: {epilogue.name} takes {epilogue.arity - 1} operands besides the product, not {len(operands)}"
        )
    for spec in operands:
        if spec.shape not in (out.shape, (columns,)):
            raise ValueError(
                f"matmul: an operand of {epilogue.name} has the result's shape, "
                f"{out.shape}, or ({columns},), not {spec.shape}"
            )
    return tuple("matrix" if spec.shape == out.shape else "row" for spec in operands)


def matrices(shape, batch, count):
    """(Matrices, None, or the shape to which the tensor is to be repeated first)."""
    *own, rows, columns = shape
    size = math.prod(own)
    if size == count or size == 1:
        return Matrices(rows, columns, columns, 1, rows * columns if size > 1 else 0), None
    return Matrices(rows, columns, columns, 1, rows * columns), (*batch, rows, columns)


def registers_plan(device, dtype, a, b, count, expressions, kinds):
    """(first, last) for a CPU: A and B as they are while they are small and lie well."""
    config = device.launch_config
    lanes = config.lanes[dtype]
    # A tile may read behind the end of B, within the slack.
    vectors = min(config.vectors, SLACK // (lanes * dtype.itemsize), -(-b.columns // lanes))
    rows, width = min(config.rows, a.rows), vectors * lanes
    first = None
    if a.column != 1 and a.rows * a.columns * dtype.itemsize > config.near:
        first, a = transposition(device, dtype, a, count)
    tiles, panels = -(-a.rows // rows), -(-b.columns // width)
    copy = None
    if b.column != 1 and b.columns > 1:
        copy = "turn"
    elif b.rows * b.columns * dtype.itemsize > (config.packed or config.near) and tiles > FEW:
        copy = "copy"
    # Each copies a panel of its own, so those who copy are few, and their parts of it tall.
    items = config.workers * (2 if copy else 4)
    height = -(-tiles // min(tiles, -(-items // (panels * count)))) * rows
    panel = min(config.panel or config.near // 2, config.near)
    depth = max(1, panel // (width * dtype.itemsize) // lanes) * lanes
    text = source.registers_source(dtype.name, lanes, rows, vectors, depth, copy, expressions, kinds)
    constants = [
        *map(np.int64, (a.rows, b.columns, a.columns, height, a.row, a.column, a.batch, b.row, b.column, b.batch))
    ]
    kernel = device.kernel(
        text, "matmul_registers", constants, (None,) * (len(expressions) + 2 + len(kinds)), options(dtype.name)
    )
    return first, (kernel, (-(-a.rows // height), panels, count), (1, 1, 1))


def transposition(device, dtype, a, count):
    """((kernel, size, bytes), Matrices): a transposed A rewritten row by row."""
    lanes = device.launch_config.lanes[dtype]
    size = (-(-a.columns // lanes), -(-a.rows // lanes), count if a.batch else 1)
    constants = [*map(np.int64, (a.columns, a.column, a.batch))]
    kernel = device.kernel(
        source.transpose_source(dtype.name, lanes), "transpose", constants, (None, None), options(dtype.name)
    )
    row, numbers = size[0] * lanes, size[0] * size[1] * lanes**2
    rewritten = Matrices(a.rows, a.columns, row, 1, numbers if a.batch else 0)
    return (kernel, size, size[2] * numbers * dtype.itemsize), rewritten


def local_plan(device, dtype, a, b, count, expressions, kinds):
    """(first, last) for a GPU: tiles in local memory, as large as a group of work-items allows."""
    side = 16 if device.launch_config.group >= 256 else 4
    block, depth = 4, 16
    tile = side * block
    text = source.local_source(dtype.name, side, block, depth, expressions, kinds)
    constants = [*map(np.int64, (a.rows, b.columns, a.columns, a.row, a.column, a.batch, b.row, b.column, b.batch))]
    kernel = device.kernel(
        text, "matmul_local", constants, (None,) * (len(expressions) + 2 + len(kinds)), options(dtype.name)
    )
    size = (-(-b.columns // tile) * side, -(-a.rows // tile) * side, count)
    return None, (kernel, size, (side, side, 1))
