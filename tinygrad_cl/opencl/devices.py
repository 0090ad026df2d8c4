"""OpenCL devices: list them, test them, and choose the one that the course uses.

A listed platform need not work: a driver can be installed and fail on every kernel (PoCL's wheel does so on
processors newer than its compiler). So a device counts as working only after a kernel was built on it, ran, and gave
the right numbers.
"""

import os
import threading
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyopencl as cl

from tinygrad_cl import measurements
from tinygrad_cl.opencl.cache import private_kernel_cache
from tinygrad_cl.opencl.programs import build, silent_stderr

DOCTOR = "python -m tinygrad_cl doctor"

TEST_KERNEL = """
__kernel void test(__global const float *a, __global const float *b, __global float *out) {
    int i = get_global_id(0);
    out[i] = exp(a[i]) + b[i];
}
"""


class NoDeviceError(RuntimeError):
    """No OpenCL device works, or none matches the user's choice; the message is one sentence."""


@dataclass(frozen=True)
class Device:
    """One OpenCL device and its properties.

    name, platform   as reported by the driver
    position         "1:0" for the first device of the second platform, as in PYOPENCL_CTX
    kind             "GPU", "CPU", "ACCELERATOR" or "CUSTOM"
    version, driver  the OpenCL version, "OpenCL 3.0", and the driver's version, "3.1+debian"
    fp64             whether it supports double precision
    vector_width     preferred vector width in floats: 16 for AVX-512, 1 for most GPUs
    compute_units    cores of a CPU, multiprocessors of a GPU
    handle           PyOpenCL's device; None if the properties came from another process
    reason           why it was chosen; "" if it was not
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

    @property
    def key(self) -> str:
        """What is measured on it is kept under this text; another version of the driver has another one."""
        return f"{self.platform}, {self.name}, {self.driver}"

    def facts(self) -> dict[str, Any]:
        """All of the above except `handle`, as plain data."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name != "handle"}

    @cached_property
    def context(self) -> cl.Context:
        """The PyOpenCL context, always the same object."""
        return cl.Context([self.handle])

    @property
    def queue(self) -> cl.CommandQueue:
        """The PyOpenCL command queue, in order, with profiling on (it costs nothing measurable); always the same object.
        RuntimeError in a process that `refuse_fork` refuses.
        """
        refuse_fork()
        return self._queue

    @cached_property
    def _queue(self) -> cl.CommandQueue:
        return cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)

    def build(self, source: str, options: Sequence[str] = ()) -> cl.Program:
        """Compile OpenCL C into a `cl.Program`; pyopencl.RuntimeError if the source has an error."""
        return build(self.context, source, options)

    @property
    def is_interpreter(self) -> bool:
        """Whether this is Oclgrind, which checks every memory access and is about a hundred times slower."""
        return "oclgrind" in self.platform.lower()


started = forked = False  # whether drivers were started by this process; or by one that it was forked from


def refuse_fork() -> None:
    """RuntimeError in a process that was forked from one that had used OpenCL."""
    if forked:
        raise RuntimeError(
            "this process was forked from one that had used OpenCL, and the threads of its driver are not here, so it would"
            ' wait for ever: start processes by multiprocessing.get_context("spawn"), or use OpenCL only after the fork'
        )


def after_fork() -> None:
    global forked
    forked = started


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)


_default: Device | None = None
_default_lock = threading.Lock()


def default_device() -> Device:
    """The device that the course computes on: tested with a kernel, chosen once, then always the same object.

    The user chooses it with TINYGRAD_CL_DEVICE (a part of a platform's or device's name) or PYOPENCL_CTX (PyOpenCL's
    "platform:device"). Otherwise it is the fastest that works, if `python -m tinygrad_cl doctor` has measured all; else
    the first that works: GPUs before CPUs, Oclgrind last. Raises NoDeviceError.
    """
    global _default
    refuse_fork()
    with _default_lock:
        if _default is None:
            _default = choose(find_devices())
        return _default


def find_devices(platforms: Sequence[cl.Platform] | None = None) -> list[Device]:
    """All OpenCL devices, in the order of the platforms, working or not."""
    global started
    refuse_fork()
    started = True
    pin_threads()
    with private_kernel_cache(), silent_stderr():
        platforms = _platforms() if platforms is None else platforms
        return [
            _describe(handle, platform, f"{i}:{j}")
            for i, platform in enumerate(platforms)
            for j, handle in enumerate(_handles(platform))
        ]


def pin_threads(environ: MutableMapping[str, str] = os.environ) -> None:
    """Ask PoCL to pin each of its threads to its own core, unless the user has set POCL_AFFINITY.

    Linux often wakes two of the threads on the same core and takes milliseconds to separate them: kernels shorter than
    0.1 ms then all ran on one of two cores. The threads read the variable some time later, when they start, so it stays
    set. This is done only if the process may use every core: PoCL pins thread n to core n, and aborts if that is not
    allowed.
    """
    if hasattr(os, "sched_getaffinity") and os.sched_getaffinity(0) == set(range(os.cpu_count() or 1)):
        environ.setdefault("POCL_AFFINITY", "1")


def _platforms() -> Sequence[cl.Platform]:
    try:
        return cl.get_platforms()
    except cl.LogicError:  # the loader raises this if there is no driver at all
        return []


def _handles(platform: cl.Platform) -> Sequence[cl.Device]:
    try:
        return platform.get_devices()
    except cl.Error:  # a driver without its hardware
        return []


def _describe(handle: cl.Device, platform: cl.Platform, position: str) -> Device:
    kinds = ["CPU", "GPU", "ACCELERATOR"]  # Oclgrind reports all three
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
    """The fault of the device in one line; "" if it built and ran a kernel that gave the right numbers."""
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
    """The most useful line of an OpenCL error: the compiler's error if there is one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[0])


def choose(
    devices: Sequence[Device],
    environ: Mapping[str, str] = os.environ,
    find_fault: Callable[[Device], str | None] = find_fault,
    gflops: Mapping[str, float] | None = None,
) -> Device:
    """The best working device among those that `environ` allows, with its `reason` set. Raises NoDeviceError.

    gflops   {Device.key: what it reaches}; None: what the doctor has measured and kept. The fastest is the best. If one
             of the devices is not in it, GPUs come before CPUs, in the order of the platforms
    """
    allowed, wish = _allowed(devices, environ)
    known = measurements.read().get("gflops", {}) if gflops is None else gflops
    compared = all(device.key in known for device in allowed if not device.is_interpreter)
    faults: list[str] = []
    for device in sorted(allowed, key=lambda device: _rank(device, known if compared else {})):
        fault = find_fault(device)
        if not fault:
            return replace(device, reason=_reason(device, devices, wish, faults, compared))
        faults.append(f"{device.name} ({device.platform}): {fault}")
    if not devices:
        raise NoDeviceError(f"there is no OpenCL device here; `{DOCTOR} --install` gets one")
    failed = "; ".join(faults)
    if wish:
        raise NoDeviceError(f"the device chosen by {wish} does not work: {failed}; `{DOCTOR}` shows the others")
    raise NoDeviceError(f"no OpenCL device works here: {failed}; `{DOCTOR} --install` gets one that does")


def _allowed(devices: Sequence[Device], environ: Mapping[str, str]) -> tuple[Sequence[Device], str]:
    """The devices that the user's variables allow, and the variable that decided, as text."""
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


def _rank(device: Device, gflops: Mapping[str, float]) -> tuple[bool, float, int]:
    kinds = ["GPU", "ACCELERATOR", "CPU", "CUSTOM"]
    return device.is_interpreter, -gflops.get(device.key, 0), kinds.index(device.kind)


def _reason(device: Device, devices: Sequence[Device], wish: str, faults: list[str], compared: bool) -> str:
    if wish:
        why = f"asked for by {wish}"
    elif len(devices) == 1:
        why = "the only device"
    elif device.is_interpreter:
        why = "the last resort, an interpreter and slow"
    elif compared:
        why = "the fastest that works"
    else:
        why = f"the first {device.kind} that works"
    passed_over = f"; passed over {'; '.join(faults)}" if faults else ""
    return f"{why}: a kernel was built, ran and gave the right numbers{passed_over}"
