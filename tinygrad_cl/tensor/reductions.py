"""Operations along an axis that no lesson builds."""

import numpy as np

from tinygrad_cl.tensor.core import reductions
from tinygrad_cl.tensor.core.function import Function
from tinygrad_cl.tensor.elementwise import Where, all_finite


class Max(reductions.Max):
    """The largest of the numbers along axes; the others get 0 of an infinite gradient, too."""

    def forward(ctx, x, axis=None, keepdims=False):
        if not x.size and x.sum(axis).size:
            raise ValueError(f"there is no largest or smallest of no numbers: the shape is {x.shape}, the axis {axis}")
        return reductions.Max.forward(ctx, x, axis, keepdims)

    def backward(ctx, grad):
        if all_finite(grad):
            return reductions.Max.backward(ctx, grad)
        (hit,) = ctx.saved_tensors
        with np.errstate(invalid="ignore"):  # infinity · 0, which is put right below
            return Where.apply(hit, reductions.Max.backward(ctx, grad), 0.0)


class Norm(Function):
    """The length y = √Σx² of all numbers as one vector.

    ∂L/∂x = grad · x / y, and 0 where y = 0, as in PyTorch

    >>> x = Tensor([3.0, 4.0], requires_grad=True)
    >>> x.norm().backward(); x.grad
    Tensor([0.6, 0.8])
    """

    def forward(ctx, x):
        y = np.sqrt((x * x).sum())
        ctx.save_for_backward(x, y)
        return y

    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return x * (Where.apply(y == 0, 0.0, grad) / Where.apply(y == 0, 1.0, y))


class CumSum(Function):
    """Running sums along one axis: yᵢ = x₀ + … + xᵢ.

    ∂L/∂xᵢ = gradᵢ + gradᵢ₊₁ + …: running sums from the last element to the first

    >>> x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> x.cumsum(0).backward([1.0, 10.0, 100.0]); x.grad
    Tensor([111., 110., 100.])
    """

    def forward(ctx, x, axis):
        ctx.axis = axis
        if not isinstance(axis, (int, np.integer)):
            raise TypeError(f"cumsum: axis is a whole number, not {axis!r}")
        return x.cumsum(axis).reshape(x.shape)  # of one number NumPy makes shape (1,)

    def backward(ctx, grad):
        return grad.flip(ctx.axis).cumsum(ctx.axis).flip(ctx.axis) if grad.ndim else grad


class LogSoftmax(Function):
    """z = ln softmax x = x − ln Σ eˣ, the sum along one axis, without a logarithm of 0.

    ∂L/∂x = grad − eᶻ · Σ grad, the sum along the same axis

    >>> Tensor([1000.0, 0.0]).log_softmax()
    Tensor([    0., -1000.])
    """

    def forward(ctx, x, axis):
        ctx.axis = axis
        shifted = x - x.max(axis, keepdims=True)
        z = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
        ctx.save_for_backward(z)
        return z

    def backward(ctx, grad):
        (z,) = ctx.saved_tensors
        return grad - z.exp() * grad.sum(ctx.axis, keepdims=True)
