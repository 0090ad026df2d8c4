"""What a queue is asked to do: kernels, fills, copies and transfers, each with its event."""

import copy
from dataclasses import dataclass
from functools import partial

import pyopencl as cl

from tinygrad_cl.netcl.core.memory import SLACK


class Kernel:
    """A `cl.Kernel` (`handle`) and its first arguments, the same in every launch.

    program, name   where it comes from
    constants       NumPy numbers: the first arguments
    kinds           for each further argument None if it is a buffer, its NumPy type if it is a
                    number
    source          the text of the program, as far as whoever made this says it: a program that
                    was loaded from a cache knows it no more
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

    def twin(self):
        """The same with a handle of its own, so that it keeps arguments of its own."""
        twin = copy.copy(self)
        twin._make_handle()
        return twin

    def only_reads(self, index):
        """Whether argument number `index` of the handle is a pointer to const numbers."""
        try:
            qualifier = self.handle.get_arg_info(index, cl.kernel_arg_info.TYPE_QUALIFIER)
        except cl.Error:  # a driver need not know
            return False
        return bool(qualifier & cl.kernel_arg_type_qualifier.CONST)


@dataclass(frozen=True)
class Command:
    """Something that was enqueued.

    operands   the buffers and numbers that it works on
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
        """Bytes of the buffers among its operands, a little more than its tensors: what it can have
        read and written.
        """
        return sum(buffer.size - SLACK for buffer in self.buffers())

    def buffers(self):
        """The buffers among its operands, a set."""
        return {operand for operand in self.operands if isinstance(operand, cl.MemoryObjectHolder)}


@dataclass(frozen=True)
class Transfer(Command):
    """What the host did with a buffer: `name` is "write" or "read"."""


@dataclass(frozen=True)
class Launch(Command):
    """A kernel that was enqueued.

    size, group   numbers of work-items, in all and in each group, tuples; group None: the driver's
                  choice
    """

    kernel: Kernel
    size: tuple
    group: tuple | None

    def again(self, queue):
        """A function that enqueues the same again, if nobody else sets the kernel's arguments."""
        handle = self.kernel.handle
        handle.set_args(*self.kernel.constants, *self.operands)
        return partial(cl.enqueue_nd_range_kernel, queue, handle, self.size, self.group)


@dataclass(frozen=True)
class Fill(Command):
    """Memory (operand 0) that was filled with a number (operand 1): `size` bytes."""

    size: int

    def again(self, queue):
        return partial(cl.enqueue_fill, queue, *self.operands, self.size)


@dataclass(frozen=True)
class Copy(Command):
    """`size` bytes copied into one buffer (operand 0) from another (operand 1)."""

    size: int

    def again(self, queue):
        return partial(cl.enqueue_copy, queue, *self.operands, byte_count=self.size)
