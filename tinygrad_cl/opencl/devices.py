"""OpenCL devices: what there is, what really works, and which one the course uses.

That a platform is listed proves nothing: a driver can be there and fail on every kernel (PoCL's wheel does so on
processors newer than its compiler). So a device counts only after a kernel was built on it, ran, and gave the right
numbers.
"""

import contextlib
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyopencl as cl

from tinygrad_cl.opencl.cache import private_kernel_cache

DOCTOR = "python -m tinygrad_cl doctor"

TEST_KERNEL = """
__kernel void test(__global const float *a, __global const float *b, __global float *out) {
    int i = get_global_id(0);
    out[i] = exp(a[i]) + b[i];
}
"""


class NoDeviceError(RuntimeError):
    """No OpenCL device works, or none is the one asked for; the message is one sentence."""


@dataclass(frozen=True)
class Device:
    """One OpenCL device, and what a kernel's author wants to know of it.

    name, platform   as the driver gives them
    position         "1:0", the second platform's first device: what PYOPENCL_CTX understands
    kind             "GPU", "CPU", "ACCELERATOR" or "CUSTOM"
    version, driver  the OpenCL version, "OpenCL 3.0", and the driver's own, "3.1+debian"
    fp64             whether it computes in double precision
    vector_width     how many floats it likes to take at once: 16 for AVX-512, 1 for most GPUs
    compute_units    cores of a CPU, multiprocessors of a GPU
    handle           PyOpenCL's device; None where the facts came from another process
    reason           why it was chosen; "" where none was
    """

    name: str
    platform: str
    position: str
    kind: str
    version: str
    driver: str
    fp64: bool
    vector_width: int
    compute_units: int
    handle: Any = field(repr=False, compare=False)
    reason: str = ""

    def facts(self) -> dict[str, Any]:
        """All of the above as plain data."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name != "handle"}

    @cached_property
    def context(self) -> cl.Context:
        """The PyOpenCL context, the same at every call."""
        return cl.Context([self.handle])

    @cached_property
    def queue(self) -> cl.CommandQueue:
        """The PyOpenCL command queue, in order, with profiling on (it costs nothing measurable)."""
        return cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)

    def build(self, source: str, options: Sequence[str] = ()) -> cl.Program:
        """Compile OpenCL C into a `cl.Program`, without a word on stderr: nbgrader takes a word there for a failure."""
        with warnings.catch_warnings(), silent_stderr():
            warnings.simplefilter("ignore", cl.CompilerWarning)
            return cl.Program(self.context, source).build(options=list(options))

    @property
    def is_interpreter(self) -> bool:
        """Oclgrind checks every memory access of a kernel, and is some hundred times slower than a compiler's code."""
        return "oclgrind" in self.platform.lower()


_default: Device | None = None
_default_lock = threading.Lock()


def default_device() -> Device:
    """The device the course computes on: proved by a kernel, chosen once, the same object at every call.

    TINYGRAD_CL_DEVICE (a part of a platform's or device's name) or PYOPENCL_CTX (PyOpenCL's "platform:device") choose
    it; otherwise it is the first that works, GPUs before CPUs, Oclgrind last. Raises NoDeviceError.
    """
    global _default
    with _default_lock:
        if _default is None:
            _default = choose(find_devices())
        return _default


def find_devices(platforms: Sequence[cl.Platform] | None = None) -> list[Device]:
    """Every OpenCL device there is, in the order of the platforms, working or not."""
    pin_threads()
    with private_kernel_cache(), silent_stderr():
        platforms = _platforms() if platforms is None else platforms
        return [
            _describe(handle, platform, f"{i}:{j}")
            for i, platform in enumerate(platforms)
            for j, handle in enumerate(_handles(platform))
        ]


def pin_threads(environ: MutableMapping[str, str] = os.environ) -> None:
    """Ask PoCL to keep each of its threads on a core of its own, unless the user said how they want it.

    Linux often wakes two of them on one core and takes milliseconds to part them: of kernels shorter than 0.1 ms, all
    ran on one of two cores. The threads read the variable when they start, some time after they were asked for, so it
    stays. Only where this process may use every core: thread n goes to core n, and PoCL aborts where it must not.
    """
    if hasattr(os, "sched_getaffinity") and os.sched_getaffinity(0) == set(range(os.cpu_count() or 1)):
        environ.setdefault("POCL_AFFINITY", "1")


def _platforms() -> Sequence[cl.Platform]:
    try:
        return cl.get_platforms()
    except cl.LogicError:  # the loader's way to say that there is no driver at all
        return []


def _handles(platform: cl.Platform) -> Sequence[cl.Device]:
    try:
        return platform.get_devices()
    except cl.Error:  # a driver without its hardware
        return []


def _describe(handle: cl.Device, platform: cl.Platform, position: str) -> Device:
    kinds = ["CPU", "GPU", "ACCELERATOR"]  # Oclgrind says that it is all of them
    return Device(
        name=handle.name.strip(),
        platform=platform.name.strip(),
        position=position,
        kind=next((kind for kind in kinds if handle.type & getattr(cl.device_type, kind)), "CUSTOM"),
        version=" ".join(handle.version.split()[:2]),
        driver=handle.driver_version,
        fp64="cl_khr_fp64" in handle.extensions.split(),
        vector_width=max(1, handle.preferred_vector_width_float),
        compute_units=handle.max_compute_units,
        handle=handle,
    )


def find_fault(device: Device, kernel: str = TEST_KERNEL) -> str:
    """What is wrong with the device, as one line; "" when it built and ran a kernel that gave the right numbers."""
    a = np.linspace(-3, 3, 1000, dtype=np.float32)
    b = a[::-1] + np.float32(0.5)
    try:
        with silent_stderr():
            program = device.build(kernel)
            flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
            inputs = [cl.Buffer(device.context, flags, hostbuf=array) for array in (a, b)]
            result = cl.Buffer(device.context, cl.mem_flags.WRITE_ONLY, a.nbytes)
            out = np.full_like(a, np.nan)
            program.test(device.queue, a.shape, None, *inputs, result)
            cl.enqueue_copy(device.queue, out, result)
    except cl.Error as error:
        return _cause(error)
    if not np.allclose(out, np.exp(a) + b, rtol=1e-4, atol=1e-5):
        return "a kernel ran, but gave wrong numbers"
    return ""


def _cause(error: Exception) -> str:
    """The telling line of an OpenCL error: the compiler's, where there is one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[0])


def choose(
    devices: Sequence[Device],
    environ: Mapping[str, str] = os.environ,
    find_fault: Callable[[Device], str | None] = find_fault,
) -> Device:
    """The first device that works among those that `environ` allows, with the reason; raises NoDeviceError."""
    allowed, wish = _allowed(devices, environ)
    faults: list[str] = []
    for device in sorted(allowed, key=_rank):
        fault = find_fault(device)
        if not fault:
            return replace(device, reason=_reason(device, devices, wish, faults))
        faults.append(f"{device.name} ({device.platform}): {fault}")
    if not devices:
        raise NoDeviceError(f"there is no OpenCL device here; `{DOCTOR} --install` gets one")
    failed = "; ".join(faults)
    if wish:
        raise NoDeviceError(f"the device chosen by {wish} does not work: {failed}; `{DOCTOR}` shows the others")
    raise NoDeviceError(f"no OpenCL device works here: {failed}; `{DOCTOR} --install` gets one that does")


def _allowed(devices: Sequence[Device], environ: Mapping[str, str]) -> tuple[Sequence[Device], str]:
    """The devices that the user's variables leave to choose from, and the variable in words."""
    for variable, matches in [("TINYGRAD_CL_DEVICE", _has_name), ("PYOPENCL_CTX", _has_position)]:
        wish = environ.get(variable, "").strip()
        if wish and devices:
            allowed = [device for device in devices if matches(device, wish.lower())]
            if not allowed:
                there = "; ".join(f"{device.position} {device.name} ({device.platform})" for device in devices)
                raise NoDeviceError(f"{variable}={wish} matches no OpenCL device; there is: {there}")
            return allowed, f"{variable}={wish}"
    return devices, ""


def _has_name(device: Device, wish: str) -> bool:
    return wish in device.name.lower() or wish in device.platform.lower()


def _has_position(device: Device, wish: str) -> bool:
    """PyOpenCL's "platform:device": each an index or a part of the name; the device may be left out."""
    wishes = wish.split(":")
    indices = device.position.split(":")
    names = [device.platform.lower(), device.name.lower()]
    return len(wishes) <= 2 and all(
        part == index if part.isdecimal() else part in name for part, index, name in zip(wishes, indices, names)
    )


def _rank(device: Device) -> tuple[bool, int]:
    kinds = ["GPU", "ACCELERATOR", "CPU", "CUSTOM"]
    return device.is_interpreter, kinds.index(device.kind)


def _reason(device: Device, devices: Sequence[Device], wish: str, faults: list[str]) -> str:
    if wish:
        why = f"asked for by {wish}"
    elif len(devices) == 1:
        why = "the only device"
    elif device.is_interpreter:
        why = "the last resort, an interpreter and slow"
    else:
        why = f"the first {device.kind} that works"
    passed_over = f"; passed over {'; '.join(faults)}" if faults else ""
    return f"{why}: a kernel was built, ran and gave the right numbers{passed_over}"


@contextlib.contextmanager
def silent_stderr() -> Iterator[None]:
    """Keep what drivers and compilers write to stderr, past Python, out of the reader's sight."""
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
