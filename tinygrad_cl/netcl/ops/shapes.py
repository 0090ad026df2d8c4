"""Shapes and strides: broadcasting, axes, and how a tensor lies in a shape."""

import numpy as np

from tinygrad_cl.netcl.core.device import INT32
from tinygrad_cl.netcl.core.tensor import spec_of, whole


def joint_spec(name, arity, specs):
    """The TensorSpec to which operands broadcast; its dtype is the widest of those that are not int32.

    specs   a TensorSpec for each operand, None for a number

    TypeError for another number of operands, or no tensor among them; ValueError if they are on
    different devices or do not broadcast.
    """
    tensors = [spec for spec in specs if spec is not None]
    if len(specs) != arity:
        raise TypeError(f"{name} takes {arity} operands, not {len(specs)}")
    if not tensors:
        raise TypeError(f"{name} needs a Tensor among its operands")
    device = tensors[0].device
    if any(spec.device is not device for spec in tensors):
        raise ValueError(f"{name}: the operands lie on different devices")
    try:
        shape = np.broadcast_shapes(*[spec.shape for spec in tensors])
    except ValueError:
        shapes = " and ".join(str(spec.shape) for spec in tensors)
        raise ValueError(f"{name}: shapes {shapes} do not broadcast") from None
    dtypes = [spec.dtype for spec in tensors if spec.dtype != INT32]
    return spec_of(device, shape, np.result_type(*dtypes))


def broadcast_strides(shape, target):
    """The strides of a contiguous tensor of `shape`, broadcast to `target`: 0 where it is repeated.

    >>> broadcast_strides((3, 1), (2, 3, 4))
    [0, 1, 0]
    """
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(0 if length == 1 else step)
        step *= length
    return [0] * (len(target) - len(shape)) + strides[::-1]


def merge_axes(shape, strides):
    """The same loop nest with as few axes as possible: (shape, strides), lists. Axes of length 1 are
    dropped, neighbouring axes that can be one are merged.

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
    """The axes as a tuple, counted from 0. ValueError for an axis that does not exist or is given twice,
    TypeError for one that is no integer.
    """
    axes = range(len(shape)) if axis is None else tuple(axis) if hasattr(axis, "__iter__") else (axis,)
    axes = [whole("an axis", each) for each in axes]
    normal = tuple(each + len(shape) if each < 0 else each for each in axes)
    if any(not 0 <= each < len(shape) for each in normal) or len(set(normal)) < len(normal):
        raise ValueError(f"shape {shape} has no such axes, or has one of them twice: {axis}")
    return normal


def one_axis(axis, shape):
    """The axis, counted from 0. ValueError if it does not exist, TypeError for several."""
    return normal_axes((axis,), shape)[0]


def axes_to(large, small):
    """The axes of shape `large` along which a tensor of shape `small` is repeated."""
    if not broadcasts(small, large):
        raise ValueError(f"shape {small} does not broadcast to {large}")
    added = len(large) - len(small)
    return tuple(axis for axis, length in enumerate(large) if axis < added or small[axis - added] != length)


def broadcasts(shape, to):
    """Whether NumPy would broadcast `shape` to the shape `to`."""
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape[::-1], to[::-1]))
