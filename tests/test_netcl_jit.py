"""jit_compile: what is traced becomes one forward and one backward kernel that compute what the
operations compute one by one.
"""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from netcl_devices import check, close, numbers, put

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.autograd import jit_source
from tinygrad_cl.netcl.autograd.compiler import jit_compile
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES

FUSIBLE = [primitive for primitive in PRIMITIVES.values() if primitive.fusible]


def leaves_of(device, arrays, wanted=None):
    return [
        ag.tensor(put(device, np.asarray(x)), requires_grad=want)
        for x, want in zip(arrays, wanted or [True] * len(arrays))
    ]


def run(device, function, arrays, wanted=None):
    """(value, gradients, names of the forward launches, names of the backward launches)"""
    leaves = leaves_of(device, arrays, wanted)
    with device.watch() as forward, ag.Tape() as tape:
        out = function(*leaves)
    upstream = np.random.default_rng(9).normal(size=out.shape).astype(out.dtype)
    with device.watch() as backward:
        if out.requires_grad:
            tape.backward(out, put(device, np.asarray(upstream)))
    gradients = [leaf.grad and leaf.grad.to_host() for leaf in leaves]
    return (out.to_host(), gradients, [each.name for each in forward], [each.name for each in backward])


def compare(device, function, arrays, wanted=None, size=1):
    """Check that the compiled function computes what the function does; return its launches, forward
    and backward. The function, of operations that have tests of their own, runs on the default
    device: its programs are compiled once, not for each device.
    """
    default = manager.default("auto")
    known = default if all(default.has(np.asarray(x).dtype) for x in arrays) else device
    value, gradients, *_ = run(known, function, arrays, wanted)
    compiled = jit_compile(function)
    ours, slopes, forward, backward = run(device, compiled, arrays, wanted)
    assert compiled.why == ""
    dtype = str(value.dtype)
    assert ours.dtype == value.dtype and close(ours, value, dtype, size)
    for slope, gradient in zip(slopes, gradients, strict=True):
        assert (slope is None) == (gradient is None)
        if gradient is not None:
            assert slope.dtype == gradient.dtype and close(slope, gradient, dtype, 10 * size)
    return forward, backward


def random(*shapes, dtype=np.float32):
    rng = np.random.default_rng(sum(map(sum, shapes)))
    return [numbers(rng, shape, dtype=dtype) for shape in shapes]


def chain(a, b):
    return ag.tanh(a * b + a) * b


ONE = ["fused_forward"], ["fused_backward"]


# -- it computes what the operations compute -------------------------------------------------------


@pytest.mark.parametrize("primitive", FUSIBLE, ids=lambda primitive: primitive.name)
def test_every_primitive_of_the_table(primitive, device):
    rng = np.random.default_rng(1)
    arrays = [numbers(rng, (5, 7), primitive.domain, np.float32) for _ in range(primitive.arity)]
    operation = getattr(ag, primitive.name)
    forward, backward = compare(device, lambda *xs: ag.sum(operation(*xs) * xs[-1]), arrays, size=35)
    assert (forward, backward) == ONE


@pytest.mark.parametrize(
    "reduce", [lambda x: x, ag.sum, ag.mean, ag.max, ag.min], ids=["none", "sum", "mean", "max", "min"]
)
def test_gradients_are_those_of_central_differences(reduce, exact):
    """And the test of the tester: one that is off by a factor, a sign, or gone, is noticed."""
    numpys = {ag.sum: np.sum, ag.mean: np.mean, ag.max: np.max, ag.min: np.min}.get(reduce, lambda x: x)
    compiled = jit_compile(lambda a, b: reduce(ag.tanh(a * b + a) * b))
    for fault in [None, lambda g: 2.001 * g, lambda g: -g, np.zeros_like]:
        report = check(
            exact,
            compiled,
            lambda a, b: numpys(np.tanh(a * b + a) * b),
            random((3, 4), (3, 1), dtype=np.float64),
            fault,
        )
        assert bool(report) == (fault is None), str(report)


SHAPES = [
    ((), ()),
    ((1,), (1,)),
    ((37,), (37,)),
    ((3, 40), (40,)),
    ((3, 40), (3, 1)),
    ((3, 40), ()),
    ((3, 40), (1, 1)),
    ((4, 1, 5), (3, 1)),
    ((2, 3, 1, 17), (5, 1)),
    ((2, 1, 17), (2, 3, 17)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes_are_broadcast_both_ways(shapes, device):
    for left, right in {shapes, shapes[::-1]}:
        arrays = random(left, right)
        forward, backward = compare(device, lambda a, b: ag.sum(chain(a, b)), arrays, size=600)
        assert forward == ["fused_forward"] and backward[0] == "fused_backward"
    compare(device, chain, arrays)


@pytest.mark.parametrize("how", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize(
    "axis, keepdims", [(None, True), (0, False), (-1, False), ((0, 2), False), ((1,), True), ((), False)], ids=str
)
def test_reductions_over_axes(how, axis, keepdims, device):
    reduce = partial(getattr(ag, how), axis=axis, keepdims=keepdims)
    forward, backward = compare(device, lambda a, b: reduce(chain(a, b)), random((4, 3, 17), (3, 17)), size=100)
    assert forward == ["fused_forward"] and backward == ["fused_backward"]


@pytest.mark.parametrize("how", ["max", "min"])
def test_ties_share_the_gradient_of_an_extreme_and_nan_takes_it(how, device):
    reduce = getattr(ag, how)
    for odd in [9.0 if how == "max" else -9.0, np.nan, np.inf, -np.inf]:
        x = np.arange(-3.0, 4, dtype=np.float32).repeat(3)
        x[[2, 7, 20]] = odd
        compare(device, lambda x: reduce(x * 1.0, axis=-1), [x.reshape(3, 7)])
        compare(device, partial(reduce, axis=0), [x.reshape(7, 3)])


@pytest.mark.parametrize("compiled", [False, True])
def test_what_is_not_the_largest_gets_nothing_of_an_infinite_gradient(compiled, device):
    x = ag.tensor(put(device, np.array([[1, 2, 2], [1, 5, 4], [np.nan, 1, 2]], np.float32)), True)
    largest = lambda x: ag.max(-x * -1.0, axis=-1)
    y = (ag.jit_compile(largest) if compiled else largest)(x)
    ag.Tape().backward(y, np.array([np.inf, np.nan, 1.0]))
    expected = [[0, np.inf, np.inf], [0, np.nan, 0], [np.nan] * 3]
    assert np.array_equal(x.grad.to_host(), np.float32(expected), equal_nan=True)


def test_a_trace_of_one_tensor_given_twice_is_not_that_of_two(device):
    """f(x, x) and then f(x, y) gave f(y, y)."""
    function = ag.jit_compile(lambda a, b, c: a - 2 * b + c * c)
    x, y, z = [put(device, np.full(3, each, np.float32)) for each in (1.0, 5.0, 7.0)]
    for a, b, c in [(x, x, x), (x, y, x), (x, x, y), (x, y, y), (x, y, z), (y, y, x), (x, x, x)]:
        expected = a.to_host() - 2 * b.to_host() + c.to_host() ** 2
        assert close(function(a, b, c).to_host(), expected)
        assert close(function(*[ag.tensor(each, True) for each in (a, b, c)]).to_host(), expected)


def test_float64_and_both_dtypes_together(exact):
    a, b = random((3, 20), (20,), dtype=np.float64)
    for arrays in [(a, b), (a.astype(np.float32), b), (a, b.astype(np.float32))]:
        compare(exact, lambda a, b: ag.sum(ag.tanh(a * b)), arrays, size=60)


def test_a_long_sum_is_one_launch_and_its_gradient_another(device):
    arrays = random((100_003,), (100_003,))
    assert compare(device, lambda a, b: ag.sum(chain(a, b)), arrays, size=1e5) == ONE


def test_a_node_that_is_used_many_times(device):
    def function(x):
        for _ in range(8):
            x = x * x + x
        return ag.sum(x)

    assert compare(device, function, [np.linspace(-0.9, 0.1, 40, dtype=np.float32)]) == ONE


def test_common_subexpressions_are_computed_once(device):
    (x,) = leaves_of(device, random((40,)))
    source = jit_compile(lambda x: ag.exp(x) + ag.exp(x) * ag.exp(x)).graphs(x)[0].forward_source
    assert source.count("exp(v0)") == 1


def test_a_wrong_line_is_noticed(device, monkeypatch):
    """The test of the tester: contributions that overwrite instead of adding up."""

    def overwriting(*arguments):
        lines, gradients = right(*arguments)
        return [line.replace("+=", "=") for line in lines], gradients

    right = jit_source.backward_lines
    monkeypatch.setattr("tinygrad_cl.netcl.autograd.compiled_graph.backward_lines", overwriting)
    with pytest.raises(AssertionError):
        compare(device, lambda a, b: ag.sum(chain(a, b)), random((40,), (40,)), size=40)


# -- what is launched, and what it looks like ------------------------------------------------------


def test_gradients_that_are_not_wanted_are_not_written(device):
    for wanted, outputs in [((True, True), 2), ((True, False), 1), ((False, True), 1), ((False, False), 0)]:
        forward, backward = compare(device, lambda a, b: ag.sum(chain(a, b)), random((40,), (40,)), wanted, size=40)
        assert len(backward) == (outputs > 0)
        source = (
            jit_compile(lambda a, b: ag.sum(chain(a, b)))
            .graphs(*leaves_of(device, random((40,), (40,)), wanted))[0]
            .backward_source
        )
        assert source.count("*out_g_") == outputs


def test_sums_of_repeated_inputs_are_in_the_backward_kernel(device):
    """A bias, or a single number: one launch. Where two inputs were repeated in two ways, the engine
    sums the gradient of one.
    """
    arrays = random((9, 40), (40,), (1, 40), ())
    assert compare(device, lambda x, b, *_: ag.sum(ag.tanh(x + b)), arrays, size=360) == ONE
    assert compare(device, lambda x, b, c, _: ag.sum(ag.tanh(x * b + c)), arrays, size=360) == ONE
    assert compare(device, lambda x, b, c, s: ag.tanh(x * s), arrays, size=360) == ONE
    _, backward = compare(device, lambda x, b, c, s: ag.tanh(x * b + s), arrays, size=360)
    assert backward[0] == "fused_backward" and 1 < len(backward) <= 3


def test_an_input_that_is_not_used_gets_no_gradient(device):
    """netcl hands on a buffer that nobody wrote."""
    a, b = leaves_of(device, random((40,), (40,)))
    with ag.Tape() as tape:
        out = jit_compile(lambda a, b: ag.sum(a * a))(a, b)
    tape.backward(out)
    assert out.parents == (a,) and b.grad is None and close(a.grad.to_host(), 2 * a.to_host())


def test_the_result_is_one_operation_on_the_tape(device):
    a, b = leaves_of(device, random((40,), (40,)))

    @ag.jit_compile
    def loss(a, b):
        """Its documentation."""
        return ag.sum(chain(a, b))

    assert (loss.__name__, loss.__doc__) == ("loss", "Its documentation.")
    with ag.Tape(retain_grads=True) as tape:
        out = loss(a, b) * 2.0
    assert [node.op_name for node in tape.nodes] == ["jit_loss", "mul"]
    assert out.parents[0].parents == (a, b) and "test_netcl_jit.py" in tape.nodes[0].created_at
    tape.backward(out)
    assert close(tape.nodes[0].grad.to_host(), 2)
    with ag.Tape() as outer:
        other = ag.Tape()
        loss(a, b, tape=other)
    assert outer.nodes == [] and len(other.nodes) == 1
    with ag.no_grad(), ag.Tape() as tape:
        assert not loss(a, b).requires_grad and tape.nodes == []


def test_the_text_of_the_kernels_is_readable(device):
    a, b = leaves_of(device, random((40,), (40,)))
    compiled = jit_compile(lambda a, b: ag.sum(a * b + a))
    (graph,) = compiled.graphs(a, b)
    assert isinstance(graph, ag.CompiledGraph)
    assert str(graph) == (
        "v0: float32 (40,)\nv1: float32 (40,)\nmul_2 = mul(v0, v1)\n"
        "add_3 = add(mul_2, v0)\nsum(add_3, axes=(0,), keepdims=False)"
    )
    for line in ["const V mul_2 = MUL(v0, v1);", "const V add_3 = ADD(mul_2, v0);"]:
        assert line in graph.forward_source
    for line in ["const V g = upstream;", "V g_v0 = g;", "g_v0 += (g_mul_2 * v1);", "V g_v1 = (g_mul_2 * v0);"]:
        assert line in graph.backward_source
    assert "mul_2 =" not in graph.backward_source.replace("g_mul_2 =", "")  # nobody needs its value
    assert graph.forward_source in compiled.source(a, b) and graph.backward_source in compiled.source(a, b)


def test_two_functions_of_the_same_chain_share_a_program(device):
    a, b = leaves_of(device, random((40,), (40,)))
    one, other = jit_compile(lambda a, b: ag.sum(a * b - a)), jit_compile(lambda x, y: ag.sum(x * y - x))
    with device.watch() as launches:
        one(a, b), other(b, a)
    assert len({launch.kernel.program for launch in launches}) == 1


PROGRAM = """
import numpy as np
import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor
queue = manager.default("auto").queue
a, b = (ag.tensor(Tensor.from_host(queue, x), requires_grad=True) for x in np.ones((2, 50), np.float32))
loss = ag.jit_compile(lambda a, b: ag.sum(ag.tanh(a * b + a) * b * {number}))
with ag.Tape() as tape:
    out = loss(a, b)
tape.backward(out)
print(out.to_host(), a.grad.to_host()[0])
"""


def test_a_second_process_finds_the_kernels_in_the_cache(tmp_path):
    """netcl's text holds addresses, so that the cache on the disk never hits."""

    def kernels():
        return {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("program.bc")}

    def process(number):
        program = PROGRAM.format(number=number)
        return subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"POCL_CACHE_DIR": str(tmp_path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    answer = process(1.5)
    first = kernels()
    if not first:
        pytest.skip("the default device is not PoCL's, which alone keeps its cache there")
    assert process(1.5) == answer and kernels() == first
    assert process(2.5) != answer and len(kernels()) > len(first)  # another constant, another kernel


COLD = """
import numpy as np
import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor
queue = manager.default().queue
product = ag.jit_compile(lambda x, w: ag.relu(ag.matmul(x, w)))
x, w = (ag.tensor(Tensor.from_host(queue, np.ones(shape, np.float32))) for shape in ((17, 33), (33, 19)))
print(product(x, w).to_host()[0, 0])
"""


def test_files_of_kernels_that_are_built_during_a_trace_are_nothing_that_the_function_asks(tmp_path):
    """A matrix product builds its kernel when it is traced, where no cache has it."""
    caches = {"POCL_CACHE_DIR": str(tmp_path / "pocl"), "XDG_CACHE_HOME": str(tmp_path)}
    (tmp_path / "pocl").mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", COLD], env=os.environ | caches, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "33.0\n"), done.stderr
