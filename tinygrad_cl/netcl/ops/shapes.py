"""Shapes and strides: broadcasting, axes, and how a tensor lies in a shape."""

import numpy as np

from tinygrad_cl.netcl.core.device import INT32
from tinygrad_cl.netcl.core.tensor import layout_of, whole


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


def normal_axes(axis, shape):
    """The axes meant, as a tuple of numbers from 0; ValueError for one that is not there, or
    twice, TypeError for what is no whole number.
    """
    axes = range(len(shape)) if axis is None else tuple(axis) if hasattr(axis, "__iter__") else (axis,)
    axes = [whole("an axis", each) for each in axes]
    normal = tuple(each + len(shape) if each < 0 else each for each in axes)
    if any(not 0 <= each < len(shape) for each in normal) or len(set(normal)) < len(normal):
        raise ValueError(f"shape {shape} has no such axes, or has one of them twice: {axis}")
    return normal


def one_axis(axis, shape):
    """The axis meant, as a number from 0. ValueError if it is not there, TypeError for several."""
    return normal_axes((axis,), shape)[0]


def axes_to(large, small):
    """The axes of shape `large` along which a tensor of shape `small` is repeated."""
    added = len(large) - len(small)
    if added < 0 or any(s not in (1, n) for n, s in zip(large[added:], small)):
        raise ValueError(f"shape {small} does not broadcast to {large}")
    return tuple(axis for axis, length in enumerate(large) if axis < added or small[axis - added] != length)
