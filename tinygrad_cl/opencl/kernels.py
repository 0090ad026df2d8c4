"""A student's first kernels: build them with errors that point at the student's own line, and run them on NumPy arrays."""

import re
from functools import lru_cache

import numpy as np
import pyopencl as cl

from tinygrad_cl.opencl.devices import default_device

MARGIN = 1024        # numbers on either side of an array in `run_guarded`: 4096 bytes suit every device's alignment
SENTINEL = 123.25    # what lies there before the run; no sine or cosine of it gives it back


class KernelError(Exception):
    """OpenCL C that does not compile; the message names the line and what the compiler says of it."""


@lru_cache(maxsize=64)  # a build takes tens of milliseconds, even where the driver has the result on disk
def build_kernel(source, name):
    """The kernel `name` of an OpenCL C text, built for the course's device; the same object for the same text.

    KernelError where it does not compile or is not there; NotImplementedError while the text is still a stub.
    """
    if "raise NotImplementedError" in source:
        raise NotImplementedError(f"the kernel {name} is still to be written")
    try:
        program = default_device().build(source)
    except cl.RuntimeError as error:
        raise KernelError(first_error(source, str(error))) from None
    names = [kernel.function_name for kernel in program.all_kernels()]
    if name not in names:
        raise KernelError(f"there is no kernel {name} in the source; it has {', '.join(names) or 'none'}")
    return cl.Kernel(program, name)


def first_error(source, log):
    """The first error of a compiler's log as one sentence, with the source's own line.

    >>> first_error("int f() {\\n  return x;\\n}", "error: /tmp/a.cl:2:10: use of undeclared identifier 'x'")
    "line 2, `return x;`: use of undeclared identifier 'x'"
    """
    lines = source.splitlines()
    for entry in log.splitlines():
        found = re.search(r":(\d+):\d+: *(?:fatal )?(?:error: *)?(.*)", entry)
        if "error" in entry and found and int(found[1]) <= len(lines):
            return f"line {found[1]}, `{lines[int(found[1]) - 1].strip()}`: {found[2]}"
    return f"the kernel did not build, and the compiler names no line: {log.strip()}"


def run_kernel(source, name, *arrays, n, local_size=64):
    """Run a kernel with n work-items on the device and return its arrays as they are afterwards.

    The kernel takes a buffer for each array, then the int n. Work-items start in groups of
    `local_size`, so their number is n rounded up to whole groups.
    """
    device, kernel = default_device(), build_kernel(source, name)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(device.context, flags, hostbuf=array) for array in arrays]
    work_items = -(-n // local_size) * local_size
    kernel(device.queue, (work_items,), (local_size,), *buffers, np.int32(n))
    results = [np.empty_like(array) for array in arrays]
    for result, buffer in zip(results, buffers):
        cl.enqueue_copy(device.queue, result, buffer)
    return results


def run_guarded(source, name, *arrays, n, local_size=64):
    """As `run_kernel`, but each array lies between two margins: (arrays, how many numbers in margins were overwritten).

    A write outside an array often goes unnoticed, or crashes something else much later. Here it is counted. The arrays
    are one-dimensional float32, of length n ≥ 1.
    """
    device, kernel = default_device(), build_kernel(source, name)
    padded = [np.full(MARGIN + array.size + MARGIN, SENTINEL, np.float32) for array in arrays]
    for whole, array in zip(padded, arrays):
        whole[MARGIN:-MARGIN] = array
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(device.context, flags, hostbuf=whole) for whole in padded]
    inner = [buffer.get_sub_region(4 * MARGIN, array.nbytes) for buffer, array in zip(buffers, arrays)]
    work_items = -(-n // local_size) * local_size
    kernel(device.queue, (work_items,), (local_size,), *inner, np.int32(n))
    device.queue.finish()
    for whole, buffer in zip(padded, buffers):
        cl.enqueue_copy(device.queue, whole, buffer)
    margins = np.concatenate([np.r_[whole[:MARGIN], whole[-MARGIN:]] for whole in padded])
    return [whole[MARGIN:-MARGIN].copy() for whole in padded], int((margins != SENTINEL).sum())
