"""The same engine under MXNet's names, as in Dive into Deep Learning.

MXNet allocates a gradient with `attach_grad`, overwrites it at each backward instead of adding to
it, and takes ones as the head gradient where none is given. It records only inside `record()`;
here, recording is on from the start; for arrays of mxnet.np it is as there.

>>> x = array([0.0, 1.0, 2.0, 3.0])
>>> x.attach_grad()
>>> with record():
...     y = 2 * dot(x, x)
>>> y.backward(); x.grad
Tensor([ 0.,  4.,  8., 12.])
"""

import numpy as np

from tinygrad_cl.tensor import engine
from tinygrad_cl.tensor.core.modes import GradMode, is_grad_enabled
from tinygrad_cl.tensor.tensor_class import Tensor

__all__ = ["NDArray", "array", "backward", "dot", "is_recording", "pause", "record"]


class NDArray(Tensor):
    """A Tensor whose gradient is kept as in MXNet."""

    grad_req = "write"

    def attach_grad(self, grad_req="write"):
        """Make this array a leaf: its grad_fn becomes None.

        Unless grad_req is "null", it then requires a gradient, and its `grad` is at once a Tensor
        of its shape, all zeros.

        grad_req   what backward does with `grad`. "write": overwrite it; "add": add to it;
                   "null": there is no gradient: requires_grad is False, grad is None

        ValueError for any other grad_req.
        """
        if grad_req not in ("write", "add", "null"):
            raise ValueError(f'grad_req is "write", "add" or "null", not {grad_req!r}')
        self.grad_fn = None
        self.requires_grad_(grad_req != "null")
        self.grad_req = grad_req
        self.grad = Tensor(np.zeros_like(self.data)) if self.requires_grad else None

    def accumulate_grad(self, grad):
        """The tensor `grad` replaces self.grad or, if grad_req is "add", is added to it."""
        if self.grad_req == "write":
            self.grad = None
        super().accumulate_grad(grad)

    def backward(self, out_grad=None, retain_graph=False, **options):
        """Tensor's backward, from the head gradient out_grad: ones of this shape if it is None.

        Further options are passed on to Tensor's backward.
        """
        if out_grad is None:
            out_grad = np.ones_like(self.data)
        super().backward(out_grad, retain_graph, **options)


def array(data, dtype=None):
    """A new NDArray with a copy of the data."""
    return NDArray(data, dtype=dtype)


def dot(a, b):
    """The product of vectors or matrices."""
    return a @ b


def record():
    """An object for a `with` block that records the operations inside.

    `with record():` records them unless the process's switch is off.

    >>> with GradMode(False), record():
    ...     is_grad_enabled()
    True
    """
    return GradMode(True)


def pause():
    """An object for a `with` block that does not record the operations inside, even in `record`."""
    return GradMode(False)


def is_recording():
    """Whether operations of this thread are recorded now."""
    return is_grad_enabled()


def backward(heads, head_grads=None, retain_graph=False):
    """Backward from several arrays together, each with its head gradient, or ones."""
    heads = engine.tensors_in("backward", heads)
    head_grads = [None] * len(heads) if head_grads is None else head_grads
    head_grads = [np.ones_like(y.data) if g is None else g for y, g in zip(heads, head_grads, strict=True)]
    engine.backward(heads, head_grads, retain_graph)
