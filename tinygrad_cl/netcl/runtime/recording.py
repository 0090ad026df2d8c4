"""Record the commands of one call of a step, compare them with another call's, and replay them."""

import contextlib
from dataclasses import dataclass, replace
from functools import partial
from threading import get_ident

import pyopencl as cl

from tinygrad_cl.netcl.core.commands import Command, Launch, Transfer
from tinygrad_cl.netcl.core.device import Device, manager
from tinygrad_cl.netcl.core.memory import writes
from tinygrad_cl.netcl.tape.modes import state
from tinygrad_cl.opencl.devices import refuse_fork

REFUSED = {
    "read": "a captured step cannot look at numbers: to_host would be left out of the replay. "
    "Return the tensor, and read it outside",
    "write": "a captured step cannot take numbers from the host: a replay would use these again "
    "and again. Pass the array as an argument, or make the tensor before the step",
}


@dataclass(frozen=True)
class Entry:
    """One command of a recording.

    command   without its event; this entry keeps the memory of its operands alive
    meaning   the role of each operand, the same in every call if the step can be replayed:
              ("made", n) for the n-th buffer that the step allocated, ("kept", address) for memory
              from before the step, ("number", text) for a scalar
    """

    device: Device
    command: Command
    meaning: tuple

    def what(self):
        """Everything except the operands, for comparison."""
        command = self.command
        if isinstance(command, Launch):
            kernel = command.kernel
            return (self.device, kernel.program, kernel.name, kernel.constants, command.size, command.group)
        return self.device, type(command), getattr(command, "size", None)


class Recording:
    """The commands of one call, made by the thread that calls, and the memory that it allocates.

    pools      {Device: PyOpenCL MemoryPool} to allocate from; used by nothing else
    before     the Recording of the call before; None for the first call, which alone may read and
               write, since objects are created at first use

    entries    the commands, in order
    memory     {address: buffer}, the allocated memory. A tensor that is deleted in the step returns
               its memory to the pool, as always. So the recording keeps the raw buffers, below
               PyOpenCL's pool: otherwise the pool would not see that they are free
    gradients  [(leaf, its gradient afterwards)] for the leaves that backward reached
    clean      leaves that had no gradient at the start of the call
    """

    def __init__(self, pools, before):
        self.pools, self.strict, self.thread = pools, before is not None, get_ident()
        self.entries, self.memory, self.gradients = [], {}, []
        self.clean = [leaf for leaf, _ in before.gradients if leaf.grad is None] if before else []
        self._number = {}  # address: index of the latest allocation at this address
        self._taken = 0

    @contextlib.contextmanager
    def running(self):
        """`with recording.running():` — the commands of this thread are recorded inside."""
        with contextlib.ExitStack() as stack:
            for device in manager.devices():
                if device not in self.pools:
                    allocator = cl.tools.ImmediateAllocator(device.queue)
                    self.pools[device] = cl.tools.MemoryPool(allocator)
                take = partial(self._take, self.pools[device])
                stack.enter_context(device.pool.lent_by(take))
                stack.enter_context(device.watched_by(partial(self._note, device)))
            leaves = state.leaves = []
            stack.callback(setattr, state, "leaves", None)
            yield
        leaves = {id(leaf): leaf for leaf in leaves}  # each once
        self.gradients = [(leaf, leaf.grad) for leaf in leaves.values()]

    def _take(self, pool, nbytes):
        buffer = pool.allocate(nbytes)
        address = buffer.int_ptr
        if address not in self.memory:
            self.memory[address] = cl.Buffer.from_int_ptr(address)
        self._number[address] = self._taken
        self._taken += 1
        return buffer

    def _note(self, device, command):
        if get_ident() != self.thread:
            return
        if self.strict and isinstance(command, Transfer):
            raise RuntimeError(REFUSED[command.name])
        operands, meaning = [], []
        for operand in command.operands:
            if not isinstance(operand, cl.MemoryObjectHolder):
                meaning.append(("number", repr(operand)))
            elif (address := operand.int_ptr) in self.memory:
                operand = self.memory[address]
                meaning.append(("made", self._number[address]))
            else:
                meaning.append(("kept", address))
            operands.append(operand)
        command = replace(command, operands=tuple(operands), event=None)
        self.entries.append(Entry(device, command, tuple(meaning)))

    def prepare(self, inputs, results):
        """Prepare the replay.

        inputs, results   the tensors that the step took and returned
        """
        self._calls, self._devices, self._written = [], {entry.device for entry in self.entries}, set()
        self._readers = {x.buffer.int_ptr: [] for x in inputs}
        seen = {x.buffer.int_ptr for x in results}
        seen |= {gradient.buffer.int_ptr for _, gradient in self.gradients if gradient is not None}
        for number, entry in enumerate(self.entries):
            command = entry.command
            if isinstance(command, Launch):
                command = replace(command, kernel=command.kernel.clone())
                self.entries[number] = replace(entry, command=command)
            self._calls.append(command.again(entry.device.queue))
            self._find_uses(command)
        self._readers = [None if x.buffer.int_ptr in seen else self._readers[x.buffer.int_ptr] for x in inputs]
        for pool in self.pools.values():
            pool.free_held()  # release the pool's references; `memory` keeps our buffers alive
        self._addresses = {buffer.int_ptr for entry in self.entries for buffer in entry.command.buffers()}

    def _find_uses(self, command):
        """Record which buffers may be written, and which kernel arguments are inputs: [(handle, index)],
        or None if that one may be.
        """
        for index, operand in enumerate(command.operands):
            address = getattr(operand, "int_ptr", None)
            if address is None:
                continue
            index += len(command.kernel.constants) if isinstance(command, Launch) else 0
            reads = isinstance(command, Launch) and command.kernel.only_reads(index)
            if not reads and (isinstance(command, Launch) or not index):
                self._written.add(address)
            if reads and self._readers.get(address) is not None:
                self._readers[address].append((command.kernel.handle, index))
            elif address in self._readers:
                self._readers[address] = None

    def may_read(self, number, buffer):
        """Whether the step can read input number `number` directly from this buffer: the step only
        reads this input, does not return it, and does not use the buffer otherwise.
        """
        return self._readers[number] is not None and buffer.int_ptr not in self._addresses

    def replay(self, inputs):
        """Enqueue all commands again, with the inputs in these buffers. RuntimeError if a leaf has a
        gradient that had none when the step was recorded.
        """
        if any([leaf.grad is not None for leaf in self.clean]):
            raise RuntimeError(
                "when this step was recorded, its parameters had no gradients "
                "before, and now they have: set them to None before each call, or "
                "in the step"
            )
        refuse_fork()
        for readers, buffer in zip(self._readers, inputs):
            for handle, index in readers or ():
                handle.set_arg(index, buffer)
        if any([device.watched for device in self._devices]):
            for entry, enqueue in zip(self.entries, self._calls):
                entry.device.tell(replace(entry.command, event=enqueue()))
        else:
            for enqueue in self._calls:
                enqueue()
        writes.note(self._written)
        for leaf, gradient in self.gradients:
            leaf.grad = gradient


def difference(before, after):
    """The first difference between two calls, as a sentence; "" if there is none."""
    for number, (old, new) in enumerate(zip(before.entries, after.entries)):
        place = f"command {number} ({new.command.name})"
        if old.command.name != new.command.name:
            return (
                f"command {number} was {old.command.name} and then {new.command.name}, "
                "but what Python chooses is not chosen again in a replay"
            )
        if old.what() != new.what():
            return (
                f"{place} had another shape or other constants in its kernel, but what Python "
                "chooses is not chosen again in a replay"
            )
        for was, now in zip(old.meaning, new.meaning):
            if was != now and "number" in (was[0], now[0]):
                return (
                    f"{place} got the number {was[1]} and then {now[1]}: keep a number that "
                    "changes in a tensor, and write it between the calls"
                )
            if was != now:
                return (
                    f"{place} works on other memory each time, so a tensor was replaced that "
                    "the next call needs: set gradients to None in the step, and change "
                    "tensors in place"
                )
    if len(before.entries) != len(after.entries):
        return (
            f"there were {len(before.entries)} commands and then {len(after.entries)}, but "
            "what Python chooses is not chosen again in a replay"
        )
    return ""
