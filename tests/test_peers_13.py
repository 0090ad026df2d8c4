"""Lesson 13 in PyTorch's words: the same losses and the same weights, step by step, in Python and replayed."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace
from tinygrad_cl.datasets import load_mnist
from tinygrad_cl.netcl import autograd as ag
from tinygrad_cl.netcl.runtime import capture

torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is a peer to compare with, not a requirement")


@pytest.mark.parametrize("wrap", [lambda step: step, capture], ids=["step by step", "replayed"])
@pytest.mark.parametrize(
    "options", [{}, {"betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}], ids=["Adam", "with other settings"]
)
def test_twenty_steps_on_mnist(wrap, options):
    lesson = reference_namespace("13_mnist")
    images, labels = load_mnist()
    rng = np.random.default_rng(0)
    Linear, queue = lesson["Linear"], lesson["queue"]
    model = lesson["Sequential"](Linear(queue, 784, 32, rng), ag.relu, Linear(queue, 32, 10, rng))
    w1, b1, w2, b2 = twins = [torch.tensor(p.to_host(), requires_grad=True) for p in model.parameters()]
    step = wrap(lesson["make_step"](model, lesson["Adam"](model.parameters(), lr=0.01, **options)))
    adam = torch.optim.Adam(twins, lr=0.01, **options)
    for number, (x, y) in enumerate(lesson["Batches"](images, labels, 40)):
        if number == 20:
            break
        adam.zero_grad()
        theirs = torch.nn.functional.cross_entropy(
            torch.relu(torch.tensor(x.to_host()) @ w1 + b1) @ w2 + b2, torch.tensor(y.to_host())
        )
        theirs.backward()
        adam.step()
        np.testing.assert_allclose(step(x, y).to_host(), theirs.detach(), rtol=1e-3)
    for ours, twin in zip(model.parameters(), twins):
        np.testing.assert_allclose(ours.to_host(), twin.detach(), rtol=1e-3, atol=1e-3)
