"""Optimizers against their formulas written out for one number, and on problems with a known answer."""

import math

import numpy as np
import pytest

from tinygrad_cl.tensor import SGD, Adam, AdamW, Tensor, clip_grad_norm_, cross_entropy


def steps(optimizer, n=5, start=(1.0, -2.0)):
    """The parameter after each of n steps on Σ p⁴ / 4, whose gradient is p³."""
    p = Tensor(np.array(start), requires_grad=True)
    opt = optimizer(p)
    seen = []
    for _ in range(n):
        opt.zero_grad()
        (p**4).sum().backward(0.25)
        opt.step()
        seen.append(p.data.copy())
    return np.array(seen)


def sgd(p, lr, momentum=0.0, nesterov=False, decay=0.0):
    v = None
    while True:
        g = p**3 + decay * p
        v = g if v is None else momentum * v + g
        p = p - lr * (g + momentum * v if nesterov else v if momentum else g)
        yield p


def adam(p, lr, b1, b2, eps, decay=0.0, apart=0.0):
    m = v = 0.0
    t = 0
    while True:
        t += 1
        g = p**3 + decay * p
        p = p - lr * apart * p
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        p = p - lr * (m / (1 - b1**t)) / (math.sqrt(v / (1 - b2**t)) + eps)
        yield p


@pytest.mark.parametrize(
    "optimizer, formula",
    [
        (lambda p: SGD([p], 0.1), lambda p: sgd(p, 0.1)),
        (lambda p: SGD([p], 0.1, momentum=0.9), lambda p: sgd(p, 0.1, 0.9)),
        (lambda p: SGD([p], 0.1, momentum=0.9, nesterov=True), lambda p: sgd(p, 0.1, 0.9, True)),
        (lambda p: SGD(p, 0.1, momentum=0.5, weight_decay=0.2), lambda p: sgd(p, 0.1, 0.5, decay=0.2)),
        (lambda p: Adam([p], 0.1), lambda p: adam(p, 0.1, 0.9, 0.999, 1e-8)),
        (
            lambda p: Adam([p], 0.1, betas=(0.8, 0.9), eps=0.1, weight_decay=0.2),
            lambda p: adam(p, 0.1, 0.8, 0.9, 0.1, 0.2),
        ),
        (lambda p: AdamW([p], 0.1, weight_decay=0.2), lambda p: adam(p, 0.1, 0.9, 0.999, 1e-8, apart=0.2)),
    ],
)
def test_five_steps_follow_the_formula(optimizer, formula):
    got = steps(optimizer)
    for k, start in enumerate((1.0, -2.0)):
        for row, expected in zip(got[:, k], formula(start)):
            assert row == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("optimizer", [SGD, Adam, AdamW])
def test_float32_stays_float32_in_the_same_memory_and_no_gradient_means_no_step(optimizer):
    p, q = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0], requires_grad=True)
    data = p.data
    (p * p).sum().backward()
    optimizer([p, q], lr=0.1).step()
    assert p.data is data and p.dtype == np.float32 and p.is_leaf and p.requires_grad and p.version.count == 1
    assert data[0] < 1 and q.item() == 3


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: SGD([], 0.1), "needs parameters"),
        (lambda: SGD([Tensor(1.0)], 0.1), "leaves with requires_grad=True"),
        (lambda: Adam([Tensor(1.0, requires_grad=True) * 2]), "leaves with requires_grad=True"),
        (lambda: SGD([Tensor(1.0, requires_grad=True)], 0.1, nesterov=True), "nesterov needs a momentum"),
        (lambda: Adam([Tensor(1.0, requires_grad=True)] * 2), "each parameter once"),
    ],
)
def test_errors(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_clipping_scales_all_gradients_alike():
    p, q, r = [Tensor(np.zeros(n), requires_grad=True) for n in (1, 2, 3)]
    p.backward([3.0])
    q.backward([0.0, 4.0])
    assert clip_grad_norm_([p, q, r], 10.0) == 5 and p.grad.item() == 3
    assert clip_grad_norm_([p, q, r], 1.0) == 5
    np.testing.assert_allclose([p.grad.item(), *q.grad.data], [0.6, 0, 0.8])
    assert r.grad is None and clip_grad_norm_(r, 1.0) == 0


@pytest.mark.parametrize(
    "optimizer", [lambda p: SGD(p, 0.5, momentum=0.9), lambda p: Adam(p, 0.03), lambda p: AdamW(p, 0.03)]
)
def test_three_spirals_are_learned(optimizer):
    rng = np.random.default_rng(0)
    t = rng.uniform(0.2, 1, 300)
    target = np.arange(300) % 3
    angle = 4 * t + 2 * np.pi / 3 * target
    x = Tensor(np.stack([t * np.cos(angle), t * np.sin(angle)], 1).astype(np.float32))
    shapes = [(2, 32), (32,), (32, 3), (3,)]
    w1, b1, w2, b2 = [Tensor((rng.normal(size=s) * 0.5).astype(np.float32), requires_grad=True) for s in shapes]
    opt = optimizer([w1, b1, w2, b2])
    for _ in range(200):
        logits = (x @ w1 + b1).tanh() @ w2 + b2
        loss = cross_entropy(logits, target)
        opt.zero_grad()
        loss.backward()
        clip_grad_norm_(opt.parameters, 5.0)
        opt.step()
    assert np.mean(logits.data.argmax(1) == target) > 0.95
