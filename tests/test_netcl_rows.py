"""Kernels made from RowFormulas: every record of the table against its own text, read by NumPy."""

import re
from dataclasses import replace

import numpy as np
import pyopencl as cl
import pytest
from netcl_devices import behind, close, devices, put

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops import loop_nest, rows, rows_source, rows_table
from tinygrad_cl.netcl.ops.rows import RowFormula, along, compute_rows, lanes_and_group, make_plan

RECORDS = {name: each for name, each in vars(rows_table).items() if isinstance(each, RowFormula)}
EVERY = pytest.mark.parametrize("formula", RECORDS.values(), ids=RECORDS)
JOINS = {"sum": np.sum, "mean": np.mean, "max": np.max}

# What an input is, where it has not a number for each place: one for each row, one row for all, or one.
PER_ROW = {"m", "s", "total", "mean", "rstd", "target"}
ONE_ROW = {"gamma", "beta"}
NUMBER = {"eps", "scale"}

SUMS = RowFormula("sums", ("x",), (("s", "sum", "x"), ("t", "mean", "x * x")), ("x - s",), ("s", "t"))
PLACES = RowFormula(
    "places", ("x",), (("low", "max", "-x"), ("c", None, "low / N")), ("place + 0 * x", "c + 0 * x"), ("N", "c")
)
KEEP = RowFormula(
    "keep_two", ("x",), (("e", "keep", "x * x"), ("s", "sum", "e"), ("f", "keep", "x / s")), ("f + 1",), ("s",)
)
SUM_OF_TWO = RowFormula("sum_of_two", ("x", "y"), (("s", "sum", "x * y"),), ("s + x * y",), ("s",))


def in_numpy(expression):
    """A C expression as a Python one: constants without their type, choices as numpy.where."""
    expression = re.sub(r"\(V\)\((\w+)\)", r"\1", expression)
    return re.sub(r"\(((?:\w+\()?[^?()]*\)?) \? ([^:]*) : ([^)]*)\)", r"where(\1, \2, \3)", expression)


def read(formula, arrays):
    """What a RowFormula says, computed by NumPy in float64: its outputs, and its row outputs."""
    arrays = [np.asarray(array, np.float64) for array in arrays]
    shape = np.broadcast_shapes(*[array.shape for array in arrays])
    words = {
        "exp": np.exp,
        "log": np.log,
        "sqrt": np.sqrt,
        "isinf": np.isinf,
        "where": np.where,
        "NAN": np.nan,
        "N": float(shape[-1]),
        "place": np.arange(shape[-1]),
        **dict(zip(formula.inputs, arrays)),
    }
    for name, how, expression in formula.steps:
        value = np.asarray(eval(in_numpy(expression), words))
        if how in JOINS:
            value = JOINS[how](np.broadcast_to(value, shape), axis=-1, keepdims=True)
        words[name] = value
    return [
        np.broadcast_to(eval(in_numpy(expression), words), target)
        for expressions, target in [(formula.outputs, shape), (formula.row_outputs, (*shape[:-1], 1))]
        for expression in expressions
    ]


def inputs_of(formula, shape, dtype):
    """Random inputs of a record, positive, so that each may be a divisor or a standard deviation."""
    rng = np.random.default_rng(0)
    outer, length = shape[:-1], shape[-1]
    shapes = {**dict.fromkeys(PER_ROW, (*outer, 1)), **dict.fromkeys(ONE_ROW, (length,))}
    arrays = []
    for name in formula.inputs:
        array = rng.uniform(0.3, 2, shapes.get(name, shape)).astype(dtype)
        if name == "target":
            array = rng.integers(0, length, (*outer, 1)).astype(np.int32)
        arrays.append(0.7 if name in NUMBER else array)
    return arrays


def on(device, arrays):
    return [put(device, array) if isinstance(array, np.ndarray) else array for array in arrays]


def run(device, formula, arrays, wanted=None):
    results = compute_rows(formula, on(device, arrays), wanted)
    return [result if result is None else result.to_host() for result in results]


def lengths(device, dtype):
    """Lengths of rows around that of a vector; without vectors, each length is another kernel."""
    lanes = device.launch_config.lanes[np.dtype(dtype)]
    return (1, lanes - 1, lanes, lanes + 1, 3 * lanes + 2) if lanes > 1 else (1, 100)


@EVERY
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_record_is_computed_as_it_reads(formula, dtype, device):
    if not device.has(np.dtype(dtype)):
        pytest.skip("no float64")
    for length in lengths(device, dtype):
        arrays = inputs_of(formula, (3, length), dtype)
        for got, expected in zip(run(device, formula, arrays), read(formula, arrays), strict=True):
            assert got.dtype == dtype and close(got, expected, dtype, 10 * length), length


@pytest.mark.parametrize("shape", [(1000,), (2, 3, 4, 7), (1, 40), (257, 1), (2, 5000)], ids=str)
def test_rows_of_any_shape(shape, device):
    arrays = inputs_of(SUMS, shape, np.float32)
    for got, expected in zip(run(device, SUMS, arrays), read(SUMS, arrays), strict=True):
        assert close(got, expected, "float32", 10 * shape[-1])


def test_place_and_number_of_places_are_words(device):
    x = np.random.default_rng(0).normal(size=(3, 21)).astype(np.float32)
    place, c, n, low = run(device, PLACES, [x])
    assert np.array_equal(place, np.tile(np.arange(21.0), (3, 1))) and np.all(n == 21)
    assert close(low, np.max(-x, 1, keepdims=True) / 21) and close(c, np.tile(low, (1, 21)))


@pytest.mark.parametrize(
    "other", [(2, 3, 20), (2, 3, 1), (20,), (1, 20), (), (1,), (1, 1, 1), (2, 1, 20), (3, 1), (2, 1, 1)], ids=str
)
def test_operands_are_broadcast(other, device):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 3, 20)).astype(np.float32), rng.normal(size=other).astype(np.float32)
    expected = read(SUM_OF_TWO, [x, y])
    for order in ([x, y], [y, x]):
        first, second = run(device, SUM_OF_TWO, order)
        assert close(second, expected[1], size=100)
    assert close(run(device, SUM_OF_TWO, [x, 3.0])[1], 3 * x.sum(-1, keepdims=True), size=100)


def test_operands_of_two_dtypes(device):
    if not device.has(np.dtype(np.float64)):
        pytest.skip("no float64")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3, 20)), rng.normal(size=(3, 20)).astype(np.float32)
    got = run(device, SUM_OF_TWO, [x, y])
    assert got[0].dtype == np.float64 and close(got[0], read(SUM_OF_TWO, [x, y])[0], "float64", 20)


def test_any_axis(device):
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    centred = RowFormula("centred", ("x",), (("mean", "mean", "x"),), ("x - mean",))
    for axis in range(-3, 3):
        assert close(along(centred, axis, put(device, x)).to_host(), x - x.mean(axis, keepdims=True))


def test_one_launch_and_only_what_is_wanted(device):
    (x,) = on(device, inputs_of(SUMS, (4, 30), np.float32))
    compute_rows(SUMS, [x])
    with device.watch() as launches:
        assert [each.shape for each in compute_rows(SUMS, [x])] == [(4, 30), (4, 1), (4, 1)]
    assert [launch.name for launch in launches] == ["sums_kernel"]
    for wanted in [(True, False, False), (False, True, True), (False, False, True)]:
        with device.watch() as launches:
            results = compute_rows(SUMS, [x], wanted)
        assert [each is not None for each in results] == list(wanted)
        assert len(launches[0].operands) == sum(wanted) + 1
        for each, expected in zip(results, read(SUMS, [x.to_host()])):
            assert each is None or close(each.to_host(), expected, size=100)


def test_what_is_kept_waits_in_the_first_output_until_something_else_is(device):
    for length in lengths(device, np.float32):
        x = np.random.default_rng(0).uniform(1, 2, (5, length)).astype(np.float32)
        out, total = run(device, KEEP, [x])
        assert close(total, (x * x).sum(-1, keepdims=True), size=length) and close(out, x / total + 1)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)], ids=str)
def test_nothing_is_computed_of_nothing(shape, device):
    x = np.zeros(shape, np.float32)
    out, total, mean = run(device, SUMS, [x])
    assert out.shape == shape and total.shape == mean.shape == (*shape[:-1], 1)
    assert np.all(total == 0) and np.all(np.isnan(mean))


def test_nothing_is_written_behind_the_last_row(device):
    """Rows that end within a vector: the bytes behind them stay as they were, all 255."""
    x = put(device, np.ones((3, 21), np.float32))
    for tensor in compute_rows(SUMS, [x]):
        assert np.all(behind(tensor) == 255)


def test_nan_and_infinities_stay_in_their_row(device):
    x = np.ones((4, 37), np.float32)
    x[1, 36], x[2, 5] = np.nan, np.inf
    largest = RowFormula("largest", ("x",), (("m", "max", "x"),), (), ("m",))
    assert close(run(device, largest, [x])[0], [[1], [np.nan], [np.inf], [1]])
    assert close(run(device, SUMS, [x])[1], [[37], [np.nan], [np.inf], [37]])


def test_what_cannot_be_computed_is_said(device):
    x, y, index = put(device, np.ones((2, 3, 4), np.float32), np.ones((3, 4), np.float32), np.ones((2, 3, 1), np.int32))
    with pytest.raises(ValueError, match="do not broadcast"):
        compute_rows(SUM_OF_TWO, [x, put(device, np.ones(5, np.float32))])
    with pytest.raises(TypeError, match="takes 2 operands, not 1"):
        compute_rows(SUM_OF_TWO, [x])
    with pytest.raises(TypeError, match="needs a Tensor"):
        compute_rows(SUMS, [1.0])
    with pytest.raises(TypeError, match="sum_of_two: an int32 tensor holds indices"):
        compute_rows(SUM_OF_TWO, [x, index])
    with pytest.raises(ValueError, match="sums: a single number has no rows"):
        compute_rows(SUMS, [put(device, np.float32(1))])
    other = next(each for each in devices().values() if not isinstance(each, str) and each is not device)
    with pytest.raises(ValueError, match="different devices"):
        compute_rows(SUM_OF_TWO, [x, Tensor.from_host(other.queue, np.ones((2, 3, 4)))])
    with pytest.raises(ValueError, match="no such axes"):
        along(SUMS, 3, y)
    with pytest.raises(TypeError, match="an axis is a whole number"):
        along(SUMS, (0, 1), y)
    with pytest.raises(ValueError, match="the step s is computed is .*, not 'min'"):
        RowFormula("least", ("x",), (("s", "min", "x"),))
    for keeper, wanted in [(KEEP, (False, True)), (RowFormula("lost", ("x",), KEEP.steps, (), ("s",)), None)]:
        with pytest.raises(ValueError, match="in the memory of its first output, which is not wanted"):
            compute_rows(keeper, [y], wanted)
    with pytest.raises(cl.RuntimeError):
        compute_rows(RowFormula("odd", ("x",), (), ("nothing_of_that_name",)), [x])


def test_steps_that_need_one_another_walk_down_the_row_once_each():
    walks = {name: sum(bool(steps[0][1]) for steps in rows_source.passes(each.steps)) for name, each in RECORDS.items()}
    assert walks["SOFTMAX"] == 2 and walks["LAYER_NORM"] == 2 and walks["CROSS_ENTROPY"] == 2
    assert walks["LAYER_NORM_BACKWARD"] == 1 and walks["CROSS_ENTROPY_BACKWARD"] == 0


def test_vectors_on_a_cpu_and_groups_on_a_gpu():
    float32 = np.dtype(np.float32)
    config = next(each for each in devices().values() if not isinstance(each, str)).launch_config
    cpu = replace(config, lanes={float32: 16}, local_memory=False)
    gpu = replace(config, lanes={float32: 4}, local_memory=True, group=256)
    assert [lanes_and_group(cpu, float32, length) for length in (0, 1, 1000)] == [(16, 1)] * 3
    assert [lanes_and_group(gpu, float32, length)[1] for length in (0, 1, 2, 10, 256, 1000)] == [1, 1, 2, 16, 256, 256]
    assert lanes_and_group(gpu, float32, 10)[0] == 1  # single numbers, also where it likes vectors


def wrong(device, formula, arrays):
    """Whether a plan that is made anew gives something else than the record says."""
    tensors = on(device, arrays)
    plan = make_plan(formula, None, *[each.spec for each in tensors])
    return not all(
        close(got.to_host(), expected, size=100) for got, expected in zip(plan.run(tensors), read(formula, arrays))
    )


@pytest.mark.parametrize("how, neutral", [("sum", "0.5"), ("max", "-0.5")])
def test_a_wrong_neutral_number_is_noticed(how, neutral, device, monkeypatch):
    """The test of the tester: rows whose length leaves lanes over show what those start from."""
    formula = RowFormula("joined", ("x",), (("s", how, "x"),), (), ("s",))
    arrays = [np.random.default_rng(0).uniform(-2, -1, (3, 7)).astype(np.float32)]
    assert not wrong(device, formula, arrays)
    monkeypatch.setitem(loop_nest.NEUTRAL, how, neutral)
    assert wrong(device, formula, arrays)


@pytest.mark.parametrize("old, new", [("LANE < (int)there ?", "true ?"), ("there & 1)", "there & 16)")])
def test_a_wrong_end_of_a_row_is_noticed(old, new, device, monkeypatch):
    if device.launch_config.lanes[np.dtype(np.float32)] == 1:
        pytest.skip("no vectors here")
    arrays = [np.random.default_rng(0).normal(size=(3, 37)).astype(np.float32)]
    assert not wrong(device, SUMS, arrays)
    source = rows_source.rows_source

    def changed(*arguments):
        text = source(*arguments)
        assert old in text
        return text.replace(old, new)

    monkeypatch.setattr(rows_source, "rows_source", changed)
    assert wrong(device, SUMS, arrays)


def test_a_wrong_step_of_an_operand_is_noticed(device, monkeypatch):
    arrays = inputs_of(SUM_OF_TWO, (3, 20), np.float32)
    assert not wrong(device, SUM_OF_TWO, arrays)
    right = rows.inputs_along
    monkeypatch.setattr(rows, "inputs_along", lambda specs, walks: right(specs, [[0, 1]] * len(walks)))
    assert wrong(device, SUM_OF_TWO, arrays)
