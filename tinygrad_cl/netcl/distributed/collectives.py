"""Collective operations: sums over all processes, and copies from one process to all."""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.distributed.processes import agree, communicator

T = TypeVar("T", bound=Tensor)
Replicas = TypeVar("Replicas", Tensor, Sequence[Tensor])


def all_reduce(tensors: Replicas, op: Literal["sum", "mean"] = "sum") -> Replicas:
    """Replace a tensor by its elementwise sum, or mean, over all processes, and return it.

    tensors   a Tensor; or, as in netcl, a list of replicas within this process, for example one on
              each device: then the sum is over all replicas of all processes
    op        "sum" or "mean"

    Here and below, every process must make the same call with tensors of the same shapes;
    otherwise every process raises ValueError.
    """
    replicas = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    agree(("all_reduce", op, kinds(replicas)))
    check(op)
    if len(replicas) * communicator().size > 1:
        here = sum(replica.to_host() for replica in replicas)
        (result,) = reduced([here], op, len(replicas))
        for replica in replicas:
            replica.write(result)
    return tensors


def all_reduce_gradients(parameters: Iterable[Tensor], op: Literal["sum", "mean"] = "mean") -> None:
    """Replace each parameter's gradient by its sum, or mean, over all processes; one message for
    all parameters.

    If each loss is the mean over an equal share of a batch, the mean of the gradients is the gradient
    of the whole batch. For unequal shares, divide each loss by the size of the whole batch and use
    "sum".

    Parameters without a gradient are left out; they must have none in every process.
    ValueError if there is no gradient at all.
    """
    gradients = [parameter.grad for parameter in parameters]
    agree(("all_reduce_gradients", op, kinds(gradients)))
    check(op)
    given = [grad for grad in gradients if grad is not None]
    if not given:
        raise ValueError("no parameter has a gradient: call backward first")
    if communicator().size > 1:
        for grad, result in zip(given, reduced([grad.to_host() for grad in given], op)):
            grad.write(result)


def broadcast(tensor: T, root: int = 0) -> T:
    """Overwrite a tensor with its values in process `root`, and return it."""
    broadcast_parameters([tensor], root)
    return tensor


def broadcast_parameters(parameters: Iterable[Tensor], root: int = 0) -> None:
    """`broadcast` for several tensors in one message: every process starts with equal weights."""
    parameters = list(parameters)
    agree(("broadcast", root, kinds(parameters)))
    if not 0 <= root < communicator().size:
        raise ValueError(f"there is no process {root}: they are 0 to {communicator().size - 1}")
    if parameters and communicator().size > 1:
        arrays = [parameter.to_host() for parameter in parameters]
        flat = flattened(arrays)
        communicator().Bcast(flat, root)
        for parameter, array in zip(parameters, parted(flat, arrays)):
            parameter.write(array)


def shard_batch(x: ArrayLike, num_shards: int) -> list[np.ndarray]:
    """Split the rows of an array into `num_shards` parts of almost equal length, a list. Process
    `rank()` takes `shard_batch(x, world_size())[rank()]`.
    """
    return np.array_split(x, num_shards)


def kinds(tensors):
    """Shape and dtype of each tensor, or None. Equal lists mean messages of equal length."""
    return [None if tensor is None else (tensor.shape, str(tensor.dtype)) for tensor in tensors]


def check(op):
    if op not in ("sum", "mean"):
        raise ValueError(f"op is 'sum' or 'mean', not {op!r}")


def reduced(arrays, op, replicas=1):
    """The sum or mean of each array over all processes, in one message."""
    flat = flattened(arrays)
    result = np.empty_like(flat)
    communicator().Allreduce(flat, result)
    if op == "mean":
        result = result / (replicas * communicator().size)
    return parted(result, arrays)


def flattened(arrays):
    """The elements of all arrays in one vector."""
    return np.concatenate([array.ravel() for array in arrays])


def parted(flat, arrays):
    """The inverse of `flattened`: one array for each of `arrays`, with its shape."""
    ends = np.cumsum([array.size for array in arrays])
    return [part.reshape(array.shape) for part, array in zip(np.split(flat, ends[:-1]), arrays)]
