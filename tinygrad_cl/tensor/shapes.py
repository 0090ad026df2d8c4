"""Operations that move, join or convert elements, and that no lesson builds."""

import numpy as np

from tinygrad_cl.tensor.core.function import Function


class Flip(Function):
    """The elements along some axes in reverse order.

    ∂L/∂x = grad, flipped along the same axes

    >>> x = Tensor([1.0, 2.0], requires_grad=True)
    >>> x.flip(0).backward([1.0, 10.0]); x.grad
    Tensor([10.,  1.])
    """

    @staticmethod
    def forward(ctx, x, axis):
        ctx.axis = axis
        return np.flip(x, axis)

    @staticmethod
    def backward(ctx, grad):
        return grad.flip(ctx.axis)


class Cat(Function):
    """Arrays, concatenated along an axis.

    ∂L/∂(each) = its part of grad

    >>> a, b = Tensor([1.0], requires_grad=True), Tensor([2.0, 3.0], requires_grad=True)
    >>> cat([a, b]).backward([1.0, 10.0, 100.0]); a.grad, b.grad
    (Tensor([1.]), Tensor([ 10., 100.]))
    """

    @staticmethod
    def forward(ctx, *arrays, axis):
        ctx.axis = axis % arrays[0].ndim
        ctx.ends = np.cumsum([x.shape[axis] for x in arrays])
        return np.concatenate(arrays, axis)

    @staticmethod
    def backward(ctx, grad):
        starts = (0, *ctx.ends[:-1])
        before = (slice(None),) * ctx.axis
        return tuple(grad[(*before, slice(i, j))] for i, j in zip(starts, ctx.ends))


class Cast(Function):
    """The same elements in another dtype.

    ∂L/∂x = grad, in the dtype of x
    """

    any_dtype = True

    @staticmethod
    def forward(ctx, x, dtype):
        return x.astype(dtype)

    @staticmethod
    def backward(ctx, grad):
        return grad


class SetItem(Function):
    """A copy of x, with values at key.

    ∂L/∂x = grad, but 0 at key        ∂L/∂values = grad[key]

    >>> x, v = Tensor([1.0, 2.0], requires_grad=True), Tensor(5.0, requires_grad=True)
    >>> SetItem.apply(x, v, key=0).backward([1.0, 10.0]); x.grad, v.grad
    (Tensor([ 0., 10.]), Tensor(1.))
    """

    @staticmethod
    def forward(ctx, x, values, key):
        ctx.key = key
        y = x.copy()
        y[key] = values
        return y

    @staticmethod
    def backward(ctx, grad):
        keep = np.ones(grad.shape, bool)
        keep[ctx.key] = False
        return grad * keep, grad[ctx.key]
