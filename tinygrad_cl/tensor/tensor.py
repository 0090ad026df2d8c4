"""Engine 2: a NumPy array with gradients, in PyTorch's words."""

import numpy as np

from tinygrad_cl.tensor import activations, engine, modes
from tinygrad_cl.tensor import elementwise as each
from tinygrad_cl.tensor.arithmetic import Add, Div, Mul, Neg, Pow, Sub
from tinygrad_cl.tensor.indexing import GetItem, SetItem
from tinygrad_cl.tensor.matmul import MatMul
from tinygrad_cl.tensor.reductions import CumSum, Max, Mean, Sum
from tinygrad_cl.tensor.shapes import Cast, Clone, Expand, Flip, Permute, Reshape, Transpose
from tinygrad_cl.tensor.variable import Variable, raw


class Tensor(Variable):
    """A NumPy array that remembers how it was computed.

    data            numbers: nested lists, an array, another tensor; copied
    requires_grad   True: backward computes ∂(…)/∂(this), into `grad`
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

    def __rpow__(self, other):
        return Pow.apply(other, self)

    def __matmul__(self, other):
        return MatMul.apply(self, other)

    def __rmatmul__(self, other):
        return MatMul.apply(other, self)

    def __neg__(self):
        return Neg.apply(self)

    def __abs__(self):
        return each.Abs.apply(self)

    # -- in place ----------------------------------------------------------------------------------

    def __iadd__(self, other):
        return in_place(self, self + other, "+=")

    def __isub__(self, other):
        return in_place(self, self - other, "-=")

    def __imul__(self, other):
        return in_place(self, self * other, "*=")

    def __itruediv__(self, other):
        return in_place(self, self / other, "/=")

    def __ipow__(self, other):
        return in_place(self, self**other, "**=")

    def __setitem__(self, key, values):
        in_place(self, SetItem.apply(self, values, key=raw_key(key)), "x[…] =")

    def zero_(self):
        """Set all numbers to 0, in place."""
        return in_place(self, self.wrap(np.zeros_like(self.data)), "zero_")

    # -- comparisons: tensors of True and False, without gradient ----------------------------------

    def __eq__(self, other):
        return self.wrap(np.asarray(self.data == raw(other)))

    def __ne__(self, other):
        return self.wrap(np.asarray(self.data != raw(other)))

    def __lt__(self, other):
        return self.wrap(np.asarray(self.data < raw(other)))

    def __le__(self, other):
        return self.wrap(np.asarray(self.data <= raw(other)))

    def __gt__(self, other):
        return self.wrap(np.asarray(self.data > raw(other)))

    def __ge__(self, other):
        return self.wrap(np.asarray(self.data >= raw(other)))

    def __and__(self, other):
        return self.wrap(np.asarray(self.data & raw(other)))

    def __or__(self, other):
        return self.wrap(np.asarray(self.data | raw(other)))

    def __invert__(self):
        return self.wrap(np.asarray(~self.data))

    __hash__ = object.__hash__  # since == compares numbers, and a tensor is a key by what it is

    # -- functions of each number ------------------------------------------------------------------

    def exp(self):
        return each.Exp.apply(self)

    def log(self):
        return each.Log.apply(self)

    def sqrt(self):
        return each.Sqrt.apply(self)

    def sin(self):
        return each.Sin.apply(self)

    def cos(self):
        return each.Cos.apply(self)

    def abs(self):
        return each.Abs.apply(self)

    def maximum(self, other):
        return each.Maximum.apply(self, other)

    def minimum(self, other):
        return -each.Maximum.apply(-self, -as_tensor(other))

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

    def log_softmax(self, axis=-1):
        return activations.LogSoftmax.apply(self, axis=axis)

    def clone(self):
        """A copy in memory of its own; gradients flow through."""
        return Clone.apply(self)

    def astype(self, dtype):
        return Cast.apply(self, dtype=dtype)

    # -- along axes --------------------------------------------------------------------------------

    def sum(self, axis=None, keepdims=False):
        return Sum.apply(self, axis=axis, keepdims=keepdims)

    def mean(self, axis=None, keepdims=False):
        return Mean.apply(self, axis=axis, keepdims=keepdims)

    def var(self, axis=None, keepdims=False):
        """The variance, the mean squared distance from the mean."""
        return ((self - self.mean(axis, keepdims=True)) ** 2).mean(axis, keepdims)

    def norm(self):
        """The length √Σx² of all numbers as one vector."""
        return (self * self).sum().sqrt()

    def max(self, axis=None, keepdims=False):
        return Max.apply(self, axis=axis, keepdims=keepdims)

    def min(self, axis=None, keepdims=False):
        return -Max.apply(-self, axis=axis, keepdims=keepdims)

    def argmax(self, axis=None):
        return self.wrap(np.asarray(self.data.argmax(axis)))

    def cumsum(self, axis):
        return CumSum.apply(self, axis=axis)

    # -- shape and order ---------------------------------------------------------------------------

    def reshape(self, *shape):
        return Reshape.apply(self, shape=numbers(shape))

    def permute(self, *axes):
        return Permute.apply(self, axes=numbers(axes))

    def transpose(self, axis1, axis2):
        return Transpose.apply(self, axis1=axis1, axis2=axis2)

    @property
    def T(self):
        """All axes in the opposite order."""
        return Permute.apply(self, axes=tuple(range(self.ndim))[::-1])

    @property
    def mT(self):
        """The last two axes swapped: each matrix of a stack transposed."""
        return Transpose.apply(self, axis1=-1, axis2=-2)

    def expand(self, *shape):
        return Expand.apply(self, shape=numbers(shape))

    def flip(self, axis):
        return Flip.apply(self, axis=axis)

    def flatten(self):
        return self.reshape(-1)

    def squeeze(self, axis):
        """Without the axis, which must have size 1."""
        return self.reshape(np.squeeze(self.data, axis).shape)

    def unsqueeze(self, axis):
        """With a new axis of size 1, which gets the number `axis`."""
        return self.reshape(np.expand_dims(self.data, axis).shape)

    def __getitem__(self, key):
        return GetItem.apply(self, key=raw_key(key))

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    # -- backward ----------------------------------------------------------------------------------

    def backward(self, gradient=None, retain_graph=None, create_graph=False):
        """Add ∂L/∂leaf to the `grad` of each leaf that this was computed from.

        gradient        ∂L/∂(this); may be left out where this is a single number, L itself
        retain_graph    keep what was saved, so that backward can be called again
        create_graph    record backward itself, so that gradients can be differentiated
        """
        engine.backward(self, gradient, retain_graph, create_graph)


def in_place(tensor, result, sign):
    """Write the result into the tensor's own memory, and put the tensor in its place in the graph.

    The change is counted: whoever saved the old numbers for backward will notice by the version.
    """
    if result.shape != tensor.shape:
        raise ValueError(f"{sign} would change the shape {tensor.shape} to {result.shape}")
    if tensor.requires_grad and tensor.is_leaf and modes.is_grad_enabled():
        raise RuntimeError(
            f"{sign} on a leaf that requires a gradient would lose its old value;"
            " use it under no_grad(), or x = x + 1 instead of x += 1"
        )
    if not np.can_cast(result.dtype, tensor.dtype, "same_kind"):
        raise TypeError(f"{sign} would put {result.dtype} into {tensor.dtype}: use astype() before")
    if modes.is_grad_enabled():
        if tensor.has_alias() and (result.requires_grad or tensor.requires_grad):
            raise RuntimeError(
                f"{sign} would change another tensor that shares this memory (a view"
                " by reshape, indexing, detach, …) behind its back; clone() first,"
                " or write y[0] = y[0] + 1 instead of y[0] += 1"
            )
        tensor.grad_fn, tensor.requires_grad = result.grad_fn, result.requires_grad
    tensor.data[...] = result.data
    tensor.version.count += 1
    return tensor


def as_tensor(x):
    """x itself if it is a tensor, else a new tensor."""
    return x if isinstance(x, Variable) else Tensor(x)


def raw_key(key):
    """An index in which tensors are replaced by their arrays."""
    return tuple(raw(k) for k in key) if isinstance(key, tuple) else raw(key)


def numbers(arguments):
    """The shape or the axes, given as f(2, 3) or as f((2, 3))."""
    first = arguments[0] if len(arguments) == 1 else None
    return tuple(first) if isinstance(first, (tuple, list)) else tuple(arguments)
