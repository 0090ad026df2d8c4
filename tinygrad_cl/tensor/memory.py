"""Changes in place: how often the memory of a tensor was changed, and which tensors share it."""

import weakref

import numpy as np

from tinygrad_cl.tensor.core.modes import is_grad_enabled
from tinygrad_cl.tensor.core.variable import raw


class Version:
    """Counts how often the memory of a tensor was changed in place. Views share one Version."""

    __slots__ = ("count", "sharers", "room")

    def __init__(self):
        self.count = 0
        self.sharers = None  # weak references to the tensors of this memory, if there are several
        self.room = 8

    def add_sharer(self, tensor):
        """Add a tensor. References to deleted tensors are removed each time the list has doubled."""
        if len(self.sharers) >= self.room:
            self.sharers = [r for r in self.sharers if r() is not None]
            self.room = 2 * len(self.sharers) + 8
        self.sharers.append(weakref.ref(tensor))

    def has_other(self, tensor):
        """Whether another tensor shares the memory."""
        return any(r() is not None and r() is not tensor for r in self.sharers or ())


def in_place(tensor, result, sign):
    """Write the result into the tensor's memory, and give the tensor the result's place in the graph.

    The version counts the change: backward of a node that saved the old elements raises an error.
    """
    recording = is_grad_enabled()
    if result.shape != tensor.shape:
        raise ValueError(f"{sign} would change the shape {tensor.shape} to {result.shape}")
    if recording and tensor.requires_grad and tensor.is_leaf:
        raise RuntimeError(
            f"{sign} on a leaf that requires a gradient would lose its old value;"
            " use it under no_grad(), or x = x + 1 instead of x += 1"
        )
    if not np.can_cast(result.dtype, tensor.dtype, "same_kind"):
        raise TypeError(f"{sign} would put {result.dtype} into {tensor.dtype}: use astype() before")
    if recording:
        if tensor.version.has_other(tensor) and (result.requires_grad or tensor.requires_grad):
            raise RuntimeError(
                f"{sign} would change another tensor that shares this memory (a view"
                " by reshape, indexing, detach, …) behind its back; clone() first,"
                " or write y[0] = y[0] + 1 instead of y[0] += 1"
            )
    overwrite(tensor, result)
    if recording:
        old, tensor.grad_fn, tensor.requires_grad = tensor.grad_fn, result.grad_fn, result.requires_grad
        if old is not None and old.retained is not None:  # retain_grad asks for the tensor, not for its old node
            if tensor.grad_fn is not None:
                tensor.grad_fn.retained = old.retained
            old.retained = None
    return tensor


def overwrite(tensor, values):
    """Write numbers into the tensor's own memory, and count that."""
    if not tensor.data.flags.writeable:
        raise RuntimeError(
            "this tensor cannot be changed in place: its memory is read-only, such as after expand(),"
            " where one number in memory stands for several; clone() it before"
        )
    tensor.version.count += 1
    np.copyto(tensor.data, raw(values), casting="unsafe")


def owner(array):
    """The array that owns the memory which this one is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
