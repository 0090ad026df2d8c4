"""The table of elementwise operations: every record, value and gradient, on every device."""

import re

import numpy as np
import pytest
from netcl_devices import close, numbers, put

from tinygrad_cl.gradcheck import gradcheck
from tinygrad_cl.netcl.ops import table  # noqa: F401 (fills PRIMITIVES)
from tinygrad_cl.netcl.ops.elementwise import compute, compute_all
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES, Formula, c_number, get_primitive, register_primitive

BUILT_IN = list(PRIMITIVES.values())
EVERY = pytest.mark.parametrize("primitive", BUILT_IN, ids=lambda primitive: primitive.name)
SMOOTH = pytest.mark.parametrize("primitive", [each for each in BUILT_IN if each.backward], ids=lambda each: each.name)
ODD = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 1e-30, -200.0, 200.0])


def inputs_of(primitive, shape, dtype):
    rng = np.random.default_rng(3)
    return [numbers(rng, shape, primitive.domain, dtype) for _ in range(primitive.arity)]


def value(primitive, device, arrays, attrs=None):
    return compute(primitive.forward_formula(attrs), [put(device, array) for array in arrays]).to_host()


def gradients(primitive, device, upstream, arrays):
    """The gradient of each input by the record's own C expressions, one kernel for all; None where
    there is none.
    """
    names = {"g": f"v{primitive.arity}", "out": f"v{primitive.arity + 1}"}
    slopes = [each and re.sub(r"\b(g|out)\b", lambda found: names[found[0]], each) for each in primitive.gradients()]
    formula = Formula(f"{primitive.name}_backward", tuple(filter(None, slopes)), primitive.arity + 2)
    tensors = [put(device, each) for each in [*arrays, upstream]]
    out = compute(primitive.forward_formula(), tensors[:-1])
    results = iter(compute_all(formula, [*tensors, out]))
    return [each and next(results).to_host() for each in slopes]


@EVERY
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_value_is_numpys(primitive, dtype, device):
    if not device.has(np.dtype(dtype)):
        pytest.skip("no float64")
    for shape in [(), (1,), (0, 3), (5, 37)]:
        arrays = inputs_of(primitive, shape, dtype)
        expected = primitive.reference(*[array.astype(np.float64) for array in arrays], **primitive.attrs)
        assert close(value(primitive, device, arrays), expected, dtype)


@EVERY
def test_odd_numbers_and_ties_give_what_numpy_gives(primitive, device):
    """NaN, infinities, zeros of both signs, ties: netcl's softplus(100) is inf."""
    if primitive.arity == 1:
        arrays = [ODD]
    else:
        arrays = [each.ravel() for each in np.meshgrid(*[ODD] * primitive.arity)]
    arrays = [array.astype(np.float32) for array in arrays]
    with np.errstate(all="ignore"):
        expected = primitive.reference(*[array.astype(np.float64) for array in arrays], **primitive.attrs)
        expected = np.asarray(expected).astype(np.float32)
    got = value(primitive, device, arrays)
    known = (
        np.isfinite(arrays[0]) if primitive.name in ("swish", "gelu") else np.full(got.shape, True)
    )  # x · σ(x) at −∞
    assert close(got[known], expected[known], "float32")


def check_gradients(primitive, device, fault=None):
    """The Report of gradcheck in float64: the record's C gradients against differences of its NumPy
    reference. `fault` is done to each gradient before it is looked at."""
    arrays = inputs_of(primitive, (2, 3), np.float64)
    if primitive.name in ("maximum", "minimum"):  # each of the two is the larger one somewhere
        arrays = [np.array([[1.0, 2, 3], [4, 5, 6]]), np.array([[3.0, 1, 4], [2, 7, 5]])]
    fixed = [np.array([[0.0, 1, 0], [1, 1, 0]])] if primitive.name == "where" else []  # no slope

    def differentiate(upstream, *inputs):
        found = gradients(primitive, device, upstream, [*fixed, *inputs])[len(fixed) :]
        return [fault(each) if fault else each for each in found]

    return gradcheck(
        lambda *inputs: primitive.reference(*fixed, *inputs, **primitive.attrs), differentiate, arrays[len(fixed) :]
    )


@SMOOTH
def test_the_gradient_is_that_of_central_differences(primitive, exact):
    assert len(primitive.gradients()) == primitive.arity
    report = check_gradients(primitive, exact)
    assert report, f"{primitive.name}: {report}"


@SMOOTH
def test_a_wrong_gradient_is_noticed(primitive, exact):
    """The test of the tester: off by one factor, one sign, one axis, or gone."""
    for fault in [lambda g: 2.001 * g, lambda g: -g, lambda g: g[::-1], np.zeros_like]:
        assert not any(worst.ok for worst in check_gradients(primitive, exact, fault).inputs)


@pytest.mark.parametrize(
    "name, at, slope",
    [
        ("relu", 0.0, 0.0),
        ("leaky_relu", 0.0, 0.01),
        ("abs", 0.0, 0.0),
        ("clamp", 0.0, 1.0),
        ("swish", 0.5, 0.7399612),
        ("softplus", 200.0, 1.0),
        ("softplus", -200.0, 0.0),
        ("sigmoid", -200.0, 0.0),
        ("tanh", 200.0, 0.0),
        ("square", 0.0, 0.0),
        ("gelu", 50.0, 1.0),
        ("gelu", -50.0, 0.0),
        ("swish", -200.0, 0.0),
    ],
)
def test_slopes_at_kinks_and_far_out(name, at, slope, device):
    """netcl's swish has the slope 0.811 at 0.5."""
    one = np.ones(1, np.float32)
    assert close(gradients(get_primitive(name), device, one, [at * one])[0], slope * one)


@pytest.mark.parametrize(
    "name, inputs, slopes",
    [
        ("maximum", (2, 2), (0.5, 0.5)),
        ("minimum", (2, 2), (0.5, 0.5)),
        ("pow", (0, 2), (0, 0)),
        ("pow", (0, 1), (1, 0)),
        ("pow", (0, 0), (0, 0)),
        ("pow", (3, 0), (0, np.log(3))),
    ],
)
def test_slopes_at_ties_and_at_zero(name, inputs, slopes, device):
    one = np.ones(1, np.float32)
    got = gradients(get_primitive(name), device, one, [x * one for x in inputs])
    assert all(close(each, slope * one) for each, slope in zip(got, slopes))


NAN = np.nan


@pytest.mark.parametrize(
    "name, inputs, upstream, slopes",
    [
        ("maximum", [NAN, 1], 2, [2, 2]),
        ("maximum", [1, NAN], 2, [2, 2]),
        ("maximum", [NAN, NAN], 2, [2, 2]),
        ("maximum", [3, 1], NAN, [NAN, 0]),
        ("maximum", [1, 1], NAN, [NAN, NAN]),
        ("minimum", [NAN, 1], 2, [2, 2]),
        ("minimum", [1, NAN], 2, [2, 2]),
        ("minimum", [3, 1], NAN, [0, NAN]),
        ("relu", [NAN], 2, [2]),
        ("relu", [3], NAN, [NAN]),
        ("relu", [-3], NAN, [0]),
        ("clamp", [3], NAN, [NAN]),
        ("abs", [0], NAN, [NAN]),
        ("leaky_relu", [0], NAN, [NAN]),
        ("where", [0, 3, 1], NAN, [None, 0, NAN]),
        ("pow", [0, 2], NAN, [NAN, NAN]),
        ("pow", [0, 2], 1, [0, 0]),
        ("pow", [0, 0], NAN, [0, NAN]),
        ("pow", [2, 0], NAN, [0, NAN]),
        ("pow", [NAN, 0], 1, [0, NAN]),
        ("pow", [NAN, 2], 1, [NAN, NAN]),
    ],
)
def test_a_nan_passes_where_pytorch_passes_it(name, inputs, upstream, slopes, device):
    """As in derivatives.yaml: what is left out by a choice is 0, all else is a product."""
    arrays = [np.full(3, each, np.float32) for each in inputs]
    found = gradients(get_primitive(name), device, np.full(3, upstream, np.float32), arrays)
    for array, slope in zip(found, slopes, strict=True):
        assert array is slope is None or close(array, np.full(3, slope)), name


def test_constants_of_a_record(device):
    x = np.array([-2.0, 0.5, 3.0], np.float32)
    leaky, clamp = get_primitive("leaky_relu"), get_primitive("clamp")
    assert close(value(leaky, device, [x], {"negative_slope": 0.5}), [-1, 0.5, 3])
    assert close(value(clamp, device, [x], {"min_val": -1, "max_val": 1}), [-1, 0.5, 1])
    assert leaky.forward_formula({"negative_slope": 0.5}) is leaky.forward_formula({"negative_slope": 0.5})
    with pytest.raises(TypeError, match="leaky_relu takes no slope"):
        leaky.forward_formula({"slope": 1})


@pytest.mark.parametrize("number", [0.1, -3, float("inf"), float("-inf"), float("nan")])
def test_any_constant_can_be_written(number, device):
    """netcl's JIT does not build with an infinite one."""
    formula = Formula("constant", (f"v0 * 0 + {c_number(number)}",), 1)
    assert close(compute(formula, [put(device, np.zeros(20, np.float32))]).to_host(), np.full(20, number))


def test_everybody_registers_as_the_built_ins_do(device):
    def forward(args, attrs):
        a, b = args
        return f"({b} * sin({a}))"

    def backward(args, grad_var, attrs, out_var):
        a, b = args
        return [f"({grad_var} * {b} * cos({a}))", f"({grad_var} * sin({a}))"]

    try:
        primitive = register_primitive("my_op", forward, backward, arity=2, fusible=True)
        assert get_primitive("my_op") is primitive and primitive.fusible
        a, b = inputs_of(primitive, (3, 7), np.float32)
        assert close(value(primitive, device, [a, b]), np.sin(a) * b)
        got = gradients(primitive, device, b, [a, b])
        assert close(got[0], b * b * np.cos(a)) and close(got[1], b * np.sin(a))
    finally:
        PRIMITIVES.pop("my_op", None)


def test_a_record_that_cannot_work_is_refused():
    good = lambda a, k: a[0]
    with pytest.raises(ValueError, match="cannot name a kernel"):
        register_primitive("my op", good)
    with pytest.raises(TypeError, match="returns a C expression"):
        register_primitive("bad", lambda a, k: 3)
    with pytest.raises(ValueError, match="2 expressions for 1 inputs"):
        register_primitive("bad", good, lambda a, g, k, out: [g, g])
    with pytest.raises(TypeError, match="each a str"):
        register_primitive("bad", good, lambda a, g, k, out: [1.0])
    with pytest.raises(KeyError, match="no primitive bad"):
        get_primitive("bad")


def test_every_built_in_has_a_reference_and_a_formula():
    assert all(primitive.reference and primitive.formula for primitive in BUILT_IN)
