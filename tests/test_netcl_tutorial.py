"""The programs of netcl's tutorial on autograd, its misprints corrected, on engine 3 and, where it is installed, on netcl.

Both have to give the same numbers: those that NumPy says. What netcl 0.4.4 gets wrong is in test_netcl_faults.py.
"""

import importlib
from types import SimpleNamespace

import numpy as np
import pytest
from netcl_devices import close, devices

ENGINES = [*devices(), pytest.param("netcl", marks=pytest.mark.filterwarnings("ignore"))]
A, B = np.array([0.5, -1.0, 2.0], np.float32), np.array([3.0, 4.0, -5.0], np.float32)


@pytest.fixture(params=ENGINES)
def engine(request):
    """The names that the tutorial uses, from one of the two packages, and a queue."""
    theirs = request.param == "netcl"
    if theirs:
        pytest.importorskip("netcl", reason="netcl is not installed: pip install tinygrad-cl-course[peers]")
    elif isinstance(devices()[request.param], str):
        pytest.skip(devices()[request.param])
    package = "netcl" if theirs else "tinygrad_cl.netcl"

    def part(name):
        return importlib.import_module(f"{package}.{name}")

    tensor, elementwise, compiler = (part(name) for name in ("core.tensor", "ops.elementwise", "autograd.compiler"))
    queue = part("core.device").manager.default("auto").queue if theirs else devices()[request.param].queue
    yield SimpleNamespace(
        theirs=theirs,
        ag=part("autograd"),
        Tensor=tensor.Tensor,
        queue=queue,
        apply_op=part("autograd.engine").apply_op,
        elementwise_binary=elementwise.elementwise_binary,
        register_primitive=compiler.register_primitive,
    )
    part("autograd").set_grad_enabled(True)


def leaf(engine, numbers, requires_grad=True):
    return engine.ag.tensor(
        engine.Tensor.from_host(engine.queue, np.array(numbers, np.float32)), requires_grad=requires_grad
    )


def host(x):
    """The numbers of a Node or a Tensor; one number has shape (1,) in netcl."""
    return getattr(x, "value", x).to_host()


def unary(engine, x, expression):
    """netcl 0.4.4 has no elementwise_unary, which its tutorial imports; the binary one does it, too."""
    return engine.elementwise_binary(x, x, expression=expression)


def multiply(engine, x, y):
    return engine.elementwise_binary(x, y, expression="MUL(v0, v1)")


def test_a_tensor_is_wrapped_in_a_node(engine):
    tensor = engine.Tensor.from_host(engine.queue, np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
    x = engine.ag.tensor(tensor, requires_grad=True)
    assert x.value is tensor and close(x.value.to_host(), [[1, 2], [3, 4]])
    assert x.requires_grad and x.grad_fn is None and x.op_name is None and x.grad is None


def test_three_operations_a_tape_and_a_gradient(engine):
    x = leaf(engine, [[1.0, 2.0], [-3.0, 4.0]])
    with engine.ag.Tape() as tape:
        y = engine.ag.relu(x)
        z = (y * 2.0) + 1.0
        loss = engine.ag.sum(z)
    assert host(loss).item() == 18 and y.grad_fn is not None and y.op_name == "relu"
    assert len(tape.nodes) == 4 and [len(node.parents) for node in tape.nodes] == [1, 1, 1, 1]
    assert all(node.requires_grad for node in tape.nodes)
    tape.backward(loss)
    assert close(x.value.grad.to_host(), [[2, 2], [0, 2]]) and close(x.grad.to_host(), x.value.grad.to_host())


@pytest.mark.parametrize(
    "operation, value, gradient",
    [
        (lambda x: x + 2.0, A + 2, [1, 1, 1]),
        (lambda x: 2.0 + x, A + 2, [1, 1, 1]),
        (lambda x: x - 2.0, A - 2, [1, 1, 1]),
        (lambda x: 2.0 - x, 2 - A, [-1, -1, -1]),
        (lambda x: x * 3.0, 3 * A, [3, 3, 3]),
        (lambda x: 3.0 * x, 3 * A, [3, 3, 3]),
        (lambda x: x / 4.0, A / 4, [0.25, 0.25, 0.25]),
        (lambda x: 4.0 / x, 4 / A, -4 / A**2),
        (lambda x: x**2.0, A**2, 2 * A),
        (lambda x: -x, -A, [-1, -1, -1]),
    ],
    ids=["add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "neg"],
)
def test_operators_are_recorded(engine, operation, value, gradient):
    x = leaf(engine, A)
    with engine.ag.Tape() as tape:
        out = operation(x)
        loss = engine.ag.sum(out)
    tape.backward(loss)
    assert close(host(out), value) and close(x.grad.to_host(), gradient)


@pytest.mark.parametrize(
    "operation, value",
    [
        (lambda x: x < 0.5, [0, 1, 0]),
        (lambda x: x <= 0.5, [1, 1, 0]),
        (lambda x: x > 0.5, [0, 0, 1]),
        (lambda x: x >= 0.5, [1, 0, 1]),
    ],
    ids=["lt", "le", "gt", "ge"],
)
def test_comparisons_compute_and_have_no_gradient(engine, operation, value):
    x = leaf(engine, A)
    with engine.ag.Tape():
        assert close(host(operation(x)).astype(np.float32), value)


def test_gradients_of_several_uses_add_up(engine):
    x = leaf(engine, A)
    with engine.ag.Tape() as tape:
        loss = engine.ag.sum(x * x + x * 3.0 + x)
    tape.backward(loss)
    assert close(x.grad.to_host(), 2 * A + 4)


def my_op(engine, a, b, tape=None):
    """sin(a) · b: sin a is computed once, and saved for the gradient of b. (The tutorial reads `a.sin_x_or_a`, which is nowhere.)"""
    sin_a = unary(engine, a.value, "sin(v0)")

    def forward(x, y):
        return multiply(engine, sin_a, y)

    def grad_fn(grad):
        cos_a = unary(engine, a.value, "cos(v0)")
        return [multiply(engine, multiply(engine, grad, b.value), cos_a), multiply(engine, grad, sin_a)]

    return engine.apply_op(forward, grad_fn, a, b, tape=tape, op_name="my_op")


def test_an_operation_of_your_own(engine):
    a, b = leaf(engine, A), leaf(engine, B)
    with engine.ag.Tape() as tape:
        out = my_op(engine, a, b)
        loss = engine.ag.sum(out * 2.0)
    assert tape.nodes[0].op_name == "my_op" and out.parents[0] is a and out.parents[1] is b
    tape.backward(loss)
    assert close(host(out), np.sin(A) * B)
    assert close(a.grad.to_host(), 2 * B * np.cos(A)) and close(b.grad.to_host(), 2 * np.sin(A))


def test_an_operation_of_your_own_on_a_tape_of_your_choice(engine):
    tape = engine.ag.Tape()
    a, b = leaf(engine, A), leaf(engine, B)
    out = my_op(engine, a, b, tape=tape)
    assert list(tape.nodes) == [out]


def test_an_operation_of_your_own_is_compiled(engine):
    """The record has the second of the tutorial's two forward functions: the first multiplies a by sin a."""

    def forward(args, attrs):
        a, b = args
        return f"({b} * sin({a}))"

    def backward(args, grad_var, attrs, out_var):
        a, b = args
        return [f"({grad_var} * {b} * cos({a}))", f"({grad_var} * sin({a}))"]

    def program(x, y):
        product = engine.apply_op(
            lambda v, w: multiply(engine, unary(engine, v, "sin(v0)"), w), None, x, y, op_name="tutorial_op"
        )
        return product * 2.0

    engine.register_primitive("tutorial_op", forward, backward, arity=2, fusible=True)
    try:
        a, b = leaf(engine, A), leaf(engine, B)
        compiled = engine.ag.jit_compile(program)
        with engine.ag.Tape() as tape:
            out = compiled(a, b)
            loss = engine.ag.sum(out)
        tape.backward(loss)
        assert close(host(out), 2 * np.sin(A) * B)
        assert close(a.grad.to_host(), 2 * B * np.cos(A)) and close(b.grad.to_host(), 2 * np.sin(A))
    finally:
        if not engine.theirs:
            from tinygrad_cl.netcl.ops.primitives import PRIMITIVES

            del PRIMITIVES["tutorial_op"]


def test_no_grad_records_nothing(engine):
    x = leaf(engine, A)
    with engine.ag.Tape() as tape:
        with engine.ag.no_grad():
            assert not engine.ag.is_grad_enabled()
            out = engine.ag.relu(x)
        assert len(tape.nodes) == 0 and engine.ag.is_grad_enabled()
        engine.ag.relu(x)
        assert len(tape.nodes) == 1
    assert close(host(out), np.maximum(A, 0))


def test_the_switch_holds_until_it_is_turned_back(engine):
    x = leaf(engine, A)
    with engine.ag.Tape() as tape:
        engine.ag.set_grad_enabled(False)
        engine.ag.relu(x)
        assert not engine.ag.is_grad_enabled() and len(tape.nodes) == 0
        engine.ag.set_grad_enabled(True)
        engine.ag.relu(x)
    assert engine.ag.is_grad_enabled() and len(tape.nodes) == 1


def test_detect_anomaly_names_the_operation_and_its_line(engine):
    """Around the forward, too: in netcl the trace is empty otherwise. It looks for NaN and Inf, and compares with nothing."""
    x = leaf(engine, [0.0, 1.0])
    with pytest.raises(RuntimeError, match="Gradient w.r.t. parent 0 of op 'log' contains NaN or Inf") as error:
        with engine.ag.detect_anomaly(), engine.ag.Tape() as tape:
            loss = engine.ag.sum(engine.ag.log(x))
            tape.backward(loss)
    assert "test_netcl_tutorial.py" in str(error.value)
    y = leaf(engine, A)
    with engine.ag.detect_anomaly(), engine.ag.Tape() as tape:
        wrong = engine.apply_op(lambda v: unary(engine, v, "sin(v0)"), lambda grad: [grad], y, op_name="wrong")
        tape.backward(engine.ag.sum(wrong))
    assert close(y.grad.to_host(), [1, 1, 1])


def test_debug_tape_shows_a_tape_that_grows(engine):
    x = leaf(engine, A)
    with engine.ag.Tape() as tape, engine.ag.debug_tape(tape) as t:
        hidden = engine.ag.relu(x)
        before = len(t.nodes)
        engine.ag.sum(hidden)
        assert (before, len(t.nodes)) == (1, 2)
    assert [(node.requires_grad, len(node.parents)) for node in tape.nodes] == [(True, 1), (True, 1)]


def test_a_parameter_that_is_not_used_has_no_gradient(engine):
    used, unused, constant = leaf(engine, A), leaf(engine, B), leaf(engine, B, requires_grad=False)
    with engine.ag.Tape() as tape:
        loss = engine.ag.sum(used * constant)
    tape.backward(loss)
    assert unused.grad is None and close(used.grad.to_host(), B)
