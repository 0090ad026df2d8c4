"""Functions of each number, and choices between two numbers, each with its derivative below it.

Inputs, results and gradients have one shape; where inputs broadcast, the engine sums afterwards.
"""

import numpy as np

from tinygrad_cl.tensor.function import Function


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


class Sqrt(Function):
    """The square root y = √x.

    ∂L/∂x = grad / (2 y)

    >>> x = Tensor([1.0, 4.0], requires_grad=True)
    >>> x.sqrt().backward([10.0, 10.0]); x.grad
    Tensor([5. , 2.5])
    """

    @staticmethod
    def forward(ctx, x):
        y = np.sqrt(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
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

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return np.sin(x)

    @staticmethod
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

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return np.cos(x)

    @staticmethod
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

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(np.sign(x))
        return np.abs(x)

    @staticmethod
    def backward(ctx, grad):
        (sign,) = ctx.saved_tensors
        return grad * sign


class Where(Function):
    """Numbers of a where the condition is true, of b elsewhere.

    ∂L/∂a = grad where it is true, else 0       ∂L/∂b = grad where it is false, else 0

    >>> a, b = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)
    >>> where([True, False], a, b).backward([1.0, 10.0]); a.grad, b.grad
    (Tensor([1., 0.]), Tensor([ 0., 10.]))
    """

    @staticmethod
    def forward(ctx, condition, a, b):
        ctx.save_for_backward(condition)
        return np.where(condition, a, b)

    @staticmethod
    def backward(ctx, grad):
        (condition,) = ctx.saved_tensors
        return None, Where.apply(condition, grad, 0.0), Where.apply(condition, 0.0, grad)


class Maximum(Function):
    """The larger of a and b, number by number.

    ∂L/∂a = grad where a > b, ∂L/∂b = grad where b > a; where they are equal, each gets half.

    >>> a, b = Tensor([1.0, 2.0], requires_grad=True), Tensor([1.0, 4.0], requires_grad=True)
    >>> a.maximum(b).backward([1.0, 10.0]); a.grad, b.grad
    (Tensor([0.5, 0. ]), Tensor([ 0.5, 10. ]))
    """

    @staticmethod
    def forward(ctx, a, b):
        half = np.float32(0.5)
        ctx.save_for_backward(half * np.greater(a, b) + half * np.greater_equal(a, b))
        return np.maximum(a, b)

    @staticmethod
    def backward(ctx, grad):
        (share,) = ctx.saved_tensors
        return grad * share, grad * (1 - share)
