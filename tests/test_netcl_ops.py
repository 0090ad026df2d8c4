"""How operations of `ag` behave, on every device; values and gradients of each are in
test_netcl_operations.
"""

import numpy as np
import pytest
from netcl_devices import close, numbers, put

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES, register_primitive


@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=lambda primitive: primitive.name)
def test_every_primitive_is_an_operation(primitive):
    """Built-in and your own: `ag.name`, read from the table."""
    operation = getattr(ag, primitive.name)
    assert operation.__name__ == primitive.name and primitive.formula in operation.__doc__


def test_ties_of_an_extreme_share_the_gradient(device):
    x = ag.tensor(put(device, np.array([[3, 1, 3], [2, 2, 2]], np.float32)), requires_grad=True)
    with ag.Tape() as tape:
        out = ag.sum(ag.max(x, axis=1))
    tape.backward(out)
    assert close(x.grad.to_host(), [[0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3]])


@pytest.mark.parametrize(
    "operation",
    [ag.sum, ag.mean, lambda x: ag.sum(x, axis=0), lambda x: ag.sum(ag.mean(x, axis=1, keepdims=True))],
    ids=["sum", "mean", "sum 0", "mean 1"],
)
def test_memory_that_holds_nan_does_not_reach_a_gradient(operation, device):
    """netcl makes zeros as 0 × whatever the memory held, and its gradients of sum and mean are
    NaN.
    """
    for _ in range(3):
        x = ag.tensor(put(device, np.ones((4, 5), np.float32)), requires_grad=True)
        with ag.Tape() as tape:
            out = ag.sum(operation(x))
        tape.backward(out)
        assert np.all(np.isfinite(x.grad.to_host()))


def test_zero_sizes_go_forward_and_backward(device):
    """They fail in netcl."""
    x = ag.tensor(put(device, np.zeros((0, 3), np.float32)), requires_grad=True)
    w = ag.tensor(put(device, np.ones((3, 2), np.float32)), requires_grad=True)
    with ag.Tape() as tape:
        loss = ag.sum(ag.relu(x @ w + 1.0))
    tape.backward(loss)
    assert x.grad.shape == (0, 3) and np.all(w.grad.to_host() == 0)


def test_gradients_keep_the_dtype_of_their_leaf(exact):
    a = ag.tensor(put(exact, np.ones(3, np.float32)), requires_grad=True)
    b = ag.tensor(put(exact, np.ones((2, 3))), requires_grad=True)
    with ag.Tape() as tape:
        loss = ag.sum(a * b)
    tape.backward(loss)
    assert a.grad.dtype == "float32" and b.grad.dtype == "float64" and loss.dtype == "float64"
    assert close(a.grad.to_host(), [2, 2, 2])


def test_a_cast_gives_its_gradient_back(exact):
    x = ag.tensor(put(exact, np.array([1.5, -2.5], np.float32)), requires_grad=True)
    wide = ag.cast(x, "float64")
    ag.Tape().backward(wide, [1.0, 10.0])
    assert wide.dtype == "float64" and x.grad.dtype == "float32"
    assert close(x.grad.to_host(), [1, 10])
    whole = ag.cast(x, "int32")
    assert whole.to_host().tolist() == [1, -2] and not whole.requires_grad
    assert ag.cast(whole, "float32").to_host().tolist() == [1, -2]


def test_operators_on_either_side(device):
    a = np.array([1.0, 2.0, -3.0], np.float32)
    x = ag.tensor(put(device, a))
    pairs = [
        (2 + x, 2 + a),
        (x - 2, a - 2),
        (2 - x, 2 - a),
        (2 * x, 2 * a),
        (x / 2, a / 2),
        (2 / x, 2 / a),
        (-x, -a),
        (x**2, a**2),
        (2**x, 2**a),
        (x < 1, a < 1),
        (x <= 1, a <= 1),
        (x > 1, a > 1),
        (x >= 1, a >= 1),
        (np.float64(3) * x, 3 * a),
        (a * x, a * a),
        (x @ x, a @ a),
        (a @ x, a @ a),
    ]
    for number, (got, expected) in enumerate(pairs):
        assert close(got.to_host(), expected), number
    for got, expected in [(x.value * x, a * a), (x.value - x * 2, -a), (x.value @ x, a @ a)]:
        assert isinstance(got, ag.Node) and close(got.to_host(), expected)  # with a Tensor, too


def test_tensors_parameters_and_arrays_are_taken_as_they_are(device):
    weight = Parameter.full(device.queue, (3,), 2.0)
    plain = put(device, np.ones(3, np.float32))
    with ag.Tape() as tape:
        loss = ag.sum(ag.mul(weight, plain) * np.arange(3) + [1, 1, 1])
    tape.backward(loss)
    assert close(weight.grad.to_host(), [0, 1, 2]) and plain.grad is None
    for wrong in ("text", None, object()):
        with pytest.raises(TypeError, match="takes Nodes, Tensors, arrays and numbers"):
            ag.add(plain, wrong)
    with pytest.raises(TypeError, match="multiply by a number"):
        ag.matmul(plain, 2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'slope'"):
        ag.leaky_relu(plain, slope=1)


def test_your_own_primitive_is_an_operation(device):
    register_primitive(
        "my_product",
        lambda args, attrs: f"({args[1]} * sin({args[0]}))",
        lambda args, g, attrs, out: [f"({g} * {args[1]} * cos({args[0]}))", f"({g} * sin({args[0]}))"],
        arity=2,
    )
    try:
        a, b = numbers(np.random.default_rng(0), (2, 4, 5), dtype=np.float32)
        x, y = (ag.tensor(each, requires_grad=True) for each in put(device, a, b))
        with ag.Tape() as tape, device.watch() as launches:
            out = ag.primitive("my_product")(x, y)
        assert len(launches) == 1
        with device.watch() as launches:
            tape.backward(out, np.ones((4, 5)))
        assert len(launches) == 1  # both gradients by one kernel
        assert close(x.grad.to_host(), b * np.cos(a)) and close(y.grad.to_host(), np.sin(a))
    finally:
        del PRIMITIVES["my_product"]
