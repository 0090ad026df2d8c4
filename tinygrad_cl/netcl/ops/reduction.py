"""Sums, means and extremes over axes."""

import math
from itertools import groupby

import numpy as np

from tinygrad_cl.netcl.core.device import divisible, plans
from tinygrad_cl.netcl.core.tensor import Tensor, layout_of, refuse_indices
from tinygrad_cl.netcl.ops import reduction_source as source

CHUNK = 2**16  # numbers: adding them up takes about as long as the launch that joins two chunks
PIECE = 2**11  # numbers of a row whose sums stay near the core
LONG = 2**12  # numbers that take a work-item much longer than starting a group
WIDE = 4  # vectors: 4,096 work-items of a group have 1 MB of them


def reduce_sum(x, axis=None, keepdims=False):
    """Σ x over one axis, several (a tuple) or all (None), as numpy.sum; 0 where there is
    nothing.
    """
    return reduce(x, "sum", axis, keepdims)


def reduce_mean(x, axis=None, keepdims=False):
    """Σ x / n over one axis, several or all, as numpy.mean; NaN where there is nothing."""
    return reduce(x, "mean", axis, keepdims)


def reduce_max(x, axis=None, keepdims=False):
    """The largest number along axes, as numpy.max: NaN if one is; ValueError if there is none."""
    return reduce(x, "max", axis, keepdims)


def reduce_min(x, axis=None, keepdims=False):
    """The smallest number along axes, as numpy.min: NaN if one is; ValueError if there is none."""
    return reduce(x, "min", axis, keepdims)


def sum_to(x, shape):
    """x summed over the axes along which a tensor of `shape` was repeated: what broadcasting costs
    a gradient. x itself where nothing was. ValueError if `shape` does not broadcast to x's.

    >>> axes_to((2, 3, 4), (3, 1))
    (0, 2)
    """
    if x.shape == shape:
        return x
    return reduce_sum(x, axes_to(x.shape, shape)).reshape(shape)


def axes_to(large, small):
    """The axes of shape `large` along which a tensor of shape `small` is repeated."""
    added = len(large) - len(small)
    if added < 0 or any(s not in (1, n) for n, s in zip(large[added:], small)):
        raise ValueError(f"shape {small} does not broadcast to {large}")
    return tuple(axis for axis, length in enumerate(large) if axis < added or small[axis - added] != length)


def reduce(x, how, axis=None, keepdims=False):
    """x reduced over axes; `how` is "sum", "mean", "max" or "min"."""
    key = (reduce, x.layout, how, axis if axis is None or isinstance(axis, int) else tuple(axis), keepdims)
    plan = plans.table.get(key)
    if plan is None:
        plan = plans.table[key] = make_plan(x.layout, how, axis, keepdims)
    return plan.run(x)


class Plan:
    """The launches of a reduction, in order: (kernel, size, group, layout of what it computes).

    out     the layout of the result
    empty   the value of every number of it where there is nothing to reduce
    """

    def __init__(self, steps, out, empty):
        self.steps, self.out, self.empty = steps, out, empty

    def run(self, x):
        out, device = self.out, self.out.device
        if x.size == 0:
            return Tensor.full(device.queue, out.shape, self.empty, out.dtype)
        buffer = x.buffer
        for kernel, size, group, nbytes in self.steps:
            result = device.pool.allocate(nbytes)
            device.launch(kernel, size, group, (result, buffer))
            buffer = result
        if not self.steps:  # every axis has length 1: a copy, since results own their memory
            return Tensor(out, x.copy().buffer)
        return Tensor(out, buffer)


def make_plan(layout, how, axis, keepdims):
    """The Plan for a tensor of this layout."""
    refuse_indices(how, [layout])
    axes = normal_axes(axis, layout.shape)
    count = math.prod(layout.shape[each] for each in axes)
    if how in ("max", "min") and count == 0:
        raise ValueError(f"there is no {how} of nothing: shape {layout.shape}, axes {axes}")
    shape = [1 if each in axes else length for each, length in enumerate(layout.shape) if keepdims or each not in axes]
    out = layout_of(layout.device, shape, layout.dtype)
    steps = []
    if layout.size:
        # Neighbouring axes that are reduced, or not, are one; those reduced go one after the other.
        groups = [
            [reduced, math.prod(length for _, length in lengths)]
            for reduced, lengths in groupby(enumerate(layout.shape), key=lambda place: place[0] in axes)
        ]
        divisor = count if how == "mean" else 1
        for number in reversed(range(len(groups))):
            reduced, length = groups[number]
            if reduced and length > 1:
                outer = math.prod(length for _, length in groups[:number])
                inner = math.prod(length for _, length in groups[number + 1 :])
                join = "sum" if how == "mean" else how
                steps += passes(layout, join, outer, length, inner, divisor)
                groups[number][1] = divisor = 1
    return Plan(steps, out, np.nan if how == "mean" else 0)


def passes(layout, how, outer, length, inner, divisor):
    """The launches that reduce (outer, length, inner) over its middle axis: one or two."""
    device, dtype = layout.device, layout.dtype
    choices = device.choices
    lanes, workers = choices.lanes[dtype], choices.workers
    tree = inner == 1 and choices.local_memory
    group = choices.group if tree else 1
    # A power of two, so that there are few programs; as short as the row is.
    width = 1 if choices.local_memory else min(PIECE, 1 << (inner - 1).bit_length()) // lanes or 1
    if inner == 1:
        template, name = (source.TREE, "reduce_tree") if tree else (source.ROWS, "reduce_rows")
        busy, chain = outer, source.CHAIN * group if tree else length
    else:
        template, name = source.COLUMNS, "reduce_columns"
        busy, chain = outer * -(-inner // (width * lanes)), source.CHAIN
    chunks = max(1, min(workers // busy, length * inner // CHUNK, length), -(-length // chain))
    chunk = -(-length // chunks)
    chunks = -(-length // chunk)
    number = dtype.type
    constants = [np.int64(length), np.int64(chunk), number(divisor if chunks == 1 else 1)]
    if tree:
        size = (chunks * group, outer)
    elif inner == 1:
        constants.append(np.int64(outer))
        size = (chunks, divisible(outer))
    else:
        constants.append(np.int64(inner))
        size = (-(-inner // (width * lanes)), chunks, outer)
    # A long work-item is a group of its own: PoCL would make few large ones, and leave cores idle.
    # So is a wide one: PoCL keeps the sums of a whole group, of thousands, on the stack.
    alone = not choices.local_memory and (chunk * min(inner, PIECE) >= LONG or width > WIDE)
    local = (group, 1) if tree else (1,) * len(size) if alone else None
    text = source.reduction_source(template, how, dtype.name, lanes, group, width)
    kernel = device.kernel(text, name, constants, (None, None))
    steps = [(kernel, size, local, outer * chunks * inner * dtype.itemsize)]
    if chunks > 1:
        steps += passes(layout, how, outer, chunks, inner, divisor)
    return steps


def normal_axes(axis, shape):
    """The axes meant, as a tuple of numbers from 0; ValueError for one that is not there, or
    twice.
    """
    axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    normal = tuple(each + len(shape) if each < 0 else each for each in axes)
    if any(not 0 <= each < len(shape) for each in normal) or len(set(normal)) < len(normal):
        raise ValueError(f"shape {shape} has no such axes, or has one of them twice: {axis}")
    return normal
