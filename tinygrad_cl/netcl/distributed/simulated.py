"""Simulate several MPI processes in one: threads that take turns, and messages that are counted.

An MPI program can be tried here quickly, without MPI, and with the same outcome every time. The
communicator has mpi4py's names, so the same program also runs in real processes (`launch.start`).
"""

import pickle
import threading
from collections import deque

import numpy as np


class WaitsForEver(RuntimeError):
    """A deadlock: processes wait for a call that no other process will make."""


class BadMessage(ValueError):
    """A call that MPI would reject, or that would give undefined results."""


class Abandoned(BaseException):
    """Another process has failed, so this one is stopped."""


def simulate(program, size):
    """Run program(comm) in `size` simulated processes: (results, messages), a list each.

    The messages of a process are a list with (name of the call, bytes) for each call. An error in
    one process stops all of them, and is raised here.

    >>> def program(comm):
    ...     total = np.empty(1)
    ...     comm.Allreduce(np.array([comm.rank + 1.0]), total)
    ...     return total.item()
    >>> simulate(program, 3)
    ([6.0, 6.0, 6.0], [[('Allreduce', 8)], [('Allreduce', 8)], [('Allreduce', 8)]])
    """
    world = World(size)
    processes = [SimulatedComm(world, rank) for rank in range(size)]
    results = [None] * size

    def run(comm):
        try:
            world.wait_for_turn(comm.rank)
            results[comm.rank] = program(comm)
            world.end(comm.rank)
        except Abandoned:
            pass
        except BaseException as error:
            world.fail(error)

    threads = [threading.Thread(target=run, args=(comm,), daemon=True) for comm in processes]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        world.fail(Abandoned())  # needed if join was interrupted
    if not isinstance(world.failure, Abandoned):
        raise world.failure
    return results, [comm.sent for comm in processes]


class World:
    """The state that the processes share. Only one runs at a time, until it has to wait: no races."""

    def __init__(self, size):
        self.size = size
        self.turn = 0
        self.waiting = {}  # process: (a function that says whether it can go on, what it waits for)
        self.ended = set()
        self.failure = None
        self.meetings = []  # each collective call: (its name, {process: the value that it sends})
        self.letters = {}  # (from, to): messages sent and not yet received
        self.changed = threading.Condition()

    def wait_for_turn(self, rank):
        with self.changed:
            self.changed.wait_for(lambda: self.turn == rank or self.failure is not None)
            if self.failure is not None:
                raise Abandoned

    def wait_until(self, rank, ready, what):
        """Let the other processes run until ready() is true."""
        if not ready():
            self.waiting[rank] = ready, what
            self.pass_on(rank)
            self.wait_for_turn(rank)
            del self.waiting[rank]

    def pass_on(self, rank):
        """Let the next process run that can continue. WaitsForEver if there is none."""
        others = [(rank + step) % self.size for step in range(1, self.size + 1)]
        able = [
            other
            for other in others
            if other not in self.ended and (other not in self.waiting or self.waiting[other][0]())
        ]
        if able:
            with self.changed:
                self.turn = able[0]
                self.changed.notify_all()
        elif len(self.ended) < self.size:
            said = [
                f"process {rank} " + ("has ended" if rank in self.ended else f"waits in {self.waiting[rank][1]}")
                for rank in range(self.size)
            ]
            raise WaitsForEver("; ".join(said))

    def end(self, rank):
        self.ended.add(rank)
        self.pass_on(rank)

    def fail(self, error):
        with self.changed:
            if self.failure is None:
                self.failure = error
            self.changed.notify_all()


class SimulatedComm:
    """A communicator with the part of mpi4py's interface that is used here.

    rank, size   the rank of this process, and the number of processes
    sent         its messages: (name of the call, bytes) for each call
    """

    def __init__(self, world, rank):
        self.rank, self.size = rank, world.size
        self.sent = []
        self.world = world
        self.calls = 0  # collective calls so far: the n-th calls of all processes belong together

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return self.size

    def Allreduce(self, send, receive):
        """Write the sum of the arrays `send` of all processes into the array `receive`."""
        self.started("Allreduce", send, receive).Wait()

    def Iallreduce(self, send, receive):
        """Start an Allreduce and return a Request at once. `receive` holds the sum after its Wait();
        do not use either array before.
        """
        return self.started("Iallreduce", send, receive)

    def started(self, name, send, receive):
        for array, what in ((send, "sent"), (receive, "received")):
            if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
                raise BadMessage(
                    f"what is {what} by {name} is an array whose numbers lie in one "
                    f"piece, not {type(array).__name__}: np.ascontiguousarray helps"
                )
        if np.may_share_memory(send, receive):
            raise BadMessage(f"{name} needs an array of its own for the result")
        if (send.size, send.dtype) != (receive.size, receive.dtype):
            raise BadMessage(
                f"{name} sends {send.size} numbers of {send.dtype}, but there is room "
                f"for {receive.size} of {receive.dtype}"
            )
        number = self.meet(name, send.copy(), send.nbytes)
        if receive.dtype.kind == "f":
            receive.fill(np.nan)  # so that reading it too early shows
        return Request(self, number, send, receive)

    def allgather(self, thing):
        """A list with the value that each process sends."""
        number = self.meet("allgather", pickle.dumps(thing), bytes_of(thing))
        return [pickle.loads(brought) for brought in self.everything(number)]

    def Barrier(self):
        """Wait until every process has called this."""
        self.everything(self.meet("Barrier", None, 0))

    def sendrecv(self, thing, dest, sendtag=0, recvbuf=None, source=None):
        """Send `thing` to process `dest` and return what process `source` sends to this one."""
        for number in (dest, source):
            if number not in range(self.size):
                raise BadMessage(
                    f"there is no process {number}: dest=… and source=… are 0 to "
                    f"{self.size - 1}, and after the last comes the first"
                )
        self.sent.append(("sendrecv", bytes_of(thing)))
        self.world.letters.setdefault((self.rank, dest), deque()).append(pickle.dumps(thing))
        box = self.world.letters.setdefault((source, self.rank), deque())
        self.world.wait_until(self.rank, lambda: bool(box), f"sendrecv, for process {source}")
        return pickle.loads(box.popleft())

    def meet(self, name, brought, nbytes):
        """Send a value to the next collective call; returns the number of that call."""
        number, meetings = self.calls, self.world.meetings
        self.calls += 1
        self.sent.append((name, nbytes))
        if number == len(meetings):
            meetings.append((name, {}))
        if meetings[number][0] != name:
            raise BadMessage(f"process {self.rank} calls {name} where another one calls {meetings[number][0]}")
        meetings[number][1][self.rank] = brought
        return number

    def everything(self, number):
        """Wait for all processes; the values that they sent to a collective call."""
        name, brought = self.world.meetings[number]
        self.world.wait_until(
            self.rank, lambda: len(brought) == self.size, f"{name}, its collective call number {number + 1}"
        )
        return [brought[rank] for rank in range(self.size)]


class Request:
    """An Allreduce in progress."""

    def __init__(self, comm, number, send, receive):
        self.comm, self.number, self.send, self.receive = comm, number, send, receive

    def Wait(self):
        """Wait until it is done; then `receive` holds the sum."""
        arrays = self.comm.everything(self.number)
        if not np.array_equal(self.send, arrays[self.comm.rank], equal_nan=True):
            raise BadMessage("the array was changed while it was being sent: leave it alone until Wait()")
        if len({(array.size, array.dtype) for array in arrays}) > 1:
            raise BadMessage(
                "the processes send " + ", ".join(f"{array.size} numbers of {array.dtype}" for array in arrays)
            )
        self.receive[...] = sum(array.ravel() for array in arrays).reshape(self.receive.shape)

    wait = Wait


def bytes_of(thing):
    """The bytes of the elements in a message, without any overhead."""
    if isinstance(thing, (list, tuple)):
        return sum(map(bytes_of, thing))
    if isinstance(thing, dict):
        return bytes_of(list(thing.values()))
    return 0 if thing is None else np.asarray(thing).nbytes
