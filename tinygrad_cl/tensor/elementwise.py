"""Elementwise operations and choices between two that no lesson builds, and the methods that call them.

forward and backward are called on the class, so they work without @staticmethod.
"""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from tinygrad_cl.tensor.core import activations, arithmetic
from tinygrad_cl.tensor.core.function import Function
from tinygrad_cl.tensor.core.variable import Variable


class Log1p(Function):
    """The logarithm ln(1 + x), accurate near x = 0.

    ∂L/∂x = grad / (1 + x)

    >>> x = Tensor([0.0, 3.0], requires_grad=True)
    >>> x.log1p().backward([10.0, 10.0]); x.grad
    Tensor([10. ,  2.5])
    """

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return np.log1p(x)

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / (1 + x)


class Sqrt(Function):
    """The square root y = √x.

    ∂L/∂x = grad / (2 y)

    >>> x = Tensor([1.0, 4.0], requires_grad=True)
    >>> x.sqrt().backward([10.0, 10.0]); x.grad
    Tensor([5. , 2.5])
    """

    def forward(ctx, x):
        y = np.sqrt(x)
        ctx.save_for_backward(y)
        return y

    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad / (2 * y)


class Sin(Function):
    """sin x.

    ∂L/∂x = grad · cos x

    >>> x = Tensor([0.0, 1.0], requires_grad=True)
    >>> x.sin().backward([10.0, 10.0]); x.grad
    Tensor([10.   ,  5.403])
    """

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return np.sin(x)

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x.cos()


class Cos(Function):
    """cos x.

    ∂L/∂x = −grad · sin x

    >>> x = Tensor([0.0, 1.0], requires_grad=True)
    >>> x.cos().backward([10.0, 10.0]); x.grad
    Tensor([-0.    , -8.4147])
    """

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return np.cos(x)

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return -grad * x.sin()


class Abs(Function):
    """|x|.

    ∂L/∂x = grad where x > 0, −grad where x < 0, and 0 where x = 0

    >>> x = Tensor([-2.0, 0.0, 3.0], requires_grad=True)
    >>> abs(x).backward([1.0, 10.0, 100.0]); x.grad
    Tensor([ -1.,   0., 100.])
    """

    def forward(ctx, x):
        ctx.save_for_backward(np.sign(x))
        return np.abs(x)

    def backward(ctx, grad):
        (sign,) = ctx.saved_tensors
        return Where.apply(sign == 0, 0.0, grad) * sign


class Where(Function):
    """Elements of a where the condition is true, elements of b elsewhere.

    ∂L/∂a = grad where it is true, else 0       ∂L/∂b = grad where it is false, else 0

    >>> a, b = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)
    >>> where([True, False], a, b).backward([1.0, 10.0]); a.grad, b.grad
    (Tensor([1., 0.]), Tensor([ 0., 10.]))
    """

    def forward(ctx, condition, a, b):
        ctx.save_for_backward(condition)
        return np.where(condition, a, b)

    def backward(ctx, grad):
        (condition,) = ctx.saved_tensors
        return None, Where.apply(condition, grad, 0.0), Where.apply(condition, 0.0, grad)


class Maximum(Function):
    """The larger of a and b, element by element.

    ∂L/∂a = grad where a > b, ∂L/∂b = grad where b > a; where they are equal, each gets half, and where
    one is NaN, each gets all of it.

    >>> a, b = Tensor([1.0, 2.0], requires_grad=True), Tensor([1.0, 4.0], requires_grad=True)
    >>> a.maximum(b).backward([1.0, 10.0]); a.grad, b.grad
    (Tensor([0.5, 0. ]), Tensor([ 0.5, 10. ]))
    """

    def forward(ctx, a, b):
        equal = np.equal(a, b)
        ctx.save_for_backward(np.less(a, b), np.greater(a, b), equal if equal.any() else None)
        return np.maximum(a, b)

    def backward(ctx, grad):
        less, greater, equal = ctx.saved_tensors
        grad = grad if equal is None else Where.apply(equal, 0.5 * grad, grad)
        a_needed, b_needed = ctx.needs_input_grad
        return Where.apply(less, 0.0, grad) if a_needed else None, Where.apply(greater, 0.0, grad) if b_needed else None


def all_finite(grad):
    return np.count_nonzero(np.isfinite(grad.data)) == grad.data.size  # faster than all()


class ReLU(activations.ReLU):
    """y = max(x, 0), with what is infinite or NaN: 0 · ∞ would be NaN, and a NaN is not left out, as in PyTorch.

    >>> x = Tensor([-1.0, 4.0, np.nan], requires_grad=True)
    >>> x.relu().backward([np.inf, 1.0, 1.0]); x.grad
    Tensor([0., 1., 1.])
    """

    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        if all_finite(grad) and not np.isnan(y.data).any():
            return activations.ReLU.backward(ctx, grad)
        return Where.apply(y <= 0, 0.0, grad)


class Pow(arithmetic.Pow):
    """The power aⁿ. Unlike on the ground floor, a may be a number, and a = 0 has gradients.

    Where the formulas give 0 · ∞ at a = 0, the gradient is 0: ∂L/∂a for n = 0, since a⁰ = 1 for every
    a, and ∂L/∂n for n ≥ 0. For n < 0, 0ⁿ = ∞, and ∂0ⁿ/∂n = −∞.

    >>> a = Tensor([0.0, 3.0], requires_grad=True)
    >>> (a ** Tensor([0.0, 2.0])).sum().backward(); a.grad
    Tensor([0., 6.])
    """

    def forward(ctx, a, n):
        a = np.asarray(a, np.result_type(a, n)) if isinstance(a, (int, float)) else a
        return arithmetic.Pow.forward(ctx, a, n)

    def backward(ctx, grad):
        a, n = ctx.saved_tensors
        if isinstance(n, (int, float)) and n:
            return arithmetic.Pow.backward(ctx, grad)
        grad_a = grad_n = None
        if ctx.needs_input_grad[0]:
            grad_a = grad * n * a ** Where.apply((a == 0) & (n == 0), 1.0, n - 1)
        if ctx.needs_input_grad[1]:
            grad_n = grad * a**n * Where.apply((a == 0) & (n >= 0), 1.0, a).log()
        return grad_a, grad_n


class ElementwiseMethods:
    """A tensor's methods and operators for these Functions."""

    def __abs__(self) -> Self:
        return Abs.apply(self)

    def __pow__(self, other: Variable | ArrayLike) -> Self:
        return Pow.apply(self, other)

    def __rpow__(self, other: Variable | ArrayLike) -> Self:
        return Pow.apply(other, self)

    def relu(self) -> Self:
        return ReLU.apply(self)

    def log1p(self) -> Self:
        return Log1p.apply(self)

    def sqrt(self) -> Self:
        return Sqrt.apply(self)

    def sin(self) -> Self:
        return Sin.apply(self)

    def cos(self) -> Self:
        return Cos.apply(self)

    def abs(self) -> Self:
        return Abs.apply(self)

    def maximum(self, other: Variable | ArrayLike) -> Self:
        return Maximum.apply(self, other)
