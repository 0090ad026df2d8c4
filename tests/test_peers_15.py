"""Lesson 15 in PyTorch's words: attention, its model, and the losses of its first steps are those of torch."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace

torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is a peer to compare with, not a requirement")


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("15_attention")


@pytest.mark.parametrize("causal", [False, True])
def test_attention(lesson, causal):
    rng = np.random.default_rng(15)
    arrays = [rng.normal(size=shape) for shape in [(2, 3, 7, 4), (2, 3, 7, 4), (2, 3, 7, 5)]]
    upstream = rng.normal(size=(2, 3, 7, 5))
    ag, queue, make = lesson["ag"], lesson["queue"], lesson["Tensor"].from_host
    leaves = [ag.tensor(make(queue, array), True) for array in arrays]
    hidden = make(queue, np.triu(np.ones((7, 7)), 1) if causal else np.zeros((7, 7)))
    with ag.Tape() as tape:
        out, weights = lesson["attention"](*leaves, hidden)
    tape.backward(out, upstream)
    twins = [torch.tensor(array, requires_grad=True) for array in arrays]
    right = torch.nn.functional.scaled_dot_product_attention(*twins, is_causal=causal)
    right.backward(torch.tensor(upstream))
    np.testing.assert_allclose(out.to_host(), right.detach(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights.to_host().sum(-1), 1, rtol=1e-5)
    for ours, twin in zip(leaves, twins):
        np.testing.assert_allclose(ours.grad.to_host(), twin.grad, rtol=1e-4, atol=1e-5)


class TorchModel(torch.nn.Module):
    """The lesson's CharModel with the same parameters, of PyTorch's parts."""

    def __init__(self, model):
        super().__init__()
        self.own = torch.nn.ParameterList([torch.tensor(p.to_host()) for p in model.parameters()])
        self.twin = {id(p): own for p, own in zip(model.parameters(), self.own)}
        self.model = model

    def dense(self, layer, x):
        return x @ self.twin[id(layer.weight)] + self.twin[id(layer.bias)]

    def norm(self, layer, x):
        gamma, beta = self.twin[id(layer.gamma)], self.twin[id(layer.beta)]
        return torch.nn.functional.layer_norm(x, x.shape[-1:], gamma, beta)

    def attend(self, layer, x):
        batch, length, width = x.shape
        q, k, v = [
            self.dense(each, x).view(batch, length, layer.heads, -1).transpose(1, 2)
            for each in (layer.q_proj, layer.k_proj, layer.v_proj)
        ]
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dense(layer.out_proj, out.transpose(1, 2).reshape(batch, length, width))

    def forward(self, ids):
        model = self.model
        x = torch.nn.functional.embedding(ids, self.twin[id(model.table)]) + self.twin[id(model.places)][: ids.shape[1]]
        for block in model.blocks:
            x = x + self.attend(block.attn, self.norm(block.ln1, x))
            up = self.dense(block.mlp.up, self.norm(block.ln2, x))
            x = x + self.dense(block.mlp.down, torch.nn.functional.gelu(up))
        return self.dense(model.head, self.norm(model.norm, x))


def test_five_steps_of_the_model(lesson):
    model = lesson["CharModel"](width=16, heads=2, blocks=2, seed=0)
    twin = TorchModel(model)
    decay = lesson["AdamW"](model.parameters()).settings["weight_decay"]
    optimizer = torch.optim.AdamW(twin.own, lr=6e-3, weight_decay=decay)
    step = lesson["make_step"](model)
    for x, y in lesson["batches"](5):
        ids, wanted = (torch.tensor(each.to_host()).long() for each in (x, y))
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(twin(ids).flatten(0, 1), wanted.flatten())
        loss.backward()
        optimizer.step()
        assert step(x, y).to_host() == pytest.approx(loss.item(), rel=1e-4)
    # Not the parameters: no gradient comes to the bias of the keys but rounding, and Adam makes whole steps of that.
    np.testing.assert_allclose(model(x).to_host(), twin(ids).detach(), rtol=1e-2, atol=1e-3)
