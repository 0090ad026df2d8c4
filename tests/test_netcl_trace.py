"""When a compiled function is traced, what of it is fused, and what it says where that cannot be.

Tracing is the same on every device, so these tests use the default one.
"""

import datetime
import io
import math
import os
import random
import secrets
import sys
import threading
import time
import uuid

import numpy as np
import pytest
from netcl_devices import close

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.autograd import jit
from tinygrad_cl.netcl.autograd.compiler import jit_compile, register_primitive
from tinygrad_cl.netcl.autograd.engine import apply_op
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import elementwise_binary, elementwise_unary
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES
from tinygrad_cl.netcl.runtime import capture
from tinygrad_cl.netcl.tape.modes import state

A = np.array([1.0, -2.0, 3.0], np.float32)
SCALE = 2.0


def leaf(numbers, requires_grad=True):
    return ag.tensor(Tensor.from_host(manager.default("auto").queue, numbers), requires_grad=requires_grad)


@pytest.fixture
def device():
    return manager.default("auto")


@pytest.fixture
def x():
    return leaf(A)


@pytest.fixture
def traces(monkeypatch):
    """A list that grows with every trace."""
    made = []

    class Counted(jit.Trace):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(jit, "Trace", Counted)
    return made


@pytest.fixture
def own():
    """register_primitive, undone afterwards."""
    before = dict(PRIMITIVES)
    yield register_primitive
    PRIMITIVES.clear()
    PRIMITIVES.update(before)


def gradient(compiled, *args, of):
    """∂ sum of the result / ∂ a leaf."""
    of.grad = None
    with ag.Tape() as tape:
        out = ag.sum(compiled(*args))
    tape.backward(out)
    return of.grad and of.grad.to_host()


# -- what a trace depends on -----------------------------------------------------------------------


def test_it_is_traced_again_only_for_another_kind_of_arguments(x, traces):
    double = jit_compile(lambda x: x * 2.0)
    for numbers in (A, -A, A + 1):
        assert close(double(leaf(numbers)).to_host(), 2 * numbers)
    assert len(traces) == 1
    double(leaf(A, requires_grad=False))
    assert len(traces) == 2
    with ag.no_grad():
        assert not double(x).requires_grad
    assert len(traces) == 3
    assert double(leaf([[1.0, 2.0]])).shape == (1, 2) and len(traces) == 4
    assert double(x).requires_grad and len(traces) == 4


def test_tensors_and_parameters_are_taken_as_well(x):
    weights = Parameter.from_host(x.value.queue, A)
    compiled = jit_compile(lambda a, w: a * w + 1)
    assert close(compiled(x.value, weights).to_host(), A * A + 1)
    assert close(gradient(compiled, x.value, weights, of=weights), A)
    assert close(gradient(compiled, x, weights, of=x), A)


def test_arguments_by_name_in_tuples_and_by_default(x):
    compiled = jit_compile(lambda pair, scale=2.0, shift=0.0: pair[0] * pair[1] * scale + shift)
    assert close(compiled((x, x)).to_host(), 2 * A * A)
    assert close(compiled((x, x), shift=1.0, scale=3.0).to_host(), 3 * A * A + 1)
    assert close(compiled((x, leaf(A + 1)), 1.0).to_host(), A * (A + 1))
    assert close(gradient(compiled, (x, x), of=x), 4 * A)
    assert jit_compile(lambda x, rate: x * rate)(x, np.array([1.0, 2.0, 3.0])).to_host().tolist() == [1, -4, 9]


def test_a_number_that_changes_needs_no_new_kernel(x, device, traces):
    compiled = jit_compile(lambda x, rate: x * rate + 0.5)
    with device.watch() as launches:
        for rate in (0.1, 0.2, 0.1, np.float32(0.3), 4):
            assert close(compiled(x, rate).to_host(), A * rate + 0.5)
    assert len({launch.kernel.program for launch in launches}) == 1 and len(traces) == 4
    source = compiled.graphs(x, 0.1)[0].forward_source
    assert "const T in_v1" in source and "0.5" in source and "0.1" not in source


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 1e-30, 3, True])
def test_any_number_is_a_constant_or_an_argument(number, x, traces):
    """netcl's kernel does not build with an infinite one."""
    with_argument, constant = jit_compile(ag.minimum), jit_compile(lambda x: ag.minimum(x, number))
    for _ in range(2):
        assert close(with_argument(x, number).to_host(), np.minimum(A, number))
        assert close(constant(x).to_host(), np.minimum(A, number))
    assert len(traces) == 2


def test_zeros_of_both_signs_are_two_numbers(x):
    compiled = jit_compile(lambda x, zero: ag.abs(x) / zero)
    assert np.all(compiled(x, 0.0).to_host() == np.inf)
    assert np.all(compiled(x, -0.0).to_host() == -np.inf)


def test_nodes_and_numbers_from_outside_are_inputs_and_may_be_bound_anew(x, device, traces, monkeypatch):
    """netcl cannot build a kernel with a Node from outside."""
    w, shift = leaf([1.0, 10.0, 100.0]), 1.0
    compiled = jit_compile(lambda x: (x * w + shift) * SCALE)
    assert close(compiled(x).to_host(), (A * [1, 10, 100] + 1) * 2)
    assert close(gradient(compiled, x, of=w), 2 * A) and close(gradient(compiled, x, of=x), [2, 20, 200])
    w = leaf([1.0, 1.0, 1.0])
    assert close(compiled(x).to_host(), (A + 1) * 2) and close(gradient(compiled, x, of=w), 2 * A)
    assert len(traces) == 1
    shift = 3.0
    assert close(compiled(x).to_host(), (A + 3) * 2)
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 5.0)
    assert close(compiled(x).to_host(), (A + 3) * 5)
    w = leaf(7.0)
    assert close(compiled(x).to_host(), (A * 7 + 3) * 5)


def test_functions_that_it_calls_are_looked_into(x, traces):
    w = leaf(2.0)

    def helper(x):
        return x * w

    compiled = jit_compile(lambda x: ag.exp(helper(x)))
    assert close(compiled(x).to_host(), np.exp(2 * A))
    w = leaf(-1.0)
    assert close(compiled(x).to_host(), np.exp(-A)) and len(traces) == 1
    assert close(gradient(compiled, x, of=w), [np.sum(A * np.exp(-A))][0])
    inner = jit_compile(lambda x: x + w)
    outer = jit_compile(lambda x: inner(x) * 2.0)
    del traces[:]
    assert close(outer(x).to_host(), (A - 1) * 2) and len(outer.graphs(x)) == 1
    w = leaf(3.0)
    assert close(outer(x).to_host(), (A + 3) * 2) and len(traces) == 1


class Layer:
    def __init__(self):
        self.weights, self.scale = Parameter.from_host(manager.default("auto").queue, A), 2.0

    @jit_compile
    def __call__(self, x):
        """A layer."""
        return ag.tanh(x * self.weights) * self.scale


def test_what_is_inside_an_object_or_a_list_is_looked_up_in_every_call(x, device, traces):
    layer, things = Layer(), [leaf(2.0), 1.0]
    compiled = jit_compile(lambda x: x * things[0] + things[1])
    for _ in range(3):
        assert close(layer(x).to_host(), np.tanh(A * A) * 2) and close(compiled(x).to_host(), 2 * A + 1)
    assert len(traces) == 6
    layer.scale, things[1] = 3.0, 5.0
    assert close(layer(x).to_host(), np.tanh(A * A) * 3) and close(compiled(x).to_host(), 2 * A + 5)
    layer.weights, things[0] = Parameter.from_host(device.queue, -A), leaf(A)
    assert close(layer(x).to_host(), -np.tanh(A * A) * 3) and close(compiled(x).to_host(), A * A + 5)
    assert close(gradient(layer, x, of=layer.weights), 3 * A * (1 - np.tanh(A * A) ** 2))
    with device.watch() as launches:
        layer(x), layer(x), compiled(x), compiled(x)
    assert len(launches) == 4 and len({launch.kernel.program for launch in launches}) == 2


def test_choices_that_python_makes_of_arguments(x, traces):
    def function(x, times, squared=False, how="sum"):
        for _ in range(times):
            x = x + 1
        return getattr(ag, how)(x * x if squared else x)

    compiled = jit_compile(function)
    assert close(compiled(x, 3).to_host(), np.sum(A + 3)) and close(compiled(x, 1).to_host(), np.sum(A + 1))
    assert close(compiled(x, 1, True).to_host(), np.sum((A + 1) ** 2))
    assert close(compiled(x, 1, how="max").to_host(), 4) and compiled.why == ""


def test_numbers_may_change_for_ever(x, monkeypatch):
    monkeypatch.setattr(jit, "MOST_PROGRAMS", 5)
    compiled = jit_compile(lambda x, n: x + n)
    assert all(close(compiled(x, n).to_host(), A + n) for n in range(20))
    assert len(compiled._programs) <= 5


# -- what is fused ---------------------------------------------------------------------------------


def test_an_operation_of_your_own_that_is_registered(x, own):
    """The tutorial's: apply_op with the name of a primitive is recognized."""
    own(
        "sin_x_times",
        lambda a, k: f"({a[1]} * sin({a[0]}))",
        lambda a, g, k, out: [f"({g} * {a[1]} * cos({a[0]}))", f"({g} * sin({a[0]}))"],
        arity=2,
    )

    def forward(a, b):
        return elementwise_binary(elementwise_unary(a, expression="sin(v0)"), b, expression="MUL(v0, v1)")

    y = leaf([4.0, 5.0, 6.0])
    compiled = jit_compile(lambda a, b: ag.sum(apply_op(forward, None, a, b, op_name="sin_x_times") * 2.0))
    assert close(compiled(x, y).to_host(), np.sum(2 * np.sin(A) * [4, 5, 6])) and compiled.why == ""
    assert close(gradient(compiled, x, y, of=x), 2 * np.cos(A) * [4, 5, 6])
    assert close(gradient(compiled, x, y, of=y), 2 * np.sin(A))


def test_an_operation_that_is_registered_anew(x, own):
    def cube(power):
        own("power_example", lambda a, k: f"pow({a[0]}, (V)({power}))", None)
        return ag.primitive("power_example")(x)

    compiled = jit_compile(lambda x: ag.primitive("power_example")(x) + 0.0)
    for power in (2, 3):
        cube(power)
        assert close(compiled(x).to_host(), A**power)


def test_an_operation_that_is_registered_later(x, own):
    """What could not be fused is tried again when the table has changed."""
    compiled = jit_compile(mine, quiet=True)
    assert close(compiled(x).to_host(), A) and "mine has no record" in compiled.why
    own("mine", lambda a, k: f"({a[0]} * 2)", fusible=False)
    assert close(compiled(x).to_host(), A) and "fusible=False" in compiled.why
    own("mine", lambda a, k: f"({a[0]} * 2)")
    assert close(compiled(x).to_host(), 2 * A) and compiled.why == ""


def test_an_expression_that_is_only_for_single_numbers(x, own):
    own(
        "both",
        lambda a, k: f"({a[0]} > 0 && {a[0]} < 2 ? 1.0f : 0.0f)",
        lambda a, g, k, out: [f"({a[0]} > 0 && {a[0]} < 2 ? {g} : (V)(0))"],
    )
    compiled = jit_compile(lambda x: ag.sum(ag.primitive("both")(x) * x))
    assert close(compiled(x).to_host(), 1)
    assert close(gradient(compiled, x, of=x), [2, 0, 0])


def test_after_a_reduction_the_next_chain_begins(device):
    numbers = np.random.default_rng(0).normal(size=(5, 40)).astype(np.float32)

    def softmax(x):
        e = ag.exp(x - ag.max(x, axis=1, keepdims=True))
        return e / ag.sum(e, axis=1, keepdims=True)

    compiled, x = jit_compile(softmax), leaf(numbers)
    with device.watch() as launches, ag.Tape() as tape:
        out = compiled(x)
    assert len(launches) == 3 and [node.op_name for node in tape.nodes] == ["jit_softmax"] * 3
    expected = np.exp(numbers) / np.exp(numbers).sum(1, keepdims=True)
    assert close(out.to_host(), expected)
    upstream = np.random.default_rng(1).normal(size=(5, 40)).astype(np.float32)
    tape.backward(out, upstream)
    slope = expected * (upstream - (upstream * expected).sum(1, keepdims=True))
    assert close(x.grad.to_host(), slope)
    mean = jit_compile(lambda x: ag.mean(ag.square(x)) * 0.5 + 1.0)
    assert close(mean(x).to_host(), np.mean(numbers**2) / 2 + 1) and len(mean.graphs(x)) == 2
    assert close(gradient(mean, x, of=x), numbers / 200)


M = np.random.default_rng(5).normal(size=(5, 4)).astype(np.float32)
CLASSES = Tensor.from_host(manager.default("auto").queue, [1, 0, 3, 3, 2], "int32")
IN_STEPS = {
    "a matrix product": (lambda x, w, b: ag.tanh(x @ w + b), ["matmul", "jit"]),
    "one with a transposed matrix": (lambda x, w, b: ag.exp(ag.matmul(x, x, transpose_b=True)), ["matmul", "jit"]),
    "a matrix product and a vector": (lambda x, w, b: ag.exp(x @ (b * 2.0)), ["jit", "matmul", "jit"]),
    "a layer": (lambda x, w, b: ag.linear(x * 2.0, w, b, "relu") + 1.0, ["jit", "linear", "jit"]),
    "a softmax": (lambda x, w, b: ag.softmax(x * b) * x, ["jit", "softmax", "jit"]),
    "one along another axis": (lambda x, w, b: ag.log_softmax(x * b, axis=0), ["jit", "log_softmax"]),
    "a logsumexp": (lambda x, w, b: ag.logsumexp(x * b, axis=1) * 2.0, ["jit", "logsumexp", "jit"]),
    "a layer norm": (lambda x, w, b: ag.layer_norm(x, b) + ag.layer_norm(x), ["layer_norm", "layer_norm", "jit"]),
    "a cross-entropy": (
        lambda x, w, b: ag.cross_entropy(x * 2.0 @ w, CLASSES) * 0.5,
        ["jit", "matmul", "cross_entropy", "jit"],
    ),
    "losses of rows": (lambda x, w, b: ag.cross_entropy(x, CLASSES, reduction="none"), ["cross_entropy"]),
    "one of probabilities": (lambda x, w, b: ag.cross_entropy(x, ag.exp(x - 3.0)), ["jit", "cross_entropy"]),
    "a scan": (lambda x, w, b: ag.cumsum(x * b, 0) + ag.cumsum(x, -1), ["cumsum", "jit", "cumsum", "jit"]),
    "a sum between": (lambda x, w, b: ag.softmax(x / ag.sum(x * x)) @ w, ["jit", "jit", "softmax", "matmul"]),
}


@pytest.mark.parametrize("function, names", IN_STEPS.values(), ids=IN_STEPS)
def test_what_cannot_be_fused_but_has_a_record_is_a_step_between_chains(function, names):
    """Forward and backward, in the order of the tape; value and gradients as without compiling."""
    leaves = [leaf(M), leaf(M[:4] + 1), leaf(M[0])]
    compiled, results = jit_compile(function), []
    for each in (function, compiled, compiled):
        for x in leaves:
            x.grad = None
        with ag.Tape() as tape:
            out = each(*leaves)
        tape.backward(out, np.arange(1.0, 1 + out.value.size, dtype=np.float32).reshape(out.shape))
        results.append([out.to_host(), *[x.grad.to_host() for x in leaves if x.grad is not None]])
    assert compiled.why == "" and len(compiled.steps(*leaves)) == len(names)
    assert [node.op_name.partition("_<")[0] for node in tape.nodes] == names
    for ours in results[1:]:
        assert all(close(x, y, size=100) for x, y in zip(ours, results[0], strict=True))


def test_a_step_records_only_where_gradients_are_wanted():
    x, w = leaf(M), leaf(M[:4])

    def function(x, w):
        with ag.no_grad():
            constant = x @ w
        return constant * x

    compiled = jit_compile(function)
    assert close(gradient(compiled, x, w, of=x), M @ M[:4]) and gradient(compiled, x, w, of=w) is None
    with ag.no_grad():
        assert jit_compile(ag.enable_grad()(lambda x, w: x @ w))(x, w).requires_grad
        assert not jit_compile(lambda x, w: x @ w)(x, w).requires_grad


def test_a_number_that_a_step_takes_may_change():
    compiled = jit_compile(lambda x, scale: ag.layer_norm(x, scale) * scale)
    centred = (M - M.mean(1, keepdims=True)) / np.sqrt(M.var(1, keepdims=True) + 1e-5)
    for scale in (1.0, 2.0, 1.0):
        assert close(compiled(leaf(M), scale).to_host(), centred * scale**2, size=10)


def test_a_step_that_does_not_fit_says_what_it_says_without_compiling():
    with pytest.raises(ValueError, match=r"matmul: shapes \(5, 4\) and \(5, 4\) do not fit"):
        jit_compile(lambda x: x @ (x * 2.0), quiet=True)(leaf(M))
    for axis, error in [(2, ValueError), ((0, 1), TypeError)]:
        with pytest.raises(error):
            jit_compile(lambda x: ag.cumsum(x * 2.0, axis), quiet=True)(leaf(M))
    with pytest.raises(ValueError, match="no such axes"):
        jit_compile(lambda x: ag.softmax(x * 2.0, axis=2), quiet=True)(leaf(M))


def test_no_grad_inside_stops_the_gradient(x):
    def function(x):
        with ag.no_grad():
            constant = x * 3.0
        return constant * x

    assert close(gradient(jit_compile(function), x, of=x), 3 * A) and ag.is_grad_enabled()
    with ag.no_grad():
        enabled = jit_compile(ag.enable_grad()(lambda x: x * 2.0))(x)
    assert enabled.requires_grad


def test_a_gradient_of_another_dtype_is_taken(x, device):
    if not device.has(np.dtype(np.float64)):
        pytest.skip("no float64")
    with ag.Tape() as tape:
        out = jit_compile(lambda x: x * 2.0)(x)
    tape.backward(out, Tensor.from_host(device.queue, [1.0, 2.0, 3.0], "float64"))
    assert close(x.grad.to_host(), [2, 4, 6])


def test_an_anomaly_names_the_compiled_function(x):
    @jit_compile
    def logarithm(x):
        return ag.sum(ag.log(x))

    with pytest.raises(RuntimeError, match="op 'jit_logarithm' contains NaN or Inf"), ag.detect_anomaly():
        with ag.Tape() as tape:
            out = logarithm(x * 0.0)
        tape.backward(out)


def test_threads_share_a_compiled_function(device):
    if device.found.is_interpreter:
        pytest.skip("Oclgrind crashes when two threads use it")
    compiled, wrong = jit_compile(lambda x, n: ag.sum(x * n)), []

    def work(number):
        for _ in range(50):
            x = leaf(np.full(20_000, number, np.float32))
            if not close(gradient(compiled, x, number, of=x), np.full(20_000, number)):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(float(number),)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_captured_step_replays_compiled_functions(device):
    w = Parameter.from_host(device.queue, np.ones(50_000))
    loss = jit_compile(lambda w, x: ag.mean(ag.square(w * x - 1.0)))

    @capture
    def step(x):
        w.grad = None
        with ag.Tape() as tape:
            out = loss(w, x)
        tape.backward(out)
        return out

    for number in range(1, 8):
        x = np.full(50_000, number, np.float32)
        got = step(Tensor.from_host(device.queue, x))
        assert close(got.to_host(), (number - 1.0) ** 2, size=100)
        assert close(w.grad.to_host(), np.full(50_000, 2 * (number - 1) * number / 50_000))


# -- what is not fused -----------------------------------------------------------------------------


def mine(x):
    return apply_op(lambda a: a.copy(), lambda g: [g], x, op_name="mine")


def unfusible(x):
    return ag.primitive("unfusible")(x)


REASONS = {
    "another shape": (lambda x: ag.reshape(x * 2.0, (3, 1)), "reshape has no record"),
    "a part": (lambda x: (x * 2.0)[0], "getitem has no record"),
    "classes on the host": (
        lambda x: ag.cross_entropy(x * 2.0, np.array(1)),
        "cross_entropy gets a ndarray from the host",
    ),
    "an operation on Tensors": (
        lambda x: elementwise_unary((x * 2.0).value, expression="v0"),
        "elementwise_unary looks at numbers",
    ),
    "numbers of an input": (lambda x: x * float(x.to_host()[0]), "to_host looks at numbers"),
    "numbers of a result": (lambda x: x * (x * 2.0).to_host(), "to_host looks at numbers"),
    "a choice": (lambda x: x * 2.0 if ag.sum(x) > 0 else x, "`if` looks at numbers"),
    "memory": (lambda x: ag.tensor(Tensor(x.value.spec, (x * 2.0).value.buffer)), "`buffer` looks at numbers"),
    "an operation that nobody registered": (mine, "mine has no record: it is no primitive of the table, and no step"),
    "an operation that is not to be fused": (unfusible, "unfusible was registered with fusible=False"),
    "two results": (lambda x: (x + 1, x + 2), "it returns a tuple, not one Node"),
}


@pytest.mark.parametrize("function, reason", REASONS.values(), ids=REASONS)
def test_it_says_why_and_computes_all_the_same(function, reason, x, own):
    own("unfusible", lambda a, k: f"({a[0]} * 2)", fusible=False)
    compiled, expected = jit_compile(function), function(x)
    with pytest.warns(ag.JitFallback, match="is not fused, its operations run one by one: ") as told:
        got = compiled(x)
    assert reason in str(told[0].message) and told[0].filename == __file__
    compiled(x)  # once is enough: another warning would be an error
    quiet = jit_compile(quiet=True)(function)
    again = quiet(x)
    assert reason in quiet.why and quiet.graphs(x) == [] and quiet.source(x) == ""
    assert state.trace is None
    for each in (got, again):
        pairs = zip(each, expected) if isinstance(each, tuple) else [(each, expected)]
        assert all(close(one.to_host(), other.to_host()) for one, other in pairs)


tick = time.perf_counter
ASKS = {  # a function of no arguments that says something else in each call, and who is asked
    "np.random.rand": (lambda: np.random.rand(), "np.random"),
    "np.random.normal": (lambda: float(np.random.normal()), "np.random"),
    "random.random": (lambda: random.random(), "random.random"),
    "random.gauss": (lambda: random.gauss(0, 1), "random.random"),
    "random.randrange": (lambda: random.randrange(10**9), "random.getrandbits"),
    "a new generator": (lambda: np.random.default_rng().random(), "posix.urandom"),
    "time.time": (lambda: time.time() % 1, "time.time"),
    "a name of one's own": (lambda: tick() % 1, "time.perf_counter"),
    "datetime.now": (lambda: datetime.datetime.now().microsecond, "datetime.now"),
    "date.today": (lambda: datetime.date.today().day * (tick() % 1), "datetime.today"),
    "os.urandom": (lambda: os.urandom(4)[0] + 256 * os.urandom(4)[1], "posix.urandom"),
    "secrets": (lambda: secrets.randbelow(10**9), "posix.urandom"),
    "uuid": (lambda: uuid.uuid4().int % 10**9, "posix.urandom"),
    "a file": (lambda: len(open(os.devnull).read()) + tick() % 1, "io.open"),
}


@pytest.mark.skipif(os.name == "nt", reason="the names of a Unix system")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", ASKS)
def test_what_asks_a_clock_or_a_random_generator_is_not_frozen(name, x):
    """It gave the first answer for ever."""
    ask, who = ASKS[name]

    def scaled(x):
        return x * (1 + ask())

    fast = jit_compile(scaled, quiet=True)
    before = sys.getprofile()
    assert len({fast(x).to_host()[0].item() for _ in range(3)}) > 1
    assert fast.why == f"it asks {who}, which may say something else in the next call"
    assert sys.getprofile() is before


def test_input_is_asked_in_every_call(x, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("2\n3\n4\n"))
    fast = jit_compile(lambda x: x * float(input()), quiet=True)
    assert [fast(x).to_host()[0].item() for _ in range(2)] == [3, 4] and "builtins.input" in fast.why


def test_what_asks_nobody_is_fused_though_it_prints(x, capsys):
    def scaled(x):
        print("scaled by", sorted({math.pi, float(np.mean([1, 3]))}))
        return x * np.random.default_rng(3).random() * math.sqrt(2)

    fast = jit_compile(scaled)
    assert fast(x).to_host()[0] == fast(x).to_host()[0] and fast.why == ""
    assert capsys.readouterr().out.count("scaled by") == 1


def test_what_is_not_fused_has_gradients_and_a_tape_as_ever(x):
    part = jit_compile(lambda x: x[1:] * 2.0, quiet=True)
    tape = ag.Tape()
    out = part(x.value, tape=tape)
    assert [node.op_name for node in tape.nodes] == [] and close(out.to_host(), 2 * A[1:])
    out = part(x, tape=tape)
    assert [node.op_name for node in tape.nodes] == ["getitem", "mul"]
    tape.backward(out, np.ones(2, np.float32))
    assert close(x.grad.to_host(), [0, 2, 2])


def test_nothing_to_fuse_is_no_fault(x):
    """No warning, which would be an error here."""
    for function in (lambda x: x, lambda x: ag.tensor(x.value)):
        assert close(jit_compile(function)(x).to_host(), A)
    for shape in [(0,), (2, 0)]:
        empty = leaf(np.zeros(shape))
        compiled = jit_compile(lambda x: ag.sum(x * 2.0))
        assert compiled(empty).to_host() == 0 and compiled.why == "there are no numbers"
        assert gradient(compiled, empty, of=empty).shape == shape


def test_a_chain_that_would_take_long_to_compile_is_not_fused(x, monkeypatch):
    monkeypatch.setattr(jit, "MOST_OPERATIONS", 3)
    compiled = jit_compile(lambda x, n: sum((x for _ in range(n)), x), quiet=True)
    for n, why in [(3, ""), (4, "a kernel of 4 operations takes long to compile")]:
        assert close(compiled(x, n).to_host(), (n + 1) * A) and compiled.why == why


def test_a_mistake_of_the_function_is_its_own(x):
    with pytest.raises(ZeroDivisionError):
        jit_compile(lambda x: 1 / 0)(x)
    with pytest.raises(ValueError, match=r"shapes \(3,\) and \(2,\) do not broadcast"):
        jit_compile(lambda x: x + leaf([1.0, 2.0]))(x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'slope'"):
        jit_compile(lambda x: ag.leaky_relu(x, slope=1))(x)
    with pytest.raises(ValueError, match="no such axes"):
        jit_compile(lambda x: ag.sum(x, axis=1))(x)
    assert state.trace is None and close((x + x).to_host(), 2 * A)


def test_a_choice_of_several_numbers_is_refused(x):
    with pytest.raises(ValueError, match=r"shape \(3,\) holds several numbers"):
        bool(x > 0)
    assert ag.sum(x) > 0 and not ag.sum(x) > 5
