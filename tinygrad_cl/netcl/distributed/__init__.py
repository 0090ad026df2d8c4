"""Training with several processes, started by `mpiexec -n 4 python train.py`: each computes
the gradients of its share of a batch, and the gradients are summed over all processes.

A single process needs neither mpiexec nor mpi4py: each sum then has one term. Install mpi4py and an
MPI with `pip install tinygrad-cl-course[parallel]`.
"""

from tinygrad_cl.netcl.distributed.collectives import (
    all_reduce,
    all_reduce_gradients,
    broadcast,
    broadcast_parameters,
    shard_batch,
)
from tinygrad_cl.netcl.distributed.processes import barrier, init, rank, world_size

__all__ = [
    "all_reduce",
    "all_reduce_gradients",
    "barrier",
    "broadcast",
    "broadcast_parameters",
    "init",
    "rank",
    "shard_batch",
    "world_size",
]
