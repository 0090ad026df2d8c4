"""Operations of `ag` with their gradients, on every device: the table, reductions, products,
shapes.
"""

from functools import partial

import numpy as np
import pytest

import tinygrad_cl.netcl.autograd as ag
from netcl_devices import check, close, device, exact, numbers, put  # noqa: F401 (fixtures)
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES, register_primitive

SMOOTH = [primitive for primitive in PRIMITIVES.values() if primitive.backward]


def random(*shape):
    return numbers(np.random.default_rng(sum(shape)), shape)


@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=lambda primitive: primitive.name)
def test_every_primitive_is_an_operation(primitive, device):
    """Built-in and your own: `ag.name`, read from the table."""
    operation = getattr(ag, primitive.name)
    assert operation.__name__ == primitive.name and primitive.formula in operation.__doc__
    arrays = [numbers(np.random.default_rng(1), (5, 7), primitive.domain, np.float32)
              for _ in range(primitive.arity)]
    got = operation(*put(device, *arrays)) if primitive.arity > 1 else operation(put(device, *arrays))
    assert isinstance(got, ag.Node) and close(got.to_host(), primitive.reference(*arrays, **primitive.attrs))


@pytest.mark.parametrize("primitive", SMOOTH, ids=lambda primitive: primitive.name)
@pytest.mark.parametrize("shapes", [[(2, 3)] * 3, [(2, 1), (3,), (2, 3)], [(), (2, 3), (1,)]], ids=str)
def test_gradients_of_the_table_broadcast_both_ways(primitive, shapes, exact):
    if primitive.arity == 1 and shapes[0] != (2, 3):
        shapes = shapes[:1]
    rng = np.random.default_rng(1)
    arrays = [numbers(rng, shape, primitive.domain) for shape in shapes[:primitive.arity]]
    if primitive.name == "where":
        condition = np.where(arrays[0] > 0, 1.0, 0.0)
        report = check(exact, lambda x, y: ag.where(condition, x, y),
                       lambda x, y: np.where(condition, x, y), arrays[1:])
    else:
        report = check(exact, getattr(ag, primitive.name),
                       partial(primitive.reference, **primitive.attrs), arrays)
    assert report, str(report)


def turned(x):
    return np.swapaxes(x, -1, -2)


COMPOSED = {  # ours, NumPy's, shapes
    "sum": (ag.sum, np.sum, [(3, 4)]),
    "sum 0": (partial(ag.sum, axis=0), partial(np.sum, axis=0), [(3, 4)]),
    "sum -1 keepdims": (partial(ag.sum, axis=-1, keepdims=True),
                        partial(np.sum, axis=-1, keepdims=True), [(2, 3, 4)]),
    "sum (0, 2)": (partial(ag.sum, axis=(0, 2)), partial(np.sum, axis=(0, 2)), [(2, 3, 4)]),
    "mean": (ag.mean, np.mean, [(3, 4)]),
    "mean 1": (partial(ag.mean, axis=1), partial(np.mean, axis=1), [(3, 4)]),
    "mean ()": (ag.mean, np.mean, [()]),
    "max": (ag.max, np.max, [(3, 4)]),
    "max 0": (partial(ag.max, axis=0), partial(np.max, axis=0), [(3, 4)]),
    "min 1 keepdims": (partial(ag.min, axis=1, keepdims=True),
                       partial(np.min, axis=1, keepdims=True), [(3, 4)]),
    "reshape": (lambda x: ag.reshape(x, (2, 6)), lambda x: x.reshape(2, 6), [(3, 4)]),
    "transpose": (ag.transpose, np.transpose, [(2, 3, 4)]),
    "transpose (1, 2, 0)": (partial(ag.transpose, axes=(1, 2, 0)),
                            partial(np.transpose, axes=(1, 2, 0)), [(2, 3, 4)]),
    "broadcast_to": (partial(ag.broadcast_to, shape=(2, 3, 4)),
                     partial(np.broadcast_to, shape=(2, 3, 4)), [(3, 1)]),
    "matmul": (ag.matmul, np.matmul, [(2, 3), (3, 4)]),
    "matmul T": (partial(ag.matmul, transpose_a=True), lambda a, b: turned(a) @ b, [(3, 2), (3, 4)]),
    "matmul  T": (partial(ag.matmul, transpose_b=True), lambda a, b: a @ turned(b), [(2, 3), (4, 3)]),
    "matmul TT": (partial(ag.matmul, transpose_a=True, transpose_b=True),
                  lambda a, b: turned(a) @ turned(b), [(3, 2), (4, 3)]),
    "matmul batches TT": (partial(ag.matmul, transpose_a=True, transpose_b=True),
                          lambda a, b: turned(a) @ turned(b), [(2, 3, 2), (2, 4, 3)]),
    "matmul batches": (ag.matmul, np.matmul, [(2, 3, 4), (2, 4, 2)]),
    "matmul batch and one": (ag.matmul, np.matmul, [(2, 3, 4), (4, 2)]),
    "matmul one and batch T": (partial(ag.matmul, transpose_b=True), lambda a, b: a @ turned(b),
                               [(3, 4), (2, 2, 4)]),
    "matmul 5 axes": (ag.matmul, np.matmul, [(2, 1, 2, 3), (3, 3, 2)]),
    "dot": (ag.matmul, np.matmul, [(4,), (4,)]),
    "vector matrix": (ag.matmul, np.matmul, [(4,), (4, 3)]),
    "matrix vector": (ag.matmul, np.matmul, [(3, 4), (4,)]),
    "batch vector": (ag.matmul, np.matmul, [(2, 3, 4), (4,)]),
    "vector batch": (ag.matmul, np.matmul, [(3,), (2, 3, 4)]),
}
FAULTS = [None, lambda g: 2.001 * g, lambda g: -g, np.zeros_like]


@pytest.mark.parametrize("operation, reference, shapes", COMPOSED.values(), ids=COMPOSED)
def test_gradients_of_reductions_products_and_shapes(operation, reference, shapes, exact):
    """And the test of the tester: a gradient that is off by a factor or a sign, or gone, is
    noticed.
    """
    arrays = [random(*shape) for shape in shapes]
    for fault in FAULTS:
        report = check(exact, operation, reference, arrays, fault)
        assert all(worst.ok == (fault is None) for worst in report.inputs), str(report)


def test_ties_of_an_extreme_share_the_gradient(device):
    x = ag.tensor(put(device, np.array([[3, 1, 3], [2, 2, 2]], np.float32)), requires_grad=True)
    with ag.Tape() as tape:
        out = ag.sum(ag.max(x, axis=1))
    tape.backward(out)
    assert close(x.grad.to_host(), [[0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3]])


@pytest.mark.parametrize("operation", [ag.sum, ag.mean, lambda x: ag.sum(x, axis=0),
                                       lambda x: ag.sum(ag.mean(x, axis=1, keepdims=True))],
                         ids=["sum", "mean", "sum 0", "mean 1"])
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
    pairs = [(2 + x, 2 + a), (x - 2, a - 2), (2 - x, 2 - a), (2 * x, 2 * a), (x / 2, a / 2), (2 / x, 2 / a),
             (-x, -a), (x ** 2, a ** 2), (2 ** x, 2 ** a), (x < 1, a < 1), (x <= 1, a <= 1), (x > 1, a > 1),
             (x >= 1, a >= 1), (np.float64(3) * x, 3 * a), (a * x, a * a), (x @ x, a @ a), (a @ x, a @ a)]
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
    with pytest.raises(TypeError, match="takes no slope"):
        ag.leaky_relu(plain, slope=1)


def test_your_own_primitive_is_an_operation(device):
    register_primitive("my_product", lambda args, attrs: f"({args[1]} * sin({args[0]}))",
                       lambda args, g, attrs, out: [f"({g} * {args[1]} * cos({args[0]}))",
                                                    f"({g} * sin({args[0]}))"], arity=2)
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
