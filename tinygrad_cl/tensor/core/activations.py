"""Activation functions and softmax, each with its derivative right below it."""

import math

import numpy as np

from tinygrad_cl.tensor.core.function import Function


class ReLU(Function):
    """y = max(x, 0).

    ∂L/∂x = grad where x > 0, else 0. At x = 0 there is no derivative; like PyTorch, we take 0.

    >>> x = Tensor([-1.0, 0.0, 2.0], requires_grad=True)
    >>> x.relu().backward([1.0, 10.0, 100.0]); x.grad
    Tensor([  0.,   0., 100.])
    """

    @staticmethod
    def forward(ctx, x):
        y = np.maximum(x, 0)
        ctx.save_for_backward(y)  # y, not x: the next layer saves y anyway, so this costs nothing
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * (y > 0)


class Sigmoid(Function):
    """s = 1 / (1 + e⁻ˣ), without overflow: also right for x = ±1000.

    ∂L/∂x = grad · s · (1 − s)

    >>> x = Tensor([-1000.0, 0.0, 2.0], requires_grad=True)
    >>> x.sigmoid().backward([1.0, 10.0, 100.0]); x.grad
    Tensor([ 0.    ,  2.5   , 10.4994])
    """

    @staticmethod
    def forward(ctx, x):
        small = np.exp(-np.abs(x))  # never the exponential of a large number, so nothing overflows
        s = np.where(x >= 0, 1, small) / (1 + small)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, grad):
        (s,) = ctx.saved_tensors
        return grad * s * (1 - s)


class Tanh(Function):
    """t = tanh x.

    ∂L/∂x = grad · (1 − t²)

    >>> x = Tensor([0.0, 1.0], requires_grad=True)
    >>> x.tanh().backward([1.0, 10.0]); x.grad
    Tensor([1.    , 4.1997])
    """

    @staticmethod
    def forward(ctx, x):
        t = np.tanh(x)
        ctx.save_for_backward(t)
        return t

    @staticmethod
    def backward(ctx, grad):
        (t,) = ctx.saved_tensors
        return grad * (1 - t * t)


class GELU(Function):
    """x · (1 + t) / 2 with t = tanh u, u = √(2/π) · (x + 0.044715 x³) (Hendrycks and Gimpel 2016).

    ∂L/∂x = grad · ((1 + t) / 2 + x · (1 − t²) · u' / 2), u' = √(2/π) · (1 + 3 · 0.044715 x²)

    This is PyTorch's gelu(x, approximate="tanh").

    >>> x = Tensor([-1.0, 0.0, 1.0], requires_grad=True)
    >>> x.gelu().backward([10.0, 10.0, 10.0]); x.grad
    Tensor([-0.8296,  5.    , 10.8296])
    """

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        scale = math.sqrt(2 / math.pi)
        return 0.5 * x * (1 + np.tanh(scale * (x + 0.044715 * x * x * x)))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        scale = math.sqrt(2 / math.pi)
        t = (scale * (x + 0.044715 * x * x * x)).tanh()
        slope = scale * (1 + 3 * 0.044715 * x * x)
        return grad * 0.5 * (1 + t + x * (1 - t * t) * slope)


class Softmax(Function):
    """y = eˣ / Σ eˣ, the sum along one axis, so that y is positive and sums to 1 along it.

    ∂L/∂x = y · (grad − Σ grad · y), the sum along the same axis

    The maximum along the axis is subtracted first: y stays the same, and nothing overflows.

    >>> Tensor([[0.0, 0.0], [1000.0, 0.0]]).softmax(axis=1)
    Tensor([[0.5, 0.5],
            [1. , 0. ]])
    """

    @staticmethod
    def forward(ctx, x, axis):
        ctx.axis = axis
        e = np.exp(x - x.max(axis, keepdims=True))
        y = e / e.sum(axis, keepdims=True)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return y * (grad - (grad * y).sum(ctx.axis, keepdims=True))
