"""Device memory is pooled: a freed buffer returns to the pool, and a later tensor reuses it."""

import contextlib
from threading import Lock, get_ident

import numpy as np
import pyopencl as cl

SLACK = 128  # padding in bytes after every tensor; a kernel may read it (two vectors), never write it
NAN = np.uint8(255)  # a float32 or float64 whose bytes are all 255 is NaN


class Writes:
    """When memory was last written in place, by a clock that each such write moves on.

    time   how many writes there have been
    """

    def __init__(self):
        self.time, self._last, self._lock = 0, {}, Lock()

    def note(self, addresses):
        """The buffers with these addresses (`int_ptr`) were written just now."""
        with self._lock:
            self.time += 1
            self._last.update(dict.fromkeys(addresses, self.time))

    def since(self, time, buffer):
        """Whether a buffer was written after this time; its memory must have been in use all the while."""
        return self._last.get(buffer.int_ptr, 0) > time


writes = Writes()


class Pool:
    """The buffers for the tensors of one queue; `fill(buffer, number, nbytes)` enqueues a fill.

    The queue runs in order, so a buffer may be reused while an earlier kernel still reads it: the
    commands of the new owner run later. A buffer returns to the pool when the last tensor that uses
    it is deleted.

    poison   fill every buffer with NaN before use, so that a kernel that reads uninitialized memory
             gives NaN; slow, for tests
    """

    def __init__(self, queue, fill):
        self.queue = queue
        self.poison = False
        self._fill = fill
        self._lenders = {}
        self._pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(queue))

    def allocate(self, nbytes):
        """A buffer of `nbytes` plus the padding SLACK, uninitialized. MemoryError if there is no room."""
        nbytes += SLACK
        lend = self._lenders.get(get_ident()) if self._lenders else None
        try:
            buffer = lend(nbytes) if lend else self._pool.allocate(nbytes)
        except (cl.Error, TypeError):  # PyOpenCL's TypeError: more bytes than a number of C counts
            raise MemoryError(f"the device has no room for {nbytes:,} bytes in one piece") from None
        if self.poison:
            self._fill(buffer, NAN, nbytes)
        return buffer

    @contextlib.contextmanager
    def lent_by(self, lend):
        """`with pool.lent_by(lend):` — inside, this thread gets its buffers from `lend(nbytes)`."""
        thread = get_ident()
        self._lenders[thread] = lend
        try:
            yield
        finally:
            del self._lenders[thread]

    @contextlib.contextmanager
    def poisoned(self):
        """`with pool.poisoned():` — `poison` is set inside, and restored afterwards."""
        before, self.poison = self.poison, True
        try:
            yield self
        finally:
            self.poison = before

    def held_bytes(self):
        """Bytes that this pool has allocated on the device, in use or free."""
        return self._pool.managed_bytes

    def used_bytes(self):
        """Bytes in buffers that tensors use, padding included."""
        return self._pool.active_bytes

    def free_held(self):
        """Release the free buffers to the device."""
        self._pool.free_held()
