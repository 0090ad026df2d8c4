"""A student's first kernels: build them with errors that point at the student's own line, and run them on NumPy arrays."""

import re
from functools import lru_cache

import numpy as np
import pyopencl as cl

from tinygrad_cl.opencl.devices import default_device

MARGIN = 2**16       # numbers on either side of an array: far enough for i·64, and aligned for every device
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
    """Run a kernel on the device, with n work-items or a few more, and return its arrays as they are afterwards.

    The kernel takes a buffer for each array, then the int n. Work-items start in groups of `local_size`, so their number
    is n rounded up to whole groups. KernelError where the kernel wrote outside its arrays.
    """
    results, outside = run_guarded(source, name, *arrays, n=n, local_size=local_size)
    if outside:
        raise KernelError(f"the kernel {name} overwrote {outside} numbers outside its arrays; "
                          "does every work-item whose number is not below n do nothing?")
    return results


def run_guarded(source, name, *arrays, n, local_size=64, first_group=0):
    """As `run_kernel`, but without an error for writes outside: (arrays, how many numbers outside were overwritten).

    A write outside an array often goes unnoticed, or crashes something else much later. Here each array lies between two
    margins, where it is counted and does no harm. The arrays are float32, of one dimension. The groups before
    `first_group` are not started, so that it shows which numbers the others leave to them.
    """
    wrong = [f"{array.dtype} of {array.ndim} dimensions" for array in arrays
             if (array.dtype, array.ndim) != (np.float32, 1)]
    if wrong:
        raise TypeError(f"a kernel here takes float32 arrays of one dimension, not {wrong[0]}")
    device, kernel = default_device(), build_kernel(source, name)
    padded = [np.pad(array, MARGIN, constant_values=SENTINEL) for array in arrays]
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(device.context, flags, hostbuf=whole) for whole in padded]
    inner = [buffer.get_sub_region(4 * MARGIN, array.nbytes) for buffer, array in zip(buffers, arrays)]
    left_out = first_group * local_size
    work_items = -(-n // local_size) * local_size - left_out
    kernel(device.queue, (work_items,), (local_size,), *inner, np.int32(n), global_offset=(left_out,))
    device.queue.finish()  # the copies read the whole buffers, of which the kernel wrote parts
    for whole, buffer in zip(padded, buffers):
        cl.enqueue_copy(device.queue, whole, buffer)
    outside = sum(int((margin != SENTINEL).sum()) for whole in padded for margin in (whole[:MARGIN], whole[-MARGIN:]))
    return [whole[MARGIN:-MARGIN].copy() for whole in padded], outside
