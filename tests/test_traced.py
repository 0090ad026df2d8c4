"""Gradients measured on every device found, in every precision it has, against engine 1 and its mutants."""

import dataclasses
import inspect
from functools import lru_cache

import numpy as np
import pytest
from expressions import MUTANTS, STEPS, expressions, mutant
from hypothesis import HealthCheck, given, settings

from tinygrad_cl import scalar, traced
from tinygrad_cl.gradcheck import numerical_gradient
from tinygrad_cl.opencl import NoDeviceError, default_device, find_devices, find_fault
from tinygrad_cl.scalar import Value
from tinygrad_cl.traced import MAX_NODES, TooManyNodes, TracedValue, measure, nodes_below

TOLERANCE = {"float64": 1e-6, "float32": 2e-2}
DEVICES = find_devices()
fault_of = lru_cache(find_fault)


@pytest.fixture(params=range(len(DEVICES) or 1), ids=[d.name for d in DEVICES] or ["no device"])
def found(request):
    """Every device that works."""
    if not DEVICES:
        pytest.skip("there is no OpenCL device on this computer")
    device = DEVICES[request.param]
    if fault_of(device):
        pytest.skip(f"{device.name} does not work: {fault_of(device)}")
    return device


@pytest.fixture(params=["float64", "float32"])
def device(found, request):
    """Every device that works, once as it is and once as if it had no double precision."""
    if request.param == "float64" and not found.fp64:
        pytest.skip(f"{found.name} has no double precision")
    return with_precision(found, request.param)


@lru_cache
def with_precision(device, name):
    return dataclasses.replace(device, fp64=name == "float64")


@pytest.fixture
def default():
    try:
        return default_device()
    except NoDeviceError as error:
        pytest.skip(str(error))


def close(got, expected, device):
    """Is each number right, relative to the largest?"""
    tolerance = TOLERANCE[traced.real_type(device).name]
    got, expected = np.asarray(got), np.asarray(expected)
    return bool(np.all(np.abs(got - expected) <= tolerance * (1 + np.max(np.abs(expected)))))


def values_and_gradients(engine_value, f, inputs):
    leaves = [engine_value(x) for x in inputs]
    out = f(*leaves)
    out.backward()
    return [out.data, *(leaf.grad for leaf in leaves)]


# -- the kernel on every device --------------------------------------------------------------------------


@pytest.mark.parametrize("name", STEPS)
def test_every_operation_on_every_device(name, device):
    f, inputs = STEPS[name], [0.7, -1.3]
    leaves = [TracedValue(x) for x in inputs]
    value, gradients = measure(f(*leaves), device)
    expected = values_and_gradients(Value, f, inputs)
    assert close([value, *(gradients.get(leaf, 0.0) for leaf in leaves)], expected, device)


def test_every_op_of_the_table_is_computed_alike_by_python_and_the_kernel(device):
    for op, (compute, _) in traced.OPS.items():
        numbers = [1.7, 0.6][: compute.__code__.co_argcount if inspect.isfunction(compute) else 1]
        out = traced.record(op, *map(TracedValue, numbers))
        assert out.data == compute(*numbers) and close(measure(out, device)[0], out.data, device), op


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=expressions())
def test_random_expressions_on_every_device(device, case):
    """Up to rounding, the device's differences are those of the host in float64 with the same step."""
    f, inputs = case
    traced_leaves, leaves = [TracedValue(x) for x in inputs], [Value(x) for x in inputs]
    traced_out, out = f(*traced_leaves), f(*leaves)
    assert traced_out.data == pytest.approx(out.data, rel=1e-12, abs=1e-12)
    out.backward()
    epsilon = float(np.finfo(traced.real_type(device)).eps)
    rounding = 20 * epsilon * (1 + sum(abs(node.grad * node.data) for node in scalar.topological_order(out)))
    value, gradients = measure(traced_out, device)
    assert abs(value - out.data) <= rounding
    step = 2 * epsilon ** (1 / 3)
    expected = numerical_gradient(lambda *x: f(*map(Value, x)).data, inputs, step=step)
    for leaf, slope in zip(traced_leaves, expected):
        assert abs(gradients.get(leaf, 0.0) - slope) <= rounding / (step * max(abs(leaf.data), 0.1))


def test_every_mutant_of_engine_1_is_caught(device):
    def every_step(a, b):
        total = (a * b).relu() + (a * a).log() * 0.7 + (a * a + 1) ** (b * b) * 0.6
        for k, step in enumerate(STEPS.values()):
            total = total + step(a, b) * (0.1 + 0.02 * k)
        return total

    inputs = [0.8, -0.6]
    leaves = [TracedValue(x) for x in inputs]
    value, gradients = measure(every_step(*leaves), device)
    measured = [value, *(gradients[leaf] for leaf in leaves)]
    assert close(values_and_gradients(Value, every_step, inputs), measured, device)
    coarse = {"+ with 2.001 for 2 in all"} if not device.fp64 else set()
    passed = {
        name
        for name in MUTANTS
        if close(values_and_gradients(mutant(name).Value, every_step, inputs), measured, device)
    }
    assert passed <= coarse


def test_where_one_side_is_no_number_the_gradient_is_nan(device):
    a = TracedValue(0.0)
    _, gradients = measure(a**0.5, device)
    assert np.isnan(gradients[a])


def test_the_largest_expression(device):
    if device.is_interpreter:
        pytest.skip(f"{device.platform} would take minutes for 8 million steps")
    a = TracedValue(0.5)
    out = a
    while len(nodes_below(out)) < MAX_NODES:
        out = out.tanh()
    _, gradients = measure(out, device)
    b = Value(0.5)
    same = b
    for _ in range(MAX_NODES - 1):
        same = same.tanh()
    same.backward()
    assert len(gradients) == MAX_NODES and close(gradients[a], b.grad, device)
    with pytest.raises(TooManyNodes, match="has 2,001 nodes; gradients on the device are measured for at most 2,000"):
        measure(out.tanh(), device)


def test_equal_devices_with_contexts_of_their_own(found):
    for _ in range(2):
        assert measure(TracedValue(1.0) + 2, dataclasses.replace(found))[0] == 3.0


def test_the_kernel_is_built_once_whatever_the_expression(device):
    measure(TracedValue(1.0) + 2, device)
    before = traced.build.cache_info().misses
    measure((TracedValue(3.0) * 2).exp(), device)
    assert traced.build.cache_info().misses == before


# -- in place of engine 1's Value ------------------------------------------------------------------------


def public(cls):
    return {
        name: member
        for name, member in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_") or name in vars(cls) and name.startswith("__")
    }


def test_the_public_interface_is_engine_1s():
    theirs = public(TracedValue)
    for name, member in public(Value).items():
        assert name in theirs, f"TracedValue has no {name}"
        assert list(inspect.signature(member).parameters) == list(inspect.signature(theirs[name]).parameters), name
    assert {name for name in Value.__slots__ if not name.startswith("_")} <= set(dir(TracedValue(2.0)))


@given(case=expressions(max_steps=8))
def test_the_graph_has_engine_1s_shape(case):
    f, inputs = case
    ours, theirs = f(*map(Value, inputs)), f(*map(TracedValue, inputs))
    pairs, seen = [(ours, theirs)], 0
    while pairs and seen < 200:
        a, b = pairs.pop()
        seen += 1
        assert (a.op, len(a.parents)) == (b.op, len(b.parents)) and b.data == pytest.approx(a.data, rel=1e-9, abs=1e-12)
        pairs.extend(zip(a.parents, b.parents))


def test_backward_sets_every_node_and_leaves_accumulate(default):
    results = []
    for cls in (Value, TracedValue):
        a, b = cls(3.0, label="a"), cls(-2.0)
        square = a * a
        out = square * b + a
        out.backward()
        first = [a.grad, b.grad, square.grad, out.grad]
        out.backward()
        second = [a.grad, b.grad, square.grad, out.grad]
        out.zero_grad()
        results.append(first + second + [a.grad, b.grad, square.grad, out.grad, a.label == "a"])
    assert close(results[1], results[0], default)


def test_local_derivatives_are_measured(default):
    a, b = TracedValue(3.0), TracedValue(2.0)
    for out in (a * b, a + b, a * a, a**2, a**b, a.log(), (a - b).relu(), TracedValue(1.0)):
        expected = {
            "*": lambda p: [p[1], p[0]],
            "+": lambda p: [1, 1],
            "log": lambda p: [1 / p[0]],
            "relu": lambda p: [1],
            "**": lambda p: [2 * p[0], 9 * np.log(3)][: len(p)],
            "": lambda p: [],
        }[out.op]([parent.data for parent in out.parents])
        assert len(out.local_derivatives) == len(out.parents)
        assert len(expected) == 0 or close(out.local_derivatives, expected, default)


def test_a_node_made_by_hand_is_linear_in_its_parents(default):
    a, b = TracedValue(3.0), TracedValue(4.0)
    out = TracedValue(10.0, (a, b, a), (2.0, -5.0, 0.5), "mine", label="out")
    assert (out.op, out.label, out.parents, out.local_derivatives) == ("mine", "out", (a, b, a), (2.0, -5.0, 0.5))
    (out * out).backward()
    assert close([a.grad, b.grad, out.grad], [50, -100, 20], default)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda V: V("2"),
        lambda V: V(np.ones(2)),
        lambda V: V(2.0) + None,
        lambda V: V(0.0).log(),
        lambda V: V(710.0).exp(),
        lambda V: V(1.0) / 0,
        lambda V: 1 / V(0.0),
        lambda V: V(-8.0) ** (1 / 3),
        lambda V: V(10.0) ** 400,
        lambda V: V(-2.0) ** V(2.0),
        lambda V: 0 ** V(2.0),
    ],
)
def test_the_same_mistakes_raise_the_same_errors(mistake):
    with pytest.raises(Exception) as theirs:
        mistake(Value)
    with pytest.raises(theirs.type) as ours:
        mistake(TracedValue)
    assert "\n" not in str(ours.value)


def test_numbers_of_numpy_on_the_left_and_control_flow_on_data():
    out = np.float64(2.0) * TracedValue(3.0)
    assert type(out) is TracedValue and (out if out.data > 5 else -out).data == 6.0


def test_precision_is_the_devices(default):
    assert TracedValue(1.0).precision == ("float64" if default.fp64 else "float32")


def test_a_chain_of_100_000_is_refused_in_one_sentence():
    out = TracedValue(1.0)
    for _ in range(100_000):
        out = out.tanh()
    with pytest.raises(TooManyNodes, match="100,001 nodes"):
        out.backward()
    out.zero_grad()
