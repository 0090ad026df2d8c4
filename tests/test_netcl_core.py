"""Engine 3's device, memory, tensors and parameters."""

import copy
import doctest
import gc
import importlib
import os
import pickle
import pkgutil
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pyopencl as cl
import pytest
from netcl_devices import devices, in_fork

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl import netcl, opencl
from tinygrad_cl.netcl.core.device import by_rules, manager
from tinygrad_cl.netcl.core.memory import SLACK
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.nn import Linear
from tinygrad_cl.netcl.ops.elementwise import compute_into, elementwise_unary, formula_of
from tinygrad_cl.netcl.optim import Adam
from tinygrad_cl.netcl.runtime import capture, profile
from tinygrad_cl.netcl.tape.node import tensor
from tinygrad_cl.opencl.kernels import run_kernel


def test_the_default_device_is_the_courses_which_works():
    """netcl takes the first device of the first platform, working or not."""
    default = manager.default("auto")
    assert default is manager.default("auto")
    assert default.found is opencl.default_device() and opencl.find_fault(default.found) == ""
    assert manager.of(default.queue) is default


def test_a_device_can_be_asked_for_by_name():
    default = manager.default("auto")
    assert manager.default(default.found.name) is manager.default(default.found.name)
    with pytest.raises(opencl.NoDeviceError, match="'quantum'"):
        manager.default("quantum")


def test_a_queue_that_somebody_made_gets_a_device_unless_it_is_out_of_order():
    context = manager.default("auto").context
    queue = cl.CommandQueue(context)
    assert Tensor.from_host(queue, [1.0, 2.0]).queue == queue
    assert manager.of(queue) is manager.of(queue)
    loose = cl.CommandQueue(context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
    with pytest.raises(ValueError, match="in order"):
        manager.of(loose)


def made_device(kind, preferred, native, fp64=False):
    handle = SimpleNamespace(
        max_work_group_size=1000,
        native_vector_width_float=native,
        preferred_vector_width_double=preferred // 2,
        native_vector_width_double=native // 2,
        local_mem_size=2**15,
        global_mem_cache_size=2**20,
    )
    return SimpleNamespace(kind=kind, vector_width=preferred, fp64=fp64, compute_units=4, handle=handle)


def test_the_launch_configuration_follows_what_the_device_reports():
    float32, float64, int32 = map(np.dtype, (np.float32, np.float64, np.int32))
    gpu = by_rules(made_device("GPU", 1, 1))
    assert gpu.local_memory and gpu.group == 256 and gpu.lanes == {float32: 1, int32: 1}
    assert by_rules(made_device("GPU", 1, 4)).lanes[float32] == 1
    cpu = by_rules(made_device("CPU", 8, 8, fp64=True))
    assert (gpu.cache, cpu.cache) == (np.inf, 2**19)
    assert not cpu.local_memory and cpu.group == 0 and cpu.lanes == {float32: 8, int32: 8, float64: 4}
    intel = by_rules(made_device("CPU", 1, 16, fp64=True))  # prefers 1, has 16
    assert intel.lanes == {float32: 16, int32: 16, float64: 8} and intel.rows > cpu.rows
    assert by_rules(made_device("CPU", 3, 0)).lanes[float32] == 2


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (0,), (3, 0, 2)], ids=str)
def test_numbers_come_back_as_they_were_sent(device, shape):
    array = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    tensor = Tensor.from_host(device.queue, array)
    back = tensor.to_host()
    assert np.array_equal(back, array) and back.shape == shape and back.dtype == np.float32
    assert (tensor.shape, tensor.size, tensor.ndim, tensor.dtype) == (shape, array.size, len(shape), "float32")


def test_from_host_takes_lists_and_other_orders_and_is_float32_unless_asked(device):
    assert Tensor.from_host(device.queue, [[1, 2], [3, 4]]).to_host().tolist() == [[1, 2], [3, 4]]
    assert Tensor.from_host(device.queue, 2.5).to_host().tolist() == 2.5
    grid = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(Tensor.from_host(device.queue, grid.T[::2]).to_host(), grid.T[::2])
    assert Tensor.from_host(device.queue, grid).dtype == "float32"


def test_from_host_copies(device):
    """On a CPU, netcl's tensor is the caller's own array."""
    array = np.ones(100, np.float32)
    tensor = Tensor.from_host(device.queue, array)
    array[:] = 7
    assert np.all(tensor.to_host() == 1)
    tensor.to_host()[:] = 9
    assert np.all(tensor.to_host() == 1)


def test_float64_is_exact(exact):
    array = np.array([1 / 3, 1e300])
    assert np.array_equal(Tensor.from_host(exact.queue, array, "float64").to_host(), array)


def test_a_dtype_that_the_device_lacks_is_refused(device):
    for dtype in ("int64", "float16"):
        with pytest.raises(TypeError, match=f"not of {dtype}"):
            Tensor.from_shape(device.queue, (2,), dtype)


def test_write_full_copy_and_reshape(device):
    tensor = Tensor.full(device.queue, (2, 3), 4.0)
    assert np.all(tensor.to_host() == 4) and Tensor.full(device.queue, (0,), 1.0).size == 0
    twin, view = tensor.copy(), tensor.reshape(3, -1)
    assert tensor.write(np.arange(6).reshape(2, 3)) is tensor
    assert np.array_equal(view.to_host(), [[0, 1], [2, 3], [4, 5]])  # a view sees it
    assert np.all(twin.to_host() == 4)  # a copy does not
    with pytest.raises(ValueError, match="cannot be written"):
        tensor.write([1.0, 2.0])
    for shape in [(4,), (-1, 4), (-1, -1), (0, -1)]:
        with pytest.raises(ValueError, match="cannot become"):
            tensor.reshape(shape)
    assert Tensor.full(device.queue, (0, 3), 0).reshape((3, 0)).shape == (3, 0)


def test_tensors_compute_without_autograd(device):
    a, b = np.array([[1.0, 2.0], [4.0, 8.0]], np.float32), np.array([3.0, -1.0], np.float32)
    x, y = Tensor.from_host(device.queue, a), Parameter.from_host(device.queue, b)
    for got, expected in [
        (x + y, a + b),
        (x - y, a - b),
        (x * y, a * b),
        (x / y, a / b),
        (-x, -a),
        (x @ y, a @ b),
        (2 + x, 2 + a),
        (2 - x, 2 - a),
        (2 * x, 2 * a),
        (2 / x, 2 / a),
        (x / 2, a / 2),
        (np.float64(2) * x, 2 * a),
        (x + b, a + b),
        (b - x, b - a),
        (b @ x, b @ a),
    ]:
        assert type(got) is Tensor and np.array_equal(got.to_host(), expected)
    for wrong in (lambda: x + "text", lambda: x @ 2, lambda: None * x):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(TypeError, match="cast to float32 first"):
        Tensor.from_host(device.queue, [1], "int32") + 1


def test_a_negative_length_is_refused(device):
    with pytest.raises(ValueError, match="no negative length"):
        Tensor.from_shape(device.queue, (2, -1))


def test_a_parameter_requires_a_gradient_a_tensor_does_not(device):
    parameter = Parameter.from_host(device.queue, [1.0])
    assert isinstance(parameter, Tensor) and parameter.requires_grad and parameter.grad is None
    assert not Tensor.from_host(device.queue, [1.0]).requires_grad
    assert Parameter.full(device.queue, (2,), 0).requires_grad


def test_memory_that_nobody_wrote_is_nan_in_a_poisoned_pool(device):
    for _ in range(3):
        tensor = Tensor.from_shape(device.queue, (1000,))
        assert np.all(np.isnan(tensor.to_host()))
        tensor.write(np.ones(1000))
    if device.has(np.dtype(np.float64)):
        assert np.all(np.isnan(Tensor.from_shape(device.queue, 10, "float64").to_host()))


def test_the_poison_is_off_by_default_and_after_the_with():
    pool = manager.default("auto").pool
    assert not pool.poison
    with pool.poisoned():
        assert pool.poison
    assert not pool.poison


def test_freed_memory_is_used_again(device):
    gc.collect()
    before = device.pool.used_bytes()
    tensors = [Tensor.from_shape(device.queue, (1000,)) for _ in range(10)]
    assert device.pool.used_bytes() >= before + 10 * (4000 + SLACK)
    view = tensors[0].reshape(10, 100)
    del tensors
    assert before < device.pool.used_bytes() <= before + 2 * (4000 + SLACK)  # the view still uses its own
    del view
    held = device.pool.held_bytes()
    assert device.pool.used_bytes() == before
    again = Tensor.from_shape(device.queue, (1000,))
    assert device.pool.held_bytes() == held and again.size == 1000


def test_launches_are_seen_with_their_times(device):
    tensor = Tensor.full(device.queue, (1000,), 1.0)
    elementwise_unary(tensor, expression="sin(v0)")
    with device.watch() as outer:
        elementwise_unary(tensor, expression="sin(v0)")
        with device.watch() as inner:
            elementwise_unary(tensor, expression="cos(v0)")
    elementwise_unary(tensor, expression="cos(v0)")
    assert (len(outer), len(inner)) == (2, 1)
    assert outer[0].name == "elementwise_kernel" and outer[0].seconds >= 0


def test_a_launch_knows_the_text_of_its_kernel(device):
    x = Tensor.from_host(device.queue, [1.0, 2.0])
    for number in (0.25, 0.75):  # two texts, two programs
        with device.watch() as seen:
            elementwise_unary(x, expression=f"sin(v0 * {number}f)")
        assert f"{number}f" in seen[0].kernel.source and "__kernel" in seen[0].kernel.source


def test_threads_share_a_device(device):
    """A kernel holds its arguments between two launches: threads must not mix them up."""
    if device.found.is_interpreter:
        pytest.skip("Oclgrind crashes when two threads use it")
    wrong = []

    def work(number):
        tensor = Tensor.full(device.queue, (300,), number)
        for _ in range(100):
            result = elementwise_unary(tensor, expression="v0 * 2")
        if not np.all(result.to_host() == 2 * number):
            wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_tests_run_on_every_device_found():
    interpreters = [each for each in opencl.find_devices() if each.is_interpreter]
    assert len(devices()) == len(opencl.find_devices()) - len(interpreters) + 1


def test_the_examples_in_the_docstrings_are_right():
    names = [module.name for module in pkgutil.walk_packages(netcl.__path__, "tinygrad_cl.netcl.")]
    known = {
        "queue": manager.default("auto").queue,
        "tensor": tensor,
        "Parameter": Parameter,
    }  # what a lesson has before its exercises
    results = [doctest.testmod(importlib.import_module(name), extraglobs=known) for name in names]
    assert sum(result.attempted for result in results) >= 10
    assert not any(result.failed for result in results)


# -- what is refused, in a sentence ---------------------------------------------------------------

NO_NUMBERS = (TypeError, "a tensor is made of real numbers, or of arrays and lists of them, not of")
REFUSED = {  # of a queue: the call, the error, its words
    "more than there is": (
        lambda q: Tensor.full(q, (10**6, 10**6), 1),
        MemoryError,
        "no room for 4,000,000,000,128 bytes",
    ),
    "more than C counts": (lambda q: Tensor.from_shape(q, (10**30,)), MemoryError, "the device has no room for"),
    "half a length": (lambda q: Tensor.from_shape(q, (2.5,)), TypeError, "a length is a whole number, not 2.5"),
    "a text as a shape": (lambda q: Tensor.full(q, (1,), 1).reshape("a"), TypeError, "a whole number, not 'a'"),
    "no queue": (lambda q: Tensor.from_host([1.0], [1.0]), TypeError, "a tensor lies on a queue, .* not on .1.0."),
    "a text": (lambda q: Tensor.from_host(q, "abc"), *NO_NUMBERS),
    "None": (lambda q: Tensor.from_host(q, [1.0, None]), *NO_NUMBERS),
    "complex": (lambda q: Tensor.from_host(q, [1j]), *NO_NUMBERS),
    "a Tensor": (lambda q: Tensor.from_host(q, Tensor.full(q, (2,), 1)), *NO_NUMBERS),
    "two numbers to fill with": (
        lambda q: Tensor.full(q, (4,), [1, 2]),
        TypeError,
        "full takes one number, not .1, 2.",
    ),
    "another dtype": (
        lambda q: Tensor.full(q, (2,), 1).write(Tensor.full(q, (2,), 1, "int32")),
        TypeError,
        "a tensor of int32",
    ),
    "a pickle": (lambda q: pickle.dumps(Tensor.full(q, (2,), 1)), TypeError, "no pickle: netcl.io saves"),
    "a pickled model": (lambda q: pickle.dumps(Linear(q, 2, 3)), TypeError, "no pickle: netcl.io saves"),
    "a copy of a result": (
        lambda q: copy.deepcopy(ag.exp(Parameter.full(q, (2,), 1))),
        TypeError,
        "belongs to its graph",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(name, device):
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        call(device.queue)


def test_none_is_the_queue_of_the_default_device():
    assert Tensor.from_host(None, [1.0]).queue is manager.default("auto").queue


def test_a_tensor_takes_the_numbers_of_another(device):
    x, y = Tensor.full(device.queue, (2,), 1), Tensor.from_host(device.queue, [3.0, 4.0])
    assert x.write(y) is x and x.to_host().tolist() == [3, 4] and x.buffer is not y.buffer


def test_a_model_and_its_optimizer_are_copied_with_their_state(device):
    """For an average of weights, or a target network: it trains on alone."""
    model = Linear(device.queue, 2, 3, seed=0)
    optimizer = Adam(model.parameters(), lr=0.1)

    def train(model, optimizer):
        optimizer.zero_grad()
        ag.Tape().backward(ag.sum(ag.square(model(np.ones((4, 2))))))
        optimizer.step()
        return model.weight.to_host()

    train(model, optimizer)
    twin, its = copy.deepcopy((model, optimizer))
    assert its.params[0] is twin.weight and np.array_equal(twin.weight.grad.to_host(), model.weight.grad.to_host())
    before, after = model.weight.to_host(), train(twin, its)
    assert np.array_equal(model.weight.to_host(), before) and not np.array_equal(after, before)
    assert np.array_equal(train(model, optimizer), after)
    x = tensor(model.weight)
    assert copy.deepcopy(x).requires_grad and copy.deepcopy(x).value is not x.value
    assert copy.copy(model.weight).buffer is model.weight.buffer


# -- a forked process -----------------------------------------------------------------------------

FORKED = "RuntimeError: this process was forked from one that had used OpenCL"
ENTRANCES = {
    "an operation": lambda x, step: x + x,
    "a tensor that is filled": lambda x, step: Tensor.full(x.queue, (2,), 1),
    "from_host": lambda x, step: Tensor.from_host(x.queue, [1.0]),
    "to_host": lambda x, step: x.to_host(),
    "write": lambda x, step: x.write([1.0, 2.0]),
    "copy": lambda x, step: x.copy(),
    "a replay": lambda x, step: step(),
    "a profile": lambda x, step: profile().__enter__(),
    "the default device": lambda x, step: manager.default("auto"),
    "all devices": lambda x, step: opencl.find_devices(),
    "a lesson's kernel": lambda x, step: run_kernel(KERNEL, "two", np.zeros(1, np.float32), n=1),
    "its queue": lambda x, step: x.device.found.queue.finish(),
}
KERNEL = "__kernel void two(__global float *a, const int n) { if (get_global_id(0) < n) a[get_global_id(0)] = 2; }"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("name", ENTRANCES)
def test_a_forked_process_is_told_that_it_cannot_use_the_device(name):
    """A driver's threads are not in it, so it waited for ever."""
    x = Tensor.from_host(manager.default("auto").queue, [1.0, 2.0])
    step = capture(lambda: compute_into(x, formula_of("v0", 1), (x,)))
    for _ in range(3):
        step()
    run_kernel(KERNEL, "two", np.zeros(1, np.float32), n=1)
    assert in_fork(lambda: ENTRANCES[name](x, step)).startswith(FORKED)
    assert x.to_host().tolist() == [1, 2], "here it works on"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_that_was_forked_before_may_use_the_device():
    program = """
import os, sys
import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor
child = os.fork()
if not child:
    x = Tensor.from_host(manager.default().queue, [1.0, 2.0])
    os._exit(0 if (x + x).to_host().tolist() == [2, 4] else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0
