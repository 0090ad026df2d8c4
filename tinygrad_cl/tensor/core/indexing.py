"""Indexing: x[key] with everything that NumPy takes as a key, and rows of a table."""

import numpy as np

from tinygrad_cl.tensor.core.function import Function


class GetItem(Function):
    """y = x[key].

    ∂L/∂x is 0, with grad added at key: an element that was taken twice gets both gradients.

    >>> x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> x[[0, 0, 2]].backward([1.0, 10.0, 100.0]); x.grad
    Tensor([ 11.,   0., 100.])
    """

    @staticmethod
    def forward(ctx, x, key):
        ctx.key, ctx.input_shape = key, x.shape
        return x[key]

    @staticmethod
    def backward(ctx, grad):
        return Scatter.apply(grad, key=ctx.key, shape=ctx.input_shape)


class Scatter(Function):
    """Zeros of the given shape, with x added at key: the gradient of indexing.

    ∂L/∂x = grad[key]

    >>> Scatter.apply(Tensor([1.0, 10.0, 100.0]), key=[0, 0, 2], shape=(4,))
    Tensor([ 11.,   0., 100.,   0.])
    """

    @staticmethod
    def forward(ctx, x, key, shape):
        ctx.key = key
        y = np.zeros(shape, x.dtype)
        np.add.at(y, key, x)  # y[key] += x would count a repeated index once
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad[ctx.key]


class Embedding(Function):
    """Rows of a table: y[…, :] = weight[indices[…], :].

    ∂L/∂weight is 0, with grad added to the rows that were taken: a row taken twice gets both.

    weight (rows, features), indices integers of any shape; y (*indices.shape, features)

    >>> table = Tensor([[1.0], [2.0], [3.0]], requires_grad=True)
    >>> y = embedding([2, 0, 2], table)
    >>> y.backward([[1.0], [10.0], [100.0]]); table.grad.reshape(-1)
    Tensor([ 10.,   0., 101.])
    """

    @staticmethod
    def forward(ctx, weight, indices):
        indices = np.asarray(indices)
        if indices.dtype.kind not in "iu":
            raise TypeError(f"an embedding takes whole numbers, not {indices.dtype}")
        if indices.size and not 0 <= indices.min() <= indices.max() < len(weight):
            raise IndexError(
                f"an embedding of {len(weight)} rows has rows 0 to {len(weight) - 1};"
                f" asked for were {indices.min()} to {indices.max()}"
            )
        ctx.indices, ctx.weight_shape = indices, weight.shape
        return weight[indices]

    @staticmethod
    def backward(ctx, grad):
        return Scatter.apply(grad, key=ctx.indices, shape=ctx.weight_shape), None
