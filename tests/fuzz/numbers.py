"""What the words say in NumPy, of real numbers, and of complex ones for derivatives.

f(x + ih) = f(x) + ih f′(x) for a tiny h: the imaginary part is the derivative, without a difference that loses digits (Squire and
Trapp 1998). Comparisons look at the real part. Where a function has a kink, what is said here is the slope that the engines promise.
"""

import functools
import math
import threading

import numpy as np


def owner(array):
    """The array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def re(x):
    return np.real(x)


def is_complex(*arrays):
    return any(np.iscomplexobj(x) for x in arrays)


def absolute(x):
    return x * np.sign(x.real) if is_complex(x) else np.abs(x)


def relu(x):
    return np.where(x.real > 0, x, 0) if is_complex(x) else np.maximum(x, 0)


def clamp(x, low, high):
    return (
        np.where((x.real >= low) & (x.real <= high), x, np.clip(x.real, low, high))
        if is_complex(x)
        else np.clip(x, low, high)
    )


def leaky_relu(x):
    return np.where(re(x) > 0, x, 0.01 * x)


def elu(x):
    return np.where(re(x) > 0, x, np.expm1(np.where(re(x) > 0, 0, x)))


def sigmoid(x):
    small = np.exp(np.where(re(x) >= 0, -x, x))
    return np.where(re(x) >= 0, 1, small) / (1 + small)


def softplus(x):
    return np.where(re(x) > 0, x, 0) + np.log1p(np.exp(np.where(re(x) > 0, -x, x)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def erf(x):
    value = np.vectorize(math.erf, otypes=[np.float64])(x.real)
    return (
        value + 1j * x.imag * 2 / math.sqrt(math.pi) * np.exp(-(x.real**2)) if is_complex(x) else value.astype(x.dtype)
    )


def gelu(x):
    return x * (1 + erf(x * x.real.dtype.type(math.sqrt(0.5)))) / 2


def power(a, n):
    if is_complex(a) and not is_complex(n) and np.ndim(n) == 0 and n == 0:
        return np.ones_like(a)
    with_slope = a**n
    return np.where(re(a) <= 0, np.nan, with_slope) if is_complex(n) else with_slope  # no slope along n there


def maximum(a, b):
    if not is_complex(a, b):
        return np.maximum(a, b)
    return np.where(re(a) > re(b), a, np.where(re(b) > re(a), b, (a + b) / 2))


def minimum(a, b):
    return -maximum(-a, -b) if is_complex(a, b) else np.minimum(a, b)


def where(condition, a, b):
    return np.where(condition, a, b)


def amax(x, axis=None, keepdims=False):
    if not is_complex(x):
        return x.max(axis, keepdims=keepdims)
    hit = x.real == x.real.max(axis, keepdims=True)
    return (x * hit).sum(axis, keepdims=keepdims) / hit.sum(axis, keepdims=keepdims)


def amin(x, axis=None, keepdims=False):
    return -amax(-x, axis, keepdims)


def var(x, axis=None, keepdims=False):
    return ((x - x.mean(axis, keepdims=True)) ** 2).mean(axis, keepdims=keepdims)


def norm(x):
    return 0 * x.sum() if is_complex(x) and not x.real.any() else np.sqrt((x * x).sum())


def largest(x, axis):
    """The largest of the real parts, 0 for none: a shift that changes nothing."""
    checked_axis(x, axis)
    return re(x).max(axis, keepdims=True) if x.size else re(x).sum(axis, keepdims=True)


def checked_axis(x, axis):
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"no axis {axis}")


def cumsum(x, axis):
    checked_axis(x if x.ndim else x.reshape(1), axis)
    return x.cumsum(axis).reshape(x.shape)


def softmax(x, axis):
    e = np.exp(x - largest(x, axis))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x, axis):
    shifted = x - largest(x, axis)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


def logsumexp(x, axis):
    top = largest(x, axis)
    top = np.where(np.isfinite(top), top, 0).astype(top.dtype)
    return np.log(np.exp(x - top).sum(axis)) + np.squeeze(top, axis)


def layer_norm(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


def attention(x):
    scores = x @ np.swapaxes(x, -1, -2) / math.sqrt(x.shape[-1])
    return softmax(scores, -1) @ x


def linear(x, w, activation):
    y = matmul(x, w)
    return {None: y, "relu": relu(y), "tanh": np.tanh(y)}[activation]


def matmul(a, b):
    return a @ b


def cat(a, b, axis):
    return np.concatenate([a, b], axis)


def embedding(rows, table):
    if rows.size and rows.max() >= len(table):
        raise IndexError("no such row")
    return table[rows]


def cross_entropy(x, labels):
    if labels.shape != x.shape[:-1]:
        raise ValueError("a label for each row")
    if labels.size and labels.max() >= x.shape[-1]:
        raise ValueError("no such class")
    shifted = x - largest(x, -1)
    return (np.log(np.exp(shifted).sum(-1)) - shifted[np.arange(len(labels)), labels]).mean()


def same(a, b):
    if a.shape != b.shape:
        raise ValueError("shapes differ")


def mse_loss(a, b):
    same(a, b)
    return ((a - b) * (a - b)).mean()


def l1_loss(a, b):
    same(a, b)
    return absolute(a - b).mean()


def bce_with_logits(x, t):
    t = t.astype(x.real.dtype)
    same(x, t)
    return (np.where(re(x) > 0, x, 0) - x * t + np.log1p(np.exp(np.where(re(x) > 0, -x, x)))).mean()


def masked_fill(x, mask, number):
    return np.where(np.broadcast_to(mask, x.shape), x.real.dtype.type(number), x)


def narrow(x, axis, start, length):
    axis = range(x.ndim)[axis]
    start = start + x.shape[axis] if start < 0 else start
    if not 0 <= start <= start + length <= x.shape[axis]:
        raise ValueError("no such part")
    return x[(slice(None),) * axis + (slice(start, start + length),)]


def split(x, n, axis):
    axis = range(x.ndim)[axis]
    return x[(slice(None),) * axis + (slice(0, n),)]


def chunk(x, n, axis):
    return split(x, -(-x.shape[axis] // n), axis)


def cast(x, dtype):
    return x if is_complex(x) else x.astype(dtype)


def put(x, key, values):
    y = np.array(x, complex) if is_complex(values) else x.copy()
    shape, spare = np.shape(values), max(0, np.ndim(values) - np.ndim(y[key]))
    if set(shape[:spare]) - {1}:
        raise ValueError("too many axes")
    y[key] = np.reshape(values, shape[spare:])
    return y


def nudged(result, exact, number):
    """The result, where it is not exact moved by 8 units in the last place, up or down as the number says; equal numbers alike.

    The sign of 0 is such a digit, too: there is no rule for the larger one of 0 and −0.
    """
    zero, rounded = result == 0, np.isfinite(result) & (result != exact)
    if not (zero | rounded).any():
        return result
    bits = np.ascontiguousarray(result).view(f"u{result.itemsize}").astype(np.uint64).reshape(result.shape)
    up = bits * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(64 - number) & np.uint64(1)
    step = 8 * np.finfo(result.dtype).eps * np.where(up == 1, 1, -1)
    moved = np.where(rounded, result * (1 + step), result)
    return np.where(zero, (-1) ** number * 0.0, moved).astype(result.dtype)


def in_threads(function, count=3):
    """Call the function in so many threads, and raise what one of them raised."""
    errors = []

    def call():
        try:
            with np.errstate(all="ignore"):
                function()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


NAMES = {name: each for name, each in globals().items() if callable(each)} | {"np": np, "inf": np.inf, "nan": np.nan}


@functools.cache
def code(text):
    return compile(text, text, "eval")


def evaluate(text, values):
    """What an expression is, where the names have these values."""
    return eval(code(text), NAMES, values)
