"""Fused kernels: a chain of elementwise operations, and the sums or extremes at its end, by one
launch.
"""

import math

import numpy as np
import pyopencl as cl

from tinygrad_cl.netcl.core.device import divisible
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import broadcast_strides, merge_axes
from tinygrad_cl.netcl.ops.elementwise_source import options
from tinygrad_cl.netcl.ops.fused_source import Operand, Walk, fused_source
from tinygrad_cl.netcl.ops.reduction import CHUNK
from tinygrad_cl.netcl.ops.reduction_source import CHAIN

MOST_CHUNKS = 4096  # the last one joins them all


class FusedPlan:
    """A fused kernel for operands of given layouts, with all that stays the same from call to call.

    source    its text
    results   the Layout of each store and then of each total
    scratch   the buffers that chunks meet in; none where there is one chunk
    """

    __slots__ = ("source", "kernel", "size", "group", "results", "scratch", "device")

    def __init__(self, source, kernel, size, group, results, scratch):
        self.source, self.kernel, self.size, self.group = source, kernel, size, group
        self.results, self.scratch = results, scratch
        self.device = results[0].device

    def run(self, operands):
        """The stores and the totals, new Tensors, from Tensors and numbers."""
        device = self.device
        tensors = [Tensor(layout, device.pool.allocate(layout.nbytes)) for layout in self.results]
        device.launch(
            self.kernel,
            self.size,
            self.group,
            [
                *[each.buffer for each in tensors],
                *self.scratch,
                *[x.buffer if isinstance(x, Tensor) else x for x in operands],
            ],
        )
        return tensors


def fused_plan(chain, whole, inputs, axes, results):
    """The FusedPlan of a chain.

    whole     the Layout that the chain is computed in: the device, the broadcast shape, the dtype
    inputs    (Layout, shape) of each, (None, None) for a number; the shape as broadcasting sees it:
              the gradient of a sum has length 1 along the axes that were joined
    axes      those along which the totals are joined
    results   the Layout of each store and of each total
    """
    device, dtype = whole.device, whole.dtype
    layouts = [layout for layout, _ in inputs]
    kept = [1 if axis in axes else length for axis, length in enumerate(whole.shape)]
    strides = [layout and broadcast_strides(shape, whole.shape) for layout, shape in inputs]
    lengths, walks = merge_axes(whole.shape, [*strides, broadcast_strides(kept, whole.shape)])
    joined = tuple(step == 0 and bool(chain.totals) for step in walks.pop())
    operands = [
        Operand(layout and layout.dtype.name, tuple(step != 0 for step in walk or ()))
        for layout, walk in zip(layouts, walks)
    ]
    steps = [step for walk in walks for step in (walk or ())[:-1] if step]
    mean = [dtype.type(math.prod(whole.shape[axis] for axis in axes))] * (chain.how == "mean")
    lanes, written = device.choices.lanes[dtype], sum(each.nbytes for each in results)
    aligned = len(lengths) == 1 or lengths[-1] % lanes == 0  # then every vector of a store is
    streams = aligned and written > device.choices.cache
    for width, stream in [(lanes, True)] * streams + [(lanes, False), (1, False)]:
        walk, chunk, size, group = divide(lengths, joined, bool(chain.stores), dtype, width, stream, device.choices)
        source = fused_source(chain, operands, walk)
        numbers = [*lengths, *[chunk] * (walk.cut is not None), *steps]
        buffers = [None] * (len(results) + 2 * (walk.cut is not None))
        kinds = [None if layout else dtype.type for layout in layouts]
        try:
            kernel = device.kernel(
                source, chain.name, (*map(np.int64, numbers), *mean), (*buffers, *kinds), options(dtype.name)
            )
            break
        except cl.RuntimeError:  # no such stores, or an expression that is only for single numbers
            if width == 1:
                raise
    scratch = []
    if walk.cut is not None:
        scratch = meeting_place(device, dtype, size, len(chain.totals), walk, lengths)
    return FusedPlan(source, kernel, size, group, results, scratch)


def divide(lengths, joined, stores, dtype, lanes, stream, choices):
    """How work-items share the shape: (Walk, the length of a chunk, numbers of work-items in all
    and in each group).
    """
    places = math.prod(length for length, join in zip(lengths[:-1], joined) if not join)
    vectors = 1 if joined[-1] else -(-lengths[-1] // lanes)
    pieces, group = 1, None
    if stores and any(joined) and not joined[-1] and not choices.local_memory:
        spare = places * vectors // choices.workers  # as many as leave work for everybody
        pieces = next(number for number in (8, 4, 2, 1) if number <= max(1, spare))
    along = -(-vectors // pieces)
    if choices.group:  # whole groups: the kernel guards the last one
        width = choices.group if joined[-1] else min(choices.group, 1 << (along - 1).bit_length())
        along, group = -(-along // width) * width, (width, 1, 1)
    together = group[0] if group and joined[-1] else 1
    cut, chunk, count = None, 0, 1
    if any(joined):
        axes = [axis for axis, join in enumerate(joined) if join]
        axis = max(axes, key=lambda axis: lengths[axis])
        step = lanes * together if axis == len(lengths) - 1 else 1  # numbers on the way at a time
        steps = -(-lengths[axis] // step)
        additions = math.prod(lengths[each] for each in axes) // step
        busy = along * places // together
        count = max(min(choices.workers // busy, math.prod(lengths) // CHUNK), additions // CHAIN)
        chunk = -(-steps // max(1, min(count, steps, MOST_CHUNKS))) * step
        count = -(-lengths[axis] // chunk)
        cut = axis if count > 1 else None
    if group is None and (cut is not None or pieces > 1):
        group = (1, 1, 1)  # work-items are few and long: the driver would put them on one core
    elif group is None:
        along = divisible(along)
    walk = Walk(dtype.name, joined, cut, lanes, together, pieces, stream)
    return walk, chunk, (along, count, places), group


def meeting_place(device, dtype, size, totals, walk, lengths):
    """The buffers that chunks meet in: their parts, and how many of them have arrived, 0 at first.

    The kernel sets that back to 0 when it is done.
    """
    along, chunks, places = size
    numbers = counters = places
    if not walk.joined[-1]:
        numbers, counters = places * lengths[-1], places * along
    parts = device.pool.allocate(totals * chunks * numbers * dtype.itemsize)
    arrived = device.pool.allocate(4 * counters)
    device.fill(arrived, np.int32(0), 4 * counters)
    return [parts, arrived]
