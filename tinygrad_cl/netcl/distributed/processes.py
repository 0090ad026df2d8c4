"""The processes of one run: how many there are, and which of them this is."""

import functools
import os
import sys
import time


class Alone:
    """What is used of an MPI communicator here, for one process."""

    rank, size = 0, 1

    def allgather(self, value):
        return [value]

    def Allreduce(self, array, result):
        result[...] = array

    def Bcast(self, array, root):
        pass


def init():
    """Join the other processes; every other function here does so, too, when it comes first.

    From then on, an exception that ends one process ends all of them, where they would wait for it
    for ever. RuntimeError if mpiexec started several processes that do not find each other.

    Each computes on its own `manager.default("auto")`, the first device that works. With several
    of them, give each process its own by PYOPENCL_CTX: `mpiexec -n 1 -env PYOPENCL_CTX 0:0 python
    train.py : -n 1 -env PYOPENCL_CTX 0:1 python train.py`.
    """
    communicator()


def rank():
    """The number of this process: 0, …, world_size() − 1."""
    return communicator().rank


def world_size():
    """How many processes there are."""
    return communicator().size


def barrier():
    """Wait until every process is here."""
    agree("barrier")


def agree(mine):
    """ValueError, in every process, unless all are here with an equal value: a word for what they
    are about to do, and with what.
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
    """MPI's communicator of all processes, or Alone. It starts MPI, so importing does not."""
    started = max(int(os.environ.get(name, "1")) for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE"))
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # it is not there, or finds no MPI library
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
        time.sleep(1)  # mpiexec must have passed it on: what it has not read by then is lost
        world.Abort(1)

    sys.excepthook = show_and_end
    return world
