"""The faults of netcl 0.4.4 (docs/netcl.md), each as a small program that netcl gets wrong and engine 3 right.

The programs use names that both have. Where netcl is installed (the extra `peers`), each is run with netcl as well, and
has to fail: a fault that netcl has no more, or a program that shows nothing, would be noticed.
"""

import gc
import importlib
import threading
from types import SimpleNamespace

import numpy as np
import pyopencl as cl
import pytest
from netcl_devices import close, devices

import tinygrad_cl.netcl.autograd
from tinygrad_cl.netcl.core.tensor import Tensor

WRONG = (AssertionError, ValueError, RuntimeError, cl.Error)  # how netcl fails; nothing that a misspelt name raises
MARKS = [pytest.mark.xfail(strict=True, raises=WRONG), pytest.mark.filterwarnings("ignore")]


@pytest.fixture(params=[*devices(), pytest.param("netcl", marks=MARKS)])
def engine(request):
    """Engine 3 on each device found, and netcl.

    ag, Tensor, queue   under these names in both
    cpu                 a queue for netcl's backend of NumPy arrays; ours has none
    spoil(shape)        leave NaN in memory that the next tensors of this shape will take
    kernels(f, x)       the texts of the kernels of a compiled function, called with x
    """
    if request.param == "netcl":
        pytest.importorskip("netcl", reason="netcl is not installed: pip install tinygrad-cl-course[peers]")
        yield netcl_engine()
        return
    device = devices()[request.param]
    if isinstance(device, str):
        pytest.skip(device)
    with device.pool.poisoned():
        yield SimpleNamespace(
            ag=tinygrad_cl.netcl.autograd,
            Tensor=Tensor,
            queue=device.queue,
            cpu=device.queue,
            spoil=lambda shape: None,
            kernels=lambda f, x: f.source(x),
        )


def netcl_engine():
    ag, tensors, cache, elementwise, device = map(
        importlib.import_module,
        ["netcl.autograd", "netcl.core.tensor", "netcl.runtime.cache", "netcl.ops.elementwise", "netcl.core.device"],
    )
    queue = device.manager.default("auto").queue

    def spoil(shape):
        nan = tensors.Tensor.from_host(queue, np.full(shape, np.nan, np.float32))
        kept = [elementwise.elementwise_binary(nan, nan, expression="ADD(v0, v1)") for _ in range(60)]
        queue.finish()
        del kept
        gc.collect()

    def kernels(function, x):
        texts, build = [], cache.cacher.get_program
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cache.cacher, "get_program", lambda *args: texts.append(args[1]) or build(*args))
            function(x)
        return "\n".join(texts)

    return SimpleNamespace(
        ag=ag, Tensor=tensors.Tensor, queue=queue, cpu=device.manager.default("cpu").queue, spoil=spoil, kernels=kernels
    )


def leaf(engine, numbers, requires_grad=True, queue=None):
    tensor = engine.Tensor.from_host(queue or engine.queue, np.array(numbers, np.float32))
    return engine.ag.tensor(tensor, requires_grad=requires_grad)


def gradient(engine, function, numbers):
    x = leaf(engine, numbers)
    with engine.ag.Tape() as tape:
        loss = function(x)
    tape.backward(loss)
    return x.grad.to_host()


def number(node):
    """The one number that a node holds: netcl's has shape (1,), ours ()."""
    return float(node.to_host().reshape(()))


# -- gradients ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_memory_that_holds_nan_does_not_reach_the_gradient_of_a_reduction(engine, name):
    x = leaf(engine, np.ones((64, 32)))
    with engine.ag.Tape() as tape:
        loss = engine.ag.sum(getattr(engine.ag, name)(x, axis=1))
    engine.spoil((64, 32))
    tape.backward(loss)
    assert close(x.grad.to_host(), np.full((64, 32), 1 if name == "sum" else 1 / 32))


def test_the_gradient_of_swish(engine):
    assert close(gradient(engine, lambda x: engine.ag.sum(engine.ag.swish(x)), [0.5]), [0.7399612])


def test_mse_loss_is_a_mean(engine):
    assert close(number(engine.ag.mse_loss(leaf(engine, [1.0, 2.0]), leaf(engine, [0.0, 0.0]))), 2.5)


@pytest.mark.parametrize("name, once", [("mse_loss", [1.0, 2.0]), ("l1_loss", [0.5, 0.5])])
def test_ten_times_a_loss_has_ten_times_the_gradient(engine, name, once):
    loss = getattr(engine.ag, name)
    got = gradient(engine, lambda x: loss(x, leaf(engine, [0.0, 0.0], False)) * 10.0, [1.0, 2.0])
    assert close(got, 10 * np.array(once))


def test_cross_entropy_of_a_prediction_that_is_far_off(engine):
    logits, target = leaf(engine, [[50.0, 0.0]], queue=engine.cpu), leaf(engine, [[0.0, 1.0]], False, engine.cpu)
    assert close(number(engine.ag.cross_entropy(logits, target)), 50)


def test_softplus_of_a_large_number(engine):
    assert close(engine.ag.softplus(leaf(engine, [100.0])).to_host(), [100])


def test_tensors_of_no_numbers(engine):
    x = leaf(engine, np.ones((0, 3)))
    assert (x * 2.0).to_host().shape == (0, 3)


# -- the tape -------------------------------------------------------------------------------------


def test_a_second_backward_gives_the_same_again(engine):
    x = leaf(engine, [2.0])
    with engine.ag.Tape() as tape:
        cube = x * x * x
    tape.backward(cube)
    x.grad = x.value.grad = None
    tape.backward(cube)
    assert close(x.grad.to_host(), [12])


def test_the_callers_gradient_stays_as_it_was(engine):
    seed, x = engine.Tensor.from_host(engine.queue, np.ones(2, np.float32)), leaf(engine, [3.0, 4.0])
    with engine.ag.Tape() as tape:
        out = x - x * 2.0
    tape.backward(out, seed)
    assert close(seed.to_host(), [1, 1]) and close(x.grad.to_host(), [-1, -1])


def test_the_callers_gradient_and_those_of_two_leaves_are_three_tensors(engine):
    seed = engine.Tensor.from_host(engine.queue, np.ones(2, np.float32))
    x, y = leaf(engine, [3.0, 4.0]), leaf(engine, [5.0, 6.0])
    with engine.ag.Tape() as tape:
        out = x + y
    tape.backward(out, seed)
    assert len({id(each.buffer) for each in (seed, x.grad, y.grad)}) == 3


def test_a_tensor_does_not_share_its_numbers_with_the_array_it_was_made_of(engine):
    array = np.ones(4, np.float32)
    tensor = engine.Tensor.from_host(engine.cpu, array)
    array[:] = 7
    assert close(tensor.to_host(), [1, 1, 1, 1])


def test_a_leaf_that_requires_no_gradient_gets_none(engine):
    x, frozen = leaf(engine, np.ones((3, 4))), leaf(engine, np.ones((4, 2)), requires_grad=False)
    with engine.ag.Tape() as tape:
        loss = engine.ag.sum(x @ frozen)
    tape.backward(loss)
    assert frozen.grad is None


def test_the_outer_tape_goes_on_after_the_inner_one(engine):
    x = leaf(engine, [2.0])
    with engine.ag.Tape() as outer:
        with engine.ag.Tape():
            y = x * 3.0
        y * 2.0
    assert len(outer.nodes) == 1


def test_no_grad_is_for_its_own_thread(engine):
    seen = []
    with engine.ag.no_grad():
        thread = threading.Thread(target=lambda: seen.append(engine.ag.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_results_inside_no_grad_are_nodes_with_operators(engine):
    with engine.ag.no_grad():
        out = leaf(engine, [1.0, 2.0]) * 2.0
        assert isinstance(out, engine.ag.Node)
        assert close((out**2.0 - 1.0).to_host(), [3, 15]) and close((out < 3.0).to_host(), [1, 0])


def test_backward_from_several_numbers_needs_their_gradient(engine):
    x = leaf(engine, [1.0, 2.0])
    with engine.ag.Tape() as tape:
        out = x * 2.0
    accepted = True
    try:
        tape.backward(out)
    except ValueError:
        accepted = False
    assert not accepted


def logarithm(engine, x):
    return engine.ag.log(x)


def test_an_anomaly_around_backward_alone_names_the_line(engine):
    x = leaf(engine, [0.0, 1.0])
    with engine.ag.Tape() as tape:
        loss = engine.ag.sum(logarithm(engine, x))
    with pytest.raises(RuntimeError) as error, engine.ag.detect_anomaly():
        tape.backward(loss)
    assert "in logarithm" in str(error.value)


def test_debug_tape_says_what_was_computed(engine, capsys):
    tape = engine.ag.Tape()
    with engine.ag.debug_tape(tape):
        engine.ag.exp(leaf(engine, [1.0]))
    assert "exp" in capsys.readouterr().out


# -- the JIT --------------------------------------------------------------------------------------


def test_the_jit_computes_a_relu_that_follows_a_sum(engine):
    ag = engine.ag
    add_relu = getattr(ag, "add_relu", lambda a, b: ag.relu(a + b))
    compiled = ag.jit_compile(lambda a, b: add_relu(a, b))
    assert close(compiled(leaf(engine, [-3.0, 1.0]), leaf(engine, [1.0, 1.0])).to_host(), [0, 2])


def test_the_jit_leaves_no_rubbish_in_the_gradient_of_an_input_that_it_does_not_use(engine):
    compiled = engine.ag.jit_compile(lambda a, b: a * a)
    a, b = leaf(engine, [1.0, 2.0]), leaf(engine, [3.0, 4.0])
    engine.spoil((2,))
    with engine.ag.Tape() as tape:
        out = engine.ag.sum(compiled(a, b))
    tape.backward(out)
    assert close(a.grad.to_host(), [2, 4])
    assert b.grad is None or close(b.grad.to_host(), [0, 0])


def test_the_jit_takes_a_node_from_outside(engine):
    outer = leaf(engine, [1.0, 2.0])
    compiled = engine.ag.jit_compile(lambda a: a * outer)
    assert close(compiled(leaf(engine, [3.0, 4.0])).to_host(), [3, 8])


def test_the_jit_takes_an_infinite_number(engine):
    compiled = engine.ag.jit_compile(lambda a: engine.ag.minimum(a, float("inf")))
    assert close(compiled(leaf(engine, [3.0, 4.0])).to_host(), [3, 4])


def test_the_jit_writes_the_same_kernels_for_the_same_function(engine):
    """Otherwise no cache on the disk ever finds them again."""
    texts, kept = [], []
    for _ in range(2):
        kept.append([object() for _ in range(1000)])  # so that addresses differ
        compiled = engine.ag.jit_compile(lambda a: engine.ag.exp(a * a))
        texts.append(engine.kernels(compiled, leaf(engine, [3.0, 4.0])))
    assert texts[0] == texts[1] and "exp" in texts[0]
