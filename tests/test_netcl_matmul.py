"""Matrix products of engine 3 against NumPy's: every transposition, size, batch and way to compute
them.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from netcl_devices import behind, close, put

from tinygrad_cl.netcl.core.device import plans
from tinygrad_cl.netcl.ops.matmul import matmul
from tinygrad_cl.netcl.ops.primitives import Formula

FLAGS = list(itertools.product((False, True), repeat=2))


def turned(x, turn):
    return x.swapaxes(-1, -2) if turn else x


def random(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


def agree(device, a, b, transpose_a=False, transpose_b=False):
    """Whether ours is NumPy's product, for matrices given as they are multiplied."""
    stored = [np.ascontiguousarray(turned(x, turn)) for x, turn in ((a, transpose_a), (b, transpose_b))]
    got = matmul(*put(device, *stored), transpose_a=transpose_a, transpose_b=transpose_b).to_host()
    expected = np.matmul(a.astype(np.float64), b.astype(np.float64))
    return got.dtype == a.dtype and close(got, expected, a.dtype, a.shape[-1] * 10)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize(
    "sizes",
    [
        (1, 1, 1),
        (2, 3, 4),
        (12, 7, 32),
        (13, 5, 33),
        (11, 64, 31),
        (1, 50, 70),
        (70, 50, 1),
        (25, 1, 40),
        (128, 100, 10),
        (67, 129, 65),
    ],
    ids=str,
)
def test_every_transposition_and_size(sizes, flags, device):
    m, k, n = sizes
    assert agree(device, random(m, k), random(k, n), *flags)


@pytest.fixture
def crowded(device, monkeypatch):
    """A device with so little memory near its cores that matrices of these tests are large."""
    monkeypatch.setattr(device, "launch_config", replace(device.launch_config, near=4096))
    monkeypatch.setattr(plans, "table", {})
    return device


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_large_matrices_are_copied_in_parts(flags, crowded):
    for m, k, n in [(45, 37, 35), (33, 16, 64), (70, 50, 1), (3, 40, 70)]:
        assert agree(crowded, random(m, k), random(k, n), *flags)
    assert agree(crowded, random(3, 41, 35), random(3, 35, 34), *flags)
    assert agree(crowded, random(41, 35), random(3, 35, 34), *flags)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_large_matrices_of_float64(flags, exact, crowded):
    assert agree(exact, random(45, 37, dtype=np.float64), random(37, 35, dtype=np.float64), *flags)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_a_large_one(flags, device):
    if device.found.is_interpreter:
        pytest.skip("takes minutes in an interpreter")
    assert agree(device, random(600, 520), random(520, 530), *flags)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize(
    "batches",
    [
        ((3,), (3,)),
        ((3,), ()),
        ((), (3,)),
        ((2, 3), (2, 3)),
        ((2, 3), (3,)),
        ((2, 1), (1, 3)),
        ((1,), (3,)),
        ((2, 1, 1), ()),
    ],
    ids=str,
)
def test_batches(batches, flags, device):
    a, b = random(*batches[0], 5, 7), random(*batches[1], 7, 6)
    assert agree(device, a, b, *flags)


def test_vectors(device):
    a, b = random(5), random(5, 3)
    assert agree(device, a, b) and agree(device, b.T, a) and agree(device, a, a[::-1].copy())
    assert agree(device, a, random(2, 5, 3)) and agree(device, random(2, 4, 5), a)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_float64(flags, exact):
    assert agree(exact, random(37, 50, dtype=np.float64), random(50, 19, dtype=np.float64), *flags)


def test_nothing_added_up_is_zero(device):
    for a, b in [((2, 0), (0, 3)), ((0, 4), (4, 3)), ((2, 4), (4, 0)), ((0, 2, 3), (3, 4)), ((0,), (0,))]:
        assert agree(device, random(*a), random(*b))


def test_nan_and_infinities_stay_where_they_belong(device):
    a, b = random(14, 9), random(9, 35)
    a[3, 2], b[4, 6] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        assert close(matmul(*put(device, a, b)).to_host(), a @ b, size=100)


def test_shapes_that_do_not_fit_are_refused(device):
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(2, 3\) do not fit, 3 columns meet 2 rows"):
        matmul(*put(device, random(2, 3), random(2, 3)))
    with pytest.raises(ValueError, match="batches"):
        matmul(*put(device, random(2, 3, 3), random(4, 3, 3)))
    with pytest.raises(ValueError, match="no single numbers"):
        matmul(*put(device, random(), random(2, 3)))


def test_dtypes_are_not_mixed(exact):
    with pytest.raises(TypeError, match="one dtype"):
        matmul(*put(exact, random(2, 2), random(2, 2, dtype=np.float64)))


def test_nothing_behind_the_result_is_written(device):
    for n in (1, 31, 33):
        result = matmul(*put(device, random(5, 8), random(8, n)))
        assert np.all(behind(result) == 255)


def test_a_batch_of_inputs_and_one_matrix_are_one_product(device):
    a, b = put(device, random(4, 6, 8), random(8, 5))
    with device.watch() as launches:
        matmul(a, b)
    assert len(launches) == 1 and launches[0].size[2] == 1


SCALED = Formula("scaled", ("(v0 * v1 + v2)",), 3)
FORMULAS = {  # of the product and its operands, with NumPy
    "a row": (Formula("biased", ("MAX(v0 + v1, (V)(0))",), 2), lambda c, x: np.maximum(c + x, 0), ["row"]),
    "a matrix": (Formula("masked", ("(v1 > 0 ? v0 : (V)(0))",), 2), lambda c, x: np.where(x > 0, c, 0), ["matrix"]),
    "both": (SCALED, lambda c, x, y: c * x + y, ["matrix", "row"]),
    "rows": (SCALED, lambda c, x, y: c * x + y, ["row", "row"]),
    "no operand": (Formula("halved", ("(v0 * 0.5)",), 1), lambda c: c / 2, []),
}


def agree_after(device, formula, reference, kinds, a, b, flags=(False, False), dtype=np.float32):
    """Whether an epilogue gives what NumPy does with the product afterwards."""
    product = np.matmul(turned(a, flags[0]), turned(b, flags[1]))
    shapes = {"row": product.shape[-1:], "matrix": product.shape}
    operands = [random(*shapes[kind], dtype=dtype) for kind in kinds]
    first, second, *rest = put(device, a, b, *operands)
    got = matmul(first, second, *flags, epilogue=formula, operands=rest)
    return close(got.to_host(), reference(product, *operands), a.dtype, 10 * a.shape[-1])


@pytest.mark.parametrize("formula, reference, kinds", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("sizes", [(8, 5, 32), (13, 5, 35), (3, 40, 10), (70, 9, 1), (4, 0, 3)], ids=str)
def test_epilogues(sizes, formula, reference, kinds, device):
    m, k, n = sizes
    assert agree_after(device, formula, reference, kinds, random(m, k), random(k, n))


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_epilogues_of_large_matrices(flags, crowded):
    for m, k, n in [(45, 37, 35), (3, 40, 70)]:
        a, b = random(*((k, m) if flags[0] else (m, k))), random(*((n, k) if flags[1] else (k, n)))
        assert agree_after(crowded, *FORMULAS["both"], a, b, flags)


def test_epilogues_of_batches_and_vectors(device):
    for a, b in [((3, 5, 4), (4, 6)), ((3, 5, 4), (3, 4, 6)), ((5, 4), (3, 4, 6)), ((4,), (4, 6))]:
        assert agree_after(device, *FORMULAS["both"], random(*a), random(*b))
    assert agree_after(device, *FORMULAS["a matrix"], random(3, 5, 4), random(4))


def test_epilogues_in_float64(exact):
    assert agree_after(
        exact, *FORMULAS["both"], random(13, 9, dtype=np.float64), random(9, 35, dtype=np.float64), dtype=np.float64
    )


@pytest.mark.parametrize("sizes", [(9, 5, 33), (40, 40, 40), (2, 0, 3)], ids=str)
def test_an_epilogue_with_two_results(sizes, crowded):
    m, k, n = sizes
    a, b, bias = random(m, k), random(k, n), random(n)
    both = Formula("both", ("tanh(v0 + v1)", "(v0 + v1)"), 2)
    first, second, operand = put(crowded, a, b, bias)
    with crowded.watch() as launches:
        y, z = matmul(first, second, epilogue=both, operands=(operand,))
    assert len(launches) == 1
    assert close(z.to_host(), a @ b + bias, size=100) and close(y.to_host(), np.tanh(a @ b + bias), size=100)


def test_an_epilogue_writes_nothing_behind_its_results(device):
    both = Formula("both", ("v0", "(v0 + 1)"), 1)
    for result in matmul(*put(device, random(5, 8), random(8, 33)), epilogue=both):
        assert np.all(behind(result) == 255)


def test_operands_that_do_not_fit_are_refused(device):
    a, b, row, column = put(device, random(5, 4), random(4, 3), random(3), random(5, 1))
    formula, _, _ = FORMULAS["a row"]
    with pytest.raises(ValueError, match=r"biased has the result's shape, \(5, 3\), or \(3,\), not \(5, 1\)"):
        matmul(a, b, epilogue=formula, operands=(column,))
    with pytest.raises(TypeError, match="biased takes 1 operands besides the product, not 2"):
        matmul(a, b, epilogue=formula, operands=(row, row))
    with pytest.raises(TypeError, match="not 1"):
        matmul(a, b, operands=(row,))
