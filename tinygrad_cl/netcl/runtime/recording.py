"""What one call of a step enqueued: recorded, compared with another call, and replayed."""

import contextlib
from dataclasses import dataclass, replace
from functools import partial
from threading import get_ident

import pyopencl as cl

from tinygrad_cl.netcl.core.commands import Command, Launch, Transfer
from tinygrad_cl.netcl.core.device import Device, manager
from tinygrad_cl.netcl.tape.modes import state

REFUSED = {
    "read": "a captured step cannot look at numbers: to_host would be left out of the replay. "
    "Return the tensor, and read it outside",
    "write": "a captured step cannot take numbers from the host: a replay would use these again "
    "and again. Pass the array as an argument, or make the tensor before the step",
}


@dataclass(frozen=True)
class Entry:
    """One command of a recording.

    command   without its event; its operands are memory that this entry keeps
    meaning   what each operand stands for, the same in every call if the step can be replayed:
              ("made", n) for the n-th buffer that the step took, ("kept", address) for memory that
              was there before, ("number", text)
    """

    device: Device
    command: Command
    meaning: tuple

    def what(self):
        """All that is not in the operands, for a comparison."""
        command = self.command
        if isinstance(command, Launch):
            kernel = command.kernel
            return (self.device, kernel.program, kernel.name, kernel.constants, command.size, command.group)
        return self.device, type(command), getattr(command, "size", None)


class Recording:
    """The commands of one call, in the thread that makes it, and the memory that it takes.

    pools      {Device: PyOpenCL MemoryPool}: where the memory comes from; nobody else takes any
    before     the Recording of the call before, None for the first: that one alone may read and
               write, since much is made at first use

    entries    the commands, in order
    memory     {address: buffer}, what was taken. A tensor that dies in the step gives its memory to
               the next one, as ever; the recording holds it below PyOpenCL's pool, which would not
               see that it is free otherwise
    gradients  [(leaf, its gradient afterwards)] for the leaves that backward came to
    clean      leaves that had no gradient when the call began
    """

    def __init__(self, pools, before):
        self.pools, self.strict, self.thread = pools, before is not None, get_ident()
        self.entries, self.memory, self.gradients = [], {}, []
        self.clean = [leaf for leaf, _ in before.gradients if leaf.grad is None] if before else []
        self._number = {}  # address: how many buffers had been taken before the last one there
        self._taken = 0

    @contextlib.contextmanager
    def running(self):
        """`with recording.running():` — what this thread does inside is recorded."""
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
        """Make ready for replay.

        inputs, results   the tensors that the step got, and gave
        """
        self._calls, self._devices = [], {entry.device for entry in self.entries}
        self._readers = {x.buffer.int_ptr: [] for x in inputs}
        seen = {x.buffer.int_ptr for x in results}
        seen |= {gradient.buffer.int_ptr for _, gradient in self.gradients if gradient is not None}
        for number, entry in enumerate(self.entries):
            command = entry.command
            if isinstance(command, Launch):
                command = replace(command, kernel=command.kernel.twin())
                self.entries[number] = replace(entry, command=command)
            self._calls.append(command.again(entry.device.queue))
            self._find_readers(command)
        self._readers = [None if x.buffer.int_ptr in seen else self._readers[x.buffer.int_ptr] for x in inputs]
        for pool in self.pools.values():
            pool.free_held()  # to the device: nobody else takes from it, and ours is held below
        self._addresses = {buffer.int_ptr for entry in self.entries for buffer in entry.command.buffers()}

    def _find_readers(self, command):
        """Note which arguments are inputs: [(handle, index)], or None where one may be written."""
        for index, operand in enumerate(command.operands):
            address = getattr(operand, "int_ptr", None)
            if self._readers.get(address) is None:
                continue
            index += len(command.kernel.constants) if isinstance(command, Launch) else 0
            if isinstance(command, Launch) and command.kernel.only_reads(index):
                self._readers[address].append((command.kernel.handle, index))
            else:
                self._readers[address] = None

    def may_read(self, number, buffer):
        """Whether the step can read input number `number` from this buffer: it only reads it, and
        neither keeps it nor uses it in another way.
        """
        return self._readers[number] is not None and buffer.int_ptr not in self._addresses

    def replay(self, inputs):
        """Enqueue all commands again, with inputs in these buffers. RuntimeError if there is a
        gradient that there was not.
        """
        if any([leaf.grad is not None for leaf in self.clean]):
            raise RuntimeError(
                "when this step was recorded, its parameters had no gradients "
                "before, and now they have: set them to None before each call, or "
                "in the step"
            )
        for readers, buffer in zip(self._readers, inputs):
            for handle, index in readers or ():
                handle.set_arg(index, buffer)
        if any([device.watched for device in self._devices]):
            for entry, enqueue in zip(self.entries, self._calls):
                entry.device.tell(replace(entry.command, event=enqueue()))
        else:
            for enqueue in self._calls:
                enqueue()
        for leaf, gradient in self.gradients:
            leaf.grad = gradient


def difference(before, after):
    """What a call did in another way than the one before it, as a sentence; "" if nothing."""
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
