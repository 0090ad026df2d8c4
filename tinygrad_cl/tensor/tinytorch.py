"""The same engine under TinyTorch's names (Harvard's Machine Learning Systems, module 05).

A tensor is float32, also of whole numbers; `grad` is an array; a graph is kept after backward. A
Function stands for one call: it keeps the inputs, and `apply` gives their gradients, as arrays.

>>> x = Tensor([[1, 2]], requires_grad=True)
>>> x.matmul(Tensor([[3], [4]])).sum().backward(); x.grad
array([[3., 4.]], dtype=float32)
"""

import numpy as np

from tinygrad_cl.tensor import core
from tinygrad_cl.tensor.core.variable import Variable, raw
from tinygrad_cl.tensor.peers import ArrayData
from tinygrad_cl.tensor.tensor_class import Tensor as Engine

__all__ = ["Function", "Tensor", "enable_autograd"]


class Function:
    """One call of an operation. A subclass writes apply(grad_output): a gradient for each input.

    saved_tensors   the inputs

    It becomes part of the graph by `result._grad_fn = MyFunction(a, b)`.

    >>> class Triple(Function):
    ...     def apply(self, grad_output):
    ...         return (3 * grad_output,)
    >>> x = Tensor([1.0, 2.0], requires_grad=True)
    >>> y = Tensor(3 * x.data); y._grad_fn = Triple(x)
    >>> (y * y).sum().backward(); x.grad
    array([18., 36.], dtype=float32)
    """

    def __init__(self, *tensors):
        self.saved_tensors = tensors

    def apply(self, grad_output):
        raise NotImplementedError("a Function needs apply(grad_output): the gradients of its saved_tensors")

    # -- what the engine asks of the Function of a node

    @property
    def __name__(self):
        return type(self).__name__

    def backward(self, ctx, grad):
        parts = self.apply(grad.data)
        parts = parts if isinstance(parts, (tuple, list)) else (parts,)
        return tuple(None if part is None else grad.wrap(np.asarray(raw(part))) for part in parts)


class Tensor(ArrayData, Engine):
    """A tensor with TinyTorch's manners."""

    def __init__(self, data, requires_grad=False):
        super().__init__(data, requires_grad, np.float32)

    matmul = Engine.__matmul__

    def transpose(self, dim0=None, dim1=None):
        """Two dimensions swapped, by default the last two; a vector stays as it is."""
        if dim0 is None and dim1 is None:
            return self.mT if self.ndim > 1 else self.clone()
        return super().transpose(dim0, dim1)

    def accumulate_grad(self, grad):
        """Add what arrives to the array `grad`."""
        self.grad = grad.data.copy() if self.grad is None else self.grad + raw(grad)

    def backward(self, gradient=None, retain_graph=True):
        """Add ∂L/∂leaf to `grad` of the leaves. Without requires_grad, nothing happens."""
        if self.requires_grad:
            if gradient is None and self.size != 1:
                raise ValueError(f"backward of shape {self.shape} needs a gradient of that shape")
            super().backward(gradient, retain_graph)

    @property
    def _grad_fn(self):
        """The Function that this tensor is said to come from; of the engine's own operations the node."""
        return self.grad_fn.function if isinstance(getattr(self.grad_fn, "function", None), Function) else self.grad_fn

    @_grad_fn.setter
    def _grad_fn(self, function):
        inputs = function.saved_tensors
        needed = tuple(core.is_grad_enabled() and isinstance(x, Variable) and x.requires_grad for x in inputs)
        if any(needed):
            node = self.context(function, needed)
            node.next_nodes = tuple((x.grad_fn or x) if need else None for x, need in zip(inputs, needed))
            node.input_shapes = tuple(np.shape(raw(x)) for x in inputs)
            node.record(inputs, self, self.data)
            self.grad_fn, self.requires_grad = node, True


def enable_autograd(quiet=True):
    """Recording is on, as it is from the start."""
    core.enable_autograd()
