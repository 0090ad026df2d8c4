"""PyTorch's methods along dimensions: sums, extremes, variances, and numbers picked by their indices."""

from collections import namedtuple
from functools import wraps

import numpy as np

from tinygrad_cl.tensor.core.variable import Variable, raw
from tinygrad_cl.tensor.elementwise import Where
from tinygrad_cl.tensor.tensor_class import Tensor as Engine

Extreme = namedtuple("Extreme", "values indices")
KEYWORDS = {"dim": "axis", "keepdim": "keepdims", "dim0": "axis1", "dim1": "axis2"}


def spelled(method):
    """A method of the engine, which takes PyTorch's keywords, too, and lists of axes; no axes are all."""

    @wraps(method)
    def call(self, *args, **options):
        return method(self, *map(axes, args), **{KEYWORDS.get(name, name): axes(x) for name, x in options.items()})

    return call


def axes(x):
    return tuple(x) or None if isinstance(x, (list, tuple)) else x


class Reductions:
    """The methods of a tensor that become fewer numbers along dimensions, or as many."""

    def any(self, dim=None, keepdim=False):
        return self.wrap(np.asarray(self.data.any(dim, keepdims=keepdim)))

    def all(self, dim=None, keepdim=False):
        return self.wrap(np.asarray(self.data.all(dim, keepdims=keepdim)))

    sum = spelled(Engine.sum)
    mean = spelled(Engine.mean)
    amax = spelled(Engine.max)
    amin = spelled(lambda self, axis=None, keepdims=False: -(-self).amax(axis, keepdims))
    softmax = spelled(Engine.softmax)
    log_softmax = spelled(Engine.log_softmax)
    cumsum = spelled(Engine.cumsum)

    def max(self, dim=None, keepdim=False):
        """The largest number; along dim (values, indices); of two tensors, number by number."""
        if isinstance(dim, Variable):
            return self.maximum(dim)
        return self.amax() if dim is None else self.extreme(self.data.argmax(dim), dim, keepdim)

    def min(self, dim=None, keepdim=False):
        """The smallest number; along dim (values, indices); of two tensors, number by number."""
        if isinstance(dim, Variable):
            return self.minimum(dim)
        return self.amin() if dim is None else self.extreme(self.data.argmin(dim), dim, keepdim)

    def extreme(self, indices, dim, keepdim):
        """What is at these indices along dim, and the indices."""
        if not self.ndim:
            return Extreme(self, self.wrap(np.asarray(indices)))
        indices = self.wrap(np.expand_dims(indices, dim))
        both = Extreme(self.gather(dim, indices), indices)
        return both if keepdim else Extreme(*[x.squeeze(dim) for x in both])

    def argmax(self, dim=None, keepdim=False):
        return self.wrap(np.asarray(self.data.argmax(dim, keepdims=keepdim)))

    def argmin(self, dim=None, keepdim=False):
        return self.wrap(np.asarray(self.data.argmin(dim, keepdims=keepdim)))

    def gather(self, dim, index):
        """The numbers at the indices along dim, for two dimensions y[i, j] = x[index[i, j], j]."""
        index = np.asarray(raw(index))
        if index.dtype.kind not in "iu" or index.ndim != self.ndim:
            raise TypeError(f"gather takes whole numbers in {self.ndim} dimensions, not {index.dtype} in {index.ndim}")
        if index.size and not 0 <= index.min() <= index.max() < self.shape[dim]:
            raise IndexError(f"gather along a dimension of size {self.shape[dim]}: {index.min()} to {index.max()}")
        key = list(np.ogrid[tuple(slice(n) for n in index.shape)])
        key[dim] = index
        return self[tuple(key)]

    def var(self, dim=None, unbiased=True, keepdim=False, *, correction=None):
        """The variance Σ(x − mean)² / (n − correction); the correction is 1, or 0 if not unbiased."""
        if isinstance(dim, bool):  # x.var(False)
            dim, unbiased = None, dim
        squares = (self - self.mean(dim, keepdim=True)) ** 2
        total = squares.sum(dim, keepdim=keepdim)
        count = self.numel() // max(total.numel(), 1)
        return total / max(count - (int(unbiased) if correction is None else correction), 0)

    def std(self, dim=None, unbiased=True, keepdim=False, *, correction=None):
        """The standard deviation, the root of the variance."""
        return self.var(dim, unbiased, keepdim, correction=correction).sqrt()

    def norm(self, p=2, dim=None, keepdim=False):
        """The length √Σx²; its gradient at 0 is taken as 0."""
        if p not in (2, "fro"):
            raise ValueError(f"norm: p=2 is there; for p={p} write x.abs().pow(p).sum().pow(1 / p)")
        squares = (self * self).sum(dim, keepdim=keepdim)
        zero = squares.data == 0
        return Where.apply(zero, 0.0, Where.apply(zero, 1.0, squares).sqrt())
