"""Every operation of engine 3: values, gradients, odd numbers; and the tester is tested.

A program takes some 0.15 s to compile, and each operation has two for each dtype, device and way to
broadcast. So every kind of shape is tried on one device in float32, and every device and dtype with
one kind of shape.
"""

import functools
import inspect

import numpy as np
import pytest
from netcl_devices import close
from netcl_operations import HELPERS, OPERATIONS, leaves_of, results

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.gradcheck import numerical_gradient, random_upstream, taylor_check
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.ops.indexing import Part
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES
from tinygrad_cl.netcl.tape.tape import topological_order


def some(which):
    """For a test of each operation that is `which`."""
    return pytest.mark.parametrize(
        "operation", [pytest.param(each, id=each.name) for each in OPERATIONS if which(each)]
    )


EVERY, SMOOTH = some(lambda each: True), some(lambda each: each.slopes)
SHAPES = pytest.mark.parametrize(
    "operation, shapes",
    [pytest.param(each, shapes, id=f"{each.name} {shapes}") for each in OPERATIONS for shapes in each.shapes],
)


@pytest.fixture
def first():
    """The default device, with memory that holds NaN until somebody writes it."""
    device = manager.default("auto")
    with device.pool.poisoned():
        yield device


@pytest.fixture
def exact(first):
    if not first.has(np.dtype(np.float64)):
        pytest.skip(f"{first.found.name} has no float64")
    return first


def test_the_table_has_every_operation():
    """A new one is written into the table; what is exported and is none, into HELPERS there."""
    exports = {name for name in ag.__all__ if not inspect.isclass(getattr(ag, name))}
    assert exports - HELPERS == {each.export for each in OPERATIONS} >= set(PRIMITIVES)
    assert HELPERS <= exports
    assert len({each.name for each in OPERATIONS}) == len(OPERATIONS)


# -- values and gradients -------------------------------------------------------------------------


def host(operation):
    """The reference as a function of arrays that gives an array."""
    return lambda *arrays: np.asarray(operation.reference(*map(np.asarray, arrays)))


@functools.cache
def known(operation, shapes):
    """Inputs, value, a random upstream gradient, and the gradients, by central differences of the
    reference. The numbers are exact in float32.
    """
    inputs, reference = operation.inputs(shapes), host(operation)
    value = reference(*inputs)
    upstream = random_upstream(value, 0).astype(np.float32).astype(np.float64)
    slopes = numerical_gradient(reference, inputs, upstream) if operation.slopes else []
    return inputs, value, upstream, slopes


def right(gradients, slopes, dtype):
    """Whether all gradients are those of the reference; differences are good for nine digits."""
    size = 300 if dtype == "float32" else 1e10
    return all(close(gradient, slope, dtype, size) for gradient, slope in zip(gradients, slopes, strict=True))


def check(operation, shapes, dtype, device):
    inputs, value, upstream, slopes = known(operation, shapes)
    out, gradients = results(operation, device, [x.astype(dtype) for x in inputs], upstream.astype(dtype))
    narrow = "float32" if operation.export == "cast" else dtype
    assert out.dtype == narrow and close(out, value, narrow, 100)
    assert right(gradients, slopes, narrow)
    assert all(gradient.dtype == dtype for gradient in gradients)


@SHAPES
def test_every_kind_of_shape(operation, shapes, first):
    check(operation, shapes, "float32", first)


@EVERY
def test_every_device(operation, device):
    check(operation, operation.case(), "float32", device)


@EVERY
def test_float64(operation, exact):
    check(operation, operation.case(), "float64", exact)


@some(lambda each: each.slopes and each.export != "cast")  # a cast is coarse in float64
def test_the_taylor_remainder_falls_with_the_square(operation, exact):
    report = taylor_check(
        host(operation),
        lambda upstream, *arrays: results(operation, exact, arrays, upstream)[1],
        operation.inputs(operation.case()),
    )
    assert report, str(report)


@some(lambda each: each.slopes and len(each.case()) > 1)
def test_only_the_gradients_that_are_asked_for(operation, first):
    inputs, _, upstream, slopes = known(operation, operation.case())
    for k, slope in enumerate(slopes):
        leaves = leaves_of(first, [x.astype(np.float32) for x in inputs])
        for number, each in enumerate(leaves):
            each.requires_grad = number == k
        ag.Tape().backward(operation.f(*leaves), upstream)
        assert [each.grad is not None for each in leaves] == [n == k for n in range(len(leaves))]
        assert close(leaves[k].grad.to_host(), slope, "float32", 300)


# -- odd numbers ----------------------------------------------------------------------------------


@some(lambda each: each.odd)
def test_nan_infinities_and_ties_give_what_numpy_gives(operation, first):
    shapes = operation.case()
    for odd in (np.nan, np.inf, -np.inf, None):
        arrays = operation.inputs(shapes)
        for x in arrays:
            if odd is None:
                x[...] = 0.5
            else:
                x.flat[0] = odd
        with np.errstate(all="ignore"):
            expected = host(operation)(*arrays)
        got = operation.f(*leaves_of(first, [x.astype(np.float32) for x in arrays])).to_host()
        assert close(got, expected, "float32", 100), odd


@some(lambda each: each.moves)
def test_gradients_go_where_their_numbers_came_from_and_nowhere_else(operation, first):
    """0 · NaN would be NaN: a gradient that is NaN, or infinite, may reach its own place only."""
    shapes = operation.case()
    inputs = [x.astype(np.float32) for x in operation.inputs(shapes)]
    ends = np.cumsum([x.size for x in inputs])
    places = np.split(1000.0 + np.arange(ends[-1]), ends[:-1])
    origin = host(operation)(*[each.reshape(x.shape) for each, x in zip(places, inputs)])
    upstream = np.arange(origin.size, dtype=np.float32).reshape(origin.shape)
    upstream.flat[0], upstream.flat[-1] = np.nan, np.inf
    for x in inputs:
        x[...] = np.nan  # what was moved is of no interest to a gradient
    gradients = results(operation, first, inputs, upstream)[1]
    expected = np.zeros(ends[-1])
    np.add.at(expected, origin[origin >= 1000].astype(int) - 1000, upstream[origin >= 1000])
    assert close(np.concatenate([each.ravel() for each in gradients]), expected)


@some(lambda each: each.export in ("add", "sub", "neg", "sum", "mean", "broadcast_to"))
def test_the_gradient_of_a_linear_operation_does_not_depend_on_its_inputs(operation, first):
    _, _, upstream, slopes = known(operation, operation.case())
    arrays = [np.full(shape, np.nan, np.float32) for shape in operation.case()]
    gradients = results(operation, first, arrays, upstream.astype(np.float32))[1]
    assert right(gradients, slopes, "float32")


@some(lambda each: each.export in ("max", "min", "maximum", "minimum"))
def test_ties_share_the_gradient(operation, first):
    shapes = [next(shape for shape in operation.case() if shape)] * len(operation.case())
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    upstream = np.ones(host(operation)(*arrays).shape, np.float32)
    gradients = np.stack(results(operation, first, arrays, upstream)[1])
    assert close(gradients, np.full(gradients.shape, upstream.size / gradients.size))


# -- the tester is tested -------------------------------------------------------------------------


def every_axis_turned(part):
    return Part(part, (slice(None, None, -1),) * part.ndim).take(part)


WRONG = {
    "a factor": lambda part: part * 2.001,
    "the sign": lambda part: -part,
    "nothing": lambda part: part * 0.0,
    "an axis": every_axis_turned,
}


def wrong_rules(rule, parents):
    """(how, a rule that is wrong in one thing), for each parent of a node, and with two swapped."""
    for how, fault in WRONG.items():
        for k in [k for k, parent in enumerate(parents) if parent.requires_grad]:

            def wrong(grad, fault=fault, k=k):
                return [fault(part) if n == k else part for n, part in enumerate(rule(grad))]

            yield how, wrong
    if len(parents) > 1:

        def swapped(grad):
            parts = list(rule(grad))
            same = None not in parts[:2] and parts[0].shape == parts[1].shape
            return [parts[1], parts[0], *parts[2:]] if same else parts

        yield "a parent", swapped


@SMOOTH
def test_the_tester_rejects_a_wrong_rule(operation, exact):
    """Every gradient of every rule that an operation is made of, wrong one at a time."""
    inputs, value, upstream, slopes = known(operation, operation.case())
    leaves = leaves_of(exact, inputs)
    out = operation.f(*leaves)

    def gradients():
        for leaf in leaves:
            leaf.grad = None
        ag.Tape().backward(out, upstream)
        return [leaf.grad.to_host() for leaf in leaves]

    dtype = "float32" if operation.export == "cast" else "float64"
    before = gradients()
    assert right(before, slopes, dtype)
    for node in topological_order(out):
        rule = node.grad_fn
        for how, wrong in wrong_rules(rule, node.parents) if rule else ():
            node.grad_fn = wrong
            after = gradients()
            differ = not all(map(np.array_equal, before, after))
            assert right(after, slopes, dtype) == (not differ), (node.op_name, how)
            assert differ or how in ("an axis", "a parent") or not value.size, (node.op_name, how)
        node.grad_fn = rule
