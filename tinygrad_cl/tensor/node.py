"""The nodes of the upper floor: what was saved keeps its place in the graph, and its version.

So changes in place are noticed, and backward can be recorded, for gradients of gradients.
"""

import threading

import numpy as np

from tinygrad_cl.tensor.core.engine import freed_error, input_gradients
from tinygrad_cl.tensor.core.function import Context
from tinygrad_cl.tensor.core.variable import Variable, raw
from tinygrad_cl.tensor.memory import owner


class Recorder(threading.local):
    """`nodes`: a list to which each new node of this thread is appended; None if there is none."""

    nodes = None


recorder = Recorder()


class Node(Context):
    """A Context that knows the tensors behind what it saved.

    In double backward, inputs and result are part of the graph, and all else is a constant. So forward
    must not save intermediate results that depend on the inputs; backward computes them again.
    """

    hooks: dict = {}  # {key: hook}, a dict of its own as soon as there is one
    retained = None  # a weak reference to the result, if retain_grad was called on it
    segment = None  # brings back what a checkpoint dropped

    def wrap_result(self, returned, inputs):
        """Also notes which inputs share the result's memory, and packs what was saved."""
        out = super().wrap_result(returned, inputs)
        memory = owner(out.data)
        for x in inputs:
            if isinstance(x, Variable):
                if owner(x.data) is memory:
                    out.share_memory_with(x)
                if not x.requires_grad and x.grad_fn is not None:  # set by hand: this is an error
                    x.requires_grad_(False)
        if out.data.dtype.kind != "f":  # such as the whole numbers of a cast
            self.needs_input_grad = (False,) * len(inputs)
        elif True in self.needs_input_grad:
            self.record(inputs, out, returned)
        return out

    def record(self, inputs, out, returned):
        """Note the dtypes that the gradients of the inputs must have, and pack what was saved."""
        self.input_dtypes = [x.data.dtype if need else None for x, need in zip(inputs, self.needs_input_grad)]
        self.result_shape = out.data.shape
        if self.kept:
            self.kept = tuple([pack(x, inputs, out, returned) for x in self.kept])
        if recorder.nodes is not None:
            recorder.nodes.append(self)

    @property
    def saved_tensors(self):
        """What was saved, as tensors in the graph. RuntimeError if it was changed in place since."""
        if self.freed:
            raise freed_error(self)
        if self.segment is not None:
            self.segment.recompute()
        return tuple([saved.unpack(self) if isinstance(saved, Saved) else saved for saved in self.kept])

    def free(self):
        super().free()
        self.segment = None

    def kept_arrays(self):
        """The saved arrays, and those from which a checkpoint computes its arrays again."""
        saved = [s.array for s in self.kept if isinstance(s, Saved) and s.array is not None]
        return saved + (self.segment.kept_arrays() if self.segment is not None else [])

    def input_gradients(self, grad):
        """The gradients of the inputs, each of its input's dtype."""
        parts = input_gradients(self, grad)
        for i, (part, dtype) in enumerate(zip(parts, self.input_dtypes)):
            if part is not None and part.data.dtype != dtype:
                if dtype.kind != "f":  # requires_grad was set by hand: this is an error
                    self.next_nodes[i].requires_grad_()
                parts[i] = part.astype(dtype)
        return parts


class Saved:
    """An array that a node keeps, with what is needed to make a tensor of it again.

    The result of the node is kept as an array, not as a tensor: the tensor holds the node, so that
    would be a reference cycle, which only the garbage collector could free.
    """

    __slots__ = ("array", "version", "saved_at", "is_result", "grad_fn", "leaf")

    def __init__(self, array, tensor, is_result=False):
        self.array = array
        self.version = tensor.version
        self.saved_at = tensor.version.count
        self.is_result = is_result
        self.grad_fn = tensor.grad_fn
        self.leaf = tensor if tensor.requires_grad and tensor.is_leaf else None

    def unpack(self, node):
        """A tensor around the array, at its place in the graph."""
        if self.version.count != self.saved_at:
            what = "its result" if self.is_result else "an input"
            raise RuntimeError(
                f"{node.name} saved {what}, of shape {self.array.shape}, for backward, and it was"
                f" changed in place since then: it is at version {self.version.count}, saved at"
                f" version {self.saved_at}; use x = x + 1 instead of x += 1, or clone() it before"
            )
        if self.leaf is not None and self.leaf.data is self.array:
            return self.leaf
        tensor = node.tensor_type.wrap(self.array)
        tensor._version = self.version
        tensor.grad_fn = node if self.is_result else self.grad_fn
        tensor.requires_grad = tensor.grad_fn is not None or self.leaf is not None
        return tensor


def pack(x, inputs, out, returned):
    """A Saved for an array: the result's, an input's, or a constant. A number as it is.

    Arrays and lists that are the caller's are copied; a view of a tensor shares its version.
    """
    if x is returned:
        return Saved(out.data, out, is_result=True)
    for each in inputs:
        if each is x and isinstance(x, (np.ndarray, list, tuple)):
            x = np.array(x)
            break
        if isinstance(each, Variable) and each.data is x:
            return Saved(x, each)
    if not isinstance(x, np.ndarray):
        return x
    constant = out.wrap(x)
    for each in (*inputs, out) if x.base is not None else ():
        array = raw(each)
        if isinstance(array, np.ndarray) and owner(array) is owner(x):
            if isinstance(each, Variable):
                constant._version = each.version
            else:
                constant.data = x.copy()
    return Saved(constant.data, constant)
