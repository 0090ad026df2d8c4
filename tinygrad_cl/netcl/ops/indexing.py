"""Indexing on the device: rows by their indices, parts of a tensor, and the gradients of both."""

import math
from numbers import Integral

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinygrad_cl.netcl.core.device import INT32, divisible, plans
from tinygrad_cl.netcl.core.tensor import Tensor, check_all, real_array, spec_of
from tinygrad_cl.netcl.ops import indexing_source as source
from tinygrad_cl.netcl.ops.elementwise import formula_of, strided_plan
from tinygrad_cl.netcl.ops.shapes import broadcast_strides, merge_axes, normal_axes

STRETCH = 2048  # elements of a row for one work-item of a CPU; fewer are not worth one


def index_tensor(x, like, below=None):
    """The indices x as an int32 Tensor on the device of the Tensor `like`.

    x       an array or nested lists of integers, an integer, or an int32 Tensor, which is returned as
            it is
    below   indices are 0, 1, …, below − 1: ValueError that names the first other one and its place.
            Indices on the device are not checked, since that would wait for them: kernels must
            handle any index

    ValueError for numbers that are no integers. TypeError for booleans, since a mask is no index, and
    for Tensors of floats, such as the result of a comparison.
    """
    if isinstance(x, Tensor):
        if x.dtype != INT32:
            raise TypeError(
                f'indices on the device are int32, not {x.dtype}: cast whole numbers to "int32"; '
                "a mask is no index, but masked_fill and where take one"
            )
        return x
    array = real_array("an index is made of whole numbers", x)
    if array.dtype == bool:
        raise TypeError("a mask of truth values is no index: numpy.flatnonzero(mask) gives indices")
    if below is not None:
        check_all(array, (array >= 0) & (array < below), f"is no index here: indices go from 0 to {below - 1}")
    return Tensor.from_host(like.queue, array, INT32)


# -- rows by their indices ------------------------------------------------------------------------


def index_select(x, axis, indices):
    """x[…, indices, …] along one axis, as numpy.take; `indices` is an int32 Tensor of any shape.

    NaN where an index is not 0, 1, …, length − 1 (−1 where x holds indices itself).
    """
    key = (index_select, x.spec, axis, indices.spec)
    plan = plans.table.get(key)
    if plan is None:
        plan = plans.table[key] = take_plan(x.spec, axis, indices.spec)
    return run(plan, x.buffer, indices.buffer)


def index_select_backward(grad, shape, axis, indices):
    """The gradient of x, of this shape, for index_select(x, axis, indices): zeros, and the rows of
    `grad` added where they were taken from. Rows taken twice add up, in the order of the indices;
    an index that is out of range gets nothing.
    """
    key = (index_select_backward, grad.spec, shape, axis, indices.spec)
    plan = plans.table.get(key)
    if plan is None:
        plan = plans.table[key] = put_plan(grad.spec, shape, axis, indices.spec)
    return run(plan, grad.buffer, indices.buffer)


def run(plan, *buffers):
    """The result of a plan (kernel, size, group, spec of the result), a new Tensor."""
    kernel, size, group, out = plan
    buffer = out.device.pool.allocate(out.nbytes)
    if out.size:
        out.device.launch(kernel, size, group, (buffer, *buffers))
    return Tensor(out, buffer)


def blocks_of(device, shape, axis, indices):
    """(blocks, length, inner), the shape seen from one axis, and the axis from 0."""
    if indices.dtype != INT32:
        raise TypeError(f"indices are an int32 tensor, not {indices.dtype}: index_tensor makes one")
    if indices.device is not device:
        raise ValueError("a tensor and the indices into it lie on different devices")
    (axis,) = normal_axes(axis, shape)
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]), axis


def take_plan(x, axis, indices):
    """The plan of index_select for two specs."""
    blocks, length, inner, axis = blocks_of(x.device, x.shape, axis, indices)
    out = spec_of(x.device, x.shape[:axis] + indices.shape + x.shape[axis + 1 :], x.dtype)
    if not out.size:
        return None, None, None, out
    columns, width = stretches(x.device.launch_config, inner)
    constants = [np.int64(each) for each in (inner, indices.size, length, width)]
    kernel = x.device.kernel(source.take_source(x.dtype.name), "take", constants, [None] * 3)
    return kernel, *grid(x.device.launch_config, columns, indices.size, blocks), out


def put_plan(grad, shape, axis, indices):
    """The plan of index_select_backward for two specs: as many parts as keep every core busy."""
    device = grad.device
    blocks, length, inner, axis = blocks_of(device, shape, axis, indices)
    out = spec_of(device, shape, grad.dtype)
    if not out.size:
        return None, None, None, out
    config = device.launch_config
    columns, width = stretches(config, inner)
    parts = power_of_two(min(length, -(-config.workers // (columns * blocks))))
    constants = [np.int64(each) for each in (inner, indices.size, length, width)]
    kernel = device.kernel(source.put_source(grad.dtype.name, parts), "put", constants, [None] * 3)
    size, group = grid(config, columns, parts, blocks)
    return kernel, size, group or (1, 1, 1), out


def stretches(config, length):
    """(number of stretches of a row, elements in each): see indexing_source."""
    width = 1 if config.group else min(length, STRETCH)
    return -(-length // width), width


def grid(config, columns, rows, blocks):
    """(global size, local size) of a work-item for each column, row and block; the kernel guards
    its edges.
    """
    if not config.group:
        return (divisible(columns), divisible(rows), blocks), None
    across = min(config.group, power_of_two(columns))
    down = min(config.group // across, power_of_two(rows))
    return (-(-columns // across) * across, -(-rows // down) * down, blocks), (across, down, 1)


def power_of_two(number):
    """The smallest power of two that is at least `number`: 1, 2, 4, 4, 8, …"""
    return 1 << (number - 1).bit_length()


# -- parts of a tensor ----------------------------------------------------------------------------


class Part:
    """Which elements x[key] are, for a tensor x of a certain shape.

    key   as in NumPy: integers, slices, None, one Ellipsis; and one index array (an array, a list
          or a Tensor), which cannot be combined with integers

    IndexError for any other key, ValueError for an index in an array that is out of range,
    TypeError for a mask of booleans.

    whole                   the shape of x
    shape, begin, strides   of the part without the index array, in x's memory
    axis, indices           where the index array stands in that part; None where there is none
    """

    def __init__(self, x, key):
        key = key if isinstance(key, tuple) else (key,)
        arrays = [place for place, each in enumerate(key) if not is_basic(each)]
        basic = tuple(slice(None) if place in arrays else each for place, each in enumerate(key))
        self.whole = x.shape
        self.shape, self.begin, self.strides = view_of(x.shape, basic)
        self.axis = self.indices = None
        if arrays:
            if len(arrays) > 1 or any(isinstance(each, Integral) for each in basic):
                raise IndexError(
                    "an index array stands alone among slices: where there are other "
                    "arrays or numbers, take one after the other, as in x[i][indices]"
                )
            place = arrays[0]
            before, after = key[:place], key[place + 1 :]
            self.axis = -1 - len(after) if Ellipsis in before else len(before)
            self.indices = from_the_end(key[place], x, self.shape[self.axis])

    def take(self, x):
        """x[key], a new Tensor; a view of x if it is x in another shape."""
        if self.is_whole():
            part = x.reshape(self.shape)
        else:
            part = Tensor.from_shape(x.queue, self.shape, x.dtype)
            copy_part(self.shape, part, 0, broadcast_strides(self.shape, self.shape), x, self.begin, self.strides)
        return part if self.indices is None else index_select(part, self.axis, self.indices)

    def put(self, grad, indices=None):
        """The gradient of x from that of x[key]: zeros, with `grad` added at key.

        indices   the index array, where there is one: the caller keeps it, since backward needs it
        """
        if indices is not None:
            grad = index_select_backward(grad, self.shape, self.axis, indices)
        if self.is_whole():
            return grad.reshape(self.whole)
        out = zeros(spec_of(grad.device, self.whole, grad.dtype))
        copy_part(self.shape, out, self.begin, self.strides, grad, 0, broadcast_strides(self.shape, self.shape))
        return out

    def is_whole(self):
        """Whether the part, without the index array, is all of x in its own order."""
        return self.begin == 0 and math.prod(self.shape) == math.prod(self.whole)


def is_basic(each):
    """Whether one element of a key is not an index array. IndexError if it cannot be in a key."""
    if isinstance(each, (Tensor, np.ndarray, list, bool)):  # index_tensor refuses masks
        return False
    if each is None or each is Ellipsis or isinstance(each, (slice, Integral)):
        return True
    raise IndexError(f"a key is made of whole numbers, slices, None, ... and one array of indices, not of {each!r}")


def view_of(shape, key):
    """(shape, begin, strides) of the part x[key] of a contiguous tensor x of this shape; `key` is a
    tuple of whole numbers, slices, None and one Ellipsis. IndexError as NumPy's.

    >>> view_of((4, 5), (slice(None, None, -2), 3))
    ((2,), 18, (-10,))
    """
    # NumPy knows what a key means: it cuts an array of bytes that has no memory and is never read.
    whole = as_strided(np.empty(1, np.int8), shape, broadcast_strides(shape, shape))
    part = whole[key if Ellipsis in key else (*key, ...)]  # with ..., one number is an array, too
    return part.shape, part.ctypes.data - whole.ctypes.data, part.strides


def from_the_end(indices, x, length):
    """The index array of a key as an int32 Tensor: on the host, −1 means the last one."""
    if not isinstance(indices, Tensor):
        indices = np.asarray(indices)
        if indices.dtype != bool:
            wide = indices + np.int64(length)  # of int8, too, a length may be 300
            indices = np.where((-length <= indices) & (indices < 0), wide, indices)
    return index_tensor(indices, x, below=length)


def zeros(spec):
    """A Tensor of zeros, written by a kernel."""
    key = (zeros, spec)
    plan = plans.table.get(key)
    if plan is None:
        plan = plans.table[key] = strided_plan(formula_of("v0", 1), spec, [(None, None)])
    return plan.one((0,))


def concatenate(tensors, axis=0):
    """The tensors one after the other along an axis, as numpy.concatenate; they have one dtype."""
    first = tensors[0]
    (axis,) = normal_axes(axis, first.shape)
    before, after = first.shape[:axis], first.shape[axis + 1 :]
    for x in tensors:
        if (x.shape[:axis], x.shape[axis + 1 :]) != (before, after) or x.ndim != first.ndim:
            raise ValueError(
                f"shapes {first.shape} and {x.shape} do not join along axis {axis}: they differ in another axis"
            )
        if x.dtype != first.dtype:
            raise TypeError(f"tensors of {first.dtype} and {x.dtype} do not join: cast one of them")
        if x.device is not first.device:
            raise ValueError("cat: the tensors lie on different devices")
    out = Tensor.from_shape(first.queue, (*before, sum(x.shape[axis] for x in tensors), *after), first.dtype)
    strides = [math.prod(out.shape[each + 1 :]) for each in range(out.ndim)]
    begin = 0
    for x in tensors:
        copy_part(x.shape, out, begin, strides, x, 0, broadcast_strides(x.shape, x.shape))
        begin += x.shape[axis] * strides[axis]
    return out


def copy_part(shape, out, out_begin, out_strides, x, x_begin, x_strides):
    """Copy a part of x into a part of out. Both parts have one shape, each its own start and strides."""
    if not math.prod(shape):
        return
    key = (copy_part, out.device, out.dtype, shape, *out_strides, *x_strides)
    plan = plans.table.get(key)
    if plan is None:
        plan = plans.table[key] = copy_plan(out.spec, shape, out_strides, x_strides)
    out.device.launch(*plan, (out_begin, x_begin, out.buffer, x.buffer))


def copy_plan(spec, shape, out_strides, x_strides):
    """(kernel, size, group) that copies a part of this shape into a tensor of this device and dtype."""
    (*outer, length), walks = merge_axes(shape, [out_strides, x_strides])
    rows = math.prod(outer)
    columns, width = stretches(spec.device.launch_config, length)
    constants = [length, rows, *outer]
    for walk in walks:
        constants += walk[:-1] if walk[-1] == 1 else walk
    constants.append(width)
    text = source.copy_source(spec.dtype.name, len(outer), [1 if walk[-1] == 1 else None for walk in walks])
    kernel = spec.device.kernel(text, "copy", [np.int64(each) for each in constants], [np.int64, np.int64, None, None])
    return kernel, *grid(spec.device.launch_config, columns, rows, 1)
