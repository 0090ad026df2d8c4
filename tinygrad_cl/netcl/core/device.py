"""The device that engine 3 computes on and its launch configuration. netcl's way to the queue is
`manager.default("auto").queue`.
"""

import contextlib
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyopencl as cl

from tinygrad_cl import measurements, opencl
from tinygrad_cl.netcl.core.commands import Command, Copy, Fill, Kernel, Launch, Transfer
from tinygrad_cl.netcl.core.memory import Pool
from tinygrad_cl.opencl import devices
from tinygrad_cl.opencl.devices import refuse_fork
from tinygrad_cl.opencl.programs import build

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
INT32 = np.dtype(np.int32)  # for indices


@dataclass(frozen=True)
class LaunchConfig:
    """The launch configuration for a device. Only `launch_config_for` computes it, from what the
    device reports and from what `runtime.tune` has measured on it.

    lanes          {dtype: elements per vector}; 1 if the hardware forms vectors from work-items, as
                   GPUs do
    group          work-items per work-group, a power of two; 0 lets the driver decide
    local_memory   whether local memory makes a kernel faster: it does on a GPU; on a CPU it is only
                   one more copy
    workers        number of work-items that keeps every core busy, for kernels of few, long ones
    rows, vectors  accumulators of one work-item in a matrix product: rows × vectors of `lanes`
                   elements
    near           bytes of fast memory near one core: the size of local memory; CPU drivers report
                   the size of a cache there, or less
    cache          largest result in bytes that is written through the cache: half of the cache, since
                   kernels also read; larger results use non-temporal stores, which measured faster
    packed         largest right factor of a matrix product, in bytes, that is used where it lies; of
                   a larger one each work-item copies its panel first. None: `near`
    panel          bytes of that copy, of as many rows as fit. None: half of `near`
    """

    lanes: dict[np.dtype, int]
    group: int
    local_memory: bool
    workers: int
    rows: int
    vectors: int
    near: int
    cache: float
    packed: int | None = None
    panel: int | None = None

    def spread(self, count: int) -> tuple[int, int | None]:
        """(`count` work-items rounded up so that they can be divided into groups, how many make a
        group; None: the driver decides). The kernel guards its end.
        """
        if not self.group:
            return divisible(count), None
        group = min(self.group, 1 << (count - 1).bit_length())
        return -(-count // group) * group, group


def launch_config_for(found: opencl.Device) -> LaunchConfig:
    """The launch configuration for a `tinygrad_cl.opencl.Device`: by rules, and what was measured."""
    tuned = measurements.read().get("tuned", {}).get(tuning_key(found), {}).get("settings", {})
    # Asked for its type first: a range looks for what is no integer one by one.
    measured = {
        name: tuned[name] for name, allowed in TUNED.items() if type(tuned.get(name)) is int and tuned[name] in allowed
    }
    return replace(by_rules(found), **measured)


# What is measured, and the values that it may have, whatever stands in the file.
TUNED = {"rows": range(1, 17), "vectors": range(1, 5), "packed": range(1, 2**31), "panel": range(2**10, 2**24)}
GENERATOR = 1  # raise it when the kernels of matrix products change: what was measured with others is void


def tuning_key(found: opencl.Device) -> str:
    """What is measured for a device is kept under this text."""
    return f"{found.key}, generator {GENERATOR}"


def by_rules(found: opencl.Device) -> LaunchConfig:
    """The launch configuration from what the device reports."""
    cpu, handle = found.kind == "CPU", found.handle
    # Intel's CPU driver prefers width 1, since it forms vectors from work-items itself. But a matrix
    # product in registers is thirty times as fast with the native width.
    widths = [found.vector_width, handle.native_vector_width_float if cpu else 1]
    lanes = dict.fromkeys((FLOAT32, INT32), _lanes(max(widths)))
    if found.fp64:
        widths = [handle.preferred_vector_width_double, handle.native_vector_width_double if cpu else 1]
        lanes[FLOAT64] = _lanes(max(widths))
    return LaunchConfig(
        lanes=lanes,
        group=0 if cpu else min(256, 1 << (found.handle.max_work_group_size.bit_length() - 1)),
        local_memory=not cpu,
        workers=found.compute_units * (4 if cpu else 16),
        rows=8 if lanes[FLOAT32] == 16 else 6,  # 16 of AVX-512's 32 registers, 12 of AVX's 16
        vectors=2,
        near=handle.local_mem_size,
        cache=cpu and handle.global_mem_cache_size / 2 or math.inf,  # GPUs manage their caches themselves
    )


def divisible(count):
    """`count` work-items, rounded up by at most 3 % to a number that the driver can divide into groups.
    For a prime number it makes groups of one, which took two to three times as long on PoCL. The
    kernel must ignore the extra work-items.

    >>> divisible(31), divisible(101), divisible(65_537)
    (31, 102, 65600)
    """
    unit = 1 << min(6, max(0, (count // 32).bit_length() - 1))
    return -(-count // unit) * unit


def _lanes(width):
    """The widest OpenCL C vector that is no wider than the width that the device prefers."""
    return max(lanes for lanes in (1, 2, 4, 8, 16) if lanes <= max(1, width))


class Device:
    """One OpenCL device with its queue, its memory pool, and the kernels built for it. Every
    command is enqueued through its methods, so that it can be counted, timed and recorded.

    found           the `tinygrad_cl.opencl.Device`
    pool            the memory pool of its tensors
    launch_config   its LaunchConfig; replace it before the first operation only
    specs           {(shape, dtype): TensorSpec}, filled by core.tensor
    """

    def __init__(
        self, found: opencl.Device, queue: cl.CommandQueue | None = None, launch_config: LaunchConfig | None = None
    ) -> None:
        self.found = found
        self._queue = queue or found.queue
        self.context = self._queue.context
        self.pool = Pool(self.queue, self.fill)
        self.launch_config = launch_config or launch_config_for(found)
        self.specs: dict = {}
        self._programs: dict[tuple[str, tuple[str, ...]], cl.Program] = {}
        self._watchers: tuple[Callable[[Command], object], ...] = ()

    def __repr__(self):
        return f"Device({self.found.name!r}, {self.found.kind})"

    def __deepcopy__(self, memo):
        return self  # there is only one

    def __reduce__(self):
        raise TypeError("what lies on a device has no pickle: netcl.io saves models, optimizers and tensors by name")

    @property
    def queue(self) -> cl.CommandQueue:
        """The PyOpenCL command queue. RuntimeError in a process that `opencl.devices.refuse_fork` refuses."""
        refuse_fork()
        return self._queue

    def has(self, dtype: np.dtype) -> bool:
        """Whether the device supports tensors of this NumPy dtype: float32 and int32 (for indices)
        always, float64 if the hardware does.
        """
        return dtype in self.launch_config.lanes

    def kernel(
        self,
        source: str,
        name: str,
        constants: Iterable[np.generic],
        operands: Iterable[type | None],
        options: tuple[str, ...] = (),
    ) -> Kernel:
        """A new Kernel; each source is compiled once. pyopencl.RuntimeError if it does not compile.

        constants   NumPy scalars: the first arguments, the same in every launch
        operands    for each further argument: None for a buffer, or the NumPy type of a scalar
        options     compiler options
        """
        with _building:
            program = self._programs.get((source, options))
            if program is None:
                program = self._programs[source, options] = build(
                    self.context, source, ["-cl-kernel-arg-info", *options]
                )
        return Kernel(program, name, constants, operands, source)

    def launch(
        self, kernel: Kernel, size: tuple[int, ...], group: tuple[int, ...] | None, operands: Sequence[Any]
    ) -> None:
        """Enqueue a Kernel with its further arguments: buffers and scalars.

        size, group   global and local size, tuples; group None: the driver decides
        """
        handle = kernel.handle
        handle.set_args(*kernel.constants, *operands)
        if devices.forked:  # asked here, since asking the queue would cost more
            refuse_fork()
        event = cl.enqueue_nd_range_kernel(self._queue, handle, size, group)
        if self._watchers:
            self.tell(Launch(kernel.name, tuple(operands), event, kernel, size, group))

    def fill(self, buffer: cl.Buffer, number: Any, nbytes: int) -> None:
        """Enqueue a command that fills `nbytes` of a buffer with a NumPy scalar."""
        event = cl.enqueue_fill(self.queue, buffer, number, nbytes)
        if self._watchers:
            self.tell(Fill("fill", (buffer, number), event, nbytes))

    def copy(self, target: cl.Buffer, source: cl.Buffer, nbytes: int) -> None:
        """Enqueue a copy of `nbytes` from one buffer to another."""
        event = cl.enqueue_copy(self.queue, target, source, byte_count=nbytes)
        if self._watchers:
            self.tell(Copy("copy", (target, source), event, nbytes))

    def write(self, buffer: cl.Buffer, array: np.ndarray, wait: bool = True) -> cl.Event:
        """Copy a host array into a buffer and return the event. With `wait=False` the array may be
        read after this call returns: keep the event until it completes, since it keeps the array
        alive.
        """
        event = cl.enqueue_copy(self.queue, buffer, array, is_blocking=wait)
        if self._watchers:
            self.tell(Transfer("write", (buffer,), event))
        return event

    def read(self, array: np.ndarray, buffer: cl.Buffer) -> None:
        """Copy a buffer into a host array and wait until this is done."""
        event = cl.enqueue_copy(self.queue, array, buffer)
        if self._watchers:
            self.tell(Transfer("read", (buffer,), event))

    def tell(self, command: Command) -> None:
        """Pass an enqueued Command to every watcher."""
        for watcher in self._watchers:
            watcher(command)

    @property
    def watched(self) -> bool:
        """Whether there is a watcher."""
        return bool(self._watchers)

    @contextlib.contextmanager
    def watched_by(self, watcher: Callable[[Command], object]) -> Iterator[None]:
        """`with device.watched_by(watcher):` — inside, watcher(command) is called for every
        Command right after it was enqueued, by any thread.
        """
        with _watching:
            self._watchers += (watcher,)
        try:
            yield
        finally:
            with _watching:
                self._watchers = tuple(each for each in self._watchers if each is not watcher)

    @contextlib.contextmanager
    def watch(self) -> Iterator[list[Launch]]:
        """`with device.watch() as launches:` — a list that gets a Launch for every kernel
        enqueued inside.
        """
        launches = []

        def watcher(command):
            if isinstance(command, Launch):
                launches.append(command)

        with self.watched_by(watcher):
            yield launches


_watching = threading.Lock()
_building = threading.Lock()


class Plans(threading.local):
    """`table`: what an operation caches between calls whose tensors have the same specs; one table per thread.

    A kernel object stores its arguments between launches, so two threads must not share one.
    """

    def __init__(self):
        self.table = {}


plans = Plans()


class Manager:
    """Every Device in use, one for each queue."""

    def __init__(self) -> None:
        self._devices: dict[cl.CommandQueue, Device] = {}
        self._lock = threading.Lock()

    def default(self, name: str = "auto") -> Device:
        """The default device (`tinygrad_cl.opencl.default_device`), or the first working device with
        `name` in its name, platform or kind. Raises tinygrad_cl.opencl.NoDeviceError.
        """
        if name == "auto":
            return self.use(opencl.default_device())
        wish = name.lower()
        for found in opencl.find_devices():
            if wish in f"{found.name} {found.platform} {found.kind}".lower():
                for device in self._devices.values():
                    same = device.found.position == found.position
                    if same and device._queue is device.found.queue:
                        return device
                if not opencl.find_fault(found):
                    return self.use(found)
        raise opencl.NoDeviceError(f"no OpenCL device that works has {name!r} in its name, platform or kind")

    def use(
        self, found: opencl.Device, queue: cl.CommandQueue | None = None, launch_config: LaunchConfig | None = None
    ) -> Device:
        """The Device for a `tinygrad_cl.opencl.Device`, the same object for the same queue.

        launch_config   that of another kind of device; needs a separate queue
        """
        queue = queue or found.queue
        with self._lock:
            if queue not in self._devices:
                self._devices[queue] = Device(found, queue, launch_config)
            return self._devices[queue]

    def devices(self) -> list[Device]:
        """Every Device in use, a list."""
        return list(self._devices.values())

    def of(self, queue: cl.CommandQueue) -> Device:
        """The Device of a queue; a queue that the caller created gets a new one, None is that of the default
        device. TypeError if it is no queue, ValueError if it is out of order.
        """
        if queue is None:
            return self.default()
        if not isinstance(queue, cl.CommandQueue):
            raise TypeError(
                f"a tensor lies on a queue, as manager.default().queue, or None for that one, not on {queue!r}"
            )
        device = self._devices.get(queue)
        if device is None:
            if queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
                raise ValueError("engine 3 needs a queue that works in order")
            found = next(each for each in opencl.find_devices() if each.handle == queue.device)
            device = self.use(found, queue)
        return device


manager = Manager()
