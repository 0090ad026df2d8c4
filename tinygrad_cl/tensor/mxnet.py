"""The same engine in the words of MXNet, as in Dive into Deep Learning.

MXNet allocates a gradient with `attach_grad`, overwrites it at each backward instead of adding to
it, and takes ones as the head gradient where none is given. It records only inside `record()`;
here, recording is on from the start, so begin with set_grad_enabled(False) for the same.

>>> x = array([0.0, 1.0, 2.0, 3.0])
>>> x.attach_grad()
>>> with record():
...     y = 2 * dot(x, x)
>>> y.backward(); x.grad
Tensor([ 0.,  4.,  8., 12.])
"""

import numpy as np

from tinygrad_cl.tensor import modes
from tinygrad_cl.tensor.tensor import Tensor


class NDArray(Tensor):
    """A Tensor that behaves like MXNet's array."""

    grad_req = "write"

    def attach_grad(self, grad_req="write"):
        """Make room for a gradient, zeros at first.

        grad_req   "write": each backward overwrites it; "add": adds to it; "null": there is none
        """
        if grad_req not in ("write", "add", "null"):
            raise ValueError(f'grad_req is "write", "add" or "null", not {grad_req!r}')
        self.grad_fn = None
        self.requires_grad_(grad_req != "null")
        self.grad_req = grad_req
        self.grad = None if grad_req == "null" else Tensor.wrap(np.zeros_like(self.data))

    def accumulate_grad(self, grad):
        if self.grad_req == "write":
            self.grad = None
        super().accumulate_grad(grad)

    def backward(self, out_grad=None, retain_graph=False, create_graph=False):
        """Write ∂Σ(out_grad · self)/∂leaf into each leaf; the head gradient is 1 if not given."""
        out_grad = np.ones_like(self.data) if out_grad is None else out_grad
        super().backward(out_grad, retain_graph, create_graph)


def array(data, dtype=None):
    """An array in MXNet's manner."""
    return NDArray(data, dtype=dtype)


def dot(a, b):
    """The product of vectors or matrices."""
    return a @ b


def record():
    """What happens in `with record():` is recorded."""
    return modes.enable_grad()


def pause():
    """What happens in `with pause():` is not, even inside `record`."""
    return modes.no_grad()


def is_recording():
    return modes.is_grad_enabled()


def backward(heads, head_grads=None, retain_graph=False):
    """Backward from several arrays, each with its head gradient, or ones."""
    head_grads = [None] * len(heads) if head_grads is None else head_grads
    for head, head_grad in zip(heads, head_grads, strict=True):
        head.backward(head_grad, retain_graph or head is not heads[-1])
