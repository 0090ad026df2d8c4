"""+, −, ·, / and powers, element by element, each with its derivative right below it.

Shapes broadcast as in NumPy. A rule returns gradients of the shape of the result; the engine sums
them to the shapes of the inputs.
"""

from tinygrad_cl.tensor.core.function import Function


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

    >>> a, b = Tensor([5.0, 7.0], requires_grad=True), Tensor(3.0, requires_grad=True)
    >>> (a - b).backward([1.0, 10.0]); a.grad, b.grad
    (Tensor([ 1., 10.]), Tensor(-11.))
    """

    @staticmethod
    def forward(ctx, a, b):
        return a - b

    @staticmethod
    def backward(ctx, grad):
        return grad, -grad


class Mul(Function):
    """The product a · b, element by element.

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

    >>> a, b = Tensor([6.0, 8.0], requires_grad=True), Tensor(2.0, requires_grad=True)
    >>> (a / b).backward([1.0, 10.0]); a.grad, b.grad
    (Tensor([0.5, 5. ]), Tensor(-21.5))
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

    >>> x = Tensor([1.0, -2.0], requires_grad=True)
    >>> (-x).backward([1.0, 10.0]); x.grad
    Tensor([ -1., -10.])
    """

    @staticmethod
    def forward(ctx, x):
        return -x

    @staticmethod
    def backward(ctx, grad):
        return -grad


class Pow(Function):
    """The power aⁿ, element by element, of a tensor a; n is a number, an array or a tensor.

    ∂L/∂a = grad · n · aⁿ⁻¹      ∂L/∂n = grad · aⁿ · ln a

    ln a exists for a > 0 only, so ∂L/∂n is None where it is not needed.

    >>> a, n = Tensor([3.0, 2.0], requires_grad=True), Tensor(2.0, requires_grad=True)
    >>> (a ** n).backward([1.0, 10.0]); a.grad, n.grad
    (Tensor([ 6., 40.]), Tensor(37.6134))
    """

    @staticmethod
    def forward(ctx, a, n):
        ctx.save_for_backward(a, n)
        return a**n

    @staticmethod
    def backward(ctx, grad):
        a, n = ctx.saved_tensors
        grad_a = grad * n * a ** (n - 1)
        grad_n = grad * a**n * a.log() if ctx.needs_input_grad[1] else None
        return grad_a, grad_n
