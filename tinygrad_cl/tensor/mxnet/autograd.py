"""mxnet.autograd: arrays of mxnet.np are recorded inside of record() alone."""

import threading

import numpy as np

from tinygrad_cl.tensor import engine
from tinygrad_cl.tensor.core.modes import GradMode, is_grad_enabled
from tinygrad_cl.tensor.core.variable import Variable
from tinygrad_cl.tensor.mxnet.ndarray import backward

__all__ = ["backward", "grad", "is_recording", "pause", "record"]


class Recording(threading.local):
    """`on`, for each thread: is this inside of record()?"""

    on = False


recording = Recording()


class Scope(GradMode):
    """A GradMode, which also says that recording was asked for."""

    def __init__(self, enabled):
        super().__init__(enabled)
        self.outside = []

    def __enter__(self):
        super().__enter__()
        self.outside.append(recording.on)
        recording.on = self.enabled

    def __exit__(self, *exception):
        recording.on = self.outside.pop()
        super().__exit__(*exception)


def record():
    """For `with record():`. What happens inside is recorded."""
    return Scope(True)


def pause():
    """For `with pause():`. What happens inside is not recorded, even inside `record`."""
    return Scope(False)


def is_recording():
    """Is an operation on arrays of mxnet.np that is done now, in this thread, recorded?"""
    return recording.on and is_grad_enabled()


def grad(heads, variables, head_grads=None, retain_graph=None, create_graph=False):
    """The gradients of the heads, from ones or from head_grads; a list, or one for one variable."""
    heads = [heads] if isinstance(heads, Variable) else list(heads)
    head_grads = [head_grads] if isinstance(head_grads, Variable) else list(head_grads or [None] * len(heads))
    starts = [np.ones_like(y.data) if g is None else g for y, g in zip(heads, head_grads, strict=True)]
    alone = isinstance(variables, Variable)
    found = engine.grad(heads, [variables] if alone else variables, starts, retain_graph, create_graph)
    return found[0] if alone else list(found)
