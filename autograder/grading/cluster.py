"""Workers on other machines: those of a Dask scheduler. Each grades in a process of its own, and needs only the course installed."""

import threading
from collections.abc import Iterable, Iterator

from autograder.errors import CourseError
from autograder.grading.local import Job, LocalWorkers
from autograder.grading.worker import Result, Task, given_up

CONNECT_SECONDS = 20
OWN = threading.local()


def work_there(task: Task) -> Result:
    """On a Dask worker: grade in a process that stays for the next one. There, signals stop what takes too long."""
    if not hasattr(OWN, "workers"):
        OWN.workers = LocalWorkers(1)
    return next(OWN.workers.results([("", task)]))[1]


class Cluster:
    """The workers of a Dask scheduler, as LocalWorkers."""

    def __init__(self, address: str):
        try:
            from distributed import Client
        except ImportError:
            raise CourseError("--scheduler needs Dask: pip install 'tinygrad-cl-course[cluster]'") from None
        try:
            self.client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
            self.client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except (OSError, ValueError, TimeoutError) as error:
            raise CourseError(
                f"There is no Dask scheduler with workers at {address} ({error}); start them with `dask scheduler` "
                "and `dask worker ADDRESS --nthreads 1 --nworkers 4`"
            ) from None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.client.close()  # what is not done yet is forgotten with it

    def results(self, jobs: Iterable[Job]) -> Iterator[tuple[object, Result]]:
        """(name, result) of each job, in the order in which they end. No more are sent than there are threads."""
        from distributed import as_completed

        jobs, running, done = iter(jobs), {}, as_completed(loop=self.client.loop)
        while True:
            threads = sum(self.client.nthreads().values())
            while len(running) < max(threads, 1) and (job := next(jobs, None)):
                future = self.client.submit(work_there, job[1], pure=False)
                running[future.key] = job
                done.add(future)
            if not running:
                return
            future = next(done)
            name, task = running.pop(future.key)
            yield name, result_of(future, task)


def result_of(future, task: Task) -> Result:
    """What a worker handed back; crashed, where the workers that had it ended, as often as the scheduler tries."""
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker as error:
        return given_up(task, f"The workers that had this notebook ended ({error}).")
    except Exception as error:
        return Result(failure=f"the worker failed: {type(error).__name__}: {error}")
