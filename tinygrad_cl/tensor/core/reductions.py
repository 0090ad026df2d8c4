"""Reductions: many elements become one, along some axes or along all of them.

axis is an integer, a tuple of integers, or None for all axes; keepdims=True keeps the reduced axes,
with size 1.
"""

from tinygrad_cl.tensor.core.function import Function


class Sum(Function):
    """Σ x along axes.

    ∂L/∂x = grad, the same for all elements that were summed

    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> x.sum(axis=1).backward([10.0, 20.0]); x.grad
    Tensor([[10., 10.],
            [20., 20.]])
    """

    @staticmethod
    def forward(ctx, x, axis=None, keepdims=False):
        ctx.input_shape, ctx.axis = x.shape, axis
        return x.sum(axis, keepdims=keepdims)

    @staticmethod
    def backward(ctx, grad):
        return grad.reshape(kept_shape(ctx.input_shape, ctx.axis)).expand(ctx.input_shape)


class Mean(Function):
    """Σ x / N along axes, N the number of elements that are summed.

    ∂L/∂x = grad / N, the same for all elements of one mean

    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> x.mean(axis=1).backward([10.0, 20.0]); x.grad
    Tensor([[ 5.,  5.],
            [10., 10.]])
    """

    @staticmethod
    def forward(ctx, x, axis=None, keepdims=False):
        ctx.input_shape, ctx.axis = x.shape, axis
        mean = x.mean(axis, keepdims=keepdims)
        ctx.count = x.size // max(mean.size, 1)
        return mean

    @staticmethod
    def backward(ctx, grad):
        grad = grad / max(ctx.count, 1)
        return grad.reshape(kept_shape(ctx.input_shape, ctx.axis)).expand(ctx.input_shape)


class Max(Function):
    """The largest element along axes.

    ∂L/∂x = grad at the largest, 0 elsewhere; where k elements tie, each of them gets grad / k.

    >>> x = Tensor([3.0, 1.0, 3.0], requires_grad=True)
    >>> x.max().backward(); x.grad
    Tensor([0.5, 0. , 0.5])
    """

    @staticmethod
    def forward(ctx, x, axis=None, keepdims=False):
        ctx.axis = axis
        largest = x.max(axis, keepdims=True)
        ctx.save_for_backward((x == largest) | (x != x))  # nan is equal to nothing, but counts
        return largest if keepdims else largest.reshape(dropped_shape(x.shape, axis))

    @staticmethod
    def backward(ctx, grad):
        (hit,) = ctx.saved_tensors
        share = grad.reshape(kept_shape(hit.shape, ctx.axis)) / hit.sum(ctx.axis, keepdims=True)
        return hit * share


def kept_shape(shape, axis):
    """The shape after a reduction along `axis` with keepdims=True.

    >>> kept_shape((2, 3, 4), (0, -1)), kept_shape((2, 3), None)
    ((1, 3, 1), (1, 1))
    """
    axes = reduced_axes(len(shape), axis)
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def dropped_shape(shape, axis):
    """The shape after a reduction along `axis` with keepdims=False.

    >>> dropped_shape((2, 3, 4), (0, -1)), dropped_shape((2, 3), None)
    ((3,), ())
    """
    axes = reduced_axes(len(shape), axis)
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def reduced_axes(ndim, axis):
    """The axes of a reduction, counted from 0, as a set."""
    if axis is None:
        return set(range(ndim))
    return {i % ndim if ndim else i for i in (axis if isinstance(axis, tuple) else (axis,))}
