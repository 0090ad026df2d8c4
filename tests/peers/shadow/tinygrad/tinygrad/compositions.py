"""tinygrad's methods that no engine has under one name, composed of what both have.

Each takes Tensors and uses their methods; TABLE holds them by name. `shapes` adds those that move
numbers, and the losses.
"""

import math

import numpy as np
from verdicts import NotOffered

TABLE = {}


def offer(*names):
    def keep(function):
        for name in names or [function.__name__]:
            TABLE[name] = function
        return function

    return keep


def engine(name, *args, **kwargs):
    """The engine's own function."""
    from tinygrad.tensor import run  # which looks into TABLE

    return run(name, *args, **kwargs)


def flat(function):
    """A function with slope 0 everywhere."""
    return lambda x: type(x)(function(x.numpy())) + (0 if x.whole else x.detach() * 0)


def constant(function):
    """A function of arrays whose result has no gradient."""
    return lambda x, *args, **kwargs: type(x)(function(x.numpy(), *args, **kwargs))


# -- number by number ------------------------------------------------------------------------------

ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805  # of SELU
TABLE |= {
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / x.sqrt(),
    "tan": lambda x: x.sin() / x.cos(),
    "sinh": lambda x: (x.exp() - (-x).exp()) / 2,
    "cosh": lambda x: (x.exp() + (-x).exp()) / 2,
    "atanh": lambda x: ((1 + x) / (1 - x)).log() / 2,
    "asinh": lambda x: (x + (x * x + 1).sqrt()).log(),
    "acosh": lambda x: (x + (x * x - 1).sqrt()).log(),
    "log2": lambda x: x.log() / math.log(2),
    "log10": lambda x: x.log() / math.log(10),
    "exp2": lambda x: (x * math.log(2)).exp(),
    "sign": flat(np.sign),
    "floor": flat(np.floor),
    "ceil": flat(np.ceil),
    "trunc": flat(np.trunc),
    "round": flat(np.rint),
    "isnan": constant(np.isnan),
    "isfinite": constant(np.isfinite),
    "logical_not": lambda x: x == 0,
    "bool": lambda x: x != 0,
    "bitwise_not": lambda x: ~x,
    "int": lambda x: x.cast("int32"),
    "float": lambda x: x.cast("float32"),
    "double": lambda x: x.cast("float64"),
    "dot": lambda x, y: x @ y,
    "t": lambda x: x.T,
    "silu": lambda x: x * x.sigmoid(),
    "swish": lambda x: x * x.sigmoid(),
    "quick_gelu": lambda x: x * (1.702 * x).sigmoid(),
    "relu6": lambda x: x.clip(0, 6),
    "hardsigmoid": lambda x: (x / 6 + 0.5).clip(0, 1),
    "hardswish": lambda x: x * (x + 3).clip(0, 6) / 6,
    "hardtanh": lambda x, low=-1, high=1: x.clip(low, high),
    "softsign": lambda x: x / (1 + x.abs()),
    "logsigmoid": lambda x: -(-x).softplus(),
    "mish": lambda x: x * x.softplus().tanh(),
    "leaky_relu": lambda x, slope=0.01: (x > 0).where(x, slope * x),
    "elu": lambda x, alpha=1.0: (x > 0).where(x, alpha * (x.minimum(0).exp() - 1)),
    "celu": lambda x, alpha=1.0: x.maximum(0) + (alpha * ((x / alpha).exp() - 1)).minimum(0),
    "selu": lambda x: SCALE * x.elu(ALPHA),
    "lerp": lambda x, y, weight: x + (y - x) * weight,
    "isinf": constant(
        lambda x, detect_positive=True, detect_negative=True: (
            np.isinf(x) & ((x > 0) & detect_positive | (x < 0) & detect_negative)
        )
    ),
}


@offer()
def softplus(x, beta=1.0):
    return ((beta * x).maximum(0) + (1 + (-(beta * x).abs()).exp()).log()) / beta


@offer("clip", "clamp")
def clip(x, low=None, high=None):
    """With the whole slope at the bounds, where a maximum has half of it."""
    if low is None and high is None:
        raise RuntimeError("clip needs a bound")
    x = x if low is None else (x < low).where(low, x)
    return x if high is None else (x > high).where(high, x)


@offer()
def logaddexp(x, y):
    largest = type(x)(np.maximum(x.numpy(), y.numpy()))
    return ((x - largest).exp() + (y - largest).exp()).log() + largest


@offer()
def div(x, y, rounding_mode=None):
    if rounding_mode is not None:
        raise NotOffered("arithmetic of whole numbers")
    return engine("div", x, y)


@offer()
def where(mask, x, y):
    Tensor, mask = type(mask), np.asarray(mask.numpy() != 0)
    if not any(isinstance(each, Tensor) and not each.whole for each in (x, y)):
        return Tensor(np.where(mask, Tensor(x).numpy(), Tensor(y).numpy()))
    return engine("where", mask, x, y)


@offer()
def masked_fill(x, mask, value):
    return mask.where(value, x)


@offer()
def isclose(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    other = y.numpy() if isinstance(y, type(x)) else y
    return type(x)(np.isclose(x.numpy(), other, rtol, atol, equal_nan))


@offer()
def gelu(x, approximate="tanh"):
    return engine(f"gelu {approximate}", x)


# -- along axes ------------------------------------------------------------------------------------


def axes_of(x, axis):
    """The axes as a tuple; tinygrad allows 0 and −1 of a single number."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if any(not -max(x.ndim, 1) <= each < max(x.ndim, 1) for each in axes):
        raise IndexError(f"axis {axis} of shape {x.shape}")
    return tuple(axes) if x.ndim else ()


def reduction(name):
    def reduce(x, axis=None, keepdim=False, dtype=None):
        if dtype is not None:
            x = x.cast(dtype)
        return engine(name, x, axes_of(x, axis), keepdim)

    return reduce


def along(name):
    """Softmax and the like: one axis."""
    return lambda x, axis=-1: (
        engine(name, x, *axes_of(x, axis)) if x.ndim else TABLE[name](x.reshape(1), -1).reshape(())
    )


TABLE |= {name: reduction(name) for name in ("sum", "mean", "max", "min")}
TABLE |= {name: along(name) for name in ("softmax", "log_softmax")}
TABLE |= {
    "softmin": lambda x, axis=-1: (-x).softmax(axis),
    "any": lambda x, axis=None: type(x)((x.numpy() != 0).any(axes_of(x, axis))),
    "all": lambda x, axis=None: type(x)((x.numpy() != 0).all(axes_of(x, axis))),
    "std": lambda x, *args, **kwargs: x.var(*args, **kwargs).sqrt(),
    "std_mean": lambda x, axis=None, keepdim=False, correction=1: (
        x.std(axis, keepdim, correction),
        x.mean(axis, keepdim),
    ),
}


@offer()
def var(x, axis=None, keepdim=False, correction=1):
    axes = axes_of(x, axis)
    count = math.prod(x.shape[each] for each in axes)
    with np.errstate(all="ignore"):
        scale = float(np.float64(1) / max(count - correction, 0))
    return ((x - x.mean(axes, True)) ** 2).sum(axes, keepdim) * scale


@offer()
def logsumexp(x, axis=None, keepdim=False):
    largest = x.detach().max(axis, True)
    out = (x - largest).exp().sum(axis, True).log() + largest
    return out if keepdim else out.reshape(x.sum(axis).shape)


@offer()
def cumsum(x, axis=0):
    axes_of(x, axis)
    return engine("cumsum", x, axis) if x.ndim else x


@offer()
def prod(x, axis=None, keepdim=False, dtype=None):
    if dtype is not None:
        raise AttributeError("prod in another dtype")
    axis = axes_of(x, axis)
    if len(axis) != 1 and x.ndim:
        return x.reshape(-1).prod(0)
    parts = [x]
    if axis:
        before = (slice(None),) * (axis[0] % x.ndim)
        parts = [x[(*before, n)] for n in range(x.shape[axis[0]])]
    out = parts[0]
    for part in parts[1:]:
        out = out * part
    return out.reshape(x.sum(axis, True).shape) if keepdim else out
