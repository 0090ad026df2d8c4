"""Several processes: real ones, started by mpiexec, and one alone."""

import ast
import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import types
from pathlib import Path

import numpy as np
import pytest
from netcl_devices import put

from tinygrad_cl.netcl import distributed
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.distributed import processes

PROGRAMS = Path(__file__).parent / "distributed_programs.py"
# Open MPI refuses to work for root, and to start more processes than there are cores, unless told so.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


@functools.cache
def mpiexec():
    """The mpiexec that belongs to this Python, or why there is none."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed: pip install tinygrad-cl-course[parallel]")
    program = shutil.which("mpiexec", path=f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        pytest.skip("there is no mpiexec: pip install tinygrad-cl-course[parallel]")
    return program


def run(size, *programs, **environment):
    """Run programs of distributed_programs.py in `size` processes."""
    return subprocess.run(
        [mpiexec(), "-n", str(size), sys.executable, PROGRAMS, *programs],
        text=True,
        capture_output=True,
        timeout=300,
        env=os.environ | OPEN_MPI | environment,
    )


@pytest.mark.parametrize("size", [2, 3])
def test_several_processes_compute_what_one_does_each_with_a_kernel_cache_of_its_own(size):
    finished = run(size, "sums", "learn", "mistakes", "caches")
    assert finished.returncode == 0, finished.stderr
    refused, caches = map(ast.literal_eval, finished.stdout.splitlines())
    shapes, ops, calls, gradients, *others = refused
    assert (
        "process 0 is at ('all_reduce', 'sum', [((2,), 'float32')]), "
        "process 1 at ('all_reduce', 'sum', [((3,), 'float32')])" in shapes
    )
    assert "'mean'" in ops and "'sum'" in ops
    assert "process 0 is at ('broadcast', 0, [((2,), 'float32')]), process 1 at barrier" in calls
    assert "[((3,), 'float32')]), process 1 at ('all_reduce_gradients', 'mean', [None])" in gradients
    assert others == [
        "no parameter has a gradient: call backward first",
        "op is 'sum' or 'mean', not 'max'",
        f"there is no process {size}: they are 0 to {size - 1}",
    ]
    assert len(set(caches)) == size


def test_an_exception_ends_all_processes():
    """Without that, the others would wait for ever."""
    finished = run(2, "failing")
    assert finished.returncode != 0 and "LookupError: process 1 is tired" in finished.stderr


def test_importing_does_not_start_mpi():
    program = "import tinygrad_cl.netcl.distributed, sys; sys.exit('mpi4py' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


# -- one process ----------------------------------------------------------------------------------


@pytest.fixture
def found(monkeypatch):
    """found(mpi4py, **environment): look for the other processes with this in the place of mpi4py."""

    def look(mpi4py, **environment):
        processes.communicator.cache_clear()
        monkeypatch.setitem(sys.modules, "mpi4py", mpi4py)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        distributed.init()

    yield look
    processes.communicator.cache_clear()


def mpi(size, version="MPICH Version: 5\nand more"):
    """An mpi4py in which `size` processes have found each other."""
    world = types.SimpleNamespace(rank=0, size=size)
    return types.SimpleNamespace(MPI=types.SimpleNamespace(COMM_WORLD=world, Get_library_version=lambda: version))


def test_alone_every_sum_is_its_own_and_costs_nothing(device, found):
    for absent in (None, mpi(1)):  # None: as if it were not installed
        found(absent)
        assert (distributed.rank(), distributed.world_size()) == (0, 1)
        x, parameter = put(device, np.arange(3, dtype=np.float32)), Parameter.full(device.queue, (2,), 1)
        parameter.grad = put(device, np.ones(2, np.float32))
        commands = []
        with device.watched_by(commands.append):
            assert distributed.all_reduce(x) is x and distributed.broadcast(x) is x
            distributed.all_reduce(x, "mean")
            distributed.all_reduce_gradients([parameter])
            distributed.broadcast_parameters([parameter])
            distributed.barrier()
        assert commands == [] and x.to_host().tolist() == [0, 1, 2]
        for wrong in [lambda: distributed.all_reduce(x, "max"), lambda: distributed.broadcast(x, root=1)]:
            with pytest.raises(ValueError):
                wrong()


@pytest.mark.parametrize("op, expected", [("sum", [6.0, 9.0]), ("mean", [2.0, 3.0])])
def test_replicas_in_one_process_are_reduced_as_in_netcl(device, found, op, expected):
    found(None)
    replicas = [put(device, np.array([number, number + 1], np.float32)) for number in (1, 2, 3)]
    assert distributed.all_reduce(replicas, op) is replicas
    assert [replica.to_host().tolist() for replica in replicas] == [expected] * 3
    assert distributed.all_reduce([]) == []


def test_a_batch_is_shared_out_as_in_netcl():
    parts = distributed.shard_batch(np.arange(7), 3)
    assert [part.tolist() for part in parts] == [[0, 1, 2], [3, 4], [5, 6]]


def test_processes_that_do_not_find_each_other_say_so(found):
    """Otherwise each would train alone, without a word."""
    with pytest.raises(RuntimeError, match=r"one of 4 processes, .*`pip install tinygrad-cl-course\[parallel\]`"):
        found(None, PMI_SIZE="4")
    with pytest.raises(RuntimeError, match="one of 4 processes, but MPI counts 1: mpi4py uses MPICH Version: 5, and"):
        found(mpi(1), OMPI_COMM_WORLD_SIZE="4")
