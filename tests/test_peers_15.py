"""Lesson 15 in PyTorch's words: attention, its model, and the losses of its first steps are those of torch."""

from functools import cache

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("15_attention")


@pytest.mark.parametrize("causal", [False, True])
def test_attention(lesson, torch_says, causal):
    rng = np.random.default_rng(15)
    arrays = [rng.normal(size=shape) for shape in [(2, 3, 7, 4), (2, 3, 7, 4), (2, 3, 7, 5)]]
    upstream = rng.normal(size=(2, 3, 7, 5))
    ag, queue, make = lesson["ag"], lesson["queue"], lesson["Tensor"].from_host
    leaves = [ag.tensor(make(queue, array), True) for array in arrays]
    hidden = make(queue, np.triu(np.ones((7, 7)), 1) if causal else np.zeros((7, 7)))
    with ag.Tape() as tape:
        out, weights = lesson["attention"](*leaves, hidden)
    tape.backward(out, upstream)

    def theirs(torch):
        leaves = [torch.tensor(array, requires_grad=True) for array in arrays]
        out = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal)
        return out, torch.autograd.grad(out, leaves, torch.tensor(upstream))

    right, gradients = torch_says(theirs, 1e-4)
    np.testing.assert_allclose(out.to_host(), right, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights.to_host().sum(-1), 1, rtol=1e-5)
    for ours, gradient in zip(leaves, gradients, strict=True):
        np.testing.assert_allclose(ours.grad.to_host(), gradient, rtol=1e-4, atol=1e-5)


class Twin:
    """The lesson's CharModel with the same parameters, of PyTorch's parts."""

    def __init__(self, torch, model):
        self.torch, self.model = torch, model
        self.own = [torch.tensor(p.to_host(), requires_grad=True) for p in model.parameters()]
        self.twin = {id(p): own for p, own in zip(model.parameters(), self.own)}

    def dense(self, layer, x):
        return x @ self.twin[id(layer.weight)] + self.twin[id(layer.bias)]

    def norm(self, layer, x):
        gamma, beta = self.twin[id(layer.gamma)], self.twin[id(layer.beta)]
        return self.torch.nn.functional.layer_norm(x, x.shape[-1:], gamma, beta)

    def attend(self, layer, x):
        batch, length, width = x.shape
        q, k, v = [
            self.dense(each, x).view(batch, length, layer.heads, -1).transpose(1, 2)
            for each in (layer.q_proj, layer.k_proj, layer.v_proj)
        ]
        out = self.torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dense(layer.out_proj, out.transpose(1, 2).reshape(batch, length, width))

    def __call__(self, ids):
        model = self.model
        x = (
            self.torch.nn.functional.embedding(ids, self.twin[id(model.table)])
            + self.twin[id(model.places)][: ids.shape[1]]
        )
        for block in model.blocks:
            x = x + self.attend(block.attn, self.norm(block.ln1, x))
            up = self.dense(block.mlp.up, self.norm(block.ln2, x))
            x = x + self.dense(block.mlp.down, self.torch.nn.functional.gelu(up))
        return self.dense(model.head, self.norm(model.norm, x))


def test_five_steps_of_the_model(lesson, torch_says):
    batches = list(lesson["batches"](5))

    def model():
        return lesson["CharModel"](width=16, heads=2, blocks=2, seed=0)

    @cache
    def theirs(torch):
        twin, losses = Twin(torch, model()), []
        decay = lesson["AdamW"](model().parameters()).settings["weight_decay"]
        optimizer = torch.optim.AdamW(twin.own, lr=6e-3, weight_decay=decay)
        for x, y in batches:
            ids, wanted = (torch.tensor(each.to_host()).long() for each in (x, y))
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(twin(ids).flatten(0, 1), wanted.flatten())
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return torch.stack(losses), twin(ids)[:, -1]

    losses = torch_says(lambda torch: theirs(torch)[0], 1e-4)
    logits = torch_says(lambda torch: theirs(torch)[1], 1e-3)
    ours = model()
    step = lesson["make_step"](ours)
    assert [step(x, y).to_host() for x, y in batches] == pytest.approx(losses, rel=1e-4)
    # Not the parameters: no gradient comes to the bias of the keys but rounding, and Adam makes whole steps of that.
    np.testing.assert_allclose(ours(batches[-1][0]).to_host()[:, -1], logits, rtol=1e-3, atol=1e-3)
