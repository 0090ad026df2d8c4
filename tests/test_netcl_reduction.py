"""Sums, means and extremes of engine 3 over every choice of axes."""

import itertools

import numpy as np
import pytest
from netcl_devices import behind, close, put

from tinygrad_cl.netcl.ops import loop_nest, reduction
from tinygrad_cl.netcl.ops.reduction import reduce_max, reduce_mean, reduce_min, reduce_sum, sum_to
from tinygrad_cl.netcl.ops.shapes import axes_to

REDUCTIONS = {reduce_sum: np.sum, reduce_mean: np.mean, reduce_max: np.max, reduce_min: np.min}
EVERY = pytest.mark.parametrize("ours, numpys", REDUCTIONS.items(), ids=lambda each: each.__name__)


def axes_of(ndim):
    """Every choice of axes, all of them as None as well."""
    return [
        None,
        *itertools.chain.from_iterable(itertools.combinations(range(ndim), count) for count in range(ndim + 1)),
    ]


@EVERY
@pytest.mark.parametrize("shape", [(), (1,), (37,), (5, 40), (3, 1, 17), (4, 3, 33), (2, 3, 4, 5)], ids=str)
def test_every_choice_of_axes(ours, numpys, shape, device):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    tensor = put(device, x)
    for axes in axes_of(len(shape)):
        for keepdims in (False, True):
            got = ours(tensor, axis=axes, keepdims=keepdims).to_host()
            expected = numpys(x, axis=axes, keepdims=keepdims)
            assert close(got, expected, "float32", x.size), axes


@EVERY
@pytest.mark.parametrize(
    "shape, axis",
    [
        ((100_003,), None),
        ((3, 50_001), 1),
        ((50_001, 3), 0),
        ((5000, 40), 0),
        ((2, 9000, 7), 1),
        ((300, 3, 100), (0, 2)),
        ((131, 5), 1),
        ((131, 5), (0, 1)),
    ],  # some work-items have nothing to do
    ids=str,
)
def test_long_ones_that_go_in_chunks(ours, numpys, shape, axis, device):
    x = (np.random.default_rng(0).normal(size=shape) + 1).astype(np.float32)
    expected = numpys(x.astype(np.float64), axis=axis)
    assert np.allclose(ours(put(device, x), axis=axis).to_host(), expected, rtol=2e-5, atol=1e-3)


def test_nothing_behind_the_sums_of_rows_is_written(device):
    x = np.random.default_rng(0).normal(size=(131, 3)).astype(np.float32)
    sums = reduce_sum(put(device, x), axis=1)
    assert close(sums.to_host(), x.sum(1)) and np.all(behind(sums) == 255)


@pytest.mark.parametrize("inner", [3, 48, 600])
def test_many_short_columns_fit_onto_the_stack(inner, device):
    x = np.random.default_rng(0).normal(size=(3456, 2, inner)).astype(np.float32)
    assert close(reduce_sum(put(device, x), axis=1).to_host(), x.sum(1))


def test_chunks_are_made_where_there_are_too_few_rows_still_by_one_launch(device):
    tensor = put(device, np.ones((2, 300_000), np.float32))
    few = put(device, np.ones((128, 256), np.float32))
    for x, axis, chunks in [(tensor, 1, True), (tensor, 0, False), (few, 0, False)]:
        with device.watch() as launches:
            reduce_sum(x, axis)
        assert len(launches) == 1 and (launches[0].size[1:] > (1,)) == chunks


@EVERY
def test_float64(ours, numpys, exact):
    x = np.random.default_rng(0).normal(size=(40, 300))
    for axis in (None, 0, 1):
        assert close(ours(put(exact, x), axis=axis).to_host(), numpys(x, axis=axis), "float64", 12000)


def test_a_sum_of_many_small_numbers_does_not_drift(device):
    for shape, axis in [((1_000_000,), None), ((1_000_000, 1, 1), 0), ((500_000, 2), 0), ((2, 500_000), 1)]:
        x = np.full(shape, 0.1, np.float32)
        assert np.all(abs(reduce_sum(put(device, x), axis).to_host() - x.size / x[0].size / 10) < 1) or axis != 0
        assert abs(reduce_sum(put(device, x), axis).to_host().sum() - 100_000) < 1


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)], ids=str)
def test_nothing_adds_up_to_zero_and_has_no_mean_and_no_maximum(shape, device):
    x = np.zeros(shape, np.float32)
    tensor = put(device, x)
    for axes in axes_of(len(shape)):
        expected = np.sum(x, axis=axes)
        assert close(reduce_sum(tensor, axes).to_host(), expected)
        assert close(reduce_mean(tensor, axes).to_host(), np.full(expected.shape, np.nan))
        if 0 in [shape[axis] for axis in (range(len(shape)) if axes is None else axes)]:
            for ours in (reduce_max, reduce_min):
                with pytest.raises(ValueError, match="of nothing"):
                    ours(tensor, axes)
        else:
            assert reduce_max(tensor, axes).shape == expected.shape


@EVERY
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_nan_and_infinities_are_kept(ours, numpys, odd, device):
    x = np.arange(200, dtype=np.float32).reshape(2, 100)
    x[1, 63] = odd
    for axis in (None, 0, 1):
        assert close(ours(put(device, x), axis=axis).to_host(), numpys(x, axis=axis), size=1e4)


def test_an_axis_that_is_not_there_is_refused(device):
    tensor = put(device, np.ones((2, 3), np.float32))
    for axis in (2, -3, (0, 0), (0, -2)):
        with pytest.raises(ValueError, match="no such axes"):
            reduce_sum(tensor, axis)


def test_a_result_owns_its_memory(device):
    tensor = put(device, np.ones((1, 3), np.float32))
    result = reduce_sum(tensor, axis=0)
    tensor.write(np.zeros((1, 3)))
    assert np.all(result.to_host() == 1)


def test_sum_to_undoes_broadcasting(device):
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    tensor = put(device, x)
    assert sum_to(tensor, (2, 3, 4)) is tensor
    for shape, axes in [
        ((3, 4), (0,)),
        ((4,), (0, 1)),
        ((), (0, 1, 2)),
        ((3, 1), (0, 2)),
        ((2, 1, 4), (1,)),
        ((1, 1, 1), (0, 1, 2)),
    ]:
        assert axes_to((2, 3, 4), shape) == axes
        assert close(sum_to(tensor, shape).to_host(), x.sum(axes).reshape(shape))
    with pytest.raises(ValueError, match="does not broadcast"):
        sum_to(tensor, (2,))


@pytest.mark.parametrize("how", ["sum", "max", "min"])
def test_a_wrong_neutral_number_is_noticed(how, device, monkeypatch):
    """The test of the tester: rows whose length leaves lanes over show what those start from."""
    x = np.random.default_rng(0).uniform(1, 2, (3, 7)).astype(np.float32) * (-1 if how == "max" else 1)
    right = reduction.reduce(put(device, x), how, 1).to_host()
    monkeypatch.setitem(loop_nest.NEUTRAL, how, "0.5" if how == "min" else "-0.5")
    (wrong,) = reduction.make_plan(put(device, x).spec, how, 1, False).run([put(device, x)])
    assert close(right, REDUCTIONS[getattr(reduction, f"reduce_{how}")](x, axis=1))
    assert not close(wrong.to_host(), right)
