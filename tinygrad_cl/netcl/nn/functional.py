"""Layers as functions: those that keep nothing between two calls."""

import functools
import math

from tinygrad_cl.netcl import autograd as ag
from tinygrad_cl.netcl.autograd import (
    cross_entropy,
    elu,
    embedding,
    gelu,
    layer_norm,
    leaky_relu,
    linear,
    log_softmax,
    mse_loss,
    relu,
    sigmoid,
    softmax,
    softplus,
    swish,
    tanh,
)
from tinygrad_cl.netcl.tape.node import as_nodes

__all__ = [
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "mse_loss",
    "relu",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "swish",
    "tanh",
]

silu = swish


def dropout(x, p, generator, training=True):
    """Each number 0 with probability p, the others divided by 1 − p, so that the mean stays; x
    itself when not training. What was dropped gets no gradient.

    generator   an `ops.random.Generator`, whose state lies on the device: a replayed step draws new
                numbers
    """
    (x,) = as_nodes((x,))
    if not training or p == 0:
        return x
    return ag.mul(x, generator.keep(x.shape, p, x.dtype))


def scaled_dot_product_attention(query, key, value, mask=None, causal=False):
    """softmax(Q · Kᵀ / √d) · V, along the keys: for each query the mean of the values, weighted by
    how well their keys fit (Vaswani et al. 2017).

    query, key, value   (…, L, d), (…, S, d), (…, S, e) → (…, L, e); further axes, as of batches and
                        heads, broadcast
    mask                a Tensor or an array that broadcasts to (…, L, S): true, or not 0, where a
                        query must not look. A query that may look nowhere gives NaN
    causal              a query looks at no later key: L = S, and `autograd.causal_mask`
    """
    q, k, v = as_nodes((query, key, value))
    d = q.shape[-1:]
    if min(len(x.shape) for x in (q, k, v)) < 2 or d != k.shape[-1:] or k.shape[-2] != v.shape[-2]:
        raise ValueError(
            "attention takes query (…, L, d), key (…, S, d) and value (…, S, e), not "
            f"{q.shape}, {k.shape} and {v.shape}"
        )
    scores = ag.matmul(q * (1 / math.sqrt(d[0])), k, transpose_b=True)
    if causal:
        if scores.shape[-2] != scores.shape[-1]:
            raise ValueError(
                f"causal attention has a key for each query, not {scores.shape[-1]} keys for {scores.shape[-2]} queries"
            )
        scores = ag.masked_fill(scores, later(scores.shape[-1], scores.value.queue), -math.inf)
    if mask is not None:
        scores = ag.masked_fill(scores, mask, -math.inf)
    return ag.matmul(softmax(scores), v)


@functools.lru_cache(maxsize=16)
def later(length, queue):
    """The mask of what comes later, kept: a captured step must not write it anew."""
    return ag.causal_mask(length, queue)
