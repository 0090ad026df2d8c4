"""The same numbers in another shape, order, type or place, or next to others."""

import numpy as np

from tinygrad_cl.tensor.function import Function


class Reshape(Function):
    """The same numbers, in the same order, in another shape.

    ∂L/∂x = grad, in the shape of x

    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> x.reshape(4).backward([1.0, 10.0, 100.0, 1000.0]); x.grad
    Tensor([[   1.,   10.],
            [ 100., 1000.]])
    """

    @staticmethod
    def forward(ctx, x, shape):
        ctx.input_shape = x.shape
        return x.reshape(shape)

    @staticmethod
    def backward(ctx, grad):
        return grad.reshape(ctx.input_shape)


class Permute(Function):
    """The axes in another order: axis i of the result is axis axes[i] of x, −1 being its last.

    ∂L/∂x = grad with its axes put back. Putting back is another permutation, the inverse one.

    >>> Tensor(np.zeros((2, 3, 4))).permute(1, 2, 0).shape
    (3, 4, 2)
    """

    @staticmethod
    def forward(ctx, x, axes):
        ctx.inverse = tuple(int(i) for i in np.argsort([i % x.ndim for i in axes]))
        return x.transpose(axes)

    @staticmethod
    def backward(ctx, grad):
        return grad.permute(*ctx.inverse)


class Transpose(Function):
    """Two axes swapped.

    ∂L/∂x = grad with the same two swapped back

    >>> x = Tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    >>> x.transpose(0, 1).backward([[1.0], [10.0], [100.0]]); x.grad
    Tensor([[  1.,  10., 100.]])
    """

    @staticmethod
    def forward(ctx, x, axis1, axis2):
        ctx.axis1, ctx.axis2 = axis1, axis2
        return x.swapaxes(axis1, axis2)

    @staticmethod
    def backward(ctx, grad):
        return grad.transpose(ctx.axis1, ctx.axis2)


class Expand(Function):
    """x broadcast to a larger shape, without a copy.

    ∂L/∂x = grad, summed over the copies; which is what the engine does with every gradient

    >>> x = Tensor([1.0, 2.0], requires_grad=True)
    >>> x.expand(3, 2).backward(np.ones((3, 2))); x.grad
    Tensor([3., 3.])
    """

    @staticmethod
    def forward(ctx, x, shape):
        return np.broadcast_to(x, shape)

    @staticmethod
    def backward(ctx, grad):
        return grad


class Flip(Function):
    """The numbers along some axes in the opposite order.

    ∂L/∂x = grad, flipped as well

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
    """Arrays one after the other along an axis.

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
    """The same numbers in another floating-point type.

    ∂L/∂x = grad, in the type of x
    """

    any_dtype = True

    @staticmethod
    def forward(ctx, x, dtype):
        return x.astype(dtype)

    @staticmethod
    def backward(ctx, grad):
        return grad


class Clone(Function):
    """A copy in memory of its own.

    ∂L/∂x = grad
    """

    @staticmethod
    def forward(ctx, x):
        return x.copy()

    @staticmethod
    def backward(ctx, grad):
        return grad
