"""Operations that move, join or convert elements, and that no lesson builds."""

import numpy as np

from tinygrad_cl.tensor.core.function import Function
from tinygrad_cl.tensor.elementwise import Where


class Flip(Function):
    """The elements along some axes in reverse order.

    ∂L/∂x = grad, flipped along the same axes

    >>> x = Tensor([1.0, 2.0], requires_grad=True)
    >>> x.flip(0).backward([1.0, 10.0]); x.grad
    Tensor([10.,  1.])
    """

    def forward(ctx, x, axis):
        ctx.axis = axis
        return np.flip(x, axis).copy()

    def backward(ctx, grad):
        return grad.flip(ctx.axis)


class Cat(Function):
    """Arrays, concatenated along an axis.

    ∂L/∂(each) = its part of grad

    >>> a, b = Tensor([1.0], requires_grad=True), Tensor([2.0, 3.0], requires_grad=True)
    >>> cat([a, b]).backward([1.0, 10.0, 100.0]); a.grad, b.grad
    (Tensor([1.]), Tensor([ 10., 100.]))
    """

    def forward(ctx, *arrays, axis):
        if not isinstance(axis, (int, np.integer)):
            raise TypeError(f"cat: axis is a whole number, not {axis!r}")
        y = np.concatenate(arrays, axis)
        ctx.axis = axis % y.ndim
        ctx.ends = np.cumsum([x.shape[axis] for x in arrays])
        return y

    def backward(ctx, grad):
        starts = (0, *ctx.ends[:-1])
        before = (slice(None),) * ctx.axis
        return tuple(grad[(*before, slice(i, j))] for i, j in zip(starts, ctx.ends))


class Cast(Function):
    """The same elements in another dtype.

    ∂L/∂x = grad, in the dtype of x
    """

    any_dtype = True

    def forward(ctx, x, dtype):
        return x.astype(dtype)

    def backward(ctx, grad):
        return grad


class SetItem(Function):
    """A copy of x, with values at key.

    ∂L/∂x = grad, but 0 at key        ∂L/∂values = grad[key], for the last value at each place

    >>> x, v = Tensor([1.0, 2.0], requires_grad=True), Tensor(5.0, requires_grad=True)
    >>> SetItem.apply(x, v, key=0).backward([1.0, 10.0]); x.grad, v.grad
    (Tensor([ 0., 10.]), Tensor(1.))
    """

    def forward(ctx, x, values, key):
        ctx.key = key
        y = x.copy()
        shape, part = np.shape(values), np.shape(y[key])
        spare = max(0, len(shape) - len(part))  # axes of size 1 in front
        try:
            if set(shape[:spare]) - {1}:
                raise ValueError("another shape")
            y[key] = np.reshape(values, shape[spare:])
        except ValueError as error:
            if "shape" not in str(error):
                raise
            raise ValueError(f"x[…] = values: shape {shape} does not fit the part of shape {part}") from None
        return y

    def backward(ctx, grad):
        part = grad[ctx.key]
        number = np.arange(part.size).reshape(part.shape)
        place = np.full(grad.shape, -1)  # where the number of a value stands, that value was assigned
        place[ctx.key] = number
        part = Where.apply(place[ctx.key] == number, part, 0.0)
        spare = max(0, len(ctx.input_shapes[1]) - part.ndim)
        return Where.apply(place < 0, grad, 0.0), part.reshape((1,) * spare + part.shape)
