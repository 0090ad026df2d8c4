"""Engine 3 without fusing or capturing: what one small operation costs on the host.

    python benchmarks/eager.py [--quick] [--rounds 15] [--json FILE]

A chain of operations on 64 numbers, forward, and backward; microseconds for each operation, until
the device is done. There is next to nothing to compute, so this is what the library itself takes.
The limit is as many bare launches of PyOpenCL, one after the other.
"""

import contextlib
import time

import numpy as np
from contenders import Comparison, Contender
from tables import main

SIZE = 64
SUM = """
__kernel void sum(__global float *out, __global const float *x, __global const float *y) {
    const int i = get_global_id(0);
    out[i] = x[i] + y[i];
}"""
OPS = {"y + x": "add", "y · x": "mul", "relu(y)": "relu", "tanh(y)": "tanh"}


def numbers():
    """Numbers near 1, so that a product of many stays one."""
    return (1 + 1e-4 * np.random.default_rng(0).normal(size=SIZE)).astype(np.float32)


def chain(leaf, functions, tape, backward, wait):
    """turn(op, length), from what a library has.

    leaf()              x, which needs a gradient
    functions           {"relu": …, "tanh": …}
    tape()              what is opened around forward
    backward(y, tape)   from ones
    wait()              until everything is computed
    """

    def turn(mode):
        op, length = mode
        x = y = leaf()
        wait()
        start = time.perf_counter()
        with tape() as opened:
            if op in functions:
                function = functions[op]
                for _ in range(length):
                    y = function(y)
            elif op == "add":
                for _ in range(length):
                    y = y + x
            else:
                for _ in range(length):
                    y = y * x
        wait()
        middle = time.perf_counter()
        backward(y, opened)
        wait()
        end = time.perf_counter()
        parts = {"forward": (middle - start) / length, "backward": (end - middle) / length}
        gradient = x.grad.numpy() if hasattr(x.grad, "numpy") else x.grad.to_host()
        return parts, gradient / length

    return turn


def make_ours(settings):
    import tinygrad_cl.netcl.autograd as ag
    from tinygrad_cl.netcl.core.device import manager
    from tinygrad_cl.netcl.core.tensor import Tensor

    queue = manager.default("auto").queue
    ones = Tensor.full(queue, (SIZE,), 1)
    return chain(
        lambda: ag.tensor(Tensor.from_host(queue, numbers()), requires_grad=True),
        {"relu": ag.relu, "tanh": ag.tanh},
        ag.Tape,
        lambda y, tape: tape.backward(y, ones),
        queue.finish,
    )


def make_torch(settings):
    import torch

    ones = torch.ones(SIZE)
    return chain(
        lambda: torch.from_numpy(numbers()).requires_grad_(),
        {"relu": torch.relu, "tanh": torch.tanh},
        contextlib.nullcontext,
        lambda y, tape: y.backward(ones),
        lambda: None,
    )


def make_netcl(settings):
    import netcl.autograd as ag
    from netcl.core.device import manager
    from netcl.core.tensor import Tensor

    queue = manager.default("auto").queue

    def backward(y, tape):  # a new seed each time, since netcl adds to it in place
        tape.backward(y, Tensor.from_host(queue, np.ones(SIZE, np.float32)))

    return chain(
        lambda: ag.tensor(Tensor.from_host(queue, numbers()), requires_grad=True),
        {"relu": ag.relu, "tanh": ag.tanh},
        ag.Tape,
        backward,
        queue.finish,
    )


def make_launches(settings):
    """As many launches of one kernel as there are operations."""
    import pyopencl as cl

    from tinygrad_cl.netcl.core.device import manager
    from tinygrad_cl.netcl.core.tensor import Tensor

    device = manager.default("auto")
    kernel = device.kernel(SUM, "sum", (), (None,) * 3)
    x, y, out = (Tensor.full(device.queue, (SIZE,), 1).buffer for _ in range(3))

    def launch(length):
        start = time.perf_counter()
        for _ in range(length):
            kernel.handle.set_args(out, x, y)
            cl.enqueue_nd_range_kernel(device.queue, kernel.handle, (SIZE,), None)
        device.queue.finish()
        return (time.perf_counter() - start) / length

    return lambda mode: ({"forward": launch(mode[1]), "backward": launch(mode[1])}, None)


def comparisons(quick):
    length = 20 if quick else 500
    return [
        Comparison(
            "eager",
            f"One operation on {SIZE} numbers, in a chain of {length}",
            (
                Contender("tinygrad_cl.netcl", make_ours, ours=True),
                Contender("torch", make_torch, ("torch",)),
                Contender("netcl", make_netcl, ("netcl",)),
                Contender("limit: launches alone", make_launches),
            ),
            None,
            {title: (op, length) for title, op in OPS.items()},
            unit="µs",
            tolerance=1e-3,
        )
    ]


if __name__ == "__main__":
    main(__doc__, comparisons)
