"""Operations along an axis that no lesson builds."""

import numpy as np

from tinygrad_cl.tensor.core.function import Function


class CumSum(Function):
    """Running sums along one axis: yᵢ = x₀ + … + xᵢ.

    ∂L/∂xᵢ = gradᵢ + gradᵢ₊₁ + …: running sums from the last element to the first

    >>> x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> x.cumsum(0).backward([1.0, 10.0, 100.0]); x.grad
    Tensor([111., 110., 100.])
    """

    @staticmethod
    def forward(ctx, x, axis):
        ctx.axis = axis
        return x.cumsum(axis)

    @staticmethod
    def backward(ctx, grad):
        return grad.flip(ctx.axis).cumsum(ctx.axis).flip(ctx.axis)


class LogSoftmax(Function):
    """z = ln softmax x = x − ln Σ eˣ, the sum along one axis, without a logarithm of 0.

    ∂L/∂x = grad − eᶻ · Σ grad, the sum along the same axis

    >>> Tensor([1000.0, 0.0]).log_softmax()
    Tensor([    0., -1000.])
    """

    @staticmethod
    def forward(ctx, x, axis):
        ctx.axis = axis
        shifted = x - x.max(axis, keepdims=True)
        z = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
        ctx.save_for_backward(z)
        return z

    @staticmethod
    def backward(ctx, grad):
        (z,) = ctx.saved_tensors
        return grad - z.exp() * grad.sum(ctx.axis, keepdims=True)
