"""Workers on this machine: processes that are each given one submission after another.

A worker gets its tasks through a pipe, so it ends with the process that started it. If it dies, its submission is tried once
more and then given up; other submissions are not affected.
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

from autograder.grading.processes import end_with
from autograder.grading.worker import Result, Task, close, given_up, work
from autograder.sandbox.folders import remove_abandoned, temporary_files_kept

Job = tuple[Hashable, Task]  # a name by which the result is known, and what to do
TRIES = 2
PATIENCE = (
    4  # a worker is ended after this many times a notebook's limit: carried-error marking and slow machines take longer
)
LOOK_SECONDS = 5.0


class Worker:
    """One worker process and its current job."""

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

    def is_late(self) -> Result:
        """Its job, given up: it would take as long once more."""
        self.stop(at_once=True)
        self.start()
        seconds = PATIENCE * self.job[1].limits.seconds
        return self.done(given_up(self.job[1], f"Judging this notebook took more than {seconds:g} s in all."))

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
        self.workers = [Worker() for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, kind, *exception):
        for worker in self.workers:
            if kind or worker.job:
                worker.process.terminate()  # all at once, before each is waited for
        for worker in self.workers:
            worker.stop()
        remove_abandoned()  # what was killed could not clean up

    def results(self, jobs: Iterable[Job]) -> Iterator[tuple[Hashable, Result]]:
        """(name, result) of each job, in the order in which they end. Jobs are taken when a worker is free, not before."""
        jobs, found = iter(jobs), deque()
        while True:
            for worker in self.workers:  # give the workers something to do before results are handed out
                if worker.job is None and (job := next(jobs, None)):
                    worker.give(job)
            yield from found
            found.clear()
            busy = {worker.connection: worker for worker in self.workers if worker.job}
            if not busy:
                return
            ready = wait(list(busy), LOOK_SECONDS)
            for connection, worker in busy.items():
                name = worker.job[0]
                if connection in ready:
                    result = worker.take()
                else:
                    result = worker.is_late() if time.monotonic() > worker.end else None
                if result:
                    found.append((name, result))


def serve(connection: Connection) -> None:
    """What a worker process does, until nobody is at the other end."""
    parent = os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that kernels and folders are cleaned up
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    try:
        with temporary_files_kept():
            while True:
                connection.send(work(connection.recv()))
    except (EOFError, OSError):
        pass
    finally:
        close()


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
