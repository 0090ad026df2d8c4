"""Loop nests of engine 3: every way through a shape, the same result in every run."""

from dataclasses import replace

import numpy as np
import pytest
from netcl_devices import behind, close, put

from tinygrad_cl.netcl.core.tensor import Tensor, spec_of
from tinygrad_cl.netcl.ops import loop_nest
from tinygrad_cl.netcl.ops.loop_nest import LoopNest, Reduction
from tinygrad_cl.netcl.ops.loop_plan import CHAIN, nest_plan
from tinygrad_cl.netcl.ops.shapes import broadcast_strides

LINES = ("const V product = v0 * v1;",)
NUMPY = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}


def plan_of(device, tensors, axes, how="sum", outputs=False):
    """The Plan of the products of two Tensors, if wanted, and of how they are reduced along axes."""
    dtype = np.result_type(*[x.dtype for x in tensors])
    whole = spec_of(device, np.broadcast_shapes(*[x.shape for x in tensors]), dtype)
    kept = [1 if axis in axes else length for axis, length in enumerate(whole.shape)]
    results = [whole] * outputs + [spec_of(device, kept, dtype)]
    products = (("product", dtype.name),) * outputs
    nest = LoopNest("nest_test", ("v0", "v1"), LINES, products, (Reduction("product", how, dtype.name),))
    inputs = [(x.spec, broadcast_strides(x.shape, whole.shape)) for x in tensors]
    return nest_plan(nest, whole, inputs, results, axes)


def run(device, arrays, axes, how="sum", outputs=False):
    """([the products of two arrays, if wanted, how they are reduced along axes], the Plan), by one
    launch.
    """
    tensors = put(device, *arrays)
    plan = plan_of(device, tensors, axes, how, outputs)
    with device.watch() as launches:
        found = plan.run(tensors)
    assert len(launches) == 1
    again = plan.run(tensors)  # the counters are back at 0
    assert all(np.array_equal(x.to_host(), y.to_host(), equal_nan=True) for x, y in zip(found, again))
    return [x.to_host() for x in found], plan


SHAPES = [
    ((1,), (1,), (0,)),
    ((37,), (37,), (0,)),
    ((5, 40), (5, 40), (0, 1)),
    ((5, 40), (40,), (1,)),
    ((5, 40), (5, 1), (0,)),
    ((4, 3, 33), (3, 1), (0, 2)),
    ((4, 3, 33), (4, 1, 33), (1,)),
    ((4, 3, 33), (33,), (0, 1)),
    ((2, 3, 4, 5), (3, 1, 5), (1, 3)),
    ((2, 3, 4, 5), (2, 3, 4, 5), (0, 2)),
    ((3, 1, 17), (1, 17), (1,)),
    ((4, 6), (4, 6), ()),
    ((2, 1072), (1072,), (0,)),
    ((4, 1072), (4, 1), ()),
    ((1072,), (1072,), ()),
]
LONG = [
    ((100_003,), (100_003,), (0,)),
    ((2, 50_001), (50_001,), (1,)),
    ((50_001, 3), (3,), (0,)),
    ((9000, 40), (9000, 1), (0,)),
    ((3, 9000, 7), (7,), (1,)),
    ((300, 2, 100), (2, 1), (0, 2)),
    ((2, 1300, 20), (2, 1, 20), (1,)),
    ((2, 9001, 20), (20,), (0, 1)),
]


@pytest.mark.parametrize("how", NUMPY)
@pytest.mark.parametrize("left, right, axes", SHAPES, ids=str)
def test_every_choice_of_axes(how, left, right, axes, device):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in (left, right)]
    product = np.multiply(*arrays)
    (got,), _ = run(device, arrays, axes, how)
    assert close(got, NUMPY[how](product, axis=axes, keepdims=True), "float32", product.size)


@pytest.mark.parametrize("left, right, axes", [*SHAPES, *LONG], ids=str)
def test_outputs_and_reductions_of_one_launch(left, right, axes, device):
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in (left, right)]
    product = np.multiply(*arrays)
    (stored, total), _ = run(device, arrays, axes, "sum", outputs=True)
    assert close(stored, product)
    assert np.allclose(total, product.sum(axes, np.float64, keepdims=True), rtol=2e-5, atol=2e-3)


@pytest.mark.parametrize("how", NUMPY)
@pytest.mark.parametrize("left, right, axes", LONG, ids=str)
def test_long_ones_go_in_chunks_still_by_one_launch(how, left, right, axes, device):
    rng = np.random.default_rng(2)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in (left, right)]
    expected = NUMPY[how](np.multiply(*arrays).astype(np.float64), axis=axes, keepdims=True)
    (got,), plan = run(device, arrays, axes, how)
    assert plan.size[1] > 1 and "atomic_inc" in plan.source
    assert np.allclose(got, expected, rtol=2e-5, atol=2e-3)


def test_float64_and_both_dtypes_together(exact):
    rng = np.random.default_rng(3)
    for left, right, axes in [SHAPES[2], SHAPES[5], LONG[0], LONG[2]]:
        a, b = rng.normal(size=left), rng.normal(size=right)
        for arrays in [(a, b), (a.astype(np.float32), b), (a, b.astype(np.float32))]:
            (stored, total), _ = run(exact, arrays, axes, outputs=True)
            product = np.multiply(*[x.astype(np.float64) for x in arrays])
            assert close(stored, product, "float64")
            assert close(total, product.sum(axes, keepdims=True), "float64", product.size)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("how", NUMPY)
def test_nan_and_infinities_are_kept(how, odd, device):
    x = np.arange(1.0, 201, dtype=np.float32).reshape(2, 100)
    x[1, 63] = odd
    for axes in [(0,), (1,), (0, 1)]:
        (got,), _ = run(device, [x, np.ones_like(x)], axes, how)
        assert close(got, NUMPY[how](x, axis=axes, keepdims=True), size=1e4)


def test_a_sum_of_many_small_numbers_does_not_drift(device):
    """Chains of additions are short: one of a million numbers would be off by 958."""
    x = np.full(1_000_000, 0.1, np.float32)
    (got,), plan = run(device, [x, np.ones(1, np.float32)], (0,))
    lanes = device.launch_config.lanes[x.dtype] * (device.launch_config.group or 1)
    assert plan.size[1] >= x.size / (2 * CHAIN * lanes) / 2  # a work-item has two chains
    assert abs(got[0] - 100_000) < 5


def test_what_lies_behind_the_results_is_left_alone(device):
    """Results in one buffer each, with a guard behind that must stay NaN."""
    rng = np.random.default_rng(4)
    for left, right, axes in SHAPES:
        arrays = [rng.normal(size=shape).astype(np.float32) for shape in (left, right)]
        tensors = put(device, *arrays)
        for tensor in plan_of(device, tensors, axes, outputs=True).run(tensors):
            behind = Tensor(spec_of(device, (tensor.size + 8,), np.float32), tensor.buffer).to_host()
            assert np.all(np.isnan(behind[tensor.size :])) and not np.any(np.isnan(behind[: tensor.size]))


def test_the_order_of_arrival_does_not_show(device):
    """Thousands of runs, bit for bit the same: the last chunk adds the parts up in their order, sees
    all of them, and leaves its counters ready for the next launch.
    """
    x = np.random.default_rng(5).normal(size=80_000).astype(np.float32) * 1e3
    for shape, axes in [((80_000,), (0,)), ((2, 40_000), (1,)), ((20_000, 4), (0,))]:
        tensors = put(device, x.reshape(shape), np.ones(1, np.float32))
        plan = plan_of(device, tensors, axes)
        assert plan.size[1] > 1
        first = plan.run(tensors)[0].to_host()
        assert np.allclose(first, x.reshape(shape).sum(axes, keepdims=True), rtol=1e-3)
        results = [plan.run(tensors)[0] for _ in range(20 if device.found.is_interpreter else 1000)]
        assert all(np.array_equal(each.to_host(), first) for each in results)


def test_results_larger_than_the_cache_go_past_it(device, monkeypatch):
    """The same numbers, whichever way they are written; where the compiler has no such stores, the
    usual ones are taken.
    """
    x = np.random.default_rng(6).normal(size=(3, 160)).astype(np.float32)
    plain, _ = run(device, [x, x], (0,), outputs=True)
    monkeypatch.setattr(device, "launch_config", replace(device.launch_config, cache=100))
    past, plan = run(device, [x, x], (0,), outputs=True)
    assert all(np.array_equal(*pair) for pair in zip(plain, past))
    if device.launch_config.lanes[x.dtype] > 1 and "pocl" in device.found.platform.lower():
        assert "nontemporal" in plan.source
    odd, plan = run(device, [x[:, :157].copy(), x[:1, :157].copy()], (0,), outputs=True)
    assert "nontemporal" not in plan.source and close(odd[0], x[:, :157] * x[:1, :157])


SCANS = [
    ((1,), 0),
    ((37,), 0),
    ((5, 40), 0),
    ((5, 40), 1),
    ((4, 3, 33), 1),
    ((3, 1, 17), 1),
    ((2, 3, 1), 1),
    ((200_003,), 0),
    ((2, 100_001), 1),
    ((50_001, 7), 0),
    ((2, 9001, 20), 1),
]


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("how, numpys", [("sum", np.cumsum), ("max", np.maximum.accumulate)])
@pytest.mark.parametrize("shape, axis", SCANS, ids=str)
def test_scans_along_every_axis_in_both_directions(shape, axis, how, numpys, backward, device):
    """Long ones go in chunks, by two launches; the same bits in every run."""
    x = np.random.default_rng(8).normal(size=shape).astype(np.float32)
    tensor = put(device, x)
    nest = LoopNest("scan_test", ("x",), reductions=(Reduction("x", how, "float32"),), running=-1 if backward else 1)
    plan = nest_plan(nest, tensor.spec, [(tensor.spec, broadcast_strides(shape, shape))], [tensor.spec], (axis,))
    expected = numpys((np.flip(x, axis) if backward else x).astype(np.float64), axis=axis)
    with device.watch() as launches:
        (got,) = plan.run([tensor])
    assert len(launches) == 2 if shape in [(200_003,), (2, 100_001)] else len(launches) <= 2
    assert np.allclose(got.to_host(), np.flip(expected, axis) if backward else expected, rtol=2e-5, atol=5e-3)
    assert np.all(behind(got) == 255)
    assert np.array_equal(plan.run([tensor])[0].to_host(), got.to_host())


@pytest.mark.parametrize("how", NUMPY)
def test_a_wrong_neutral_number_is_noticed(how, device, monkeypatch):
    """The test of the tester: rows whose length leaves lanes over show what those start from."""
    x = np.random.default_rng(7).uniform(1, 2, (3, 7)).astype(np.float32) * (-1 if how == "max" else 1)
    (right,), _ = run(device, [x, np.ones_like(x)], (1,), how)
    monkeypatch.setitem(loop_nest.NEUTRAL, how, "0.5" if how == "min" else "-0.5")
    (wrong,), _ = run(device, [x, np.ones_like(x)], (1,), how)
    expected = NUMPY[how](x, axis=1, keepdims=True)
    assert close(right, expected) and not close(wrong, expected)
