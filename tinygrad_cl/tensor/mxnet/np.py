"""mxnet.np: arrays of float32, and functions of them by NumPy's names.

Random numbers are the engine's: the same seed gives the same ones each time, but not MXNet's.
"""

from types import SimpleNamespace

import numpy

from tinygrad_cl.tensor import functional
from tinygrad_cl.tensor import random as randomness
from tinygrad_cl.tensor.core.modes import GradMode
from tinygrad_cl.tensor.core.variable import raw
from tinygrad_cl.tensor.functional import where
from tinygrad_cl.tensor.mxnet.autograd import is_recording
from tinygrad_cl.tensor.mxnet.ndarray import NDArray, dot
from tinygrad_cl.tensor.peers import as_function

__all__ = [
    "abs",
    "arange",
    "array",
    "concatenate",
    "cos",
    "dot",
    "exp",
    "full",
    "linalg",
    "log",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "ndarray",
    "ones",
    "ones_like",
    "random",
    "reshape",
    "sin",
    "sqrt",
    "stack",
    "sum",
    "tanh",
    "var",
    "where",
    "zeros",
    "zeros_like",
]


def unless_recording(change):
    """A change in place that may be of a leaf, outside of record()."""

    def call(self, *args):
        with GradMode(is_recording()):
            return change(self, *args)

    return call


class ndarray(NDArray):
    """MXNet's array, of which nothing is recorded outside of record()."""

    @classmethod
    def context(cls, function, needs_input_grad):
        recorded = is_recording()
        return super().context(function, tuple(recorded and need for need in needs_input_grad))

    __iadd__ = unless_recording(NDArray.__iadd__)
    __isub__ = unless_recording(NDArray.__isub__)
    __imul__ = unless_recording(NDArray.__imul__)
    __itruediv__ = unless_recording(NDArray.__itruediv__)
    __setitem__ = unless_recording(NDArray.__setitem__)

    def asnumpy(self):
        """A copy of the numbers as NumPy's array."""
        return self.data.copy()


def array(object, dtype=numpy.float32):
    return ndarray(object, dtype=dtype)


def arange(*range, dtype=numpy.float32):
    return array(numpy.arange(*range), dtype)


def zeros(shape, dtype=numpy.float32):
    return array(numpy.zeros(shape), dtype)


def ones(shape, dtype=numpy.float32):
    return array(numpy.ones(shape), dtype)


def full(shape, fill_value, dtype=numpy.float32):
    return array(numpy.full(shape, fill_value), dtype)


def zeros_like(a):
    return zeros(a.shape, a.dtype)


def ones_like(a):
    return ones(a.shape, a.dtype)


def concatenate(arrays, axis=0):
    return functional.cat(arrays, axis)


def stack(arrays, axis=0):
    return functional.stack(arrays, axis)


abs, cos, exp, log, sin, sqrt, tanh = map(as_function, ("abs", "cos", "exp", "log", "sin", "sqrt", "tanh"))
max, mean, min, sum, var = map(as_function, ("max", "mean", "min", "sum", "var"))
maximum, minimum, reshape = map(as_function, ("maximum", "minimum", "reshape"))


def normal(loc=0.0, scale=1.0, size=None):
    return array(randomness.default_generator().normal(raw(loc), raw(scale), size))


def uniform(low=0.0, high=1.0, size=None):
    return array(randomness.default_generator().uniform(raw(low), raw(high), size))


random = SimpleNamespace(normal=normal, uniform=uniform, seed=randomness.manual_seed)
linalg = SimpleNamespace(norm=as_function("norm"))
