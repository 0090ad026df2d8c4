"""Multi-head attention, and the transformer block."""

import functools
import math

import pyopencl as cl
from numpy.typing import DTypeLike

from tinygrad_cl.netcl import autograd as ag
from tinygrad_cl.netcl.autograd.types import Operand
from tinygrad_cl.netcl.nn import init
from tinygrad_cl.netcl.nn.activations import GELU
from tinygrad_cl.netcl.nn.basic import Dropout, LayerNorm, Linear, Sequential
from tinygrad_cl.netcl.nn.init import Seed
from tinygrad_cl.netcl.nn.module import Module
from tinygrad_cl.netcl.tape.node import Node, as_nodes

__all__ = ["MultiheadAttention", "TransformerBlock", "scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Operand, key: Operand, value: Operand, mask: Operand | None = None, causal: bool = False
) -> Node:
    """softmax(Q · Kᵀ / √d) · V, the softmax along the keys: for each query the mean of the values,
    weighted by the similarity of their keys (Vaswani et al. 2017).

    query, key, value   (…, L, d), (…, S, d), (…, S, e) → (…, L, e); further axes, as of batches and
                        heads, broadcast
    mask                a Tensor or an array that broadcasts to (…, L, S): true, or not 0, where a
                        query must not attend. A query that may attend nowhere gives NaN
    causal              a query attends to no later key: L = S, with `autograd.causal_mask`
    """
    q, k, v = as_nodes((query, key, value))
    d = q.shape[-1:]
    if min(len(x.shape) for x in (q, k, v)) < 2 or d != k.shape[-1:] or k.shape[-2] != v.shape[-2]:
        raise ValueError(
            "attention takes query (…, L, d), key (…, S, d) and value (…, S, e), not "
            f"{q.shape}, {k.shape} and {v.shape}"
        )
    scores = ag.matmul(q * (1 / math.sqrt(max(d[0], 1))), k, transpose_b=True)
    if causal:
        if scores.shape[-2] != scores.shape[-1]:
            raise ValueError(
                f"causal attention has a key for each query, not {scores.shape[-1]} keys for {scores.shape[-2]} queries"
            )
        scores = ag.masked_fill(scores, later(scores.shape[-1], scores.value.queue), -math.inf)
    if mask is not None:
        scores = ag.masked_fill(scores, mask, -math.inf)
    return ag.matmul(ag.softmax(scores), v)


@functools.lru_cache(maxsize=16)
def later(length, queue):
    """The causal mask, cached: a captured step must not write it again."""
    return ag.causal_mask(length, queue)


class MultiheadAttention(Module):
    """Multi-head attention (Vaswani et al. 2017): each head attends with its own embed_dim / num_heads
    features, and another linear layer mixes their results.

    query (…, L, embed_dim), key and value (…, S, embed_dim) → (…, L, embed_dim)

    bias, queue, seed   as for Linear
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        bias: bool = True,
        queue: cl.CommandQueue | None = None,
        *,
        dtype: DTypeLike = "float32",
        seed: Seed = None,
    ) -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{embed_dim} features cannot be shared among {num_heads} heads")
        self.num_heads = num_heads
        rng = init.generator(seed)
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = [
            Linear(queue, embed_dim, embed_dim, bias, dtype=dtype, seed=rng) for _ in range(4)
        ]

    def forward(
        self,
        query: Operand,
        key: Operand | None = None,
        value: Operand | None = None,
        mask: Operand | None = None,
        causal: bool = False,
    ) -> Node:
        """mask, causal: as for `functional.scaled_dot_product_attention`; scores have the shape
        (…, num_heads, L, S). By default the key is the query, and the value is the key.
        """
        key = query if key is None else key
        value = key if value is None else value
        makers = (self.q_proj, query), (self.k_proj, key), (self.v_proj, value)
        q, k, v = [split_heads(layer(x), self.num_heads) for layer, x in makers]
        return self.out_proj(join_heads(scaled_dot_product_attention(q, k, v, mask, causal)))

    def __repr__(self):
        return f"MultiheadAttention({self.q_proj.weight.shape[0]}, {self.num_heads})"


class TransformerBlock(Module):
    """x + attention(norm(x)), and then x + mlp(norm(x)), with the norms inside the branches (Xiong
    et al. 2020). The mlp is Linear, GELU, Linear. (…, L, d_model) → (…, L, d_model)

    d_model           features of each position; num_heads divides it
    dim_feedforward   those inside the mlp; 4 · d_model by default
    dropout           the probability that an element at the end of a branch is dropped
    causal            a position attends to no later position
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        dim_feedforward: int | None = None,
        dropout: float = 0.0,
        causal: bool = True,
        queue: cl.CommandQueue | None = None,
        *,
        dtype: DTypeLike = "float32",
        seed: Seed = None,
    ) -> None:
        rng, wide = init.generator(seed), dim_feedforward or 4 * d_model
        self.causal = causal
        self.ln1 = LayerNorm(d_model, queue=queue, dtype=dtype)
        self.attn = MultiheadAttention(d_model, num_heads, queue=queue, dtype=dtype, seed=rng)
        self.ln2 = LayerNorm(d_model, queue=queue, dtype=dtype)
        self.mlp = Sequential(
            Linear(queue, d_model, wide, dtype=dtype, seed=rng),
            GELU(),
            Linear(queue, wide, d_model, dtype=dtype, seed=rng),
        )
        self.drop = Dropout(dropout, seed=rng, queue=queue)

    def forward(self, x: Operand, mask: Operand | None = None) -> Node:
        x = x + self.drop(self.attn(self.ln1(x), mask=mask, causal=self.causal))
        return x + self.drop(self.mlp(self.ln2(x)))


def split_heads(x, heads):
    """A Node (…, L, heads · w) → a Node (…, heads, L, w): head h gets the w features from h · w on.
    There may be any number of axes in front, such as one for the batch.
    """
    *batch, length, width = x.shape
    return swapped(ag.reshape(x, (*batch, length, heads, width // heads)))


def join_heads(x):
    """The inverse of split_heads: a Node (…, heads, L, w) → a Node (…, L, heads · w)."""
    *batch, heads, length, width = x.shape
    return ag.reshape(swapped(x), (*batch, length, heads * width))


def swapped(x):
    """(…, a, b, c) → (…, b, a, c)"""
    axes = list(range(len(x.shape)))
    axes[-3], axes[-2] = axes[-2], axes[-3]
    return ag.transpose(x, axes)
