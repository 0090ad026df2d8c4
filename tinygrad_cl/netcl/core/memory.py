"""Device memory that is used again: a freed buffer goes to a pool, and the next tensor takes it
from there.
"""

import contextlib
from threading import get_ident

import numpy as np
import pyopencl as cl

SLACK = 128  # bytes behind every tensor that a kernel may read (two vectors), but never write
NAN = np.uint8(255)  # a float32 or float64 whose bytes are all 255 is NaN


class Pool:
    """Buffers for the tensors of one queue; `fill(buffer, number, nbytes)` enqueues that.

    The queue works in order, so a buffer may be handed on while an earlier kernel still reads it:
    what the
    new owner enqueues runs later. A buffer returns to the pool when the last tensor that uses it is
    gone.

    poison   fill every buffer with NaN before it is handed out, so that a kernel that reads what
             nobody
             wrote shows it in its result; slow, for tests
    """

    def __init__(self, queue, fill):
        self.queue = queue
        self.poison = False
        self._fill = fill
        self._lenders = {}
        self._pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(queue))

    def allocate(self, nbytes):
        """A buffer of `nbytes` and the slack behind them; what it holds is undefined."""
        nbytes += SLACK
        lend = self._lenders.get(get_ident()) if self._lenders else None
        buffer = lend(nbytes) if lend else self._pool.allocate(nbytes)
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
        """`with pool.poisoned():` — poison inside, and as before afterwards."""
        before, self.poison = self.poison, True
        try:
            yield self
        finally:
            self.poison = before

    def held_bytes(self):
        """Bytes that the device has given to this pool, in use or waiting."""
        return self._pool.managed_bytes

    def used_bytes(self):
        """Bytes in buffers that some tensor uses, the slack included."""
        return self._pool.active_bytes

    def free_held(self):
        """Give back to the device what no tensor uses."""
        self._pool.free_held()
