"""torch.autograd: gradients by functions, and operations with a derivative of one's own."""

from functools import wraps

import numpy as np

from tinygrad_cl.tensor.core import function
from tinygrad_cl.tensor.core.modes import GradMode
from tinygrad_cl.tensor.core.variable import Variable, raw
from tinygrad_cl.tensor.engine import grad
from tinygrad_cl.tensor.modes import enable_grad, no_grad, set_grad_enabled
from tinygrad_cl.tensor.torch.tensor_class import Tensor

__all__ = ["Function", "backward", "enable_grad", "grad", "no_grad", "set_grad_enabled"]


class Function(function.Function):
    """An operation with its derivative, whose forward gets tensors, as in PyTorch.

    forward(ctx, *inputs) and backward(ctx, grad); or forward(*inputs), setup_context(ctx, inputs,
    output) and backward(ctx, grad). One result; the engine's own Functions get arrays instead.
    """

    any_dtype = True

    def __init_subclass__(cls):
        super().__init_subclass__()
        if "forward" in cls.__dict__:
            cls.forward = staticmethod(on_arrays(cls, cls.forward))


def on_arrays(cls, forward):
    """The forward of the class for the engine, which gives and takes arrays."""

    @wraps(forward)
    def call(ctx, *arrays):
        inputs = [Tensor.wrap(x) if isinstance(x, np.ndarray) else x for x in arrays]
        with GradMode(False):
            if hasattr(cls, "setup_context"):
                output = forward(*inputs)
                cls.setup_context(ctx, tuple(inputs), output)
            else:
                output = forward(ctx, *inputs)
        ctx.kept = tuple(map(raw, ctx.kept))
        return raw(output)

    return call


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, *, inputs=None):
    """Backward from several tensors at once, each with its gradient; 1 for single numbers."""
    tensors = [tensors] if isinstance(tensors, Variable) else list(tensors)
    grads = [grad_tensors] if isinstance(grad_tensors, Variable) else list(grad_tensors or [None] * len(tensors))
    if any(g is not None and g.requires_grad for g in grads):
        raise RuntimeError("backward: a gradient to start from is a constant here: detach() it")
    with np.errstate(all="ignore"):  # of the sum, the slope counts, not the value
        total = sum((y if g is None else (y * g).sum()) for y, g in zip(tensors, grads, strict=True))
    total.backward(None, retain_graph, create_graph, inputs)
