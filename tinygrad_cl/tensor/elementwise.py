"""Operations on each number by itself, each with its derivative right below it.

A rule returns gradients of the shape of the result; the engine sums them to the inputs' shapes.
"""

import numpy as np

from tinygrad_cl.tensor.function import Function


class Add(Function):
    """The sum a + b.

    ∂L/∂a = grad        ∂L/∂b = grad

    >>> a, b = Tensor([1.0, 2.0], requires_grad=True), Tensor(3.0, requires_grad=True)
    >>> (a + b).backward([10.0, 20.0]); a.grad, b.grad
    (Tensor([10., 20.]), Tensor(30.))
    """

    @staticmethod
    def forward(ctx, a, b):
        return a + b

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


class Sub(Function):
    """The difference a − b.

    ∂L/∂a = grad        ∂L/∂b = −grad
    """

    @staticmethod
    def forward(ctx, a, b):
        return a - b

    @staticmethod
    def backward(ctx, grad):
        return grad, -grad


class Mul(Function):
    """The product a · b, number by number.

    ∂L/∂a = grad · b        ∂L/∂b = grad · a

    Each factor is saved only for the other's gradient, and only if that is needed.

    >>> a, b = Tensor([2.0, 3.0], requires_grad=True), Tensor([5.0, 7.0], requires_grad=True)
    >>> (a * b).backward([1.0, 10.0]); a.grad, b.grad
    (Tensor([ 5., 70.]), Tensor([ 2., 30.]))
    """

    @staticmethod
    def forward(ctx, a, b):
        a_needed, b_needed = ctx.needs_input_grad
        ctx.save_for_backward(a if b_needed else None, b if a_needed else None)
        return a * b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        a_needed, b_needed = ctx.needs_input_grad
        return grad * b if a_needed else None, grad * a if b_needed else None


class Div(Function):
    """The quotient a / b.

    ∂L/∂a = grad / b        ∂L/∂b = −grad · a / b²
    """

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a if ctx.needs_input_grad[1] else None, b)
        return a / b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        grad_a = grad / b
        return grad_a, -grad_a * a / b if ctx.needs_input_grad[1] else None


class Neg(Function):
    """−x.

    ∂L/∂x = −grad
    """

    @staticmethod
    def forward(ctx, x):
        return -x

    @staticmethod
    def backward(ctx, grad):
        return -grad


class Pow(Function):
    """The power aⁿ, number by number; n is a number, an array or a tensor.

    ∂L/∂a = grad · n · aⁿ⁻¹      ∂L/∂n = grad · aⁿ · ln a

    For a = 0, both are taken as 0 where the formula says 0 · ∞: a⁰ is 1 all along a, 0ⁿ is 0 all
    along n > 0.
    """

    @staticmethod
    def forward(ctx, a, n):
        y = a**n
        ctx.save_for_backward(as_array(a, y.dtype), as_array(n, y.dtype))
        return y

    @staticmethod
    def backward(ctx, grad):
        a, n = ctx.saved_tensors
        grad_a = grad_n = None
        if ctx.needs_input_grad[0]:
            flat = (a == 0) & (n == 0)
            grad_a = grad * n * a ** Where.apply(flat, 1.0, n - 1)
        if ctx.needs_input_grad[1]:
            grad_n = grad * a**n * Where.apply(a == 0, 1.0, a).log()
        return grad_a, grad_n


class Exp(Function):
    """y = eˣ.

    ∂L/∂x = grad · y
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


def as_array(x, dtype):
    """x itself if it is an array, so that it is known as an input; a number as an array."""
    return x if isinstance(x, np.ndarray) else np.asarray(x, dtype)
