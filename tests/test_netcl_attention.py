"""Attention of engine 3 against its formula in NumPy."""

import math

import numpy as np
import pytest
from netcl_devices import close, put

from tinygrad_cl.netcl import nn
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.nn import functional as F


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(q, k, v, hidden=False):
    """The formula, in NumPy; `hidden` where a query must not look."""
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    return softmax(np.where(hidden, -np.inf, scores)) @ v


def later(length):
    return np.arange(length) > np.arange(length)[:, None]


@pytest.mark.parametrize(
    "shapes",
    [
        ((5, 4), (5, 4), (5, 3)),
        ((1, 1), (1, 1), (1, 1)),
        ((2, 3, 7, 4), (2, 3, 7, 4), (2, 3, 7, 4)),
        ((3, 1, 2, 4), (2, 5, 4), (5, 1)),
    ],
    ids=str,
)
def test_attention_is_its_formula(shapes, device):
    rng = np.random.default_rng(1)
    q, k, v = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    out = F.scaled_dot_product_attention(*put(device, q, k, v))
    assert close(out.to_host(), attention(q, k, v), size=4)
    if q.shape[-2] == k.shape[-2]:
        hidden = later(q.shape[-2])
        out = F.scaled_dot_product_attention(*put(device, q, k, v), causal=True)
        assert close(out.to_host(), attention(q, k, v, hidden), size=4)
    hidden = rng.random((q.shape[-2], k.shape[-2])) < 0.5
    hidden[:, 0] = False
    for mask in (hidden, put(device, hidden.astype(np.float32))):
        out = F.scaled_dot_product_attention(*put(device, q, k, v), mask=mask)
        assert close(out.to_host(), attention(q, k, v, hidden), size=4)


def test_who_may_look_nowhere_sees_nan_and_nobody_else(device):
    q = np.ones((3, 2), np.float32)
    mask = np.array([[False], [True], [False]])
    out = F.scaled_dot_product_attention(*put(device, q, q, q), mask=mask).to_host()
    assert np.all(np.isnan(out[1])) and np.all(out[[0, 2]] == 1)


def test_several_heads_each_see_their_own_features(device):
    rng = np.random.default_rng(2)
    layer = nn.MultiheadAttention(6, 3, queue=device.queue, seed=0)
    for p in layer.parameters():
        p.write(rng.normal(size=p.shape))
    w = {name: p.to_host() for name, p in layer.named_parameters()}
    x, y = rng.normal(size=(2, 2, 4, 6)).astype(np.float32)

    def expected(query, key, value, hidden=False):
        q, k, v = [a @ w[f"{n}_proj.weight"] + w[f"{n}_proj.bias"] for n, a in (("q", query), ("k", key), ("v", value))]
        heads = [attention(*[a[..., 2 * h : 2 * h + 2] for a in (q, k, v)], hidden) for h in range(3)]
        return np.concatenate(heads, -1) @ w["out_proj.weight"] + w["out_proj.bias"]

    a, b = put(device, x, y)
    for got, right in [
        (layer(a), expected(x, x, x)),
        (layer(a, b), expected(x, y, y)),
        (layer(a, b, a), expected(x, y, x)),
        (layer(a, causal=True), expected(x, x, x, later(4))),
        (layer(a, mask=later(4)[::-1, ::-1].copy()), expected(x, x, x, later(4).T)),
    ]:
        assert np.allclose(got.to_host(), right, rtol=1e-3, atol=1e-3)


def test_a_causal_block_does_not_see_what_comes_later(device):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, 5, 4)).astype(np.float32)
    changed = x.copy()
    changed[:, 3:] = rng.normal(size=(2, 4))
    causal = nn.TransformerBlock(4, 2, queue=device.queue)
    before, after = causal(put(device, x)).to_host(), causal(put(device, changed)).to_host()
    assert close(before[:, :3], after[:, :3])
    assert not np.any(np.isclose(before[:, 3:], after[:, 3:]))
    free = nn.TransformerBlock(4, 2, dim_feedforward=7, causal=False, queue=device.queue)
    assert free.mlp[0].weight.shape == (4, 7)
    before, after = free(put(device, x)).to_host(), free(put(device, changed)).to_host()
    assert not np.any(np.isclose(before[:, :3], after[:, :3], atol=1e-6))


def test_a_block_adds_what_its_branches_find(device):
    x = put(device, np.random.default_rng(0).normal(size=(2, 5, 4)).astype(np.float32))
    block = nn.TransformerBlock(4, 2, causal=False, queue=device.queue, seed=1)
    for mask in (None, later(5).T.copy()):
        y = x.to_host() + block.attn(block.ln1(x), mask=mask).to_host()
        expected = y + block.mlp(block.ln2(put(device, y))).to_host()
        assert close(block(x, mask).to_host(), expected, size=10)
    block.drop.p = 0.9
    assert not close(block(x).to_host(), expected, size=1e6)
    assert close(block.eval()(x, mask).to_host(), expected, size=10)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda q: nn.MultiheadAttention(6, 4, queue=q), "6 features cannot be shared among 4 heads"),
        (
            lambda q: F.scaled_dot_product_attention(*ones(q, (3, 2), (4, 5), (4, 1))),
            r"not \(3, 2\), \(4, 5\) and \(4, 1\)",
        ),
        (
            lambda q: F.scaled_dot_product_attention(*ones(q, (3, 2), (4, 2), (5, 1))),
            r"not \(3, 2\), \(4, 2\) and \(5, 1\)",
        ),
        (lambda q: F.scaled_dot_product_attention(*ones(q, (2,), (4, 2), (4, 1))), r"not \(2,\), \(4, 2\)"),
        (
            lambda q: F.scaled_dot_product_attention(*ones(q, (3, 2), (4, 2), (4, 1)), causal=True),
            "not 4 keys for 3 queries",
        ),
    ],
)
def test_errors(make, words, device):
    with pytest.raises(ValueError, match=words):
        make(device.queue)


def ones(queue, *shapes):
    return [Tensor.full(queue, shape, 1) for shape in shapes]


def test_queries_of_no_features_look_everywhere_alike(device):
    q, k, v = (
        Tensor.from_host(device.queue, x) for x in (np.zeros((2, 0)), np.zeros((3, 0)), np.arange(6.0).reshape(3, 2))
    )
    assert close(F.scaled_dot_product_attention(q, k, v).to_host(), [[2, 3], [2, 3]])
