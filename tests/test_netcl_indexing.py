"""Indices of engine 3, and what is done with them: rows of a table, parts of a tensor, masks."""

import gc
import weakref

import numpy as np
import pytest
from netcl_devices import behind, close, devices, put

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.nn import Embedding
from tinygrad_cl.netcl.ops.elementwise import broadcast_to, cast, elementwise_unary, permute
from tinygrad_cl.netcl.ops.indexing import Part, concatenate, index_select, index_select_backward, index_tensor
from tinygrad_cl.netcl.ops.matmul import matmul
from tinygrad_cl.netcl.ops.reduction import reduce_max, reduce_sum

# -- tensors of indices ---------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (37,), (2, 3), (0, 3)], ids=str)
def test_indices_come_back_as_they_were_sent(shape, device):
    array = np.random.default_rng(0).integers(-(2**31), 2**31, shape).astype(np.int32)
    tensor = Tensor.from_host(device.queue, array, "int32")
    assert tensor.dtype == np.int32 and tensor.to_host().dtype == np.int32
    view = tensor.reshape(-1).reshape(shape)
    for same in (tensor, tensor.copy(), view, permute(permute(tensor))):
        assert same.shape == shape and np.array_equal(same.to_host(), array)
    tensor.write(np.zeros(shape))
    assert not np.any(tensor.to_host())
    assert np.all(Tensor.full(device.queue, shape, -7, "int32").to_host() == -7)
    assert np.all(broadcast_to(tensor, (2, *shape)).to_host() == 0)


@pytest.mark.parametrize("bad", [0.5, np.nan, np.inf, 2**31, -(2**31) - 1, 2**70], ids=str)
def test_what_is_no_index_is_named_with_its_place(bad, device):
    for data, place in [([[0, 1], [bad, bad]], r" at \[1, 0\]"), (bad, "")]:
        with pytest.raises(ValueError, match=f"{place} is no whole number that fits into int32"):
            Tensor.from_host(device.queue, data, "int32")
    with pytest.raises(ValueError, match="no whole number"):
        Tensor.full(device.queue, (3,), bad, "int32")
    assert Tensor.from_host(device.queue, [1.0, -2.0], "int32").to_host().tolist() == [1, -2]


def test_nothing_computes_with_indices(device):
    indices, other = put(device, np.arange(4, dtype=np.int32), np.ones((4, 4), np.float32))
    message = "holds indices, not numbers to compute with: cast to float32 first"
    for compute in [
        lambda: elementwise_unary(indices, expression="v0 + 1"),
        lambda: ag.add(other, indices),
        lambda: ag.tensor(indices) * 2,
        lambda: reduce_sum(indices),
        lambda: reduce_max(indices, 0),
        lambda: ag.max(indices),
        lambda: ag.mean(indices),
        lambda: matmul(other, indices),
        lambda: ag.matmul(indices, indices),
    ]:
        with pytest.raises(TypeError, match=message):
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
    for x in ([[0, 2]], [[0.0, 2.0]], np.array([[0, 2]], np.uint8)):
        got = index_tensor(x, like, below=3)
        assert got.dtype == np.int32 and got.queue is like.queue
        assert got.to_host().tolist() == [[0, 2]]
    assert index_tensor(2, like).shape == () and index_tensor([], like, below=3).shape == (0,)


def test_index_tensor_names_the_first_index_out_of_range(device):
    like = put(device, np.ones(3, np.float32))
    for bad in (3, -1, 2**40, np.nan):
        message = rf"{bad} at \[1, 0\] is no index here: indices go from 0 to 2"
        with pytest.raises(ValueError, match=message):
            index_tensor([[0, 1], [bad, 9]], like, below=3)
    with pytest.raises(ValueError, match="1.5 at .1. is no whole number"):
        index_tensor([0, 1.5], like, below=3)
    with pytest.raises(TypeError, match="mask of truth values is no index"):
        index_tensor(np.array([True, False]), like)


def test_a_comparison_and_other_floats_on_the_device_are_no_indices(device):
    """Cast to int32, the mask [0, 1, 1] would take the numbers 0, 1 and 1."""
    x, table = leaf(device, np.array([1.0, 2.0, 3.0])), leaf(device, random(3, 2))
    for floats in (x > 1.5, (x > 1.5).value, put(device, np.array([0.9], np.float32))):
        for take in (
            lambda idx: x[idx],
            lambda idx: table[:, idx],
            lambda idx: ag.index_select(x, 0, idx),
            lambda idx: ag.embedding(table, idx),
            Embedding(3, 2, device.queue),
        ):
            with pytest.raises(TypeError, match="int32, not float32: cast whole numbers .* a mask is no index"):
                take(floats)
    assert x[ag.cast(x - 1, "int32")].to_host().tolist() == [1, 2, 3]


# -- rows by their numbers ------------------------------------------------------------------------


def leaf(device, array, dtype=np.float32):
    return ag.tensor(put(device, np.asarray(array, dtype)), requires_grad=True)


def backward(out, upstream):
    ag.Tape().backward(out, upstream)


def random(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


@pytest.mark.parametrize(
    "shape, axis, indices",
    [
        ((5, 3), 0, [4, 0, 4, 4]),
        ((5, 37), 0, [[1, 1], [0, 4]]),
        ((2, 5, 3), 1, [3, 3]),
        ((2, 3, 5), -1, [4, 0, 0]),
        ((5,), 0, [1, 1, 1]),
        ((5,), 0, 2),
        ((1, 1), 0, [0]),
        ((300, 17), 0, np.arange(600) % 7),
        ((3, 5000), 0, [1, 1]),
        ((4, 2), 0, np.zeros((2, 0))),
        ((0, 3), 0, []),
        ((3, 0), 0, [2]),
        ((0, 3), 1, [2, 2]),
    ],
    ids=str,
)
def test_rows_are_taken_and_their_gradients_added_up(shape, axis, indices, device):
    a, indices = random(*shape), np.asarray(indices, int)
    x = leaf(device, a)
    out = ag.index_select(x, axis, indices)
    expected = np.take(a.astype(np.float32), indices, axis)
    assert out.shape == expected.shape and np.array_equal(out.to_host(), expected)
    upstream, gradient = random(*expected.shape), np.zeros(shape)
    backward(out, upstream)
    np.add.at(gradient, (slice(None),) * (axis % len(shape)) + (indices,), upstream)
    assert close(x.grad.to_host(), gradient, size=100)


def test_an_embedding_is_the_rows_of_a_table(device):
    table, words = random(7, 4), np.array([[6, 0, 6], [6, 1, 1]])
    on_device = put(device, words.astype(np.int32))
    for idx in (words, words.tolist(), on_device, ag.tensor(on_device)):
        weight = leaf(device, table)
        with ag.Tape() as tape, device.watch() as launches:
            out = ag.embedding(weight, idx)
        assert close(out.to_host(), table[words])
        assert [node.op_name for node in tape.nodes] == ["embedding"]
        assert [launch.name for launch in launches][-1] == "take"
        upstream, gradient = random(2, 3, 4), np.zeros((7, 4))
        with device.watch() as launches:
            tape.backward(out, upstream)
        assert [launch.name for launch in launches] == ["put"]  # the zeros included
        np.add.at(gradient, words, upstream)
        assert close(weight.grad.to_host(), gradient)
    assert weight.grad.to_host()[2:6].tolist() == np.zeros((4, 4)).tolist()


def test_the_gradient_of_an_embedding_is_the_same_at_every_run_on_every_device(device):
    words = put(device, np.random.default_rng(0).integers(0, 50, 300).astype(np.int32))
    upstream = put(device, random(300, 5).astype(np.float32))
    runs = [index_select_backward(upstream, (50, 5), 0, words).to_host() for _ in range(3)]
    expected = np.zeros((50, 5), np.float32)
    np.add.at(expected, words.to_host(), upstream.to_host())
    assert all(np.array_equal(run, expected) for run in runs)


def test_no_index_leads_out_of_a_buffer(device):
    """On the device nobody looks at indices before they are used."""
    wild = put(device, np.array([2, -1, 5, 0, 2**31 - 1, -(2**31), 4], np.int32))
    table = random(5, 3)
    weight = leaf(device, table)
    out = ag.embedding(weight, wild)
    good = np.array([0, 3, 6])
    got = out.to_host()
    assert close(got[good], table[[2, 0, 4]]) and np.all(np.isnan(np.delete(got, good, 0)))
    backward(out, np.ones((7, 3)))
    assert close(weight.grad.to_host(), np.repeat([[1.0], [0], [1], [0], [1]], 3, 1))
    beside = index_select(put(device, np.ones((3, 5, 2), np.float32)), 1, wild).to_host()
    assert np.array_equal(np.isnan(beside[:, :, 0]), [[n not in good for n in range(7)]] * 3)
    labels = put(device, np.array([7, 8, 9, 10, 11], np.int32))
    assert index_select(labels, 0, wild).to_host().tolist() == [9, -1, -1, 7, -1, -1, 11]


def test_indices_that_are_no_rows_are_refused_where_that_costs_nothing(device):
    weight = leaf(device, random(5, 3))
    with pytest.raises(ValueError, match=r"5 at \[0, 1\] is no index here: indices go from 0 to 4"):
        ag.embedding(weight, [[1, 5]])
    with pytest.raises(ValueError, match="-1 is no index here"):
        ag.embedding(weight, -1)
    with pytest.raises(ValueError, match="0.5 at .0. is no whole number"):
        ag.embedding(weight, [0.5])
    with pytest.raises(ValueError, match="two axes"):
        ag.embedding(leaf(device, random(5)), [1])
    with pytest.raises(ValueError, match="no such axes"):
        ag.index_select(weight, 2, [0])
    with pytest.raises(TypeError, match="int32 tensor, not float32"):
        index_select(weight.value, 0, weight.value)
    other = next(each for each in devices().values() if not isinstance(each, str) and each is not device)
    with pytest.raises(ValueError, match="different devices"):
        ag.embedding(weight, Tensor.from_host(other.queue, [1], "int32"))


@pytest.mark.parametrize("shape", [(3, 3), (5, 1), (1, 21), (17, 3), (131, 3)], ids=str)
def test_nothing_behind_a_result_is_written(shape, device):
    x = put(device, random(*shape).astype(np.float32))
    count = shape[0]
    indices = put(device, np.arange(count, dtype=np.int32) // 2)
    part = Part(x, (slice(None, None, -1), slice(None)))
    for tensor in [
        index_select(x, 0, indices),
        index_select_backward(x, shape, 0, indices),
        part.take(x),
        part.put(x),
        concatenate([x, x], 1),
        concatenate([x, x]),
    ]:
        assert np.all(behind(tensor) == 255)


def test_rows_of_a_table_in_float64(exact):
    table = random(6, 5)
    weight = leaf(exact, table, np.float64)
    out = ag.embedding(weight, [5, 5])
    backward(out, 0.1 * np.ones((2, 5)))
    assert np.array_equal(out.to_host(), table[[5, 5]])
    assert close(weight.grad.to_host()[5], 0.2 * np.ones(5), "float64")


# -- parts of a tensor ----------------------------------------------------------------------------

every, back, nothing = slice(None), slice(None, None, -1), np.array([], int)
KEYS = [
    0,
    -1,
    np.int64(1),
    slice(1, 3),
    every,
    back,
    slice(3, 0, -2),
    slice(4, 1),
    ...,
    None,
    (),
    (1, 2),
    (1, -1, 0),
    (every, 2),
    (..., 2),
    (..., slice(None, None, 2)),
    (every, slice(4, None, -3), 1),
    (None, 1, ..., None),
    (slice(1, 2), None, slice(2, 3)),
    (2, ..., slice(0, 0)),
    (back, back, back),
    [0, 2, 2, -1],
    np.array([[1], [-4]]),
    (every, [4, 4, 0]),
    (..., [5, 0, 0]),
    (None, [1, 1]),
    (..., [1, 1], every),
    np.array(2),
    (slice(None, None, -2), [3, 3], slice(1, 4)),
    nothing,
    (slice(1, 3), None, nothing),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_parts_are_numpys(key, device):
    a = random(4, 5, 6).astype(np.float32)
    x = leaf(device, a)
    out, expected = x[key], a[key]
    assert out.shape == np.shape(expected) and np.array_equal(out.to_host(), expected)
    upstream, gradient = random(*out.shape), np.zeros((4, 5, 6))
    backward(out, upstream)
    np.add.at(gradient, key, upstream)
    assert close(x.grad.to_host(), gradient)


@pytest.mark.parametrize(
    "shape, key",
    [
        ((), ...),
        ((), None),
        ((3, 0), 1),
        ((3, 0), (..., every)),
        ((1, 1), (0, 0)),
        ((1, 4), (0, slice(1, None))),
        ((0,), slice(0, 0, -1)),
        ((0, 3), back),
    ],
    ids=str,
)
def test_parts_of_odd_shapes(shape, key, device):
    a = random(*shape).astype(np.float32)
    x = leaf(device, a)
    out = x[key]
    assert out.shape == a[key].shape and np.array_equal(out.to_host(), a[key])
    backward(out, np.ones(out.shape))
    assert x.grad.shape == shape


def test_a_part_of_indices_and_a_part_by_a_tensor(device):
    labels = ag.tensor(put(device, np.arange(10, dtype=np.int32)))
    assert labels[2:9:3].to_host().tolist() == [2, 5, 8]
    assert labels[[-1, 0]].to_host().tolist() == [9, 0]
    x = ag.tensor(put(device, random(10, 3).astype(np.float32)))
    picked = labels[::-4]
    assert np.array_equal(x[picked].to_host(), x.to_host()[[9, 5, 1]])
    assert np.array_equal(x[:, picked.value].to_host()[:, 2], x.to_host()[:, 1])
    assert len(list(x)) == 10 and np.array_equal([row.to_host() for row in x], x.to_host())


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64, np.int64, np.float32])
def test_index_arrays_of_any_dtype(dtype, device):
    x = ag.tensor(put(device, random(300, 2).astype(np.float32)))
    places = np.array([100, 3, 3], dtype)
    assert np.array_equal(x[places].to_host(), x.to_host()[places.astype(int)])


def test_a_part_in_whole_is_no_copy(device):
    x = ag.tensor(put(device, random(4, 5).astype(np.float32)))
    with device.watch() as launches:
        parts = [x[:], x[...], x[None], x[:, None, :], x[0:4, 0:5]]
    assert not launches and all(part.value.buffer is x.value.buffer for part in parts)


def test_many_parts_share_a_kernel(device):
    x = ag.tensor(put(device, random(40, 5).astype(np.float32)))
    x[0:4]
    with device.watch() as launches:
        parts = [x[start : start + 4] for start in range(0, 40, 4)]
    assert len({id(launch.kernel) for launch in launches}) == 1
    assert np.array_equal(np.concatenate([part.to_host() for part in parts]), x.to_host())


def test_keys_that_nobody_takes(device):
    x = ag.tensor(put(device, random(4, 5).astype(np.float32)))
    for key in (4, (0, 0, 0), (..., ...), "a", 1.5, (0, (1, 2)), {}):
        with pytest.raises(IndexError):
            x[key]
    for key in (([0, 1], [0, 1]), (0, [1, 2])):
        with pytest.raises(IndexError, match="stands alone among slices"):
            x[key]
    for key in (True, np.array([True, False, True, True]), [True, False, False, False]):
        with pytest.raises(TypeError, match="mask of truth values is no index"):
            x[key]
    with pytest.raises(ValueError, match=r"-5 at \[1\] is no index here: indices go from 0 to 3"):
        x[[-4, -5]]


def test_narrow_split_and_chunk(device):
    a = random(5, 6).astype(np.float32)
    x = leaf(device, a)
    assert np.array_equal(ag.narrow(x, 1, 2, 3).to_host(), a[:, 2:5])
    assert np.array_equal(ag.narrow(x, -1, -2, 2).to_host(), a[:, -2:])
    for parts, sizes in [
        (ag.split(x, 2), [2, 2, 1]),
        (ag.split(x, [1, 0, 4]), [1, 0, 4]),
        (ag.split(x, 9), [5]),
        (ag.chunk(x, 2), [3, 2]),
        (ag.chunk(x, 4), [2, 2, 1]),
    ]:
        assert [part.shape[0] for part in parts] == sizes
        assert np.array_equal(np.concatenate([part.to_host() for part in parts]), a)
    first, second, third = ag.chunk(x, 3, axis=-1)
    out = ag.sum(first * 1 + second * 10 + third * 100)
    backward(out, None)
    assert np.array_equal(x.grad.to_host(), np.tile([1, 1, 10, 10, 100, 100], (5, 1)))
    for bad, message in [
        (lambda: ag.narrow(x, 0, 3, 3), "no part of 3 from 3 on"),
        (lambda: ag.split(x, [2, 2]), "do not add up to 5"),
        (lambda: ag.split(x, 0), "at least 1"),
        (lambda: ag.chunk(x, 0), "at least 1"),
        (lambda: ag.chunk(x, 2, axis=2), "no such axes"),
    ]:
        with pytest.raises(ValueError, match=message):
            bad()


def test_squeeze_and_unsqueeze(device):
    a = random(2, 1, 3, 1).astype(np.float32)
    x = leaf(device, a)
    for out, expected in [
        (ag.squeeze(x), a.squeeze()),
        (ag.squeeze(x, 1), a.squeeze(1)),
        (ag.squeeze(x, (1, -1)), a.squeeze()),
        (ag.unsqueeze(x, 0), a[None]),
        (ag.unsqueeze(x, -1), a[..., None]),
        (ag.unsqueeze(x, 2), a[:, :, None]),
    ]:
        assert np.array_equal(out.to_host(), expected) and out.shape == expected.shape
    backward(ag.squeeze(x), np.ones((2, 3)))
    assert x.grad.shape == a.shape
    with pytest.raises(ValueError, match="has not length 1"):
        ag.squeeze(x, 0)
    assert ag.squeeze(leaf(device, np.ones((1, 1)))).shape == ()


# -- several tensors as one -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "shapes, axis",
    [
        ([(2, 3), (4, 3)], 0),
        ([(2, 3), (2, 1), (2, 20)], -1),
        ([(3,)], 0),
        ([(2, 3), (0, 3)], 0),
        ([(2, 1, 3), (2, 5, 3), (2, 2, 3)], 1),
        ([(0,), (0,)], 0),
        ([(3, 0), (3, 0)], 0),
    ],
    ids=str,
)
def test_tensors_are_joined(shapes, axis, device):
    arrays = [random(*shape).astype(np.float32) for shape in shapes]
    leaves = [leaf(device, a) for a in arrays]
    leaves[-1].requires_grad = len(shapes) == 1
    out, expected = ag.cat(leaves, axis), np.concatenate(arrays, axis)
    assert out.shape == expected.shape and np.array_equal(out.to_host(), expected)
    upstream = random(*expected.shape).astype(np.float32)
    if len(shapes) > 1:
        backward(out, upstream)
        parts = np.split(upstream, np.cumsum([shape[axis] for shape in shapes])[:-1], axis)
        assert leaves.pop().grad is None
        assert all(np.array_equal(x.grad.to_host(), part) for x, part in zip(leaves, parts))


@pytest.mark.parametrize("shape, axis", [((2, 3), 0), ((2, 3), 1), ((2, 3), -1), ((), 0), ((0,), 1)], ids=str)
def test_tensors_are_stacked(shape, axis, device):
    arrays = [k + random(*shape).astype(np.float32) for k in range(3)]
    leaves = [leaf(device, a) for a in arrays]
    out, expected = ag.stack(leaves, axis), np.stack(arrays, axis)
    assert np.array_equal(out.to_host(), expected) and out.shape == expected.shape
    upstream = random(*expected.shape)
    backward(out, upstream)
    assert all(close(x.grad.to_host(), np.take(upstream, k, axis)) for k, x in enumerate(leaves))


def test_tensors_and_arrays_join_and_what_does_not(device):
    x = leaf(device, np.ones((2, 3)))
    assert ag.cat([np.zeros((1, 3)), x, put(device, np.ones((1, 3), np.float32))]).shape == (4, 3)
    joined = ag.cat([x, np.zeros((1, 3))])
    with device.watch() as launches:
        backward(joined, np.ones((3, 3)))
    assert len(launches) == 1 and close(x.grad.to_host(), np.ones((2, 3)))  # of x alone
    x.grad = None
    twice = ag.cat([x, x], axis=1)
    backward(twice, np.arange(12).reshape(2, 6))
    assert close(x.grad.to_host(), [[3, 5, 7], [15, 17, 19]])
    indices = put(device, np.ones((2, 3), np.int32))
    for wrong, error, message in [
        ([], TypeError, "a list of Nodes"),
        ([x, 2.0], TypeError, "a list of Nodes"),
        ([x, np.ones((2, 2))], ValueError, "differ in another axis"),
        ([x, np.ones(3)], ValueError, "as many axes"),
        ([x, indices], TypeError, "float32 and int32 do not join"),
    ]:
        with pytest.raises(error, match=message):
            ag.cat(wrong)
    indices = ag.cat([put(device, np.arange(3, dtype=np.int32))] * 2)
    assert indices.dtype == np.int32 and indices.to_host().tolist() == [0, 1, 2, 0, 1, 2]


# -- masks ----------------------------------------------------------------------------------------


def test_masked_numbers_are_replaced_and_have_no_gradient(device):
    a = random(2, 3, 4, 4).astype(np.float32)
    hidden, causal = np.triu(np.ones((4, 4), bool), 1), ag.causal_mask(4, device.queue)
    for mask in (hidden, hidden.tolist(), hidden[None, None], causal, ag.tensor(causal)):
        x = leaf(device, a)
        out = ag.masked_fill(x, mask, -np.inf)
        assert np.array_equal(out.to_host(), np.where(hidden, -np.inf, a))
        backward(out, a)
        assert np.array_equal(x.grad.to_host(), np.where(hidden, 0, a))
    assert ag.masked_fill(x, hidden).to_host().min() == np.float32(-1e9)
    with pytest.raises(ValueError, match=r"mask of shape \(2, 4, 4\) does not broadcast to shape"):
        ag.masked_fill(ag.causal_mask(4, device.queue), np.zeros((2, 4, 4)))
    with pytest.raises(TypeError, match="not a number"):
        ag.masked_fill(x, True)


def test_causal_mask_and_arange(device):
    mask, places = ag.causal_mask(3, device.queue), ag.arange(4, device.queue)
    assert mask.to_host().tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert mask.dtype == np.float32
    assert places.to_host().tolist() == [0, 1, 2, 3] and places.dtype == np.int32
    assert ag.causal_mask(0).shape == (0, 0) and ag.arange(2).shape == (2,)


def test_nothing_is_kept_that_a_gradient_does_not_need(device):
    x = leaf(device, random(6, 4))
    y = x * 2.0
    watched = weakref.ref(y.value)
    outs = [y[1:3], ag.embedding(y, [1, 1]), ag.cat([y, y])]
    assert all(out.parents for out in outs)
    del outs, y
    gc.collect()
    assert watched() is None
