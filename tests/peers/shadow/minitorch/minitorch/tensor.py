import random
from math import prod as prod

import numpy as np
from hypothesis import assume

from tinygrad_cl.tensor.core.variable import raw
from tinygrad_cl.tensor.torch import Tensor as Ours

SimpleBackend = None


class TensorData:
    """Numbers in a shape, with strides in numbers."""

    def __init__(self, storage, shape, strides=None):
        storage = np.array(storage, np.float64)
        self.array = storage.reshape(shape)
        if strides is not None:
            self.array = np.lib.stride_tricks.as_strided(storage, shape, [8 * s for s in strides])

    @property
    def shape(self):
        return self.array.shape

    @property
    def size(self):
        return self.array.size

    @property
    def strides(self):
        return tuple(s // 8 for s in self.array.strides)

    def permute(self, *order):
        other = TensorData.__new__(TensorData)
        other.array = self.array.transpose(order)
        return other

    def indices(self):
        return np.ndindex(self.shape)

    def sample(self):
        return tuple(random.randrange(n) for n in self.shape)


class Tensor(Ours):
    """Our tensor with minitorch's manners: sums keep their dimension, and one number has the shape (1,)."""

    def __init__(self, data, backend=None):
        self.data = data.array

    @property
    def _tensor(self):
        data = TensorData.__new__(TensorData)
        data.array = self.data
        return data

    def __getitem__(self, key):
        found = super().__getitem__(key)
        return found if found.ndim else found.item()

    def sum(self, dim=None, keepdim=False, **words):
        if dim is None and not words:
            return super().sum().reshape(1)
        return super().sum(dim, keepdim or isinstance(dim, int), **words)

    def mean(self, dim=None):
        return super().mean().reshape(1) if dim is None else super().mean(dim, keepdim=True)

    def is_close(self, other):
        return self.wrap(np.isclose(self.data, raw(other), rtol=0, atol=1e-2))

    def to_numpy(self):
        return self.numpy()

    def requires_grad_(self, requires_grad=True):
        self.grad_fn = None
        return super().requires_grad_(requires_grad)

    def zero_grad_(self):
        self.grad = self.wrap(np.zeros(self.shape))

    def backward(self, grad=None):
        if self.requires_grad:  # a comparison has no gradient
            super().backward(grad)


def tensor(numbers, requires_grad=False):
    return Tensor.wrap(np.array(numbers, np.float64)).requires_grad_(requires_grad)


def grad_check(f, *values, epsilon=1e-6):
    for x in values:
        x.requires_grad_(True)
        x.zero_grad_()
    f(*values).sum().backward()
    for i, x in enumerate(values):
        place = x._tensor.sample()

        def at(step):
            numbers = x.data.copy()
            numbers[place] += step
            return f(*[Tensor.wrap(numbers) if j == i else y.detach() for j, y in enumerate(values)]).sum()[0]

        expected = (at(epsilon) - at(-epsilon)) / (2 * epsilon)
        assume(abs(expected) < 1e5)  # a jump has no slope
        np.testing.assert_allclose(x.grad[place], expected, 1e-2, 1e-2)
