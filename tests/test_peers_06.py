"""Lesson 06 speaks PyTorch's words: the lesson's solutions and PyTorch give the same values and gradients."""

import math

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace

torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is a peer to compare with, not a requirement")
RNG = np.random.default_rng(6)


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("06_control")


def leaf(numbers):
    return torch.tensor(numbers, dtype=torch.float64, requires_grad=True)


def test_a_target_is_a_constant(lesson):
    w, later, reward = RNG.normal(size=(3, 5))
    ours, theirs = lesson["Tensor"](w, requires_grad=True), leaf(w)
    loss = lesson["bootstrap_loss"](ours.tanh(), ours * later, reward, 0.9)
    other = ((theirs.tanh() - (torch.tensor(reward) + 0.9 * (theirs * torch.tensor(later)).detach())) ** 2).mean()
    loss.backward()
    other.backward()
    assert loss.item() == pytest.approx(other.item())
    np.testing.assert_allclose(ours.grad.data, theirs.grad.numpy())


@pytest.mark.parametrize("numbers", [0.3, -7.0, [[0.5, -2.0, 1.0]], [900.0, -1000.0]])
def test_doubling(lesson, numbers):
    ours, theirs = lesson["Tensor"](np.array(numbers), requires_grad=True), leaf(numbers)
    b = theirs * 2
    while b.norm() < 1000:
        b = b * 2
    d = b if b.sum() > 0 else 100 * b
    ours_d = lesson["doubling"](ours)
    ours_d.sum().backward()
    d.sum().backward()
    np.testing.assert_allclose(ours_d.data, d.detach().numpy())
    np.testing.assert_allclose(ours.grad.data, theirs.grad.numpy())


def test_a_change_in_place_has_the_same_gradients_and_the_same_errors(lesson):
    numbers = RNG.uniform(0.3, 1.0, size=4)
    for use, fine in ((lambda y: y + 1, True), (lambda y: y * y, False), (lambda y: y * 3, True)):
        ours, theirs = lesson["Tensor"](numbers, requires_grad=True), leaf(numbers)
        y, other = ours * 2, theirs * 2
        z, other_z = use(y).sum(), use(other).sum()
        lesson["apply_"](y, lesson["Tensor"].exp)
        other.exp_()
        for result in (z, other_z):
            if fine:
                result.backward(retain_graph=True)
            else:
                with pytest.raises(RuntimeError):
                    result.backward()
        y.sum().backward()
        other.sum().backward()
        np.testing.assert_allclose(ours.grad.data, theirs.grad.numpy())
        assert y.version.count == other._version == 1


@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_clipping(lesson, max_norm):
    gradients = [RNG.normal(size=shape) for shape in ((2, 3), (4,))]
    ours = [lesson["Tensor"](np.zeros_like(g), requires_grad=True) for g in gradients]
    theirs = [leaf(np.zeros_like(g)) for g in gradients]
    for p, q, g in zip(ours, theirs, gradients):
        p.grad, q.grad = lesson["Tensor"](g), torch.tensor(g)
    norm = torch.nn.utils.clip_grad_norm_(theirs, max_norm)
    assert lesson["clip_grad_norm_"](ours, max_norm) == pytest.approx(norm.item())
    for p, q in zip(ours, theirs):
        np.testing.assert_allclose(p.grad.data, q.grad.numpy(), rtol=1e-5)


def test_hooks_see_the_same_lengths_and_the_square_root_has_the_same_nan(lesson):
    numbers, upstream = RNG.normal(size=(2, 3))
    ours, theirs = lesson["Tensor"](numbers, requires_grad=True), leaf(numbers)
    y, other, seen = ours * 2, theirs * 2, []
    norms = lesson["watch"]({"y": y})
    other.register_hook(lambda gradient: seen.append(gradient.norm().item()))
    (y.tanh() * y * upstream).sum().backward()
    (other.tanh() * other * torch.tensor(upstream)).sum().backward()
    assert norms["y"] == pytest.approx(seen[0])
    zero, other_zero = lesson["Tensor"](0.0, requires_grad=True), leaf(0.0)
    with np.errstate(all="ignore"):
        (zero.sqrt() ** 2).backward()
    (other_zero.sqrt() ** 2).backward()
    assert math.isnan(zero.grad.item()) and math.isnan(other_zero.grad.item())


def test_training(lesson):
    x, y, start = RNG.normal(size=(7, 3)), RNG.normal(size=7), RNG.normal(size=3)
    ours, theirs, losses = lesson["Tensor"](start, requires_grad=True), leaf(start), []
    optimizer = torch.optim.SGD([theirs], lr=0.1)
    for _ in range(5):
        loss = ((torch.tensor(x) @ theirs - torch.tensor(y)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert lesson["fit"](ours, x, y, 0.1, 5) == pytest.approx(losses)
    np.testing.assert_allclose(ours.data, theirs.detach().numpy())
