"""Models of engine 3 learn: step by step in Python, and replayed."""

import numpy as np
import pytest
from netcl_devices import put

from tinygrad_cl.netcl import autograd as ag
from tinygrad_cl.netcl import io, nn, optim
from tinygrad_cl.netcl.runtime import capture

OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, 0.5),
    "Momentum": lambda p: optim.Momentum(p, 0.2, nesterov=True),
    "Adam": lambda p: optim.Adam(p, 0.05),
    "AdamW": lambda p: optim.AdamW(p, 0.05),
    "RMSProp": lambda p: optim.RMSProp(p, 0.02, alpha=0.9),
}


def digits(rng, count, shapes):
    """Noisy pictures (count, 64), each of one of the ten shapes, at a brightness of its own."""
    labels = rng.integers(10, size=count)
    pictures = shapes[labels] * rng.uniform(0.6, 1.4, (count, 1)) + rng.normal(0, 0.5, (count, 64))
    return pictures.astype(np.float32), labels.astype(np.int32)


def classifier(queue, seed=0):
    rng = np.random.default_rng(seed)
    return nn.Sequential(nn.Linear(queue, 64, 32, seed=rng), nn.ReLU(), nn.Linear(queue, 32, 10, seed=rng))


def train_step(model, optimizer, longest=None):
    """A function that makes one step, and returns the loss."""

    def step(x, target):
        with ag.Tape() as tape:
            loss = ag.cross_entropy(model(x), target)
        optimizer.zero_grad()
        tape.backward(loss)
        if longest is not None:
            optim.clip_grad_norm_(optimizer.params, longest)
        optimizer.step()
        return loss

    return step


def accuracy(model, x, labels):
    with ag.no_grad():
        return np.mean(model(x).to_host().argmax(-1) == labels)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_xor_is_learned(name, device):
    nn.manual_seed(1)
    model = nn.Sequential(nn.Linear(device.queue, 2, 8), nn.Tanh(), nn.Linear(device.queue, 8, 2))
    x = put(device, np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32))
    target = np.array([0, 1, 1, 0])
    step = train_step(model, OPTIMIZERS[name](model.parameters()))
    first = step(x, target).to_host()
    for _ in range(150):
        loss = step(x, target).to_host()
    assert accuracy(model, x, target) == 1 and loss < 0.1 < 0.5 < first


@pytest.mark.parametrize("wrap", [lambda step: step, capture], ids=["step by step", "replayed"])
def test_pictures_are_told_apart_also_new_ones(wrap, device):
    rng = np.random.default_rng(0)
    shapes = rng.normal(size=(10, 64))
    x, labels = digits(rng, 320, shapes)
    new_x, new_labels = digits(rng, 500, shapes)
    model = classifier(device.queue)
    assert accuracy(model, put(device, new_x), new_labels) < 0.3
    step = wrap(train_step(model, optim.Adam(model.parameters(), 0.01)))
    for _ in range(4):
        for begin in range(0, 320, 32):
            step(put(device, x[begin : begin + 32]), put(device, labels[begin : begin + 32]))
    assert accuracy(model, put(device, new_x), new_labels) > 0.97


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_replayed_training_is_the_same_to_the_last_bit(name, device):
    """With gradients that are clipped, and a learning rate that falls."""
    rng = np.random.default_rng(0)
    x, labels = digits(rng, 16, rng.normal(size=(10, 64)))
    x, labels = put(device, x), put(device, labels)
    results = []
    for wrap in (lambda step: step, capture):
        model = classifier(device.queue)
        optimizer = OPTIMIZERS[name](model.parameters())
        step = wrap(train_step(model, optimizer, longest=1.0))
        losses = []
        for number in range(8):
            optimizer.lr = 0.1 / (number + 1)
            losses.append(step(x, labels).to_host())
        results.append([losses, *model.state_dict().values(), *optimizer.state_dict().values()])
    assert all(np.array_equal(a, b) for a, b in zip(*results))


def test_a_training_that_was_saved_goes_on(device, tmp_path):
    rng = np.random.default_rng(0)
    x, labels = digits(rng, 16, rng.normal(size=(10, 64)))
    x, labels = put(device, x), put(device, labels)
    model = classifier(device.queue)
    optimizer = optim.Adam(model.parameters(), 0.01)
    step = train_step(model, optimizer)
    for _ in range(3):
        step(x, labels)
    io.save(tmp_path / "run.npz", {"model": model, "optimizer": optimizer})
    for _ in range(3):
        step(x, labels)
    other = classifier(device.queue, seed=9)
    other_optimizer = optim.Adam(other.parameters())
    io.load(tmp_path / "run.npz", into={"model": other, "optimizer": other_optimizer})
    step = train_step(other, other_optimizer)
    for _ in range(3):
        step(x, labels)
    assert all(np.array_equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values()))


class LanguageModel(nn.Module):
    """Which token follows? One transformer block."""

    def __init__(self, queue, tokens, length, width, seed):
        rng = np.random.default_rng(seed)
        self.tokens = nn.Embedding(tokens, width, queue, init_std=0.5, seed=rng)
        self.places = nn.Embedding(length, width, queue, init_std=0.5, seed=rng)
        self.block = nn.TransformerBlock(width, 2, queue=queue, dropout=0.02, seed=rng)
        self.norm = nn.LayerNorm(width, queue=queue)
        self.head = nn.Linear(queue, width, tokens, seed=rng)
        self.positions = ag.arange(length, queue)

    def forward(self, tokens):
        return self.head(self.norm(self.block(self.tokens(tokens) + self.places(self.positions))))


def test_a_transformer_learns_to_look_back(device):
    """Tokens at random, then the same again: the second half follows from the first."""
    rng = np.random.default_rng(0)
    half, tokens = 4, 5
    model = LanguageModel(device.queue, tokens, 2 * half - 1, 16, seed=0)
    step = capture(train_step(model, optim.AdamW(model.parameters(), 0.01), longest=1.0))
    for _ in range(300):
        text = np.tile(rng.integers(tokens, size=(32, half)), 2).astype(np.int32)
        step(put(device, text[:, :-1]), put(device, text[:, 1:]))
    text = np.tile(rng.integers(tokens, size=(64, half)), 2).astype(np.int32)
    model.eval()
    with ag.no_grad():
        guess = model(put(device, text[:, :-1])).to_host().argmax(-1)
    assert np.mean(guess[:, half - 1 :] == text[:, half:]) > 0.95
    assert np.mean(guess[:, : half - 1] == text[:, 1:half]) < 0.6  # nobody can know the first half
