"""The engines against one another: what two of them have gives the same value and the same
gradient. They share no code, and what they share with this file are the names in their tables.
"""

import inspect
import operator

import numpy as np
import pytest
from netcl_devices import close
from netcl_operations import HELPERS, OPERATIONS, Operation, results
from tensor_ops import OPS, gradients

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl import tensor
from tinygrad_cl.gradcheck import random_upstream
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.scalar import Value
from tinygrad_cl.tensor import Tensor

DIFFERENT = {"gelu": "engine 2 has the approximation with tanh, engine 3 the one with erf"}
DEVICE = {each.name: each for each in OPERATIONS}
HOST = {each.name: each for each in OPS}
SHARED = [name for name in DEVICE if name in HOST and name not in DIFFERENT]

SCALAR = {  # the operations of engine 1, under their names in engine 3's table
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
    "neg": operator.neg,
    **{name: getattr(Value, name) for name in DEVICE if hasattr(Value, name)},
    **{name: DEVICE[name].f for name in ("number − x", "number / x", "number ** x", "cube", "one input twice")},
}


def test_everything_that_two_engines_have_is_compared():
    of_value = {name for name in vars(Value) if name[0] != "_" and callable(getattr(Value, name))}
    assert of_value - {"backward", "zero_grad"} <= set(SCALAR)
    on_host = set(tensor.__all__) | {name for name in dir(Tensor) if name[0] != "_"}
    on_device = {name for name in ag.__all__ if not inspect.isclass(getattr(ag, name))} - HELPERS
    compared = {DEVICE[name].export for name in SHARED}
    assert (on_host & on_device) - compared == set(DIFFERENT)
    assert len(SHARED) > 50


def upstream_of(reference, arrays):
    return random_upstream(np.asarray(reference(*arrays)), 0).astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("name", SHARED)
def test_engine_2_and_engine_3(name, device):
    """Every shape on the default device; one shape on every device, and in float64."""
    operation = DEVICE[name]
    shapes = operation.shapes if device is manager.default("auto") else [operation.case()]
    for each in shapes:
        assert agree(operation, each, np.float32, device), each
    if device.has(np.dtype(np.float64)) and name != "cast":  # one of them casts up, one down
        assert agree(operation, operation.case(), np.float64, device)


def agree(operation, shapes, dtype, device):
    inputs = operation.inputs(shapes)
    upstream = upstream_of(operation.reference, inputs)
    first, second = gradients(HOST[operation.name].f, inputs, upstream)
    value, slopes = results(operation, device, [x.astype(dtype) for x in inputs], upstream.astype(dtype))
    return all(
        close(got, expected, dtype.__name__, 100)
        for got, expected in zip([value, *slopes], [first, *second], strict=True)
    )


@pytest.mark.parametrize("name", SCALAR)
def test_engine_1_and_engine_3(name, exact):
    """Number by number, since that is what engine 1 computes with."""
    operation = DEVICE[name]
    count = len(operation.case())
    arrays = operation.inputs(((2, 19),) * count)
    upstream = upstream_of(operation.reference, arrays)
    value, slopes = results(operation, exact, arrays, upstream)
    first = np.zeros((2, 19))
    second = [np.zeros((2, 19)) for _ in arrays]
    for place in np.ndindex(2, 19):
        inputs = [Value(float(x[place])) for x in arrays]
        out = SCALAR[name](*inputs)
        (out * float(upstream[place])).backward()
        first[place] = out.data
        for slope, leaf in zip(second, inputs):
            slope[place] = leaf.grad
    assert close(value, first, "float64")
    assert all(close(got, expected, "float64", 10) for got, expected in zip(slopes, second, strict=True))


def test_engines_that_disagree_are_noticed(exact):
    """The test of the tester: another operation's rule, one sign, one factor."""
    operation = DEVICE["tanh"]
    shapes = operation.case()
    assert agree(operation, shapes, np.float64, exact)
    for wrong in (
        ag.sigmoid,
        lambda x: -ag.tanh(x),
        lambda x: 2.001 * ag.tanh(x),
        lambda x: ag.tanh(x.value) + x * 0.0,
    ):
        assert not agree(Operation("tanh", "tanh", wrong, np.tanh), shapes, np.float64, exact)
