"""The commands of a queue: kernel launches, fills, copies and transfers, each with its event."""

import copy
from dataclasses import dataclass
from functools import partial

import pyopencl as cl

from tinygrad_cl.netcl.core.memory import SLACK


class Kernel:
    """A `cl.Kernel` (`handle`) with its first arguments, which are the same in every launch.

    program, name   the program, and the name of the kernel in it
    constants       NumPy scalars: the first arguments
    kinds           for each further argument: None for a buffer, or the NumPy type of a scalar
    source          the source of the program if the caller gives it; a program that was loaded
                    from a cache does not store it
    """

    __slots__ = ("program", "name", "kinds", "source", "handle", "types", "constants")

    def __init__(self, program, name, constants, kinds, source=""):
        self.program, self.name, self.kinds, self.source = program, name, kinds, source
        self.types = tuple(map(type, constants))
        self.constants = tuple(constant.item() for constant in constants)
        self._make_handle()

    def _make_handle(self):
        self.handle = cl.Kernel(self.program, self.name)
        self.handle.set_scalar_arg_dtypes([*self.types, *self.kinds])

    def clone(self):
        """A clone with its own handle, so with its own arguments."""
        clone = copy.copy(self)
        clone._make_handle()
        return clone

    def only_reads(self, index):
        """Whether argument number `index` of the handle is a pointer to const."""
        try:
            qualifier = self.handle.get_arg_info(index, cl.kernel_arg_info.TYPE_QUALIFIER)
        except cl.Error:  # drivers need not support this query
            return False
        return bool(qualifier & cl.kernel_arg_type_qualifier.CONST)


@dataclass(frozen=True)
class Command:
    """A command that was enqueued.

    operands   its buffers and scalars
    event      PyOpenCL's; None in a recording
    """

    name: str
    operands: tuple
    event: cl.Event | None

    @property
    def seconds(self):
        """How long it ran on the device; waits until it has finished."""
        self.event.wait()
        return (self.event.profile.end - self.event.profile.start) * 1e-9

    @property
    def nbytes(self):
        """Bytes of the buffers among its operands, an upper bound of what it read and wrote. Slightly
        more than the bytes of its tensors.
        """
        return sum(buffer.size - SLACK for buffer in self.buffers())

    def buffers(self):
        """The buffers among its operands, a set."""
        return {operand for operand in self.operands if isinstance(operand, cl.MemoryObjectHolder)}


@dataclass(frozen=True)
class Transfer(Command):
    """A transfer between host and buffer: `name` is "write" or "read"."""


@dataclass(frozen=True)
class Launch(Command):
    """A kernel launch.

    size, group   global and local size, tuples; group None: the driver decides
    """

    kernel: Kernel
    size: tuple
    group: tuple | None

    def again(self, queue):
        """A function that enqueues the same launch again. It is valid only while nothing else sets the
        kernel's arguments.
        """
        handle = self.kernel.handle
        handle.set_args(*self.kernel.constants, *self.operands)
        return partial(cl.enqueue_nd_range_kernel, queue, handle, self.size, self.group)


@dataclass(frozen=True)
class Fill(Command):
    """A fill of `size` bytes of memory (operand 0) with a scalar (operand 1)."""

    size: int

    def again(self, queue):
        return partial(cl.enqueue_fill, queue, *self.operands, self.size)


@dataclass(frozen=True)
class Copy(Command):
    """A copy of `size` bytes into one buffer (operand 0) from another (operand 1)."""

    size: int

    def again(self, queue):
        return partial(cl.enqueue_copy, queue, *self.operands, byte_count=self.size)
