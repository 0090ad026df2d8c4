"""Plans of loop nests: for given specs, how work-items share the shape, the kernel, its launch."""

import math
from dataclasses import replace

import numpy as np
import pyopencl as cl

from tinygrad_cl.netcl.core.device import divisible
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.c_source import options
from tinygrad_cl.netcl.ops.loop_nest import Input, Schedule
from tinygrad_cl.netcl.ops.loop_source import nest_source
from tinygrad_cl.netcl.ops.shapes import broadcast_strides, merge_axes

CHAIN = 512  # additions one after the other: rounding grows with their number
CHUNK = 2**16  # elements: adding them up takes about as long as combining two chunks
MOST_CHUNKS = 4096  # the last one combines them all
TILE = 2**11  # elements of a row whose sums stay near the core
FEW = 8  # lines of C, so few that a processor waits for an addition to be done
WIDE = 4  # vectors: 4,096 work-items of a group have 1 MB of them


class Plan:
    """The kernel of a loop nest with all that stays the same from call to call.

    source        its text
    kernels       one, or the two that a scan in chunks takes; none where there is nothing to compute
    size, group   numbers of work-items
    results       the TensorSpec of each output and then of each reduction
    scratch       the buffers in which chunks leave their parts; none where there is one chunk
    """

    __slots__ = ("source", "kernels", "size", "group", "results", "scratch", "spec", "launch", "allocate")

    def __init__(self, device, results, source="", kernels=(), size=None, group=None, scratch=()):
        self.source, self.kernels, self.size, self.group = source, kernels, size, group
        self.results, self.scratch = results, scratch
        self.spec = results[0] if results else None
        self.launch, self.allocate = device.launch, device.pool.allocate

    def one(self, arguments, buffer=None):
        """The one result, a new Tensor; in `buffer` where one is given, which may be an input's.

        arguments   buffers and numbers, as the kernel takes them
        """
        spec = self.spec
        if buffer is None:
            buffer = self.allocate(spec.nbytes)
        for kernel in self.kernels:
            self.launch(kernel, self.size, self.group, (buffer, *self.scratch, *arguments))
        return Tensor(spec, buffer)

    def run(self, operands):
        """The results, a list of new Tensors, from Tensors, or their buffers, and numbers."""
        tensors = [Tensor(spec, self.allocate(spec.nbytes)) for spec in self.results]
        arguments = [x.buffer if isinstance(x, Tensor) else x for x in (*tensors, *self.scratch, *operands)]
        for kernel in self.kernels:
            self.launch(kernel, self.size, self.group, arguments)
        return tensors


def nest_plan(nest, whole, inputs, results, axes=()):
    """The Plan of a LoopNest that goes through one shape.

    whole     the TensorSpec that it is computed in: the device, the broadcast shape, the dtype
    inputs    (TensorSpec, strides) of each, (None, None) for a number; see `shapes.broadcast_strides`
    results   the TensorSpec of each output and then of each reduction
    axes      those along which reductions go
    """
    kept = [1 if axis in axes else length for axis, length in enumerate(whole.shape)]
    if not any(spec.size for spec in results):
        return Plan(whole.device, results)
    walks = [strides for _, strides in inputs]
    lengths, walks = merge_axes(whole.shape, [*walks, broadcast_strides(kept, whole.shape)])
    if lengths == [1]:  # one element: any step will do, so it can be that of a kernel for many
        walks = [walk and [1] for walk in walks[:-1]] + [[0]]
    reduced = tuple(step == 0 and bool(nest.reductions) for step in walks.pop())
    if reduced == (True,):  # one row has the kernel of many
        lengths, reduced = [1, *lengths], (False, True)
        walks = [walk and [1, *walk] for walk in walks]
    kinds, steps = inputs_along([spec for spec, _ in inputs], walks)
    return build(nest, whole.device, whole.dtype, lengths, reduced, kinds, steps, results)


def inputs_along(specs, walks):
    """(the Input for each TensorSpec and its strides along the axes, None for a number; the steps among
    these that are arguments).
    """
    inputs, steps = [], []
    for spec, walk in zip(specs, walks):
        if spec is None:
            inputs.append(Input(None))
        else:
            *outer, along = walk
            along = along if along in (0, 1) else None
            inputs.append(Input(spec.dtype.name, (*[step != 0 for step in outer], along)))
            steps += [step for step in outer if step] + walk[-1:] * (along is None)
    return inputs, steps


def tensors_plan(nest, spec, sizes, inputs, results=()):
    """The Plan of a LoopNest that goes through many tensors, of which each is one axis.

    spec   of one of them: the device and the dtype
    sizes    of the tensors, none of them 0
    inputs   an Input for each: steps () if all tensors share it
    """
    reduced = (bool(nest.reductions),)
    return build(nest, spec.device, spec.dtype, sizes, reduced, inputs, (), results, len(sizes))


def build(nest, device, dtype, lengths, reduced, inputs, steps, results, tensors=0):
    """The Plan for lengths of axes, or of tensors: with vectors, if the lines compile for vectors."""
    config = device.launch_config
    alone = any(each.steps and each.steps[-1] is None for each in inputs) or nest.running and reduced[-1]
    lanes = 1 if alone else config.lanes[dtype]
    aligned = len(lengths) == 1 or lengths[-1] % lanes == 0  # then every vector of an output is
    stream = aligned and lanes > 1 and sum(each.nbytes for each in results) > config.cache
    arguments = [None] * len(results)
    own = [each for each in inputs if tensors and each.steps]
    further = own * tensors + [each for each in inputs if each not in own]
    for width, past in dict.fromkeys([(lanes, stream), (lanes, False), (1, False)]):
        s, chunk, size, group = schedule(nest, lengths, reduced, dtype, width, past, config, tensors)
        constants = [*lengths, *[chunk] * (s.cut is not None), *steps]
        scratch = parts_of_chunks(device, dtype, size, nest, lengths, s) if s.cut is not None else ()
        kinds = [*arguments, *[None] * len(scratch), *[None if each.dtype else dtype.type for each in further]]
        try:
            launches = (1, 2) if scratch and nest.running else (0,)
            texts = [nest_source(nest, inputs, replace(s, launch=launch)) for launch in launches]
            kernels = [
                device.kernel(text, nest.name, tuple(map(np.int64, constants)), kinds, options(dtype.name))
                for text in texts
            ]
            size = size[: 1 + max(axis for axis in range(3) if size[axis] > 1 or not axis)]
            return Plan(device, results, texts[-1], tuple(kernels), size, group and group[: len(size)], scratch)
        except cl.RuntimeError:  # no such stores, or an expression that is only for single numbers
            if width == 1:
                raise


def schedule(nest, lengths, reduced, dtype, lanes, stream, config, tensors=0):
    """How work-items share the shape: (Schedule, the length of a chunk, numbers of work-items in all
    and in each group).
    """
    rows = lengths if tensors else lengths[-1:]
    outer = [] if tensors else lengths[:-1]
    places = math.prod(length for length, inside in zip(outer, reduced) if not inside)
    vectors = 1 if reduced[-1] else sum(-(-length // lanes) for length in rows)
    tile = 1
    if any(reduced) and not reduced[-1] and not config.local_memory and not nest.running:
        tile = max(1, min(TILE, 1 << (lengths[-1] - 1).bit_length()) // lanes)
        if nest.outputs:  # at most 8, and so many that there is work for everybody
            tile = min(8, 1 << (max(1, places * vectors // config.workers).bit_length() - 1))
    chains = 2 if any(reduced) and lanes > 1 and tile == 1 and len(nest.lines) <= FEW and not nest.running else 1
    along, width = config.spread(-(-vectors // tile))
    if reduced[-1] and config.group and not nest.running:
        along = width = config.group
    together = width if reduced[-1] and width else 1
    cut, chunk, count = None, 0, 1
    if any(reduced):
        axis, length = (0, sum(rows)) if tensors else longest(lengths, reduced)
        step = lanes * together if reduced[axis] and axis == len(reduced) - 1 else 1  # elements at a time
        steps = -(-length // step)
        count = min(config.workers // (along * places // together), sum(rows) * math.prod(outer) // CHUNK)
        if not nest.running:
            inside = length if tensors else math.prod(n for n, reduces in zip(lengths, reduced) if reduces)
            count = max(count, inside // (step * chains) // CHAIN)
        chunk = max(1, -(-steps // max(1, min(count, steps, MOST_CHUNKS)))) * step
        count = sum(max(1, -(-each // chunk)) for each in (rows if tensors else [length]))
        cut = axis if count > 1 or tensors else None
    if width is None and (cut is not None or tile > WIDE):
        along, width = -(-vectors // tile), 1  # few and long: the driver would put them on one core
    elif width is None:
        places = divisible(places)
    group = width and (width, 1, 1)
    s = Schedule(dtype.name, reduced, cut, lanes, together, tile, chains, stream, tensors)
    return s, chunk, (along, count, places), group


def longest(lengths, reduced):
    """(its number, its length) of the longest axis that is reduced."""
    return max(((axis, lengths[axis]) for axis, inside in enumerate(reduced) if inside), key=lambda each: each[1])


def parts_of_chunks(device, dtype, size, nest, lengths, s):
    """The buffers for the parts of chunks, and for how many of them have arrived, 0 at first: the
    kernel sets that back to 0 when it is done.
    """
    along, chunks, places = size
    elements = counters = places
    if not s.reduced[-1]:
        elements, counters = places * lengths[-1], places * along
    parts = device.pool.allocate(len(nest.reductions) * chunks * elements * dtype.itemsize)
    arrived = device.pool.allocate(4 * counters)
    device.fill(arrived, np.int32(0), 4 * counters)
    return parts, arrived
