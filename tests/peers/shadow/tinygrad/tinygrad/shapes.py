"""More of tinygrad's methods: those that move numbers, losses, and attention."""

import itertools
import math

import numpy as np
from verdicts import NotOffered

from tinygrad.compositions import axes_of, engine, offer

# -- shapes ----------------------------------------------------------------------------------------


@offer("reshape", "view")
def reshape(x, *shape):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    shape = tuple(x.shape[n] if size is None else size for n, size in enumerate(shape))
    return engine("reshape", x, shape)


@offer()
def permute(x, *order):
    order = order[0] if len(order) == 1 and isinstance(order[0], (tuple, list)) else order
    order = tuple(each + x.ndim if each < 0 else each for each in order)
    if sorted(order) != list(range(x.ndim)):
        raise RuntimeError(f"{order} is no order of the axes of shape {x.shape}")
    return engine("permute", x, order)


@offer()
def transpose(x, first=1, second=0):
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    return x.permute(order)


@offer()
def expand(x, *shape):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    padded = (1,) * (len(shape) - x.ndim) + x.shape
    shape = tuple(n if size in (-1, None) else size for n, size in zip(padded, shape))
    return engine("expand", x, shape)


@offer()
def flip(x, *axes):
    axes = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
    key = [slice(None)] * x.ndim
    for axis in axes_of(x, axes):
        if key[axis].step:
            raise RuntimeError("an axis is flipped twice")
        key[axis] = slice(None, None, -1)
    return x[tuple(key)] if key else x


@offer()
def squeeze(x, dim=None):
    axes = () if dim is None else axes_of(x, dim)
    return x.reshape(
        [
            n
            for axis, n in enumerate(x.shape)
            if n != 1 or dim is not None and axis not in [each % x.ndim for each in axes]
        ]
    )


@offer()
def unsqueeze(x, dim):
    if not -x.ndim - 1 <= dim <= x.ndim:
        raise IndexError(f"there is no place {dim} in shape {x.shape}")
    place = dim % (x.ndim + 1)
    return x.reshape((*x.shape[:place], 1, *x.shape[place:]))


@offer()
def flatten(x, start_dim=0, end_dim=-1):
    start, end = (axes_of(x, each)[0] % x.ndim if x.ndim else 0 for each in (start_dim, end_dim))
    return x.reshape((*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :]))


@offer()
def unflatten(x, dim, sizes):
    dim %= x.ndim
    return x.reshape((*x.shape[:dim], *sizes, *x.shape[dim + 1 :]))


@offer()
def cat(*xs, dim=0):
    if not xs[0].ndim:
        raise IndexError("a single number has no axis to join along")
    return engine("cat", *xs, axis=axes_of(xs[0], dim)[0])


@offer()
def stack(*xs, dim=0):
    if isinstance(xs[0], (list, tuple)):
        if len(xs) > 1:
            raise ValueError("stack takes Tensors, or one list of them")
        xs = xs[0]
    return cat(*[x.unsqueeze(dim) for x in xs], dim=dim)


@offer()
def split(x, sizes, dim=0):
    dim %= x.ndim
    if isinstance(sizes, int):
        sizes = [min(sizes, x.shape[dim] - n) for n in range(0, max(1, x.shape[dim]), sizes)]
    ends = list(itertools.accumulate(sizes))
    before = (slice(None),) * dim
    return tuple(x[(*before, slice(end - size, end))] for end, size in zip(ends, sizes))


@offer()
def chunk(x, count, dim=0):
    return list(x.split(-(-x.shape[dim] // count), dim))


@offer("repeat")
def repeat(x, *times):
    times = times[0] if len(times) == 1 and isinstance(times[0], (tuple, list)) else times
    shape = (1,) * (len(times) - x.ndim) + x.shape
    x = x.reshape([each for n in shape for each in (1, n)])
    x = x.expand([each for n, count in zip(shape, times) for each in (count, n)])
    return x.reshape([n * count for n, count in zip(shape, times)])


@offer()
def tril(x, diagonal=0):
    return type(x)(np.tri(*x.shape[-2:], diagonal, dtype=bool)).where(x, x.zeros_like().detach())


@offer()
def triu(x, diagonal=0):
    below = type(x)(np.tri(*x.shape[-2:], diagonal - 1, dtype=bool))
    return below.where(x.zeros_like().detach(), x)


# -- losses, attention -----------------------------------------------------------------------------


@offer()
def binary_crossentropy(x, y, reduction="mean"):
    return engine("bce", x, y, reduction=known(reduction))


@offer()
def binary_crossentropy_logits(x, y, reduction="mean", pos_weight=None):
    if pos_weight is not None:
        raise NotOffered("pos_weight")
    return engine("bce_logits", x, y, reduction=known(reduction))


@offer("cross_entropy", "sparse_categorical_crossentropy")
def cross_entropy(x, y, reduction="mean", ignore_index=-1, label_smoothing=0.0):
    if label_smoothing or x.ndim != 2 or y.whole and (y.numpy() == ignore_index).any():
        raise NotOffered("cross-entropy with smoothing, ignored rows or more axes")
    return engine("cross_entropy", x, y.numpy() if y.whole else y, reduction=known(reduction))


def known(reduction):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"there is no reduction {reduction!r}")
    return reduction


@offer()
def scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=False, enable_gqa=False, dropout_p=0):
    if enable_gqa:
        raise NotOffered("grouped queries")
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("one mask is enough")
        attn_mask = type(q)(np.tri(*scores.shape[-2:], dtype=bool))
    if attn_mask is not None:
        scores = attn_mask.where(scores, -math.inf) if attn_mask.whole else scores + attn_mask
    return scores.softmax(-1) @ v
