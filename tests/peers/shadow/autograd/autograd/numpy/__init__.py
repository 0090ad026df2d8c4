"""NumPy's functions on Arrays of engine 2; for arrays alone, they are NumPy's own.

Three kinds: operations of the engine under NumPy's names; compositions of them; and functions that
only pick and move numbers (`picking`): NumPy says which, given an array of their places, and the
engine indexes with that. What is left is not offered.
"""

import functools
import math

import numpy as np
from verdicts import NotOffered

from autograd.core import Array, getval, isbox
from tinygrad_cl import tensor as engine

__version__ = np.__version__
FLAT = {  # what has no gradient: NumPy's answer for the arrays
    "all",
    "allclose",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "ceil",
    "equal",
    "floor",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "ndim",
    "result_type",
    "rint",
    "round",
    "shape",
    "sign",
    "size",
}


def members(arg):
    """What is in nested lists and tuples."""
    return [x for each in arg for x in members(each)] if isinstance(arg, (list, tuple)) else [arg]


def traced(args):
    return any(isbox(x) for x in members(list(args)))


def __getattr__(name):
    """What is not defined below: NumPy's, as long as no Array is among its arguments."""
    known = getattr(np, name, None)
    if known is None or name in ("r_", "c_"):
        raise NotOffered(f"numpy.{name}")
    if not callable(known) or isinstance(known, type):
        return known

    def call(*args, **kwargs):
        if not traced((*args, *kwargs.values())):
            return known(*args, **kwargs)
        if name not in FLAT:
            raise NotOffered(f"numpy.{name}")
        answer = known(*map(getval, args), **kwargs)
        return Array(answer) if isinstance(answer, np.ndarray) else answer

    call.__name__ = name
    return call


def lift(x):
    """x as an Array, a number in float64."""
    if isbox(x):
        return x
    if isinstance(x, (list, tuple)) and traced(x):
        return engine.stack([lift(each) for each in x])
    array = np.asarray(x)
    if array.dtype.kind == "c":
        raise NotOffered("complex numbers")
    return Array(array if array.dtype.kind == "f" else array.astype(float))


def offer(names, function, count=1):
    """Offer a function under NumPy's names; its first `count` arguments are lifted."""
    for name in names.split():
        plain = getattr(np, name, None)

        def call(*args, name=name, plain=plain, **kwargs):
            args = [list(x) if isinstance(x, map) else x for x in args]
            if plain is not None and not traced(args):
                return plain(*args, **kwargs)
            return function(*map(lift, args[:count]), *args[count:], **kwargs)

        call.__name__ = name
        globals()[name] = call


def log_add(x, y, base):
    """log(baseˣ + baseʸ), with the larger of the two taken out, as a constant."""
    m = np.maximum(x.data, y.data)
    return m + (base ** (x - m) + base ** (y - m)).log() / math.log(base)


def difference(x, n=1, axis=-1):
    if n == 0:
        return x
    before = (slice(None),) * (axis % x.ndim)
    return difference(x[(*before, slice(1, None))] - x[(*before, slice(None, -1))], n - 1, axis)


# -- number by number ------------------------------------------------------------------------------

offer("sin", Array.sin)
offer("cos", Array.cos)
offer("exp", Array.exp)
offer("log", Array.log)
offer("sqrt", Array.sqrt)
offer("tanh", Array.tanh)
offer("abs absolute fabs", Array.abs)
offer("negative", lambda x: -x)
offer("square", lambda x: x**2)
offer("reciprocal", lambda x: 1 / x)
offer("tan", lambda x: x.sin() / x.cos())
offer("sinh", lambda x: (x.exp() - (-x).exp()) / 2)
offer("cosh", lambda x: (x.exp() + (-x).exp()) / 2)
offer("arcsinh", lambda x: (x + (x * x + 1).sqrt()).log())
offer("arccosh", lambda x: (x + (x * x - 1).sqrt()).log())
offer("arctanh", lambda x: ((1 + x) / (1 - x)).log() / 2)
offer("log2", lambda x: x.log() / math.log(2))
offer("log10", lambda x: x.log() / math.log(10))
offer("log1p", lambda x: (1 + x).log())
offer("expm1", lambda x: x.exp() - 1)
offer("exp2", lambda x: 2**x)
offer("rad2deg degrees", lambda x: x * (180 / math.pi))
offer("deg2rad radians", lambda x: x * (math.pi / 180))
offer("sinc", lambda x: (math.pi * x).sin() / (math.pi * x))
offer("real conj conjugate real_if_close", lambda x: x)
offer("nan_to_num", lambda x: engine.where(np.isfinite(x.data), x, np.nan_to_num(x.data)))
offer("clip", lambda x, a_min, a_max: x.maximum(a_min).minimum(a_max))
offer("add", lambda x, y: x + y, 2)
offer("subtract", lambda x, y: x - y, 2)
offer("multiply", lambda x, y: x * y, 2)
offer("divide true_divide", lambda x, y: x / y, 2)
offer("power", lambda x, y: x**y, 2)
offer("mod remainder", lambda x, y: x % y, 2)
offer("maximum fmax", Array.maximum, 2)
offer("minimum fmin", Array.minimum, 2)
offer("hypot", lambda x, y: (x * x + y * y).sqrt(), 2)
offer("logaddexp", lambda x, y: log_add(x, y, math.e), 2)
offer("logaddexp2", lambda x, y: log_add(x, y, 2), 2)


# -- along axes ------------------------------------------------------------------------------------


def variance(x, axis=None, ddof=0, keepdims=False):
    mean = x.mean(axis, keepdims=True)
    return ((x - mean) ** 2).sum(axis, keepdims) * (1 / (x.size / mean.size - ddof))


def product(x, axis=None, keepdims=False):
    """Factor by factor."""
    x, axis, shape = (x.reshape(-1), 0, x.shape) if axis is None else (x, axis, x.shape)
    parts = [x[(slice(None),) * (axis % x.ndim) + (i,)] for i in range(x.shape[axis])]
    out = functools.reduce(lambda a, b: a * b, parts)
    kept = np.empty(shape).sum(None if x.shape != shape else axis, keepdims=True).shape
    return out.reshape(kept) if keepdims else out


offer("sum", Array.sum)
offer("mean", Array.mean)
offer("max amax", Array.max)
offer("min amin", Array.min)
offer("cumsum", lambda x, axis=None: x.reshape(-1).cumsum(0) if axis is None else x.cumsum(axis))
offer("diff", difference)
offer("var", variance)
offer("std", lambda x, *args, **kwargs: variance(x, *args, **kwargs).sqrt())
offer("prod", product)


# -- products --------------------------------------------------------------------------------------


def dot(a, b):
    if not a.ndim or not b.ndim:
        return a * b
    return a @ b if b.ndim <= 2 else tensordot(a, b, ([-1], [-2]))


def tensor_dot(a, b, axes=2):
    """The axes to sum over go to the end of a and to the start of b: then it is one product."""
    if isinstance(axes, int):
        axes = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    first, second = ([each] if isinstance(each, int) else list(each) for each in axes)
    first, second = [each % a.ndim for each in first], [each % b.ndim for each in second]
    rest_a = [each for each in range(a.ndim) if each not in first]
    rest_b = [each for each in range(b.ndim) if each not in second]
    length = math.prod(a.shape[each] for each in first)
    left = a.permute(*rest_a, *first).reshape(-1, length) if a.ndim else a.reshape(1, 1)
    right = b.permute(*second, *rest_b).reshape(length, -1) if b.ndim else b.reshape(1, 1)
    shape = [a.shape[each] for each in rest_a] + [b.shape[each] for each in rest_b]
    return (left @ right).reshape(shape)


offer("matmul", lambda a, b: a @ b, 2)
offer("dot", dot, 2)
offer("tensordot", tensor_dot, 2)
offer("inner", lambda a, b: tensor_dot(a, b, ([-1], [-1])) if a.ndim and b.ndim else a * b, 2)
offer("outer", lambda a, b: a.reshape(-1, 1) * b.reshape(1, -1), 2)


# -- shapes and parts ------------------------------------------------------------------------------


def joined(parts, axis=0):
    parts = [lift(part) for part in parts]
    return engine.cat([part if part.ndim else part.reshape(1) for part in parts], axis)


def choose(conditions, values, default=0.0):
    out = default
    for condition, value in reversed(list(zip(conditions, values))):
        out = engine.where(condition, value, out)
    return out


def append(x, values, axis=None):
    return joined([ravel(x), ravel(values)] if axis is None else [x, values], axis or 0)


offer("array asarray", lambda x, dtype=None, ndmin=0: x.reshape((1,) * (ndmin - x.ndim) + x.shape))
offer("reshape", Array.reshape)
offer("ravel", Array.ravel)
offer("squeeze", Array.squeeze)
offer("expand_dims", Array.unsqueeze)
offer("transpose", lambda x, axes=None: x.T if axes is None else x.permute(*axes))
offer("swapaxes", Array.transpose)
offer("flip", Array.flip)
offer("concatenate", joined, 0)
offer("stack", lambda parts, axis=0: engine.stack([lift(part) for part in parts], axis), 0)
offer("vstack row_stack", lambda parts: joined([lift(atleast_2d(part)) for part in parts]), 0)
offer("hstack", lambda parts: joined(parts, 0 if np.ndim(getval(parts[0])) < 2 else 1), 0)
offer(
    "column_stack",
    lambda parts: joined([lift(part).reshape(-1, 1) if np.ndim(getval(part)) < 2 else part for part in parts], 1),
    0,
)
offer("append", append, 2)
offer("where", engine.where, 0)
offer("select", choose, 0)
offer("linspace", lambda x, y, num=50: x + (y - x) * np.linspace(0, 1, num), 2)
offer("sort", lambda x: x[np.argsort(x.data)])
offer("partition", lambda x, kth: x[np.argpartition(x.data, kth)])
offer("trace", lambda x, offset=0: diagonal(x, offset).sum(-1))


def picking(name, x, *args, **kwargs):
    """What NumPy's function does to the places 1, 2, … of x's numbers, done to x; place 0 is 0."""

    def pick(places):
        return (joined([np.zeros(1), x.reshape(-1)]) if 0 in places else x.reshape(-1))[places - (0 not in places)]

    places = getattr(np, name)(np.arange(1, x.size + 1).reshape(x.shape), *args, **kwargs)
    return [pick(each) for each in places] if isinstance(places, list) else pick(places)


for name in [
    "array_split",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "diag",
    "diagflat",
    "diagonal",
    "dsplit",
    "fliplr",
    "flipud",
    "hsplit",
    "moveaxis",
    "pad",
    "repeat",
    "roll",
    "rollaxis",
    "rot90",
    "split",
    "tile",
    "tril",
    "triu",
    "vsplit",
]:
    offer(name, functools.partial(picking, name))
