"""The ground floor of engine 2: a NumPy array with gradients, in PyTorch's words."""

import operator

import numpy as np

from tinygrad_cl.tensor.core import activations
from tinygrad_cl.tensor.core.arithmetic import Add, Div, Mul, Neg, Pow, Sub
from tinygrad_cl.tensor.core.elementwise import Exp, Log
from tinygrad_cl.tensor.core.engine import propagate, start
from tinygrad_cl.tensor.core.function import Context
from tinygrad_cl.tensor.core.indexing import GetItem
from tinygrad_cl.tensor.core.matmul import MatMul
from tinygrad_cl.tensor.core.modes import GradMode
from tinygrad_cl.tensor.core.reductions import Max, Mean, Sum
from tinygrad_cl.tensor.core.shapes import Clone, Expand, Permute, Reshape, Transpose
from tinygrad_cl.tensor.core.variable import Variable, raw


def compared(compare):
    """A method that compares element by element: a tensor of bool, without a gradient."""

    def method(self, other):
        return self.wrap(np.asarray(compare(self.data, raw(other))))

    return method


class Tensor(Variable):
    """A NumPy array that remembers how it was computed.

    data            numbers: nested lists, an array, another tensor; copied
    requires_grad   True: backward computes ∂L/∂(this), into `grad`
    dtype           by default float32 for Python's real numbers; arrays keep their type

    >>> x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    Tensor([2., 4., 6.])
    """

    # -- operators; the other operand is a tensor, an array or a number ----------------------------

    def __add__(self, other):
        return Add.apply(self, other)

    def __radd__(self, other):
        return Add.apply(other, self)

    def __sub__(self, other):
        return Sub.apply(self, other)

    def __rsub__(self, other):
        return Sub.apply(other, self)

    def __mul__(self, other):
        return Mul.apply(self, other)

    def __rmul__(self, other):
        return Mul.apply(other, self)

    def __truediv__(self, other):
        return Div.apply(self, other)

    def __rtruediv__(self, other):
        return Div.apply(other, self)

    def __pow__(self, other):
        return Pow.apply(self, other)

    def __matmul__(self, other):
        return MatMul.apply(self, other)

    def __rmatmul__(self, other):
        return MatMul.apply(other, self)

    def __neg__(self):
        return Neg.apply(self)

    # -- comparisons -------------------------------------------------------------------------------

    __eq__ = compared(operator.eq)
    __ne__ = compared(operator.ne)
    __lt__ = compared(operator.lt)
    __le__ = compared(operator.le)
    __gt__ = compared(operator.gt)
    __ge__ = compared(operator.ge)
    __and__ = compared(operator.and_)
    __or__ = compared(operator.or_)
    __hash__ = object.__hash__  # == compares elements, so a tensor is hashed by identity

    def __invert__(self):
        return self.wrap(np.asarray(~self.data))

    # -- elementwise functions ---------------------------------------------------------------------

    def exp(self):
        return Exp.apply(self)

    def log(self):
        return Log.apply(self)

    def tanh(self):
        return activations.Tanh.apply(self)

    def relu(self):
        return activations.ReLU.apply(self)

    def sigmoid(self):
        return activations.Sigmoid.apply(self)

    def gelu(self):
        return activations.GELU.apply(self)

    def softmax(self, axis=-1):
        return activations.Softmax.apply(self, axis=axis)

    def clone(self):
        """A copy in memory of its own; gradients flow through."""
        return Clone.apply(self)

    # -- along axes --------------------------------------------------------------------------------

    def sum(self, axis=None, keepdims=False):
        return Sum.apply(self, axis=axis, keepdims=keepdims)

    def mean(self, axis=None, keepdims=False):
        return Mean.apply(self, axis=axis, keepdims=keepdims)

    def max(self, axis=None, keepdims=False):
        return Max.apply(self, axis=axis, keepdims=keepdims)

    # -- shape and order ---------------------------------------------------------------------------

    def reshape(self, *shape):
        return Reshape.apply(self, shape=numbers(shape))

    def permute(self, *axes):
        return Permute.apply(self, axes=numbers(axes))

    def transpose(self, axis1, axis2):
        return Transpose.apply(self, axis1=axis1, axis2=axis2)

    @property
    def mT(self):
        """The last two axes swapped: each matrix of a stack transposed."""
        return Transpose.apply(self, axis1=-1, axis2=-2)

    def expand(self, *shape):
        return Expand.apply(self, shape=numbers(shape))

    def squeeze(self, axis):
        """This tensor without an axis of size 1."""
        return self.reshape(np.squeeze(self.data, axis).shape)

    def unsqueeze(self, axis):
        """This tensor with a new axis of size 1 at position `axis`."""
        return self.reshape(np.expand_dims(self.data, axis).shape)

    def __getitem__(self, key):
        return GetItem.apply(self, key=raw_key(key))

    # -- the graph ---------------------------------------------------------------------------------

    @classmethod
    def context(cls, function, needs_input_grad):
        """A new node of the graph, for a call of the Function."""
        return Context(function, needs_input_grad, cls)

    def accumulate_grad(self, grad):
        """Add the tensor grad to self.grad, which is None at first.

        grad itself is not changed, and its memory is not shared: others may hold it, too.
        """
        self.grad = grad.clone() if self.grad is None else self.grad + grad

    def zero_grad(self):
        """Set the gradient to None."""
        self.grad = None

    def backward(self, gradient=None, retain_graph=False):
        """Add ∂L/∂leaf to the `grad` of each leaf that this was computed from."""
        root, gradient = start(self, gradient)
        with GradMode(False):  # what backward does with tensors is not recorded
            for leaf, grad in propagate(root, gradient, retain_graph).items():
                leaf.accumulate_grad(grad)


def raw_key(key):
    """An index in which tensors are replaced by their arrays, so that forward gets none."""
    return tuple(raw(k) for k in key) if isinstance(key, tuple) else raw(key)


def numbers(arguments):
    """The shape or the axes, given as f(2, 3) or as f((2, 3))."""
    first = arguments[0] if len(arguments) == 1 else None
    return tuple(first) if isinstance(first, (tuple, list)) else tuple(arguments)
