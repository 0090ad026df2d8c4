"""Indices of engine 3, and what is done with them: rows of a table, parts of a tensor, masks."""

import numpy as np
import pytest

import tinygrad_cl.netcl.autograd as ag
from netcl_devices import device, exact, put  # noqa: F401 (fixtures)
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import broadcast_to, cast, elementwise_unary, permute
from tinygrad_cl.netcl.ops.indexing import index_tensor
from tinygrad_cl.netcl.ops.matmul import matmul
from tinygrad_cl.netcl.ops.reduction import reduce_max, reduce_sum


# -- tensors of indices ---------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (37,), (2, 3), (0, 3)], ids=str)
def test_indices_come_back_as_they_were_sent(shape, device):
    array = np.random.default_rng(0).integers(-2**31, 2**31, shape).astype(np.int32)
    tensor = Tensor.from_host(device.queue, array, "int32")
    assert tensor.dtype == np.int32 and tensor.to_host().dtype == np.int32
    for same in (tensor, tensor.copy(), tensor.reshape(-1).reshape(shape), permute(permute(tensor))):
        assert same.shape == shape and np.array_equal(same.to_host(), array)
    tensor.write(np.zeros(shape))
    assert not np.any(tensor.to_host())
    assert np.all(Tensor.full(device.queue, shape, -7, "int32").to_host() == -7)
    assert np.all(broadcast_to(tensor, (2, *shape)).to_host() == 0)


@pytest.mark.parametrize("bad", [0.5, np.nan, np.inf, 2**31, -2**31 - 1, 2**70], ids=str)
def test_what_is_no_index_is_named_with_its_place(bad, device):
    for data, place in [([[0, 1], [bad, bad]], r" at \[1, 0\]"), (bad, "")]:
        with pytest.raises(ValueError, match=f"{place} is no whole number that fits into int32"):
            Tensor.from_host(device.queue, data, "int32")
    with pytest.raises(ValueError, match="no whole number"):
        Tensor.full(device.queue, (3,), bad, "int32")
    assert Tensor.from_host(device.queue, [1.0, -2.0], "int32").to_host().tolist() == [1, -2]


def test_nothing_computes_with_indices(device):
    indices, other = put(device, np.arange(4, dtype=np.int32), np.ones((4, 4), np.float32))
    for compute in [lambda: elementwise_unary(indices, expression="v0 + 1"), lambda: reduce_sum(indices),
                    lambda: ag.add(other, indices), lambda: ag.tensor(indices) * 2, lambda: ag.max(indices),
                    lambda: reduce_max(indices, 0), lambda: matmul(other, indices), lambda: ag.mean(indices)]:
        with pytest.raises(TypeError, match="holds indices, not numbers to compute with: cast to float32 first"):
            compute()
    assert reduce_sum(cast(indices, "float32")).to_host() == 6
    with pytest.raises(TypeError, match="indices have no gradient"):
        ag.tensor(indices, requires_grad=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 15, 16, 17, 37])
def test_cast_goes_both_ways(size, dtype, device):
    if not device.has(np.dtype(dtype)):
        pytest.skip("no float64")
    array = np.random.default_rng(size).integers(-1000, 1000, size).astype(np.int32)
    floats = cast(put(device, array), dtype)
    assert floats.dtype == dtype and np.array_equal(floats.to_host(), array)
    back = cast(floats, "int32")
    assert back.dtype == np.int32 and np.array_equal(back.to_host(), array)
    halves = cast(put(device, (array + 0.5).astype(dtype)), "int32")
    assert np.array_equal(halves.to_host(), np.trunc(array + 0.5))


def test_index_tensor_takes_what_holds_whole_numbers(device):
    like, indices = put(device, np.ones(3, np.float32), np.array([[0, 2]], np.int32))
    assert index_tensor(indices, like) is indices
    floats = put(device, np.array([[0.0, 2.0]], np.float32))
    for x in ([[0, 2]], [[0.0, 2.0]], np.array([[0, 2]], np.uint8), floats):
        got = index_tensor(x, like, below=3)
        assert got.dtype == np.int32 and got.queue is like.queue and np.array_equal(got.to_host(), [[0, 2]])
    assert index_tensor(2, like).shape == () and index_tensor([], like, below=3).shape == (0,)


def test_index_tensor_names_the_first_index_out_of_range(device):
    like = put(device, np.ones(3, np.float32))
    for bad in (3, -1, 2**40, np.nan):
        with pytest.raises(ValueError, match=rf"{bad} at \[1, 0\] is no index here: indices go from 0 to 2".replace("+", r"\+")):
            index_tensor([[0, 1], [bad, 9]], like, below=3)
    with pytest.raises(ValueError, match="1.5 at .1. is no whole number"):
        index_tensor([0, 1.5], like, below=3)
    with pytest.raises(TypeError, match="mask of truth values is no index"):
        index_tensor(np.array([True, False]), like)
