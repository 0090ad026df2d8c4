"""The processes of one run: their number, and the rank of this process."""

import functools
import os
import sys
import time


class Alone:
    """A communicator for a single process, with the part of MPI's interface that is used here."""

    rank, size = 0, 1

    def allgather(self, value):
        return [value]

    def Allreduce(self, array, result):
        result[...] = array

    def Bcast(self, array, root):
        pass


def init() -> None:
    """Connect to the other processes. Every other function here does this, too, when called first.

    From then on, an uncaught exception in one process stops all of them; otherwise they would wait
    for it forever. RuntimeError if mpiexec started several processes that cannot find each other.

    Each process computes on `manager.default("auto")`, the first device that works. If there are
    several devices, choose one for each process with PYOPENCL_CTX: `mpiexec -n 1 -env PYOPENCL_CTX 0:0 python
    train.py : -n 1 -env PYOPENCL_CTX 0:1 python train.py`.
    """
    communicator()


def rank() -> int:
    """The rank of this process: 0, …, world_size() − 1."""
    return communicator().rank


def world_size() -> int:
    """The number of processes."""
    return communicator().size


def barrier() -> None:
    """Wait until every process has called this."""
    agree("barrier")


def agree(mine):
    """ValueError in every process unless all call this with equal values. The value describes the
    next operation and its tensors.
    """
    values = communicator().allgather(mine)
    for number, value in enumerate(values):
        if value != values[0]:
            raise ValueError(
                f"process 0 is at {values[0]}, process {number} at {value}: all of "
                "them do the same, with tensors of the same shapes"
            )


@functools.cache
def communicator():
    """MPI's communicator of all processes, or Alone. The first call starts MPI; the import does not."""
    started = max(int(os.environ.get(name, "1")) for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE"))
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # it is not installed, or finds no MPI library
        if started == 1:
            return Alone()
        raise RuntimeError(
            f"this is one of {started} processes, but they cannot find each other: {error}; "
            "`pip install tinygrad-cl-course[parallel]`"
        ) from error
    world = MPI.COMM_WORLD
    if world.size < started:
        version = MPI.Get_library_version().split("\n")[0].strip("\0")
        raise RuntimeError(
            f"this is one of {started} processes, but MPI counts {world.size}: mpi4py uses "
            f"{version}, and the mpiexec that started this is another one's"
        )
    if world.size == 1:
        return Alone()
    show = sys.excepthook

    def show_and_end(*exception):
        show(*exception)
        sys.stderr.flush()
        time.sleep(1)  # give mpiexec time to forward the output: what it has not read is lost
        world.Abort(1)

    sys.excepthook = show_and_end
    return world
