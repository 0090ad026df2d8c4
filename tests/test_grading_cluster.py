"""Grading by the workers of a Dask scheduler, each in a process of its own; one of them is killed in the middle."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from autograder.errors import CourseError
from autograder.grading.cluster import Cluster
from autograder.grading.sample_class import CASES, MODULE
from autograder.grading.worker import Task
from autograder.sandbox.bubblewrap import why_not

distributed = pytest.importorskip("distributed")
DATA = {"broken": b"{", "empty": b"", "blank": None}


@pytest.fixture
def scheduler(tmp_path):
    """(address, processes of the two workers)."""
    file, processes = tmp_path / "scheduler.json", []

    def start(*arguments):
        processes.append(
            subprocess.Popen(
                [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:], "--no-dashboard"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=tmp_path,
            )
        )

    start("dask_scheduler", "--port", "0", "--scheduler-file", str(file))
    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    for _ in range(2):
        start("dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny")

    yield json.loads(file.read_text())["address"], processes[1:]
    for process in processes:
        process.kill()
        process.wait()


def test_a_worker_that_is_killed_costs_nobody_a_mark(scheduler):
    address, processes = scheduler

    data = DATA | {"blank": json.dumps(CASES["blank"].make()).encode()}
    jobs = [
        (f"{name}-{i}", Task(MODULE, data[name], "a seed", sandbox=not why_not())) for i in range(2) for name in data
    ]
    with Cluster(address) as cluster:
        cluster.client.wait_for_workers(2, timeout=60)
        results = cluster.results(jobs)
        found = dict([next(results)])
        os.kill(processes[0].pid, signal.SIGKILL)
        found |= dict(results)
    assert sorted(found) == sorted(name for name, _ in jobs)
    for name, result in found.items():
        assert not result.failure
        assert {verdict["status"] for verdict in result.verdicts.values()} == {
            "missing" if "blank" in name else "invalid"
        }


def test_without_a_scheduler_it_is_one_sentence(monkeypatch):
    monkeypatch.setattr("autograder.grading.cluster.CONNECT_SECONDS", 1)
    with pytest.raises(CourseError, match="no Dask scheduler"):
        Cluster("tcp://127.0.0.1:9")
