"""The device that engine 3 computes on, and what suits it: netcl's
`manager.default("auto").queue`.
"""

import contextlib
import math
import threading
import warnings
from dataclasses import dataclass

import numpy as np
import pyopencl as cl

from tinygrad_cl import opencl
from tinygrad_cl.netcl.core.commands import Copy, Fill, Kernel, Launch, Transfer
from tinygrad_cl.netcl.core.memory import Pool
from tinygrad_cl.opencl.devices import silent_stderr

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
INT32 = np.dtype(np.int32)  # of indices


@dataclass(frozen=True)
class Choices:
    """How kernels are shaped for a device: decided here and nowhere else, from what the device
    reports.

    lanes          {dtype: numbers per vector}; 1 where the hardware makes vectors of work-items, as
                   GPUs do
    group          work-items per group, a power of two; 0 where the driver divides better
    local_memory   whether sharing through local memory pays: it does on a GPU; on a CPU it is a
                   copy
    workers        work-items that keep every core busy in a kernel of few, long work-items
    rows, vectors  accumulators of one work-item in a matrix product: rows × vectors of `lanes`
                   numbers
    near           bytes that lie near one core: on a CPU, drivers give the size of its cache, or
                   less, for that of local memory
    cache          bytes of results that are still in the cache when somebody reads them: half of it,
                   since a kernel reads as well; measured, what is larger had better go past it
    """

    lanes: dict
    group: int
    local_memory: bool
    workers: int
    rows: int
    vectors: int
    near: int
    cache: float

    def spread(self, count):
        """(`count` work-items rounded up so that they can be divided into groups, how many make a
        group; None: the driver decides). The kernel guards its end.
        """
        if not self.group:
            return divisible(count), None
        group = min(self.group, 1 << (count - 1).bit_length())
        return -(-count // group) * group, group


def choose(found):
    """The Choices for a `tinygrad_cl.opencl.Device`."""
    cpu, handle = found.kind == "CPU", found.handle
    # Intel's driver for CPUs prefers 1, since it makes vectors of work-items itself. A matrix product
    # in registers is thirty times as fast with those the hardware has.
    widths = [found.vector_width, handle.native_vector_width_float if cpu else 1]
    lanes = dict.fromkeys((FLOAT32, INT32), _lanes(max(widths)))
    if found.fp64:
        widths = [handle.preferred_vector_width_double, handle.native_vector_width_double if cpu else 1]
        lanes[FLOAT64] = _lanes(max(widths))
    return Choices(
        lanes=lanes,
        group=0 if cpu else min(256, 1 << (found.handle.max_work_group_size.bit_length() - 1)),
        local_memory=not cpu,
        workers=found.compute_units * (4 if cpu else 16),
        rows=8 if lanes[FLOAT32] == 16 else 6,  # 16 of AVX-512's 32 registers, 12 of AVX's 16
        vectors=2,
        near=handle.local_mem_size,
        cache=cpu and handle.global_mem_cache_size / 2 or math.inf,  # GPUs see to that themselves
    )


def divisible(count):
    """So many work-items, or up to 3 % more, as a driver can divide into groups. Of a prime number
    it makes groups of one, which took two to three times as long on PoCL. The kernel guards its end.

    >>> divisible(31), divisible(101), divisible(65_537)
    (31, 102, 65600)
    """
    unit = 1 << min(6, max(0, (count // 32).bit_length() - 1))
    return -(-count // unit) * unit


def _lanes(width):
    """The largest vector of OpenCL C that is no wider than the device likes."""
    return max(lanes for lanes in (1, 2, 4, 8, 16) if lanes <= max(1, width))


class Device:
    """One OpenCL device with its queue, its memory pool, and the kernels built for it. All that is
    enqueued goes through its methods, so that it can be counted, timed and recorded.

    found    the `tinygrad_cl.opencl.Device`
    queue    the PyOpenCL command queue, in order
    pool     where tensors take their memory from
    choices  the Choices that kernels are shaped by; set other ones before the first operation only
    layouts  {(shape, dtype): Layout}, filled by core.tensor
    """

    def __init__(self, found, queue=None, choices=None):
        self.found = found
        self.queue = queue or found.queue
        self.context = self.queue.context
        self.pool = Pool(self.queue, self.fill)
        self.choices = choices or choose(found)
        self.layouts = {}
        self._programs = {}
        self._watchers = ()

    def __repr__(self):
        return f"Device({self.found.name!r}, {self.found.kind})"

    def has(self, dtype):
        """Whether the device has tensors of this NumPy dtype: float32 and int32, which holds
        indices, always; float64 where it can.
        """
        return dtype in self.choices.lanes

    def kernel(self, source, name, constants, operands, options=()):
        """A new Kernel; the program is built once for each source text. pyopencl.RuntimeError if it
        does not build.

        constants   NumPy numbers: the first arguments, the same in every launch
        operands    for each further argument None if it is a buffer, its NumPy type if it is a
                    number
        options     for the compiler
        """
        with _building:
            program = self._programs.get((source, options))
            if program is None:
                program = self._programs[source, options] = build(self.context, source, options)
        return Kernel(program, name, constants, operands, source)

    def launch(self, kernel, size, group, operands):
        """Enqueue a Kernel with its further arguments, buffers and numbers.

        size, group   numbers of work-items, in all and in each group, tuples; group None: the
                      driver's choice
        """
        handle = kernel.handle
        handle.set_args(*kernel.constants, *operands)
        event = cl.enqueue_nd_range_kernel(self.queue, handle, size, group)
        if self._watchers:
            self.tell(Launch(kernel.name, tuple(operands), event, kernel, size, group))

    def fill(self, buffer, number, nbytes):
        """Enqueue that `nbytes` of a buffer are filled with a NumPy number."""
        event = cl.enqueue_fill(self.queue, buffer, number, nbytes)
        if self._watchers:
            self.tell(Fill("fill", (buffer, number), event, nbytes))

    def copy(self, target, source, nbytes):
        """Enqueue that `nbytes` of one buffer are copied to another."""
        event = cl.enqueue_copy(self.queue, target, source, byte_count=nbytes)
        if self._watchers:
            self.tell(Copy("copy", (target, source), event, nbytes))

    def write(self, buffer, array, wait=True):
        """Copy an array of the host into a buffer. With `wait=False` it may be read later: until
        the event that is returned has come, whoever has that holds the array.
        """
        event = cl.enqueue_copy(self.queue, buffer, array, is_blocking=wait)
        if self._watchers:
            self.tell(Transfer("write", (buffer,), event))
        return event

    def read(self, array, buffer):
        """Copy a buffer into an array of the host; waits until that is done."""
        event = cl.enqueue_copy(self.queue, array, buffer)
        if self._watchers:
            self.tell(Transfer("read", (buffer,), event))

    def tell(self, command):
        """Show a Command that was enqueued to everybody who watches."""
        for watcher in self._watchers:
            watcher(command)

    @property
    def watched(self):
        """Whether anybody wants to see commands."""
        return bool(self._watchers)

    @contextlib.contextmanager
    def watched_by(self, watcher):
        """`with device.watched_by(watcher):` — inside, watcher(command) is called with every
        Command right after it was enqueued, whichever thread did so.
        """
        with _watching:
            self._watchers += (watcher,)
        try:
            yield
        finally:
            with _watching:
                self._watchers = tuple(each for each in self._watchers if each is not watcher)

    @contextlib.contextmanager
    def watch(self):
        """`with device.watch() as launches:` — a list that grows by a Launch with every kernel
        enqueued inside.
        """
        launches = []

        def watcher(command):
            if isinstance(command, Launch):
                launches.append(command)

        with self.watched_by(watcher):
            yield launches


_watching = threading.Lock()
_building = threading.Lock()  # what keeps warnings quiet is one for the whole process


def build(context, source, options):
    """Compile OpenCL C without a word on stderr: nbgrader takes a word there for a failure."""
    with warnings.catch_warnings(), silent_stderr():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        return cl.Program(context, source).build(options=["-cl-kernel-arg-info", *options])


class Plans(threading.local):
    """`table`: what an operation keeps between two calls with the same layouts; each thread has its
    own.

    A kernel holds its arguments from one launch to the next, so two threads may not share one.
    """

    def __init__(self):
        self.table = {}


plans = Plans()


class Manager:
    """Every Device in use, one for each queue."""

    def __init__(self):
        self._devices = {}
        self._lock = threading.Lock()

    def default(self, name="auto"):
        """The device of the course (`tinygrad_cl.opencl.default_device`), or with a part of a name
        or platform,
        the first that has it and works. Raises tinygrad_cl.opencl.NoDeviceError."""
        if name == "auto":
            return self.use(opencl.default_device())
        wish = name.lower()
        for found in opencl.find_devices():
            if wish in f"{found.name} {found.platform} {found.kind}".lower():
                for device in self._devices.values():
                    same = device.found.position == found.position
                    if same and device.queue is device.found.queue:
                        return device
                if not opencl.find_fault(found):
                    return self.use(found)
        raise opencl.NoDeviceError(f"no OpenCL device that works has {name!r} in its name, platform or kind")

    def use(self, found, queue=None, choices=None):
        """The Device of a `tinygrad_cl.opencl.Device`, the same at every call with the same queue.

        choices   shape kernels as for another kind of device; needs a queue of its own
        """
        queue = queue or found.queue
        with self._lock:
            if queue not in self._devices:
                self._devices[queue] = Device(found, queue, choices)
            return self._devices[queue]

    def devices(self):
        """Every Device in use, a list."""
        return list(self._devices.values())

    def of(self, queue):
        """The Device of a queue; a queue that somebody made themselves gets one. ValueError if it
        is out of order.
        """
        device = self._devices.get(queue)
        if device is None:
            if queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
                raise ValueError("engine 3 needs a queue that works in order")
            found = next(each for each in opencl.find_devices() if each.handle == queue.device)
            device = self.use(found, queue)
        return device


manager = Manager()
