"""Recording on and off: nested, through exceptions, as decorators, in threads, for the whole process."""

import threading

import pytest

from tinygrad_cl.tensor import (
    Tensor,
    enable_autograd,
    enable_grad,
    grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)


@pytest.fixture(autouse=True)
def restored():
    yield
    assert is_grad_enabled()


def recorded():
    y = Tensor(1.0, requires_grad=True) * 2
    assert y.requires_grad == (y.grad_fn is not None) == is_grad_enabled()
    return y.requires_grad


def test_nested():
    assert recorded()
    with no_grad():
        assert not recorded()
        with enable_grad():
            assert recorded()
            with set_grad_enabled(False):
                assert not recorded()
            assert recorded()
        assert not recorded()
    assert recorded()


@pytest.mark.parametrize("mode", [no_grad, lambda: set_grad_enabled(False)])
def test_an_exception_restores_it(mode):
    with pytest.raises(ZeroDivisionError), mode(), enable_grad(), mode():
        1 / 0
    assert recorded()


def test_decorators():
    @no_grad()
    def off():
        return recorded()

    @no_grad
    def off_without_brackets(n):
        """Doc."""
        return recorded() or (n and off_without_brackets(n - 1)) or inner()

    @enable_grad()
    def on():
        return recorded()

    @set_grad_enabled(False)
    def set_off():
        return recorded()

    def inner():
        return recorded()

    assert recorded() and not off() and not off_without_brackets(3) and not set_off()
    with no_grad():
        assert on() and not set_off()
    assert off_without_brackets.__doc__ == "Doc."


def test_set_grad_enabled_works_at_once():
    set_grad_enabled(False)
    assert not recorded()
    set_grad_enabled(True)
    assert recorded()


def test_one_object_entered_twice():
    mode = no_grad()
    with mode, enable_grad(), mode:
        assert not recorded()
    assert recorded()
    switch = set_grad_enabled(False)
    with switch, enable_grad(), switch:
        assert not recorded()
    assert recorded()


def test_each_thread_has_its_own():
    seen = {}
    barrier = threading.Barrier(2)

    def work(name, mode):
        with mode():
            barrier.wait()
            seen[name] = recorded()
            barrier.wait()

    with no_grad():
        threads = [
            threading.Thread(target=work, args=("off", no_grad)),
            threading.Thread(target=work, args=("on", enable_grad)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        fresh = threading.Thread(target=lambda: seen.update(fresh=recorded()))
        fresh.start()
        fresh.join()
    assert seen == {"off": False, "on": True, "fresh": True}


def test_one_decorated_function_in_two_threads():
    turns = [threading.Event() for _ in range(3)]

    @no_grad()
    def work(mine, next_turn):
        turns[mine].set()
        assert turns[next_turn].wait(10)

    after = {}

    def run(name, mode, mine, next_turn):
        with mode():
            work(mine, next_turn)
            after[name] = recorded()

    first = threading.Thread(target=run, args=("on", enable_grad, 0, 1))  # enters first, leaves first
    second = threading.Thread(target=run, args=("off", no_grad, 1, 2))
    first.start()
    assert turns[0].wait(10)
    second.start()
    first.join()
    turns[2].set()
    second.join()
    assert after == {"on": True, "off": False}


def test_the_switch_for_the_process():
    try:
        enable_autograd(False)
        enable_autograd(False)
        assert not recorded()
        with enable_grad():
            assert not recorded()
        seen = []
        thread = threading.Thread(target=lambda: seen.append(recorded()))
        thread.start()
        thread.join()
        assert seen == [False]
    finally:
        enable_autograd()
        enable_autograd()
    assert recorded()


def test_what_requires_no_gradient_costs_no_node():
    y = Tensor([1.0]) * Tensor([2.0])
    assert y.grad_fn is None and y.is_leaf and not y.requires_grad


def test_backward_is_not_recorded_unless_asked_and_works_under_no_grad():
    x = Tensor(2.0, requires_grad=True)
    y = x * x
    with no_grad():
        y.backward(retain_graph=True)
        assert not x.grad.requires_grad
        (g,) = grad(y, x, create_graph=True)
        assert g.requires_grad
    assert is_grad_enabled()


def test_a_failing_rule_restores_the_mode():
    x = Tensor(2.0, requires_grad=True)
    x.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * x).backward()
