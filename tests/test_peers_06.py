"""Lesson 06 speaks PyTorch's words: the lesson's solutions and PyTorch give the same values and gradients."""

import math

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("06_control")


@pytest.fixture(scope="module")
def leaf(lesson):
    return lambda numbers: lesson["Tensor"](np.array(numbers), requires_grad=True)


def torch_leaf(torch, numbers):
    return torch.tensor(numbers, dtype=torch.float64, requires_grad=True)


def test_a_target_is_a_constant(lesson, leaf, torch_says):
    numbers, later, reward = np.random.default_rng(6).normal(size=(3, 5))
    w = leaf(numbers)
    loss = lesson["bootstrap_loss"](w.tanh(), w * later, reward, 0.9)
    loss.backward()

    def theirs(torch):
        w = torch_leaf(torch, numbers)
        loss = ((w.tanh() - (torch.tensor(reward) + 0.9 * (w * torch.tensor(later)).detach())) ** 2).mean()
        return loss, *torch.autograd.grad(loss, w)

    other, gradient = torch_says(theirs)
    assert loss.item() == pytest.approx(other)
    np.testing.assert_allclose(w.grad.data, gradient)


@pytest.mark.parametrize("numbers", [0.3, -7.0, [[0.5, -2.0, 1.0]], [900.0, -1000.0]], ids=str)
def test_doubling(lesson, leaf, torch_says, numbers):
    a = leaf(numbers)
    d = lesson["doubling"](a)
    d.sum().backward()

    def theirs(torch):
        a = torch_leaf(torch, numbers)
        b = a * 2
        while b.norm() < 1000:
            b = b * 2
        d = b if b.sum() > 0 else 100 * b
        return d, *torch.autograd.grad(d.sum(), a)

    other, gradient = torch_says(theirs)
    np.testing.assert_allclose(d.data, other)
    np.testing.assert_allclose(a.grad.data, gradient)


@pytest.mark.parametrize(
    "use, fine",
    [(lambda y: y + 1, True), (lambda y: y * y, False), (lambda y: y * 3, True)],
    ids=["y + 1", "y * y", "y * 3"],
)
def test_a_change_in_place_has_the_same_gradients_and_the_same_errors(lesson, leaf, torch_says, use, fine):
    numbers = np.random.default_rng(6).uniform(0.3, 1.0, size=4)

    def changed(x, exp_):
        y = x * 2
        z = use(y).sum()
        exp_(y)
        return x, y, z

    def ours():
        return changed(leaf(numbers), lambda y: lesson["apply_"](y, lesson["Tensor"].exp))

    def theirs(torch):
        return changed(torch_leaf(torch, numbers), torch.exp_)

    def after_backward(x, y, z):
        z.backward(retain_graph=True)
        y.sum().backward()
        return x.grad

    def without(x, y, z):
        y.sum().backward()
        return x.grad

    np.testing.assert_allclose(without(*ours()).data, torch_says(lambda torch: without(*theirs(torch))))
    assert ours()[1].version.count == torch_says(lambda torch: theirs(torch)[1]._version) == 1
    if fine:
        gradient = torch_says(lambda torch: after_backward(*theirs(torch)))
        np.testing.assert_allclose(after_backward(*ours()).data, gradient)
    else:
        for run in (lambda: after_backward(*ours()), lambda: torch_says(lambda torch: after_backward(*theirs(torch)))):
            with pytest.raises(RuntimeError):
                run()


@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_clipping(lesson, leaf, torch_says, max_norm):
    rng = np.random.default_rng(6)
    gradients = [rng.normal(size=shape) for shape in ((2, 3), (4,))]
    ours = [leaf(np.zeros_like(g)) for g in gradients]
    for p, g in zip(ours, gradients):
        p.grad = lesson["Tensor"](g)

    def theirs(torch):
        parameters = [torch_leaf(torch, np.zeros_like(g)) for g in gradients]
        for p, g in zip(parameters, gradients):
            p.grad = torch.tensor(g)
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm), [p.grad for p in parameters]

    norm, clipped = torch_says(theirs)
    assert lesson["clip_grad_norm_"](ours, max_norm) == pytest.approx(norm)
    for p, gradient in zip(ours, clipped, strict=True):
        np.testing.assert_allclose(p.grad.data, gradient, rtol=1e-5)


def test_hooks_see_the_same_lengths(lesson, leaf, torch_says):
    numbers, upstream = np.random.default_rng(6).normal(size=(2, 3))
    y = leaf(numbers) * 2
    norms = lesson["watch"]({"y": y})
    (y.tanh() * y * upstream).sum().backward()

    def theirs(torch):
        y, seen = torch_leaf(torch, numbers) * 2, []
        y.register_hook(lambda gradient: seen.append(gradient.norm()))
        (y.tanh() * y * torch.tensor(upstream)).sum().backward()
        return seen[0]

    assert norms["y"] == pytest.approx(torch_says(theirs))


def test_the_square_root_has_the_same_nan(leaf, torch_says):
    def program(zero):
        (zero.sqrt() ** 2).backward()
        return zero.grad

    with np.errstate(all="ignore"):
        ours = program(leaf(0.0)).item()
    np.testing.assert_equal(ours, torch_says(lambda torch: program(torch_leaf(torch, 0.0))))
    assert math.isnan(ours)


def test_training(lesson, leaf, torch_says):
    rng = np.random.default_rng(6)
    x, y, start = rng.normal(size=(7, 3)), rng.normal(size=7), rng.normal(size=3)
    w = leaf(start)
    losses = lesson["fit"](w, x, y, 0.1, 5)

    def theirs(torch):
        w, losses = torch_leaf(torch, start), []
        optimizer = torch.optim.SGD([w], lr=0.1)
        for _ in range(5):
            loss = ((torch.tensor(x) @ w - torch.tensor(y)) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return torch.stack(losses), w

    their_losses, their_w = torch_says(theirs)
    assert losses == pytest.approx(their_losses)
    np.testing.assert_allclose(w.data, their_w)
