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


@pytest.mark.parametrize("name", "sum mean max min cumsum reshape transpose broadcast_to cast softmax".split())
def test_one_number_or_a_list_is_no_operand_that_knows_its_device(name):
    for odd in (5, None, "a", [1.0, 2.0]):
        with pytest.raises(TypeError, match=f"{name} takes a Node or a Tensor, not {type(odd).__name__}"):
            getattr(ag, name)(
                odd, *{"reshape": [(1,)], "broadcast_to": [(2,)], "cast": ["float32"], "cumsum": [0]}.get(name, [])
            )


def test_an_axis_is_a_whole_number_of_any_type(device):
    x = Parameter.from_host(device.queue, [[1.0, 2.0], [3.0, 4.0]])
    for axis in (1, np.int64(1), -1, [1], (np.int32(1),)):
        assert ag.sum(x, axis=axis).to_host().tolist() == [3, 7]
    for operation in (ag.sum, ag.max, ag.softmax, ag.cumsum, ag.logsumexp, ag.squeeze, ag.unsqueeze, ag.transpose):
        for axis in ("a", 1.5):
            with pytest.raises(TypeError, match=f"an axis is a whole number, not {axis!r}"):
                operation(x, axis)
    for constants in ((None, 1), ("a", "b")):
        with pytest.raises(TypeError, match="a constant is a number, not"):
            ag.clamp(x, *constants)


def test_an_axis_of_nothing_falls_into_parts_of_nothing(device):
    """As in PyTorch: as many chunks as were asked for, one part of a split."""
    x = ag.tensor(put(device, np.ones((0, 3), np.float32)), requires_grad=True)
    for parts, count in ((ag.chunk(x, 2), 2), (ag.split(x, 2), 1), (ag.split(x, [0, 0, 0]), 3)):
        assert [part.shape for part in parts] == [(0, 3)] * count
        ag.Tape().backward(ag.sum(ag.cat(parts)))
        assert x.grad.shape == (0, 3)
    for cut, odd in ((ag.chunk, 2.5), (ag.split, 2.0), (ag.split, "ab")):
        with pytest.raises(TypeError, match=f"is a whole number, not {odd!r}"):
            cut(x, odd)


def test_indices_are_numbers(device):
    x = Parameter.from_host(device.queue, [[1.0, 2.0], [3.0, 4.0]])
    for take in (lambda odd: ag.embedding(x, odd), lambda odd: ag.cross_entropy(x, odd)):
        with pytest.raises(TypeError, match="an index is made of whole numbers, not of"):
            take(["a", "b"])


def test_what_is_compiled_is_a_function_and_is_called_as_one():
    with pytest.raises(TypeError, match="jit_compile takes a function, not 5"):
        ag.jit_compile(5)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        ag.jit_compile(lambda x: x, quiet=True)()
