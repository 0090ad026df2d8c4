"""One formula on many sets of tensors, in place, by one launch."""

import numpy as np
import pytest
from netcl_devices import behind, close, devices, put

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.many import update
from tinygrad_cl.netcl.ops.primitives import Formula

# Two results from the old numbers; v2 is one number for each row, v4 one for all.
FORMULA = Formula("both", ("v0 + v2 * v1 - v4", "v0 * v3"), 5)


@pytest.mark.parametrize(
    "sizes",
    [[(1,)], [(40,), (3, 5), (16,), (0, 2), (), (33,)], [(), (1, 1)], [(17,)] * 60, [(0,)]],
    ids=lambda sizes: str(len(sizes)),
)
def test_rows_are_computed_from_the_old_numbers_and_nothing_behind_is_written(sizes, device):
    rng = np.random.default_rng(0)
    rows = [[rng.normal(size=shape).astype(np.float32) for shape in (size, size, (), size)] for size in sizes]
    shared = np.float32(0.5)
    tensors = [put(device, *map(np.asarray, row)) for row in rows]
    with device.watch() as launches:
        update(FORMULA, tensors, (put(device, np.asarray(shared)),))
    assert len(launches) <= -(-len(sizes) // 20)
    for (v0, v1, v2, v3), (x0, x1, x2, x3) in zip(rows, tensors):
        assert close(x0.to_host(), v0 + v2 * v1 - shared) and close(x1.to_host(), v0 * v3)
        assert np.array_equal(x2.to_host(), v2) and np.array_equal(x3.to_host(), v3)
        assert np.all(behind(x0) == 255)


def test_float64(exact):
    x, y = put(exact, np.arange(5.0), np.full(5, 1 / 3))
    update(Formula("times", ("v0 * v1 + 0.1",), 2), [(x, y)])
    assert close(x.to_host(), np.arange(5.0) / 3 + 0.1, "float64")


def test_what_does_not_fit_is_said(device):
    f = Formula("step", ("v0 + v1 * v2",), 3)
    x, y, one = [Tensor.full(device.queue, shape, 1) for shape in [(3,), (4,), ()]]
    with pytest.raises(ValueError, match=r"shapes \(3,\) and \(4,\) do not go together"):
        update(f, [(x, y)], (one,))
    with pytest.raises(ValueError, match="share is one number"):
        update(f, [(x, x)], (y,))
    update(f, [], (one,))
    with pytest.raises(TypeError, match="indices"):
        index = Tensor.full(device.queue, (3,), 1, "int32")
        update(f, [(index, index)], (Tensor.full(device.queue, (), 1, "int32"),))
    if device.has(np.dtype(np.float64)):
        with pytest.raises(TypeError, match="different dtypes"):
            update(f, [(x, x)], (Tensor.full(device.queue, (), 1, "float64"),))
    other = next(each for each in devices().values() if not isinstance(each, str) and each is not device)
    with pytest.raises(ValueError, match="different devices"):
        update(f, [(x, Tensor.full(other.queue, (3,), 1))], (one,))
