"""The same elements in another shape, in another order, or copied."""

import numpy as np

from tinygrad_cl.tensor.core.function import Function


class Reshape(Function):
    """The same elements, in the same order, in another shape.

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


class Permute(Function):
    """The axes in another order: axis i of the result is axis axes[i] of x; −1 means the last.

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


class Expand(Function):
    """x broadcast to a larger shape, without a copy.

    ∂L/∂x = grad, summed over the copies: the engine does that for every operation

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
