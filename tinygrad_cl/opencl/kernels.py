"""A student's first kernels: compile errors name the student's own line, and kernels run on NumPy arrays."""

import re
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import pyopencl as cl

from tinygrad_cl.opencl.devices import Device, default_device

MARGIN = 2**16  # elements on either side of an array: room for an index of i·64, and aligned for every device
PATIENCE = 10  # seconds for one launch; the kernels of a lesson take milliseconds
SENTINEL = 0x7FA00001  # the bits of a margin before a run, for each array the next: NaN, which any arithmetic changes


Argument: TypeAlias = np.ndarray | np.generic | int | float  # an argument of a kernel
Size: TypeAlias = int | tuple[int, ...]  # how many work-items: a number, or one for each dimension


class KernelError(Exception):
    """A kernel that does not compile, does not end, or writes outside its arrays; the message says which."""


@lru_cache(maxsize=64)  # a build takes tens of milliseconds, even from the driver's cache
def build_kernel(source: str, name: str) -> cl.Kernel:
    """The kernel `name` of an OpenCL C source, built for the default device; the same object for the same source.

    KernelError if it does not compile or has no such kernel; NotImplementedError while the source is still a stub.
    """
    if "raise NotImplementedError" in source:
        raise NotImplementedError(f"the kernel {name} is still to be written")
    try:
        program = default_device().build(source)
    except cl.RuntimeError as error:
        raise KernelError(first_error(source.rpartition("#line 1\n")[2], str(error))) from None
    names = [kernel.function_name for kernel in program.all_kernels()]
    if name not in names:
        raise KernelError(f"there is no kernel {name} in the source; it has {', '.join(names) or 'none'}")
    return cl.Kernel(program, name)


def first_error(source: str, log: str) -> str:
    """The first error of a compiler's log as one sentence, with the line of the source.

    >>> first_error("int f() {\\n  return x;\\n}", "error: /tmp/a.cl:2:10: use of undeclared identifier 'x'")
    "line 2, `return x;`: use of undeclared identifier 'x'"
    """
    lines = source.splitlines()
    for entry in log.splitlines():
        found = re.search(r":(\d+):\d+: *(?:fatal )?(?:error: *)?(.*)", entry)
        if "error" in entry and found and int(found[1]) <= len(lines):
            return f"line {found[1]}, `{lines[int(found[1]) - 1].strip()}`: {found[2]}"
    return f"the kernel did not build, and the compiler names no line: {log.strip()}"


def run_kernel(source: str, name: str, *arrays: np.ndarray, n: int, local_size: int = 64) -> list[np.ndarray]:
    """Run a kernel on the device with at least n work-items; returns the arrays after the run.

    The kernel takes a buffer for each array, then the int n. Work-items start in groups of `local_size`, so their
    number is n rounded up to whole groups. KernelError if the kernel wrote outside its arrays.
    """
    results, outside = run_guarded(source, name, *arrays, n=n, local_size=local_size)
    if outside:
        raise KernelError(
            f"the kernel {name} overwrote {outside} numbers outside its arrays; "
            "does every work-item whose number is not below n do nothing?"
        )
    return results


def run_guarded(
    source: str, name: str, *arrays: np.ndarray, n: int, local_size: int = 64, first_group: int = 0
) -> tuple[list[np.ndarray], int]:
    """Like `run_kernel`, but counts writes outside the arrays: (arrays, number of elements overwritten outside).

    Groups before `first_group` are not started, which shows the elements that only they would write.
    """
    left_out = first_group * local_size
    work_items = -(-n // local_size) * local_size - left_out
    return launch_guarded(source, name, *arrays, n, work_items=work_items, local_size=local_size, offset=left_out)


def launch(
    source: str, name: str, *arguments: Argument, work_items: Size, local_size: Size | None = None
) -> list[np.ndarray]:
    """Run a kernel once, with any arguments and up to three dimensions; returns the arrays after the run.

    arguments    the kernel's arguments in order: a float32 array for each buffer, numbers for the rest
    work_items   the global size, a number or a tuple; local_size: the size of a group (None: the driver decides)

    KernelError if the kernel wrote outside its arrays.
    """
    results, outside = launch_guarded(source, name, *arguments, work_items=work_items, local_size=local_size)
    if outside:
        raise KernelError(
            f"the kernel {name} overwrote {outside} numbers outside its arrays; "
            "does a work-item that has nothing to compute do nothing?"
        )
    return results


def launch_guarded(
    source: str, name: str, *arguments: Argument, work_items: Size, local_size: Size | None = None, offset: Size = 0
) -> tuple[list[np.ndarray], int]:
    """Like `launch`, but counts writes outside the arrays: (arrays, number of elements overwritten outside).

    A write outside an array often goes unnoticed, or crashes something else much later. Here each array lies between
    two margins, where such writes are counted and do no harm. What is read there is NaN. The arrays are float32 and
    one-dimensional. `offset` is the global id of the first work-item that is started: the kernel is told that the
    groups before it were started, too.
    """
    source = as_if_all_started(source, local_size, offset)
    arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
    refuse_misread(arrays)
    device, kernel = default_device(), build_kernel(source, name)
    padded = [between_margins(array, SENTINEL + number) for number, array in enumerate(arrays)]
    buffers = buffers_of(device.context, padded)
    inner = iter([buffer.get_sub_region(4 * MARGIN, array.nbytes) for buffer, array in zip(buffers, arrays)])
    start(
        device,
        kernel,
        [next(inner) if isinstance(argument, np.ndarray) else argument for argument in arguments],
        work_items,
        local_size,
    )
    for whole, buffer in zip(padded, buffers):  # read whole buffers, margins included
        cl.enqueue_copy(device.queue, whole, buffer)
    outside = sum(
        int((margin.view(np.uint32) != SENTINEL + number).sum())
        for number, whole in enumerate(padded)
        for margin in (whole[:MARGIN], whole[-MARGIN:])
    )
    return [whole[MARGIN:-MARGIN].copy() for whole in padded], outside


def between_margins(array: np.ndarray, bits: int) -> np.ndarray:
    """The array with a margin of such numbers on either side."""
    whole = np.full(array.size + 2 * MARGIN, bits, np.uint32)
    whole[MARGIN:-MARGIN] = array.view(np.uint32)
    return whole.view(np.float32)


def as_if_all_started(source: str, local_size: Size | None, offset: Size) -> str:
    """The source with ids and sizes as if the groups before `offset` had been started, too.

    By macros, not by OpenCL's global offset: with that, `get_group_id(0) * get_local_size(0) + get_local_id(0)`, CUDA's
    way to write `get_global_id(0)`, would be another number.
    """
    first = as_tuple(offset) or (0,)
    if not any(first):
        return source
    group = as_tuple(local_size) or (1,) * len(first)
    groups = tuple(items // size for items, size in zip(first, group))
    shifts = {"get_global_id": first, "get_global_size": first, "get_group_id": groups, "get_num_groups": groups}
    lines = [
        f"#define {name}(d) ({name}(d) + ({' : '.join(f'(d) == {i} ? {n}' for i, n in enumerate(shift))} : 0))"
        for name, shift in shifts.items()
    ]
    return "\n".join([*lines, "#line 1", source])


def kernel_seconds(
    source: str, name: str, *arguments: Argument, work_items: Size, local_size: Size | None = None, times: int = 7
) -> float:
    """Seconds of one launch by the device's own clock, the minimum of several. Arguments as for `launch`."""
    device, kernel = default_device(), build_kernel(source, name)
    buffers = iter(buffers_of(device.context, [argument for argument in arguments if isinstance(argument, np.ndarray)]))
    given = [next(buffers) if isinstance(argument, np.ndarray) else argument for argument in arguments]
    events = [start(device, kernel, given, work_items, local_size) for _ in range(times)]
    return min(event.profile.end - event.profile.start for event in events) * 1e-9


def refuse_misread(arrays: Sequence[np.ndarray]) -> None:
    wrong = [
        f"{array.dtype} of {array.ndim} dimensions" for array in arrays if array.dtype != np.float32 or array.ndim != 1
    ]
    if wrong:
        raise TypeError(f"a kernel here takes float32 arrays of one dimension, not {wrong[0]}")


def buffers_of(context: cl.Context, arrays: Sequence[np.ndarray]) -> list[cl.Buffer]:
    """A buffer for each array, with a copy of its elements."""
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    return [cl.Buffer(context, flags, hostbuf=array) for array in arrays]


def start(
    device: Device,
    kernel: cl.Kernel,
    arguments: Sequence[Argument | cl.Buffer | cl.LocalMemory],
    work_items: Size,
    local_size: Size | None,
) -> cl.Event:
    """Start a kernel, wait until it ends, and return its event. KernelError if it takes more than PATIENCE seconds."""
    global _last
    if is_busy():
        raise KernelError(
            "the device still works on a kernel that did not end; restart the notebook's kernel "
            "(menu Kernel), since only that stops it"
        )
    size, group = as_tuple(work_items), as_tuple(local_size)
    given = [
        np.int32(each) if type(each) is int else np.float32(each) if type(each) is float else each for each in arguments
    ]
    event = _last = kernel(device.queue, size, group, *given)  # type: ignore[arg-type] # pyopencl's types lack LocalMemory
    device.queue.flush()
    end = time.monotonic() + PATIENCE
    while is_busy():  # wait in Python: a wait in the driver cannot be interrupted
        if time.monotonic() > end:
            raise KernelError(
                f"the kernel {kernel.function_name} did not end in {PATIENCE} s; is there a loop in it that "
                "never ends? Restart the notebook's kernel (menu Kernel), since only that stops it"
            )
        time.sleep(2e-5)
    event.wait()
    return event


def as_tuple(size: Size | None) -> tuple[int, ...] | None:
    """A size as the tuple that OpenCL needs: 64 as (64,); None stays None."""
    return size if size is None or isinstance(size, tuple) else (size,)


_last: cl.Event | None = None  # the event of the kernel started last


def is_busy() -> bool:
    """Whether the kernel started last is still running."""
    return _last is not None and _last.command_execution_status > cl.command_execution_status.COMPLETE
