"""The matrix product: of matrices, of vectors, of batches of matrices."""

from tinygrad_cl.tensor.core.function import Function


class MatMul(Function):
    """The matrix product a @ b.

    ∂L/∂a = grad @ bᵀ        ∂L/∂b = aᵀ @ grad

    (n, k) @ (k, m) → (n, m). A vector on the left counts as a matrix of one row, on the right as a
    matrix of one column; the result lacks that axis. Axes before the last two are batch axes and
    broadcast; the engine sums the gradients over what was broadcast.

    >>> a, b = Tensor(np.ones((2, 3)), requires_grad=True), Tensor(np.ones(3), requires_grad=True)
    >>> y = a @ b
    >>> y.backward([1.0, 10.0]); y.shape, a.grad.shape, b.grad.data
    ((2,), (2, 3), array([11., 11., 11.]))
    """

    @staticmethod
    def forward(ctx, a, b):
        check_inner(a, b)
        a_needed, b_needed = ctx.needs_input_grad
        ctx.save_for_backward(a if b_needed else None, b if a_needed else None)
        ctx.a_is_vector, ctx.b_is_vector = a.ndim == 1, b.ndim == 1
        return a @ b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        if ctx.b_is_vector:
            grad = grad.unsqueeze(-1)
        if ctx.a_is_vector:
            grad = grad.unsqueeze(-2)
        grad_a = grad_b = None
        if ctx.needs_input_grad[0]:
            grad_a = grad @ (b.unsqueeze(-1) if ctx.b_is_vector else b).mT
        if ctx.needs_input_grad[1]:
            grad_b = (a.unsqueeze(-2) if ctx.a_is_vector else a).mT @ grad
            grad_b = grad_b.squeeze(-1) if ctx.b_is_vector else grad_b
        return grad_a, grad_b


def check_inner(a, b):
    """ValueError if the axes over which a @ b sums have different sizes."""
    inner = a.shape[-1:], b.shape[-2:][:1]
    if not (a.ndim and b.ndim and inner[0] == inner[1]):
        axes = f"the last axis of {a.shape} and the last but one (or only) of {b.shape}"
        raise ValueError(f"MatMul: {axes} must have the same size")
