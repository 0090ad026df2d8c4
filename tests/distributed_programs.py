"""What test_netcl_distributed runs: `mpiexec -n 3 python distributed_programs.py sums learn`.

Each program asserts in every process; the first process prints what the test reads.
"""

import os
import sys

import numpy as np

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl import distributed
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.distributed.processes import communicator
from tinygrad_cl.opencl.cache import private_kernel_cache


def everywhere(value):
    """The value of each process, a list."""
    return communicator().allgather(value)


def equal(tensor):
    """Whether a tensor has the same bits in all processes."""
    return len(set(everywhere(tensor.to_host().tobytes()))) == 1


def put(array):
    return Tensor.from_host(manager.default("auto").queue, array, array.dtype)


def sums():
    """all_reduce and broadcast, held against NumPy."""
    size, me = distributed.world_size(), distributed.rank()
    assert everywhere(me) == list(range(size)) and communicator().Get_size() == size
    rng = np.random.default_rng(7)
    for shape in [(), (5,), (3, 4), (0, 2), (70, 1000)]:
        for dtype in ["float32", "int32"] + ["float64"] * manager.default("auto").has(np.dtype("float64")):
            arrays = [(rng.normal(size=shape) * 100).astype(dtype) for _ in range(2 * size)]
            x = put(arrays[me])
            assert distributed.all_reduce(x) is x
            assert np.allclose(x.to_host(), sum(arrays[:size]), rtol=1e-5, atol=1e-3) and equal(x)
            x = distributed.broadcast(put(arrays[me]), root=size - 1)
            assert np.array_equal(x.to_host(), arrays[size - 1])
            if dtype != "int32":
                x = distributed.all_reduce(put(arrays[me]), op="mean")
                assert np.allclose(x.to_host(), np.mean(arrays[:size], 0), rtol=1e-5, atol=1e-3) and equal(x)
            both = [put(arrays[me]), put(arrays[size + me])]
            distributed.all_reduce(both)
            assert np.allclose(both[0].to_host(), sum(arrays), rtol=1e-5, atol=1e-3) and equal(both[1])
    distributed.barrier()


def mistakes():
    """Calls that do not fit together raise the same error in every process, where they would wait for ever."""
    size, me = distributed.world_size(), distributed.rank()
    two, parameter = put(np.ones(2, np.float32)), Parameter.full(manager.default("auto").queue, (3,), 0)
    halfway = Parameter.full(two.queue, (3,), 0)
    halfway.grad = parameter if me == 0 else None
    refused = []
    for attempt in [
        lambda: distributed.all_reduce(parameter if me == 1 else two),
        lambda: distributed.all_reduce(two, "sum" if me else "mean"),
        lambda: distributed.barrier() if me else distributed.broadcast(two),
        lambda: distributed.all_reduce_gradients([halfway]),
        lambda: distributed.all_reduce_gradients([parameter]),
        lambda: distributed.all_reduce(two, "max"),
        lambda: distributed.broadcast(two, root=size),
    ]:
        try:
            attempt()
        except ValueError as error:
            refused.append(str(error))
    assert everywhere(refused) == [refused] * size and len(refused) == 7
    return refused


# -- a small model --------------------------------------------------------------------------------

IMAGES, TARGETS = np.random.default_rng(3).normal(size=(2, 12, 5)).astype(np.float32)
SHAPES = [(5, 7), (7,), (7, 5), (5,)]


def weights(seed):
    rng, queue = np.random.default_rng(seed), manager.default("auto").queue
    return [Parameter.from_host(queue, rng.normal(size=shape)) for shape in SHAPES]


def differentiate(parameters, images, targets, count):
    """Leave the gradients of Σ (ŷ − y)² / count, over two layers."""
    w1, b1, w2, b2 = parameters
    with ag.Tape() as tape:
        hidden = ag.tanh(ag.matmul(put(images), w1) + b1)
        loss = ag.sum(ag.square(hidden @ w2 + b2 - put(targets))) / float(count)
    for parameter in parameters:
        parameter.grad = None
    tape.backward(loss)


def learn():
    """Six steps of gradient descent in all processes are those of one process on the whole batch."""
    size, me = distributed.world_size(), distributed.rank()
    ours, alone = weights(seed=me), weights(seed=0)
    assert not equal(ours[0])
    distributed.broadcast_parameters(ours)
    frozen = Parameter.full(ours[0].queue, (2,), 1)  # no process has a gradient of it
    for step in range(6):
        rows = 12 if step % 2 else 11  # shares that are equal, and shares that are not
        shares = [distributed.shard_batch(array[:rows], size)[me] for array in (IMAGES, TARGETS)]
        even = rows % size == 0
        differentiate(ours, *shares, len(shares[0]) if even else rows)
        distributed.all_reduce_gradients([*ours, frozen], op="mean" if even else "sum")
        differentiate(alone, IMAGES[:rows], TARGETS[:rows], rows)
        for parameter, other in zip(ours, alone):
            assert np.allclose(parameter.grad.to_host(), other.grad.to_host(), rtol=1e-4, atol=1e-5)
            assert equal(parameter.grad)
            for each in (parameter, other):
                each.write(each.to_host() - 0.01 * each.grad.to_host())
    assert frozen.grad is None
    assert all(equal(parameter) for parameter in ours)


def caches():
    """Where PoCL keeps each process's kernels."""
    with private_kernel_cache():
        return everywhere(os.environ["POCL_CACHE_DIR"])


def failing():
    """One process fails, while the others wait for it."""
    distributed.init()
    if distributed.rank() == 1:
        raise LookupError("process 1 is tired")
    distributed.barrier()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        result = globals()[name]()
        if distributed.rank() == 0 and result is not None:
            print(result)
