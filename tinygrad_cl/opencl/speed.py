"""What a device reaches: multiply-adds, bytes and launches per second; and what NumPy reaches on the same computer.

A driver that works is not yet one that uses the processor: a compiler that does not know it leaves out its wide vectors.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyopencl as cl

from tinygrad_cl.opencl.devices import Device

CHAINS = 12  # accumulators of a work-item: enough to hide the latency, and all in registers
LONG = 0.003  # seconds that a timed launch takes at least: short, so that one of several meets a quiet moment
BYTES = 2**26  # copied to measure the bandwidth: more than a cache holds
LAUNCHES = 200


@dataclass(frozen=True)
class Speed:
    """What a device reaches.

    gflops      multiply-adds in registers, two operations each, in 10⁹ operations per second
    gigabytes   read and written by a kernel that copies, in 10⁹ bytes per second
    launch      microseconds from one launch of a kernel to the next
    """

    gflops: float
    gigabytes: float
    launch: float


def measure(device: Device) -> Speed:
    """Measure a device that works, in less than a second."""
    widths = {device.vector_width, device.handle.native_vector_width_float}  # Intel's driver prefers 1, slow as that is
    gflops = max(_gflops(device, lanes) for lanes in {width if width in (2, 4, 8, 16) else 1 for width in widths})
    return Speed(gflops, _gigabytes(device), _launch(device))


def multiply_adds(lanes: int) -> str:
    """OpenCL C of `arithmetic(rounds, out)`: each work-item does `rounds` · CHAINS multiply-adds of `lanes` floats."""
    chains = range(CHAINS)
    start = "\n".join(f"    V c{i} = (V)(get_global_id(0) + {i});" for i in chains)
    step = "\n".join(f"        c{i} = fma(c{i}, a, b);" for i in chains)
    return f"""
#define V float{lanes if lanes > 1 else ""}
__kernel void arithmetic(const int rounds, __global V *out) {{
    const V a = (V)(0.999f), b = (V)(0.001f);
{start}
    for (int round = 0; round < rounds; round++) {{
{step}
    }}
    out[get_global_id(0)] = {" + ".join(f"c{i}" for i in chains)};
}}"""


def _gflops(device: Device, lanes: int) -> float:
    # A core runs one work-item at a time, in a group of its own; a GPU wants thousands.
    items, group = (device.compute_units * 16, (1,)) if device.kind == "CPU" else (device.compute_units * 2048, None)
    kernel = cl.Kernel(device.build(multiply_adds(lanes)), "arithmetic")
    out = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, items * lanes * 4)
    rounds, seconds = 100, 0.0
    while seconds < LONG and rounds < 2**28:
        rounds *= 4
        seconds = _fastest(device, partial(kernel, device.queue, (items,), group, np.int32(rounds), out), times=8)
    return 2 * CHAINS * lanes * items * rounds / seconds / 1e9


def _gigabytes(device: Device) -> float:
    source = "__kernel void copy(__global const float4 *a, __global float4 *b) { b[get_global_id(0)] = a[get_global_id(0)]; }"
    kernel = cl.Kernel(device.build(source), "copy")
    a, b = (cl.Buffer(device.context, cl.mem_flags.READ_WRITE, BYTES) for _ in range(2))
    cl.enqueue_fill_buffer(device.queue, a, np.ones(1, np.float32), 0, BYTES)
    return 2 * BYTES / _fastest(device, partial(kernel, device.queue, (BYTES // 16,), None, a, b), times=4) / 1e9


def _launch(device: Device) -> float:
    kernel = cl.Kernel(device.build("__kernel void nothing(__global float *a) { a[0] = 1; }"), "nothing")
    buffer = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, 64)
    kernel.set_args(buffer)  # does not keep the buffer alive

    def launch() -> None:
        for _ in range(LAUNCHES):
            cl.enqueue_nd_range_kernel(device.queue, kernel, (1,), None)

    return _fastest(device, launch, times=3) / LAUNCHES * 1e6


def _fastest(device: Device, run: Callable[[], object], times: int) -> float:
    """Seconds that `run()` and the end of what it started take, the least of several."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        device.queue.finish()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PRODUCT = """
import time
import numpy as np
a, seconds, end = np.ones((512, 512), np.float32), [], time.perf_counter() + 0.3
while time.perf_counter() < end or not seconds:
    start = time.perf_counter()
    a @ a
    seconds.append(time.perf_counter() - start)
print(2 * 512**3 / min(seconds) / 1e9)
"""


def numpy_gflops() -> float:
    """What NumPy's matrix product of float32 reaches here, in 10⁹ operations per second, at least.

    The better of all threads and of one: where other programs compute, threads wait for one another.
    """
    environments = [dict(os.environ), os.environ | ONE_THREAD]
    return max(
        float(subprocess.run([sys.executable, "-c", PRODUCT], env=env, capture_output=True, check=True).stdout)
        for env in environments
    )
