"""Checkpoints: the same values and gradients, less memory, the same random numbers, everything else as without."""

import weakref

import numpy as np
import pytest
from cycles import no_cycles

from tinygrad_cl.tensor import (
    Tensor,
    checkpoint,
    dropout,
    enable_grad,
    grad,
    manual_seed,
    no_grad,
    saved_bytes,
)


def parameters(n=4):
    rng = np.random.default_rng(0)
    return [Tensor(rng.normal(size=(8, 8)) / 3, requires_grad=True) for _ in range(n)]


def layer(x, w, p=0.3):
    return dropout((x @ w).tanh(), p)


def run(weights, wrap, upstream=3.0):
    manual_seed(7)
    x = Tensor(np.linspace(-1, 1, 24).reshape(3, 8), requires_grad=True)
    h = x
    for w in weights:
        h = wrap(layer, h, w)
    loss = (h * h).sum() * upstream
    size = saved_bytes(loss, without=[*weights, x])
    loss.backward()
    grads = [x.grad.data, *[w.grad.data for w in weights]]
    for w in weights:
        w.zero_grad()
    return loss.item(), grads, size, dropout(Tensor(np.ones(9))).data


def plain(function, *inputs):
    return function(*inputs)


def test_values_gradients_and_random_numbers_are_the_same_and_memory_is_less():
    weights = parameters(8)
    loss, grads, size, after = run(weights, plain)
    loss2, grads2, size2, after2 = run(weights, checkpoint)
    assert loss == loss2 and all(np.array_equal(a, b) for a, b in zip(grads, grads2))
    assert size2 < 0.5 * size
    assert np.array_equal(after, after2)  # backward used up no random numbers


def test_the_memory_is_the_ends_of_the_segments_and_what_follows():
    weights, x = parameters(8), Tensor(np.ones((3, 8)))

    def segment(h, *ws):
        for w in ws:
            h = (h @ w).tanh()
        return h

    def size(length):
        h = x
        for i in range(0, 8, length):
            h = checkpoint(segment, h, *weights[i : i + length])
        return saved_bytes(h.sum(), without=[x, *weights]) / x.data.nbytes

    assert saved_bytes(segment(x, *weights), without=[x, *weights]) == 8 * x.data.nbytes
    assert [size(length) for length in (1, 2, 4, 8)] == [7, 3, 1, 0]  # each segment but the first has an input


def test_a_parameter_that_is_no_input_gets_its_gradient():
    w = parameters(1)[0]
    x = Tensor(np.ones((2, 8)))
    y = checkpoint(lambda x: (x @ w).exp() @ w, x)
    y.sum().backward()
    got, w.grad = w.grad.data, None
    ((x @ w).exp() @ w).sum().backward()
    np.testing.assert_array_equal(got, w.grad.data)


def test_a_generator_of_ones_own():
    for generators in ((), None):
        rng = np.random.default_rng(5)
        x = Tensor(np.ones(50), requires_grad=True)
        names = (rng,) if generators is None else ()
        y = checkpoint(lambda x: dropout(x * x, 0.5, generator=rng).exp(), x, generators=names)
        kept = y.data > 1
        y.sum().backward()
        if generators is None:
            assert np.array_equal(x.grad.data != 0, kept)
        else:
            assert not np.array_equal(x.grad.data != 0, kept)  # other random numbers, hence the argument


def test_gradients_of_gradients():
    x = Tensor(np.array([0.3, 0.7]), requires_grad=True)

    def f(x):
        return (x.sin() * x.exp()).tanh()

    expected = second(f, x)
    np.testing.assert_allclose(second(lambda x: checkpoint(f, x), x), expected)


def second(f, x):
    (g,) = grad(f(x).sum(), x, create_graph=True)
    return grad((g * g).sum(), x)[0].data


def test_a_checkpoint_in_a_checkpoint():
    weights = parameters(3)

    def inner(h, w):
        return checkpoint(layer, h, w)

    def outer(h, *ws):
        for w in ws:
            h = inner(h, w)
        return h

    manual_seed(1)
    x = Tensor(np.ones((2, 8)), requires_grad=True)
    (outer(x, *weights)).sum().backward()
    expected = [x.grad.data, *[w.grad.data for w in weights]]
    for t in (x, *weights):
        t.zero_grad()
    manual_seed(1)
    y = checkpoint(outer, x, *weights)
    assert saved_bytes(y, without=[x, *weights]) == 0
    y.sum().backward()
    for a, b in zip(expected, [x.grad.data, *[w.grad.data for w in weights]]):
        np.testing.assert_array_equal(a, b)


def test_retain_graph_and_backward_twice():
    x = Tensor(np.ones(3), requires_grad=True)
    y = checkpoint(lambda x: x.exp().log().exp(), x).sum()
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(x.grad.data, 2 * np.e * np.ones(3))
    with pytest.raises(RuntimeError, match="backward has been here before"):
        y.backward()


def test_several_results_and_an_unused_one():
    x = Tensor(np.ones(3), requires_grad=True)
    a, b, _ = checkpoint(lambda x: (x.exp(), x.sin(), x.cos()), x)
    (a.sum() + b.sum()).backward()
    np.testing.assert_allclose(x.grad.data, np.exp(1) + np.cos(1) * np.ones(3))


def test_nothing_is_recorded_under_no_grad():
    with no_grad():
        y = checkpoint(lambda x: x.exp(), Tensor(1.0, requires_grad=True))
    assert y.grad_fn is None
    with no_grad(), enable_grad():
        assert checkpoint(lambda x: x.exp(), Tensor(1.0, requires_grad=True)).grad_fn is not None


def test_a_function_that_changes_its_mind_is_an_error():
    times = iter([1, 2])
    x = Tensor(1.0, requires_grad=True)
    y = checkpoint(lambda x: [x := x.exp() for _ in range(next(times))][-1], x)
    with pytest.raises(RuntimeError, match="did something else the second time"):
        y.backward()


def test_an_input_that_was_changed_is_an_error():
    x = Tensor([1.0], requires_grad=True)
    h = x * 2
    y = checkpoint(lambda h: h.exp().exp(), h)
    with no_grad():
        h += 1
    with pytest.raises(RuntimeError, match="an input was changed in place"):
        y.backward()


@pytest.mark.parametrize("backward", [True, False])
def test_no_garbage_collector_is_needed(backward):
    w = parameters(1)[0]
    with no_cycles():
        x = Tensor(np.ones((2, 8)), requires_grad=True)
        y = checkpoint(lambda x: layer(layer(x, w), w), x).sum()
        node = weakref.ref(y.grad_fn.next_nodes[0])
        if backward:
            y.backward()
        del y
        assert node() is None
