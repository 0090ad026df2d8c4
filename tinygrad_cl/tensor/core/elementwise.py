"""Functions of each number, each with its derivative right below it."""

import numpy as np

from tinygrad_cl.tensor.core.function import Function


class Exp(Function):
    """y = eˣ.

    ∂L/∂x = grad · y

    >>> x = Tensor([0.0, 1.0], requires_grad=True)
    >>> x.exp().backward([10.0, 10.0]); x.grad
    Tensor([10.    , 27.1828])
    """

    @staticmethod
    def forward(ctx, x):
        y = np.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y


class Log(Function):
    """The natural logarithm ln x.

    ∂L/∂x = grad / x

    >>> x = Tensor([1.0, 4.0], requires_grad=True)
    >>> x.log().backward([10.0, 10.0]); x.grad
    Tensor([10. ,  2.5])
    """

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return np.log(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / x
