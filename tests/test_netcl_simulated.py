"""Processes played by threads, and a notebook's function in real ones."""

import time

import numpy as np
import pytest

from tinygrad_cl.netcl.distributed import launch
from tinygrad_cl.netcl.distributed.simulated import BadMessage, WaitsForEver, simulate

FACTOR = np.array([2.0, 3.0])  # goes along with the functions that use it


def scaled(array):
    return FACTOR * array


def everything(comm):
    """What each call gives, plain numbers; used in simulated processes and in real ones."""
    mine, total, later = np.array([comm.rank, 1.0]), np.empty(2), np.empty(2)
    comm.Allreduce(scaled(mine), total)
    request = comm.Iallreduce(mine, later)
    request.Wait()
    comm.Barrier()
    left = comm.sendrecv((comm.rank, mine), dest=(comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
    return (
        total.tolist(),
        later.tolist(),
        left[0],
        left[1].tolist(),
        comm.allgather(comm.rank),
        comm.Get_rank(),
        comm.Get_size(),
    )


def test_simulated_processes_say_what_real_ones_say():
    simulated, sent = simulate(everything, 3)
    assert simulated[1] == ([6, 9], [3, 3], 0, [0, 1], [0, 1, 2], 1, 3)
    assert sent[2] == [("Allreduce", 16), ("Iallreduce", 16), ("Barrier", 0), ("sendrecv", 24), ("allgather", 8)]
    if launch.find_mpiexec() is None:
        pytest.skip("mpi4py or mpiexec is not installed: pip install tinygrad-cl-course[parallel]")
    assert launch.start(everything, 3) == simulated


def test_without_mpi_it_is_said_and_simulated(monkeypatch, capsys):
    monkeypatch.setattr(launch, "find_mpiexec", lambda: None)
    assert launch.start(everything, 2) == simulate(everything, 2)[0]
    assert "pip install tinygrad-cl-course[parallel]" in capsys.readouterr().out


def failing(comm):
    if comm.rank == 1:
        raise LookupError("process 1 is tired")
    comm.Barrier()


def sleeping(comm):
    time.sleep(30)


def test_an_error_in_one_process_ends_all_of_them():
    with pytest.raises(LookupError, match="process 1 is tired"):
        simulate(failing, 3)
    if launch.find_mpiexec() is not None:
        with pytest.raises(RuntimeError, match="LookupError: process 1 is tired"):
            launch.start(failing, 2)
        with pytest.raises(RuntimeError, match="more than 1 s"):
            launch.start(sleeping, 2, timeout=1)


def test_a_function_with_variables_of_another_one_cannot_travel():
    def inner(comm):
        return capsule

    capsule = 3
    with pytest.raises(ValueError, match=r"inner uses variables .*\(capsule\): define it at the top level"):
        launch.packed(inner)


@pytest.mark.parametrize(
    "program, sentence",
    [
        (lambda comm: comm.rank == 1 or comm.Barrier(), "process 0 waits in Barrier.*process 1 has ended"),
        (lambda comm: comm.sendrecv(1, dest=0, source=1), "process 1 waits in sendrecv, for process 1"),
        (
            lambda comm: comm.Iallreduce(np.ones(1), np.empty(1)).Wait() if comm.rank else None,
            "process 1 waits in Iallreduce",
        ),
    ],
)
def test_processes_that_wait_for_ever_are_told(program, sentence):
    with pytest.raises(WaitsForEver, match=sentence):
        simulate(program, 2)


def changed(comm):
    mine, total = np.ones(2), np.empty(2)
    request = comm.Iallreduce(mine, total)
    mine[0] = comm.rank
    request.Wait()


@pytest.mark.parametrize(
    "program, sentence",
    [
        (lambda comm: comm.Allreduce(np.ones(2), np.empty(3)), "room for 3 of float64"),
        (lambda comm: comm.Allreduce(np.ones(2), np.empty(2, np.float32)), "room for 2 of float32"),
        (lambda comm: comm.Allreduce([1.0], np.empty(1)), "is an array"),
        (lambda comm: comm.Allreduce(np.ones((3, 2)).T, np.empty(6)), "in one piece"),
        (lambda comm: comm.Allreduce(*[np.ones(2)] * 2), "an array of its own"),
        (
            lambda comm: comm.Allreduce(np.ones(2 + comm.rank), np.empty(2 + comm.rank)),
            "2 numbers of float64, 3 numbers",
        ),
        (
            lambda comm: comm.Barrier() if comm.rank else comm.allgather(1),
            "calls Barrier where another one calls allgather",
        ),
        (lambda comm: comm.sendrecv(1, dest=comm.rank + 1, source=0), "there is no process 2"),
        (changed, "changed while it was being sent"),
    ],
)
def test_what_mpi_would_answer_with_garbage_is_refused(program, sentence):
    with pytest.raises(BadMessage, match=sentence):
        simulate(program, 2)


def test_what_arrives_is_nan_until_it_is_waited_for():
    def program(comm):
        total = np.zeros(2)
        request = comm.Iallreduce(np.ones(2), total)
        early = total.copy()
        request.Wait()
        return early.tolist(), total.tolist()

    for early, late in simulate(program, 2)[0]:
        assert np.isnan(early).all() and late == [2, 2]
