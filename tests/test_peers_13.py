"""Lesson 13 in PyTorch's words: the same losses and the same weights, step by step, in Python and replayed."""

from itertools import islice

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace
from tinygrad_cl.datasets import load_mnist
from tinygrad_cl.netcl import autograd as ag
from tinygrad_cl.netcl.runtime import capture

OPTIONS = {"Adam": {}, "with other settings": {"betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_twenty_steps_on_mnist(torch_says, options):
    """On pictures of 7 · 7 pixels, each the mean of sixteen: a model of few weights, all of which are compared."""
    lesson = reference_namespace("13_mnist")
    images, labels = load_mnist()
    images = images.reshape(-1, 7, 4, 7, 4).mean((2, 4)).astype(np.uint8)
    Linear, queue = lesson["Linear"], lesson["queue"]
    batches = list(islice(lesson["Batches"](images, labels, 40), 20))

    def model():
        rng = np.random.default_rng(0)
        return lesson["Sequential"](Linear(queue, 49, 8, rng), ag.relu, Linear(queue, 8, 10, rng))

    def theirs(torch):
        w1, b1, w2, b2 = parameters = [torch.tensor(p.to_host(), requires_grad=True) for p in model().parameters()]
        adam, losses = torch.optim.Adam(parameters, lr=0.01, **options), []
        for x, y in [(torch.tensor(x.to_host()), torch.tensor(y.to_host())) for x, y in batches]:
            adam.zero_grad()
            loss = torch.nn.functional.cross_entropy(torch.relu(x @ w1 + b1) @ w2 + b2, y)
            loss.backward()
            adam.step()
            losses.append(loss.detach())
        return torch.stack(losses), torch.cat([p.flatten() for p in parameters])

    losses, parameters = torch_says(theirs, 1e-3)
    for wrap in (lambda step: step, capture):  # step by step; replayed
        ours = model()
        step = wrap(lesson["make_step"](ours, lesson["Adam"](ours.parameters(), lr=0.01, **options)))
        np.testing.assert_allclose([step(x, y).to_host() for x, y in batches], losses, rtol=1e-3)
        found = np.concatenate([p.to_host().ravel() for p in ours.parameters()])
        np.testing.assert_allclose(found, parameters, rtol=1e-3, atol=1e-3)
