"""Workers on this machine: processes that are each given one submission after another.

A worker is told what to do through a pipe, so it ends with the process that started it. One that dies costs nobody else
anything: its submission is tried once more, then given up.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait

from autograder.grading.worker import Result, Task, close, given_up, work

Job = tuple[Hashable, Task]  # a name by which the result is known, and what to do
TRIES = 2
PATIENCE = 4  # as much longer than its limit may a notebook take, with a second run and a slow machine, until its worker is ended
LOOK_SECONDS = 5.0


class Lane:
    """One worker process, and the job that it has."""

    def __init__(self):
        self.job: Job | None = None
        self.tries, self.end = 0, 0.0
        self.start()

    def start(self) -> None:
        self.connection, theirs = Pipe()
        with theirs:
            # In a session of its own ctrl-C does not reach it: it is ended by us, in order.
            self.process = subprocess.Popen(
                [sys.executable, "-m", "autograder.grading.local", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                stdin=subprocess.DEVNULL,
            )

    def give(self, job: Job) -> None:
        self.job, self.tries = job, self.tries + 1
        self.end = time.monotonic() + PATIENCE * job[1].limits.seconds
        try:
            self.connection.send(job[1])
        except OSError:  # it has died; `take` sees that
            pass

    def take(self) -> Result | None:
        """The result of its job; None where it is to be waited for, since the job is tried again."""
        try:
            return self.done(self.connection.recv())
        except (EOFError, OSError):
            return self.died()

    def died(self) -> Result | None:
        self.stop(at_once=True)
        code = self.process.returncode
        reason = f"signal {-code}" if code < 0 else f"exit code {code}"
        self.start()
        if self.tries < TRIES:
            self.give(self.job)
            return None
        return self.done(
            given_up(
                self.job[1],
                f"The grader's own process ended, {TRIES} times, on this notebook ({reason}; out of memory?).",
            )
        )

    def done(self, result: Result) -> Result:
        self.job, self.tries = None, 0
        return result

    def stop(self, at_once: bool = False) -> None:
        self.connection.close()
        if at_once:
            self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class LocalWorkers:
    """Several workers. Use it in a `with`; leaving by an exception ends them in the middle of their work."""

    def __init__(self, count: int):
        self.lanes = [Lane() for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, kind, *exception):
        for lane in self.lanes:
            if kind or lane.job:
                lane.process.terminate()  # all at once, before each is waited for
        for lane in self.lanes:
            lane.stop()

    def results(self, jobs: Iterable[Job]) -> Iterator[tuple[Hashable, Result]]:
        """(name, result) of each job, in the order in which they end. Jobs are taken when a worker is free, not before."""
        jobs, found = iter(jobs), deque()
        while True:
            for lane in self.lanes:  # first the workers get something to do, then who asked gets the results
                if lane.job is None and (job := next(jobs, None)):
                    lane.give(job)
            yield from found
            found.clear()
            busy = {lane.connection: lane for lane in self.lanes if lane.job}
            if not busy:
                return
            ready = wait(list(busy), LOOK_SECONDS)
            for connection, lane in busy.items():
                name = lane.job[0]
                if connection in ready:
                    result = lane.take()
                else:
                    result = lane.died() if time.monotonic() > lane.end else None
                if result:
                    found.append((name, result))


def serve(connection: Connection) -> None:
    """What a worker process does, until nobody is at the other end."""
    parent = os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that kernels and folders are cleaned up
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    try:
        while True:
            connection.send(work(connection.recv()))
    except (EOFError, OSError):
        pass
    finally:
        close()


def end_with(parent: int) -> None:
    """End this process when the one that started it has ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
