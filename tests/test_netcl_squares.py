"""The squared length of many tensors taken together."""

import numpy as np
import pytest
from netcl_devices import close, devices, put

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.many import sum_of_squares


@pytest.mark.parametrize(
    "shapes",
    [[(1,)], [(0,)], [()], [(40,), (3, 5), (0, 2), (), (16,), (33,)], [(50000,), (3,), (7, 1000)], [(5,)] * 150],
    ids=lambda shapes: f"{len(shapes)} of {shapes[0]}",
)
def test_all_numbers_of_all_tensors_count(shapes, device):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    tensors = [put(device, array) for array in arrays]
    with device.watch() as launches:
        got = sum_of_squares(tensors)
    count = len([each for each in launches if each.name == "sum_of_squares"])
    assert count <= 1 + len(shapes) // 60
    right = sum(np.sum(array.astype(np.float64) ** 2) for array in arrays)
    assert got.shape == () and got.to_host() == pytest.approx(right, rel=1e-6)


def test_float64(exact):
    x = np.random.default_rng(0).normal(size=10001)
    assert close(sum_of_squares([put(exact, x)]).to_host(), np.sum(x * x), "float64", size=10001)


def test_one_device_and_one_dtype(device):
    x = Tensor.full(device.queue, (3,), 1)
    if device.has(np.dtype(np.float64)):
        with pytest.raises(TypeError, match="different dtypes"):
            sum_of_squares([x, Tensor.full(device.queue, (3,), 1, "float64")])
    other = next(each for each in devices().values() if not isinstance(each, str) and each is not device)
    with pytest.raises(ValueError, match="different devices"):
        sum_of_squares([x, Tensor.full(other.queue, (3,), 1)])
