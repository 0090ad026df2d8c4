"""Elementwise kernels of engine 3: broadcasting, dtypes, vectors and what is left of them, axes in
another order.
"""

import itertools
import math

import numpy as np
import pyopencl as cl
import pytest
from netcl_devices import behind, close, devices, put

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops import elementwise_optimized
from tinygrad_cl.netcl.ops.elementwise import (
    broadcast_to,
    compute,
    compute_all,
    elementwise_binary,
    elementwise_unary,
    permute,
)
from tinygrad_cl.netcl.ops.primitives import Formula
from tinygrad_cl.netcl.ops.shapes import broadcast_strides, merge_axes

SHAPES = [
    ((), ()),
    ((), (4,)),
    ((5,), (1,)),
    ((4, 3, 37), (37,)),
    ((4, 3, 37), (3, 1)),
    ((4, 1, 37), (3, 1)),
    ((4, 3, 37), (4, 1, 1)),
    ((4, 1, 5), (1, 3, 1)),
    ((2, 1, 3, 1, 17), (5, 1, 2, 17)),
    ((1, 1), (7,)),
    ((3, 0), (1,)),
    ((0,), (5, 1)),
    ((2, 3), (2, 3)),
    ((64, 2), (64, 1)),
    ((1, 70), (3, 70)),
    ((1087,), (1,)),
    ((67, 5), (5,)),
    ((131, 1), (1, 3)),
    ((7, 11, 19), (11, 1)),
]  # some work-items have nothing to do


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes_are_broadcast_as_numpy_does(shapes, device):
    rng = np.random.default_rng(0)
    for left, right in [shapes, shapes[::-1]]:
        a, b = (rng.normal(size=shape).astype(np.float32) for shape in (left, right))
        assert close(elementwise_binary(*put(device, a, b), expression="SUB(v0, v1)").to_host(), a - b)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 15, 16, 17, 31, 33, 1000, 1087, 16 * 67 + 1])
def test_every_length_is_computed_whole_and_nothing_behind_it_is_written(size, device):
    x = np.random.default_rng(size).normal(size=size).astype(np.float32)
    tensor = put(device, x)
    result = elementwise_unary(tensor, expression="v0 + 1")
    assert close(result.to_host(), x + 1)
    assert np.all(behind(result) == 255)


@pytest.mark.parametrize("rows", [67, 131])
def test_every_row_is_computed_and_nothing_behind_the_last_is_written(rows, device):
    x = np.random.default_rng(rows).normal(size=(rows, 3)).astype(np.float32)
    result = elementwise_binary(*put(device, x, x[0]), expression="v0 + v1")
    assert close(result.to_host(), x + x[0])
    assert np.all(behind(result) == 255)


@pytest.mark.parametrize("shapes", [((16 * 8191,), (16 * 8191,)), ((8191, 16), (16,))], ids=["numbers", "rows"])
def test_work_items_can_be_divided_also_where_the_length_is_a_prime_number(shapes, device):
    a, b = put(device, *[np.ones(shape, np.float32) for shape in shapes])
    with device.watch() as launches:
        elementwise_binary(a, b, expression="v0 + v1")
    assert launches[0].group or math.prod(launches[0].size) % 16 == 0


def test_numbers_stand_on_either_side(device):
    x = np.array([1.0, -2.0, 4.0], np.float32)
    tensor = put(device, x)
    assert close(elementwise_binary(tensor, 2.5, expression="SUB(v0, v1)").to_host(), x - 2.5)
    assert close(elementwise_binary(np.float64(8), tensor, expression="DIV(v0, v1)").to_host(), 8 / x)
    assert np.all(np.isinf(elementwise_binary(tensor, float("inf"), expression="MUL(v0, v1)").to_host()))


def test_float32_and_float64_make_float64(exact):
    a, b = np.array([1 / 3, 2.0]).astype(np.float32), np.random.default_rng(0).normal(size=(21, 2))
    for left, right in [(a, b), (b, a)]:
        got = elementwise_binary(*put(exact, left, right), expression="MUL(v0, v1)")
        assert got.dtype == "float64" and close(got.to_host(), left.astype(np.float64) * right, "float64")
    assert elementwise_binary(put(exact, a), 0.1, expression="v0 * v1").dtype == "float32"


def test_constants_in_an_expression_have_the_precision_of_the_tensor(device):
    x = np.linspace(-1, 1, 37, dtype=np.float32)
    assert close(
        elementwise_unary(put(device, x), expression="v0 * 2.5 + (v0 > 0 ? 1.0f : 0.0f)").to_host(), x * 2.5 + (x > 0)
    )
    if device.has(np.dtype(np.float64)):
        assert close(
            elementwise_unary(put(device, x.astype(np.float64)), expression="v0 * 0.1").to_host(),
            x.astype(np.float64) * 0.1,
            "float64",
        )


def test_an_expression_that_is_only_for_single_numbers_is_computed_one_by_one(device):
    x = np.linspace(0.5, 2, 37, dtype=np.float32)
    assert close(
        elementwise_unary(put(device, x), expression="pow(v0, 2.0f) + (v0 > 1.0f && v0 < 1.5f)").to_host(),
        x**2 + ((x > 1) & (x < 1.5)),
    )


def test_several_results_by_one_launch(device):
    a, b = np.random.default_rng(0).normal(size=(2, 40)).astype(np.float32)
    formula = Formula("both", ("v0 * v1", "v0 - v1"), 2)
    tensors = put(device, a, b)
    with device.watch() as launches:
        product, difference = compute_all(formula, tensors)
    assert len(launches) == 1
    assert close(product.to_host(), a * b) and close(difference.to_host(), a - b)


def test_the_inputs_are_left_alone(device):
    a, b = np.ones((3, 40), np.float32), np.full(40, 2, np.float32)
    tensors = put(device, a, b)
    elementwise_binary(*tensors, expression="ADD(v0, v1)")
    assert np.array_equal(tensors[0].to_host(), a) and np.array_equal(tensors[1].to_host(), b)


def test_what_cannot_be_computed_is_said(device):
    a, b = put(device, np.ones((2, 3), np.float32), np.ones(2, np.float32))
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(2,\) do not broadcast"):
        elementwise_binary(a, b, expression="ADD(v0, v1)")
    with pytest.raises(TypeError, match="needs a Tensor"):
        elementwise_binary(1.0, 2.0, expression="ADD(v0, v1)")
    with pytest.raises(TypeError, match="takes 2 operands, not 1"):
        compute(Formula("two", ("v0 + v1",), 2), [a])
    with pytest.raises(cl.RuntimeError, match="undeclared|undefined|unknown"):
        elementwise_unary(a, expression="v0 + nothing_of_that_name")
    other = next(each for each in devices().values() if not isinstance(each, str) and each is not device)
    with pytest.raises(ValueError, match="different devices"):
        elementwise_binary(a, Tensor.from_host(other.queue, np.ones((2, 3))), expression="ADD(v0, v1)")


@pytest.mark.parametrize("shape", [(), (7,), (3, 40), (4, 3, 17), (2, 3, 1, 5), (0, 3)], ids=str)
def test_axes_in_every_order(shape, device):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    for axes in itertools.permutations(range(len(shape))):
        assert np.array_equal(permute(put(device, x), axes).to_host(), x.transpose(axes))
    assert np.array_equal(permute(put(device, x)).to_host(), x.T)
    with pytest.raises(ValueError, match="no order of the axes"):
        permute(put(device, x), (0,) * (len(shape) + 1))


def test_a_tensor_is_repeated(device):
    x = np.random.default_rng(0).normal(size=(3, 1)).astype(np.float32)
    for shape in [(3, 1), (3, 20), (2, 3, 4), (0, 3, 1)]:
        assert np.array_equal(broadcast_to(put(device, x), shape).to_host(), np.broadcast_to(x, shape))
    with pytest.raises(ValueError, match="broadcast"):
        broadcast_to(put(device, x), (1, 4))


def test_a_single_number_has_the_kernel_of_many(device):
    formula = Formula("third", ("v0 / v1 / 3",), 2)
    programs = set()
    for shapes in [((5,), (5,)), ((), ()), ((1,), (1, 1))]:
        a, b = (np.full(shape, 6, np.float32) for shape in shapes)
        with device.watch() as launches:
            assert close(compute(formula, put(device, a, b)).to_host(), a / b / 3)
        programs.add(launches[0].kernel.program)
    assert len(programs) == 1


def test_strides_and_axes_that_merge():
    assert broadcast_strides((3, 1), (2, 3, 4)) == [0, 1, 0]
    assert broadcast_strides((), (2,)) == [0]
    assert merge_axes((2, 3, 4), [[12, 4, 1], [12, 4, 1]]) == ([24], [[1], [1]])
    assert merge_axes((2, 3, 4), [[12, 4, 1], [0, 4, 1], None]) == ([2, 12], [[12, 1], [0, 1], None])
    assert merge_axes((1, 1), [[0, 0]]) == ([1], [[0]])


def test_netcls_other_name_for_it(device):
    assert close(
        elementwise_optimized.elementwise_unary(put(device, np.ones(3, np.float32)), expression="NEG(v0)").to_host(),
        -np.ones(3),
    )
