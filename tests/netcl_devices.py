"""For the tests of engine 3: every OpenCL device found, and the shapes and numbers they are tried
with.
"""

import functools
import os
import select
import signal
import warnings
from dataclasses import replace

import numpy as np
import pyopencl as cl
import pytest

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl import opencl
from tinygrad_cl.gradcheck import gradcheck
from tinygrad_cl.netcl.core.device import launch_config_for, manager
from tinygrad_cl.netcl.core.memory import SLACK
from tinygrad_cl.netcl.core.tensor import Tensor

TOLERANCE = {"float32": 2e-5, "float64": 1e-12}


@functools.cache
def devices():
    """{name: Device, or why it is skipped}: each device found, and the default one with kernels
    shaped as for a GPU. An interpreter is among them where it is the default one: with it all this
    takes hours.
    """
    found = {}
    default = manager.default("auto")
    for each in opencl.find_devices():
        if each.is_interpreter and each.position != default.found.position:
            continue
        fault = "" if each.position == default.found.position else opencl.find_fault(each)
        device = default if each.position == default.found.position else fault or manager.use(each)
        found[f"{each.position} {each.name}"] = device
    queue = cl.CommandQueue(default.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    as_gpu = replace(
        launch_config_for(default.found),
        lanes=dict.fromkeys(default.launch_config.lanes, 1),
        group=16,
        local_memory=True,
    )
    found["shaped as for a GPU"] = manager.use(default.found, queue, as_gpu)
    return found


@pytest.fixture(params=devices())
def device(request):
    """Each device, with memory that holds NaN until somebody writes it."""
    device = devices()[request.param]
    if isinstance(device, str):
        pytest.skip(device)
    with device.pool.poisoned():
        yield device


@pytest.fixture
def exact(device):
    """A device that computes in float64."""
    if not device.has(np.dtype(np.float64)):
        pytest.skip(f"{device.found.name} has no float64")
    return device


def put(device, *arrays):
    """The arrays on the device, each in its own dtype."""
    tensors = [Tensor.from_host(device.queue, array, array.dtype) for array in arrays]
    return tensors[0] if len(tensors) == 1 else tensors


def behind(tensor):
    """The bytes behind a tensor of a `device` as above, all 255 where nobody wrote."""
    found = np.empty(tensor.nbytes + SLACK, np.uint8)
    cl.enqueue_copy(tensor.queue, found, tensor.buffer)
    return found[tensor.nbytes :]


def numbers(rng, shape, domain=(-np.inf, np.inf), dtype=np.float64):
    """Random numbers within a domain, of both signs where it allows them, away from the kink at
    0.
    """
    values = rng.uniform(0.3, min(2.0, domain[1] - 0.1), shape)
    if domain[0] < 0:
        below = max(-1.0, 0.45 * domain[0])  # −2 becomes something above the lower end
        values = values * rng.choice([below, 1.0], shape)
    return values.astype(dtype)


def close(got, expected, dtype="float32", size=1):
    """Whether two arrays agree in shape, and within the rounding of a dtype; NaN and Inf must be
    the same.

    size   how many numbers were added up for each: rounding grows with its root
    """
    got, expected = np.asarray(got), np.asarray(expected)
    tolerance = TOLERANCE[str(dtype)] * max(1, size) ** 0.5
    return got.shape == expected.shape and np.allclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def tape_gradient(device, operation, fault=None):
    """gradient(upstream, *arrays) of an operation on the device, for gradcheck and taylor_check.
    `fault` is done to each gradient first.
    """

    def gradient(upstream, *inputs):
        leaves = [ag.tensor(put(device, np.asarray(x)), requires_grad=True) for x in inputs]
        with ag.Tape() as tape:
            out = operation(*leaves)
        tape.backward(out, put(device, np.asarray(upstream)))
        found = [leaf.grad.to_host() for leaf in leaves]
        return [fault(each) for each in found] if fault else found

    return gradient


def check(device, operation, reference, arrays, fault=None):
    """gradcheck's Report: `operation` on the device, with a random upstream gradient, against central
    differences of the NumPy `reference`, whose value it must have, in float64. `fault` is done to
    each gradient first.
    """
    out = operation(*[ag.tensor(put(device, np.asarray(x)), requires_grad=True) for x in arrays])
    assert close(out.to_host(), reference(*arrays), "float64", 100)
    return gradcheck(
        lambda *inputs: reference(*map(np.asarray, inputs)), tape_gradient(device, operation, fault), arrays
    )


def in_fork(function):
    """What a function raises in a forked process, as text; "" if nothing, "it hangs" after 10 seconds."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: there are other threads
        child = os.fork()
    if not child:
        fault = ""
        try:
            function()
        except BaseException as error:
            fault = f"{type(error).__name__}: {error}"
        os.write(writing, fault.encode())
        os._exit(0)
    os.close(writing)
    answered, _, _ = select.select([reading], [], [], 10)
    if not answered:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        return pipe.read() if answered else "it hangs"
