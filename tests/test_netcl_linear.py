"""A layer as one operation, in engine 3: what it computes, its gradients, and what it costs."""

from functools import partial

import numpy as np
import pytest
from netcl_devices import check, close, numbers, put

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES, register_primitive

ACTIVATIONS = [primitive for primitive in PRIMITIVES.values() if primitive.arity == 1 and primitive.backward]
EVERY = pytest.mark.parametrize("primitive", ACTIVATIONS, ids=lambda primitive: primitive.name)
SHAPES = [
    ((5, 7), (7, 19)),
    ((7,), (7, 3)),
    ((2, 3, 4), (4, 17)),
    ((1, 1), (1, 1)),
    ((2, 1, 2, 3), (3, 1)),
    ((0, 3), (3, 2)),
    ((9, 2), (2, 33)),
]


def inputs(x, weight, bias=True, domain=(-np.inf, np.inf)):
    """x, a weight and a bias that give z of both signs, or where an activation is defined."""
    rng = np.random.default_rng(sum(x) + sum(weight))
    shapes = [x, weight, weight[1:]] if bias else [x, weight]
    return [numbers(rng, shape, domain) for shape in shapes]


def plain(x, weight, bias=0.0):
    return x @ weight + bias


def leaves(device, arrays, dtype=np.float32):
    return [ag.tensor(put(device, np.asarray(x, dtype)), requires_grad=True) for x in arrays]


@EVERY
def test_every_activation_of_the_table(primitive, exact):
    def reference(*arrays):
        return primitive.reference(plain(*arrays), **primitive.attrs)

    low, high = primitive.domain  # sums of products of positive numbers are above any lower end
    arrays = inputs((5, 7), (7, 19), domain=(low if low == -np.inf else 0.0, high))
    report = check(exact, partial(ag.linear, activation=primitive.name), reference, arrays)
    assert report, str(report)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes(shapes, bias, exact):
    arrays = inputs(*shapes, bias)
    report = check(exact, ag.linear, plain, arrays)
    assert report, str(report)
    report = check(
        exact,
        partial(ag.linear, activation="swish"),
        lambda *arrays: PRIMITIVES["swish"].reference(plain(*arrays)),
        arrays,
    )
    assert report, str(report)


def test_it_is_the_composition(device):
    arrays = [x.astype(np.float32) for x in inputs((128, 40), (40, 50))]
    upstream = put(device, np.random.default_rng(0).normal(size=(128, 50)).astype(np.float32))
    one, other = leaves(device, arrays), leaves(device, arrays)
    ag.Tape().backward(ag.linear(*one, activation="relu"), upstream)
    ag.Tape().backward(ag.relu(other[0] @ other[1] + other[2]), upstream)
    for ours, theirs in zip(one, other):
        assert close(ours.grad.to_host(), theirs.grad.to_host(), size=1000)


def test_the_constants_of_an_activation(device):
    x, weight, bias = arrays = inputs((3, 4), (4, 5))
    out = ag.linear(*leaves(device, arrays), activation="leaky_relu", negative_slope=3.0)
    z = plain(*arrays)
    assert close(out.to_host(), np.where(z > 0, z, 3 * z), size=10)
    assert out.attrs == {"activation": "leaky_relu", "negative_slope": 3.0} and out.op_name == "linear"


@pytest.mark.parametrize(
    "activation, reads_z", [("relu", False), ("tanh", False), ("gelu", True), ("softplus", True), (None, False)]
)
def test_forward_is_one_launch_and_keeps_no_more_than_backward_reads(activation, reads_z, device):
    nodes = leaves(device, inputs((5, 7), (7, 19)))
    with device.watch() as launches:
        out = ag.linear(*nodes, activation=activation)
    assert len(launches) == 1
    assert len(launches[0].operands) == 4 + reads_z  # f(z) and perhaps z, x, the weight, the bias
    with device.watch() as launches, ag.no_grad():
        ag.linear(*nodes, activation=activation)
    assert len(launches[0].operands) == 4 and out.requires_grad


def test_gradients_that_nobody_wants_cost_nothing(device):
    x, weight, bias = put(device, *[each.astype(np.float32) for each in inputs((5, 7), (7, 19))])
    upstream = put(device, np.ones((5, 19), np.float32))

    def names(*needs):
        nodes = [ag.tensor(each, need) for each, need in zip((x, weight, bias), needs)]
        out = ag.linear(*nodes, activation="relu")
        with device.watch() as launches:
            ag.Tape().backward(out, upstream)
        assert [node.grad is not None for node in nodes] == list(needs)
        for node in nodes:
            node.grad = None
        return len(launches)

    alone = [names(*needs) for needs in [(True, False, False), (False, True, False), (False, False, True)]]
    assert alone == [2, 2, 2] and names(True, True, True) == 4
    with ag.Tape() as tape:
        assert ag.linear(x, weight, bias).grad_fn is None and not tape.nodes


def test_an_activation_of_your_own(exact):
    def register(factor):
        register_primitive("times", lambda a, k: f"({factor} * {a[0]})", lambda a, g, k, out: [f"({factor} * {g})"])

    try:
        for factor in (3, 5):  # one that is registered anew is another
            register(factor)
            report = check(
                exact,
                partial(ag.linear, activation="times"),
                lambda *arrays: factor * plain(*arrays),
                inputs((3, 4), (4, 5)),
            )
            assert report, str(report)
        register_primitive("step", lambda a, k: f"({a[0]} > 0 ? (V)(1) : (V)(0))")
        out = ag.linear(*leaves(exact, inputs((3, 4), (4, 5))), activation="step")
        assert set(np.unique(out.to_host())) <= {0, 1} and not out.requires_grad
        register_primitive("step", lambda a, k: f"({a[0]} > 0 ? (V)(1) : (V)(0))", lambda a, g, k, out: [None])
        out = ag.linear(*leaves(exact, inputs((3, 4), (4, 5))), activation="step")
        assert not out.requires_grad
    finally:
        for name in ("times", "step"):
            PRIMITIVES.pop(name, None)


@pytest.mark.parametrize("slope", ["g", "(2.001 * g)", "(-g)", "(g * v0)"])
def test_a_wrong_slope_is_noticed(slope, exact):
    """The test of the tester: sin′ is none of these."""
    register_primitive(
        "wrong", lambda a, k: f"sin({a[0]})", lambda a, g, k, out: [slope.replace("g", g).replace("v0", a[0])]
    )
    try:
        assert not check(
            exact,
            partial(ag.linear, activation="wrong"),
            lambda *arrays: np.sin(plain(*arrays)),
            inputs((5, 7), (7, 9)),
        )
    finally:
        del PRIMITIVES["wrong"]


@pytest.mark.parametrize("fault", [lambda x: x * 1.001, np.negative, lambda x: x[..., ::-1]], ids=range(3))
def test_a_wrong_gradient_is_noticed(fault, exact):
    assert not check(
        exact,
        partial(ag.linear, activation="tanh"),
        lambda *arrays: np.tanh(plain(*arrays)),
        inputs((5, 7), (7, 9)),
        fault,
    )


def test_nan_goes_where_it_belongs(device):
    x, weight, bias = arrays = [each.astype(np.float32) for each in inputs((9, 7), (7, 19))]
    x[3, 2], bias[4] = np.nan, np.inf
    got = ag.linear(*put(device, *arrays), activation="relu").to_host()
    assert close(got, np.maximum(plain(*arrays), 0), size=10)


def test_what_does_not_fit_is_refused(device):
    x, weight, bias = put(device, *[each.astype(np.float32) for each in inputs((5, 7), (7, 3))])
    with pytest.raises(ValueError, match=r"not \(5, 7\), \(3,\)"):
        ag.linear(x, bias)
    with pytest.raises(ValueError, match=r"a weight \(in, out\).*not \(7, 3\), \(7, 3\)$"):
        ag.linear(weight, weight)
    with pytest.raises(ValueError, match=r"not \(5, 7\), \(7, 3\) and \(5, 7\)"):
        ag.linear(x, weight, x)
    with pytest.raises(ValueError, match=r"not \(\)"):
        ag.linear(ag.sum(x), weight)
    with pytest.raises(TypeError, match="no numbers|not numbers"):
        ag.linear(x, 2.0)
    with pytest.raises(KeyError, match="there is no primitive spline"):
        ag.linear(x, weight, activation="spline")
    with pytest.raises(TypeError, match="activation of one input; mul has 2"):
        ag.linear(x, weight, activation="mul")
    with pytest.raises(TypeError, match="relu takes no alpha"):
        ag.linear(x, weight, activation="relu", alpha=1.0)
    with pytest.raises(TypeError, match="without an activation takes no alpha"):
        ag.linear(x, weight, alpha=1.0)
