"""What runtime.capture records: what cannot be replayed, whose memory it is, and several at once."""

import functools
import gc
import sys
import threading

import numpy as np
import pytest
from netcl_devices import close, devices, put
from netcl_steps import ADD, OPTIMIZERS, TWICE, batch, numbers, training

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import compute, compute_into, formula_of
from tinygrad_cl.netcl.runtime import capture
from tinygrad_cl.netcl.tape.modes import state

# -- what cannot be replayed --------------------------------------------------------------------


def unzeroed(device):
    w = Parameter.full(device.queue, (3,), 1)

    def step():
        with ag.Tape() as tape:
            loss = ag.sum(ag.square(ag.tensor(w)))
        tape.backward(loss)

    return step, lambda: w.grad.to_host()[0], "set gradients to None in the step"


def replaced(device):
    model = {"w": Tensor.full(device.queue, (3,), 1)}

    def step():
        model["w"] = compute(TWICE, (model["w"],))

    return step, lambda: model["w"].to_host()[0], "change tensors in place"


def number_that_changes(device):
    w, rates = Tensor.full(device.queue, (3,), 1), iter([0.5, 0.25, 0.125, 1])

    def step():
        compute_into(w, formula_of("v0 * v1", 2), (w, next(rates)))

    return step, lambda: w.to_host()[0], r"got the number 0.25 and then 0.125"


def another_kernel(device):
    w, texts = Tensor.full(device.queue, (3,), 1), iter(["v0 + 1", "v0 + 2", "v0 + 3", "v0"])

    def step():
        compute_into(w, formula_of(next(texts), 1), (w,))

    return step, lambda: w.to_host()[0], r"command 0 \(elementwise_kernel\) had another shape or"


def another_operation(device):
    w, names = Tensor.full(device.queue, (3,), 1), iter(["sin", "exp", "sqrt", "sin"])

    def step():
        out = ag.primitive(next(names))(w)
        compute_into(w, ADD, (w, out.value))

    return step, lambda: w.to_host()[0], "was exp_kernel and then sqrt_kernel"


def more_and_more(device):
    w, times = Tensor.full(device.queue, (3,), 1), iter([1, 2, 3, 4])

    def step():
        for _ in range(next(times)):
            compute_into(w, TWICE, (w,))

    return step, lambda: w.to_host()[0], "there were 2 commands and then 3"


def another_result(device):
    w, results = Tensor.full(device.queue, (3,), 1), iter([1, 2, 3, 4])

    def step():
        compute_into(w, TWICE, (w,))
        return next(results)

    return step, lambda: w.to_host()[0], "it returned 2 and then 3"


@pytest.mark.parametrize(
    "made", [unzeroed, replaced, number_that_changes, another_kernel, another_operation, more_and_more, another_result]
)
def test_calls_that_differ_are_refused_at_the_third(device, made):
    step, number, word = made(device)
    other, expected, _ = made(device)
    captured = capture(step)
    for _ in range(2):
        captured(), other()
    with pytest.raises(RuntimeError, match=f"cannot be replayed, since its calls differ: .*{word}"):
        captured()
    other()
    assert number() == expected()  # three calls did the work of three
    with pytest.raises(RuntimeError, match=word):
        captured()
    assert number() == expected()  # and the next one none


def test_a_gradient_that_was_not_there_is_refused(device):
    w = Parameter.full(device.queue, (3,), 1)

    @capture
    def step():
        with ag.Tape() as tape:
            loss = ag.sum(ag.square(ag.tensor(w)))
        tape.backward(loss)

    for _ in range(5):
        w.grad = None
        step()
        assert np.all(w.grad.to_host() == 2)
    with pytest.raises(RuntimeError, match="had no gradients before, and now they have"):
        step()


HOST = {
    "to_host": (lambda x: x.to_host(), "cannot look at numbers"),
    "write": (lambda x: x.write(np.ones(3)), "cannot take numbers from the host"),
    "from_host": (lambda x: Tensor.from_host(x.queue, [1.0]), "cannot take numbers from the host"),
    "an array": (lambda x: ag.add(x, np.ones(3)), "Pass the array as an argument"),
}


@pytest.mark.parametrize("name", HOST)
def test_the_host_is_left_out(device, name):
    talk, word = HOST[name]
    x, talking = Tensor.full(device.queue, (3,), 1), [True, True, False, False, False, False]

    @capture
    def step():
        if talking.pop(0):
            talk(x)
        return compute(TWICE, (x,))

    assert np.all(step().to_host() == 2)  # in the first call much may be made
    with pytest.raises(RuntimeError, match=word):
        step()
    assert not device.watched and state.leaves is None
    for _ in range(4):
        assert np.all(step().to_host() == 2)
    assert len(talking) == 2  # the last two were replays


def test_a_kernel_of_any_name_can_be_recorded(device):
    x = Tensor.full(device.queue, (3,), 1)
    kernel = device.kernel("__kernel void write(__global float *x) { x[get_global_id(0)] += 1; }", "write", [], (None,))
    step = capture(lambda: device.launch(kernel, (3,), None, (x.buffer,)))
    for number in range(5):
        step()
        assert np.all(x.to_host() == 2 + number)


def test_an_exception_leaves_nothing_behind(device):
    faults = [True, False, True, False, False, False]
    count = Tensor.full(device.queue, (), 0)

    @capture
    def step(x):
        if faults.pop(0):
            raise KeyError("a fault")
        compute_into(count, formula_of("v0 + 1", 1), (count,))
        return compute(TWICE, (x,))

    for failing, shape in [(True, 2), (False, 3), (True, 3), (False, 3), (False, 3)]:
        x = np.ones(shape, np.float32)
        if failing:
            with pytest.raises(KeyError, match="a fault"):
                step(x)
            assert not device.watched and state.leaves is None and not device.pool._lenders
        else:
            assert np.all(step(put(device, x)).to_host() == 2)
    assert len(faults) == 2 and count.to_host() == 3


# -- memory ---------------------------------------------------------------------------------------


def test_tensors_that_die_share_memory_as_ever(device):
    def chain(length):
        @capture
        def step(x):
            for _ in range(length):
                x = compute(TWICE, (x,))
            return x

        for _ in range(4):
            out = step(np.ones(1000))
        assert np.all(out.to_host() == 2.0**length) and step.num_launches == length
        return step.nbytes

    assert chain(30) == chain(3) < 4 * 4500  # two to compute with, the argument


def test_memory_of_the_first_calls_alone_goes_back(device):
    sizes = iter([10**6, 10, 10, 10])
    step = capture(lambda: compute(TWICE, (Tensor.full(device.queue, (next(sizes),), 1),)) and None)
    for _ in range(4):
        step()
    assert 0 < step.nbytes < 2000 and step._pools[device].held_blocks == 0


def test_nobody_else_gets_the_memory_of_a_recording_and_nobody_need_hold_it(device):
    def make():
        w, constant = Parameter.full(device.queue, (60,), 1), Tensor.full(device.queue, (60,), 3)

        def step(x):
            h = compute(ADD, (x, constant))
            compute_into(w, ADD, (w, compute(TWICE, (h,))))
            return compute(ADD, (w, h))

        return capture(step)

    step, expected = make(), 1.0
    for number in range(8):
        out = step(Tensor.full(device.queue, (60,), number))
        expected += 2 * (number + 3)
        gc.collect()
        rubbish = [Tensor.full(device.queue, (60,), np.nan) for _ in range(8)]
        assert np.all(out.to_host() == expected + number + 3)
        assert np.all(np.isnan(rubbish[0].to_host()))
    del rubbish


def test_memory_that_the_function_gives_up_later_stays_with_the_recording(device):
    model = {"w": Tensor.full(device.queue, (400,), 1)}

    @capture
    def step():
        compute_into(model["w"], TWICE, (model["w"],))
        return compute(TWICE, (model["w"],))

    for _ in range(3):
        step()
    model.clear()
    others = [Tensor.full(device.queue, (400,), 7) for _ in range(5)]
    assert np.all(step().to_host() == 32)
    assert all(np.all(other.to_host() == 7) for other in others)


def test_memory_goes_back_with_the_recording(device):
    def use():
        params, _, step = training(device, OPTIMIZERS["SGD"])
        captured = capture(step)
        for number in range(4):
            captured(*batch(device, number))

    use()
    gc.collect()
    before = device.pool.used_bytes()
    use()
    gc.collect()
    assert device.pool.used_bytes() == before


def test_kernels_are_shared_with_nobody(device):
    step = capture(lambda x, y: compute(ADD, (x, y)))
    for number in range(6):
        x, y = put(device, numbers(number, 9), numbers(number + 1, 9))
        out = step(x, y)
        others = [compute(ADD, (y, y)), compute(ADD, (x, x))]
        assert close(out.to_host(), x.to_host() + y.to_host())
        assert close(others[0].to_host(), 2 * y.to_host())


def test_a_replay_that_reads_what_nobody_wrote_shows_it(device):
    """The poison is recorded, too."""

    def step():
        nothing = Tensor.from_shape(device.queue, (50,))
        return compute(TWICE, (nothing,)), compute(TWICE, (Tensor.full(device.queue, (50,), 2),))

    captured = capture(step)
    for _ in range(5):
        bad, good = captured()
        assert np.all(np.isnan(bad.to_host())) and np.all(good.to_host() == 4)


def test_nothing_at_all_can_be_captured(device):
    nothing, empty = capture(lambda: None), capture(lambda x: compute(TWICE, (x,)))
    for _ in range(4):
        assert nothing() is None
        assert empty(Tensor.full(device.queue, (0, 3), 1)).shape == (0, 3)


# -- several at once ------------------------------------------------------------------------------


def test_inside_another_captured_function_it_is_the_plain_function(device):
    count = Tensor.full(device.queue, (), 0)

    @capture
    def inner(x):
        compute_into(count, formula_of("v0 + 1", 1), (count,))
        return compute(TWICE, (x,))

    @capture
    def outer(x):
        return inner(compute(ADD, (inner(x), x)))

    for number in range(6):
        assert np.all(outer(np.full(4, 1.0 * number)).to_host() == 6 * number)
        assert count.to_host() == 2 * (number + 1)
    for number in range(4):
        assert np.all(inner(np.full(3, 1.0 * number)).to_host() == 2 * number)
    assert outer.num_launches == 5


def test_two_devices_in_one_step():
    both = [each for each in devices().values() if not isinstance(each, str)][:2]
    states = [Tensor.full(each.queue, (3,), 1) for each in both]

    @capture
    def step(x, y):
        return [compute_into(w, ADD, (w, given)) or w.copy() for w, given in zip(states, (x, y))]

    for number in range(5):
        x, y = (Tensor.full(each.queue, (3,), number) for each in both)
        for out in step(x, y):
            assert np.all(out.to_host() == 1 + number * (number + 1) / 2)


@pytest.fixture
def several(device):
    if device.found.is_interpreter:
        pytest.skip("Oclgrind crashes when two threads use it")
    return device


def run_threads(*functions):
    """Run each in a thread of its own; raise what they raise."""
    faults = []

    def guarded(function):
        try:
            function()
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=guarded, args=(each,)) for each in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def test_what_other_threads_do_is_not_recorded(several):
    device, x = several, Tensor.full(several.queue, (4,), 1)

    def aside():
        other = Tensor.from_host(device.queue, numbers(0, 4))
        assert close(compute(TWICE, (other,)).to_host(), 2 * numbers(0, 4))

    @capture
    def step():
        out = compute(TWICE, (x,))
        run_threads(aside, aside)
        return compute(TWICE, (out,))

    for _ in range(4):
        assert np.all(step().to_host() == 4)
    assert step.num_launches == 2


def test_threads_capture_at_the_same_time_and_replay_one_step_in_turn(several):
    device = several
    count, both = Tensor.full(device.queue, (), 0), threading.Barrier(3)
    shared = capture(lambda: compute_into(count, formula_of("v0 + 1", 1), (count,)))

    def work(number):
        @capture
        def step(x):
            if both.parties > 1 and step.commands == []:
                both.wait(timeout=60)  # all are recording now
            return compute(TWICE, (compute(ADD, (x, x)),))

        for turn in range(8):
            shared()
            assert np.all(step(np.full(20, 1.0 * number + turn)).to_host() == 4 * (number + turn))
        assert step.num_launches == 2

    run_threads(*[functools.partial(work, number) for number in range(3)])
    assert count.to_host() == 24


def test_a_step_is_replayed_by_one_thread_at_a_time(several):
    step = capture(lambda x: compute(TWICE, (compute(TWICE, (x,)),)), queue=several.queue)
    for _ in range(3):
        step(np.ones(5))

    def work(number):
        x = Tensor.full(several.queue, (5,), number)
        for _ in range(100):
            assert np.all(step(x).to_host() == 4 * number)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        run_threads(*[functools.partial(work, number) for number in range(3)])
    finally:
        sys.setswitchinterval(interval)
