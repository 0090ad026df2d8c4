"""Softmax and its kin, and layer norm, of engine 3: values, gradients, and the extremes."""

import gc
import weakref
from functools import partial

import numpy as np
import pytest
from netcl_devices import check, close, put, tape_gradient

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.gradcheck import taylor_check
from tinygrad_cl.netcl.autograd import normalization
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.ops.rows import RowFormula
from tinygrad_cl.tensor import Tensor as HostTensor


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def logsumexp(x, axis=-1, keepdims=False):
    return np.logaddexp.reduce(x, axis, keepdims=keepdims)


def log_softmax(x, axis=-1):
    return x - logsumexp(x, axis, keepdims=True)


def layer_norm(x, gamma=1.0, beta=0.0, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * gamma + beta


PAIRS = {
    "softmax": (ag.softmax, softmax),
    "log_softmax": (ag.log_softmax, log_softmax),
    "logsumexp": (ag.logsumexp, logsumexp),
    "layer_norm": (ag.layer_norm, layer_norm),
}
EVERY = pytest.mark.parametrize("ours, numpys", PAIRS.values(), ids=PAIRS)
SOFT = pytest.mark.parametrize("ours, numpys", [PAIRS[name] for name in list(PAIRS)[:3]], ids=list(PAIRS)[:3])

CASES = {  # ours, NumPy's, shapes
    **{
        f"{name} {shape}": (*pair, [shape])
        for name, pair in PAIRS.items()
        for shape in [(5,), (3, 4), (2, 3, 17), (4, 1)]
    },
    **{
        f"{name} axis {axis}": (partial(PAIRS[name][0], axis=axis), partial(PAIRS[name][1], axis=axis), [(2, 3, 4)])
        for name in list(PAIRS)[:3]
        for axis in (0, 1, -2)
    },
    "logsumexp keepdims": (
        partial(ag.logsumexp, axis=1, keepdims=True),
        partial(logsumexp, axis=1, keepdims=True),
        [(2, 3, 4)],
    ),
    "layer_norm gamma": (ag.layer_norm, layer_norm, [(3, 4), (4,)]),
    "layer_norm gamma beta": (ag.layer_norm, layer_norm, [(2, 3, 5), (5,), (5,)]),
    "layer_norm beta": (
        lambda x, beta: ag.layer_norm(x, beta=beta),
        lambda x, beta: layer_norm(x, beta=beta),
        [(3, 4), (4,)],
    ),
    "layer_norm of one row": (ag.layer_norm, layer_norm, [(5,), (5,), (5,)]),
    "layer_norm eps": (partial(ag.layer_norm, eps=0.3), partial(layer_norm, eps=0.3), [(3, 4)]),
}
CASE = pytest.mark.parametrize("ours, numpys, shapes", CASES.values(), ids=CASES)
FAULTS = [lambda g: 2.001 * g, lambda g: -g, np.zeros_like, lambda g: g[..., ::-1]]


def random(shapes):
    rng = np.random.default_rng(3)
    return [rng.normal(size=shape) * 1.5 for shape in shapes]


@CASE
def test_gradients_under_a_random_upstream(ours, numpys, shapes, exact):
    report = check(exact, ours, numpys, random(shapes))
    assert report, str(report)


@pytest.mark.parametrize(
    "name", ["softmax (2, 3, 17)", "log_softmax (3, 4)", "logsumexp axis 1", "layer_norm gamma beta"]
)
def test_a_wrong_gradient_is_noticed(name, exact):
    """The test of the tester: off by a factor or a sign, gone, or along the wrong way."""
    ours, numpys, shapes = CASES[name]
    for fault in FAULTS:
        report = check(exact, ours, numpys, random(shapes), fault)
        assert not any(worst.ok for worst in report.inputs), str(report)


@CASE
def test_the_taylor_remainder_falls_with_the_square(ours, numpys, shapes, exact):
    report = taylor_check(numpys, tape_gradient(exact, ours), random(shapes))
    assert report, str(report)


WRONG = {  # name of the record: what its inputs and steps are made into
    "SOFTMAX_BACKWARD": [dict(outputs=("y * g",)), dict(outputs=("y * (g + d)",)), dict(outputs=("g - d",))],
    "LOG_SOFTMAX_BACKWARD": [dict(outputs=("g - exp(z)",)), dict(outputs=("g - z * d",))],
    "LOGSUMEXP_BACKWARD": [dict(outputs=("g * exp(x - m)",)), dict(outputs=("exp(x - m) / s",))],
    "LAYER_NORM_BACKWARD": [
        dict(outputs=("rstd * (g * gamma - a)", "g * (x - mean) * rstd")),
        dict(outputs=("rstd * (g - a - (x - mean) * rstd * b)", "g * (x - mean) * rstd")),
        dict(outputs=("g * gamma - a - (x - mean) * rstd * b", "g * (x - mean) * rstd")),
        dict(steps=(("a", "sum", "g * gamma"), ("b", "mean", "g * gamma * (x - mean) * rstd"))),
    ],
}


@pytest.mark.parametrize(
    "name, change",
    [(name, change) for name, changes in WRONG.items() for change in changes],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_wrong_rule_is_noticed(name, change, exact, monkeypatch):
    """A term left out, a sum for a mean, the upstream gradient ignored."""
    right = getattr(normalization, name)
    fields = {field: getattr(right, field) for field in ("name", "inputs", "steps", "outputs")}
    monkeypatch.setattr(normalization, name, RowFormula(**fields | change))
    ours, numpys, shapes = {
        "SOFTMAX_BACKWARD": CASES["softmax (3, 4)"],
        "LOGSUMEXP_BACKWARD": CASES["logsumexp (3, 4)"],
        "LOG_SOFTMAX_BACKWARD": CASES["log_softmax (3, 4)"],
        "LAYER_NORM_BACKWARD": CASES["layer_norm gamma"],
    }[name]
    assert not check(exact, ours, numpys, random(shapes)).inputs[0].ok


@EVERY
@pytest.mark.parametrize("length", [1, 15, 16, 17, 1000])
def test_rows_of_every_length(ours, numpys, length, device):
    """Value in float32, and the gradient of engine 2, whose rules are others."""
    rng = np.random.default_rng(length)
    a, g = rng.normal(size=(2, 3, length)).astype(np.float32)
    g = g[:, 0] if ours is ag.logsumexp else g
    x = ag.tensor(put(device, a), requires_grad=True)
    with ag.Tape() as tape:
        out = ours(x)
    tape.backward(out, put(device, np.ascontiguousarray(g)))
    assert close(out.to_host(), numpys(a.astype(np.float64)), "float32", 100)
    host = HostTensor(a.astype(np.float64), requires_grad=True)
    composed(numpys, host).backward(HostTensor(g.astype(np.float64)))
    assert close(x.grad.to_host(), host.grad.data, "float32", 100)


def composed(numpys, x):
    """The same operation in engine 2."""
    if numpys is layer_norm:
        centred = x - x.mean(-1, keepdims=True)
        return centred / ((centred * centred).mean(-1, keepdims=True) + 1e-5).sqrt()
    if numpys is logsumexp:
        return x.exp().sum(-1).log()
    return x.softmax(-1) if numpys is softmax else x.log_softmax(-1)


@SOFT
@pytest.mark.parametrize("scale", [1e4, -1e4])
def test_extreme_numbers(ours, numpys, scale, device):
    a = scale * np.array([[1, 1 - 1e-4, -1], [0, 0, 1], [3, 3, 3]], np.float32)
    x = ag.tensor(put(device, a), requires_grad=True)
    with ag.Tape() as tape:
        out = ours(x)
    expected = numpys(a.astype(np.float64))
    assert np.allclose(out.to_host(), expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
    tape.backward(out, np.ones(out.shape))
    assert np.all(np.isfinite(x.grad.to_host()))
    if ours is ag.logsumexp:  # exact even where the result itself has few digits left
        assert close(x.grad.to_host(), softmax(a.astype(np.float64)))


def test_layer_norm_far_from_zero(device):
    """The mean of squares less the square of the mean has no digit left there."""
    a = (1e4 + np.random.default_rng(0).normal(size=(3, 100))).astype(np.float32)
    assert close(ag.layer_norm(put(device, a)).to_host(), layer_norm(a.astype(np.float64)), size=1e5)


def test_a_row_of_equal_numbers_has_layer_norm_zero(device):
    x = ag.tensor(put(device, np.full((2, 20), 3, np.float32)), requires_grad=True)
    with ag.Tape() as tape:
        out = ag.layer_norm(x)
    tape.backward(out, np.random.default_rng(0).normal(size=(2, 20)))
    assert close(out.to_host(), np.zeros((2, 20))) and np.all(np.isfinite(x.grad.to_host()))


def test_masked_numbers_have_probability_zero_and_no_gradient(device):
    a = np.array([[1, -np.inf, 2, -np.inf], [-np.inf, 0, -np.inf, -np.inf]], np.float32)
    x = ag.tensor(put(device, a), requires_grad=True)
    with ag.Tape() as tape:
        out = ag.softmax(x)
    tape.backward(out, np.arange(8.0).reshape(2, 4))
    assert close(out.to_host(), softmax(a)) and np.all(out.to_host()[np.isinf(a)] == 0)
    assert np.all(x.grad.to_host()[np.isinf(a)] == 0) and np.all(np.isfinite(x.grad.to_host()))
    assert np.all(np.isneginf(ag.log_softmax(x).to_host()[np.isinf(a)]))
    assert close(ag.logsumexp(x).to_host(), [np.log(np.exp(1) + np.exp(2)), 0])


def test_a_row_that_is_masked_wholly_is_nan_and_its_logsumexp_minus_infinity(device):
    """No probabilities of nothing: 0 / 0, as in PyTorch. Other rows do not notice."""
    a = np.array([[1, 2, 3], [-np.inf] * 3], np.float32)
    x = put(device, a)
    for operation in (ag.softmax, ag.log_softmax):
        out = operation(x).to_host()
        assert np.all(np.isfinite(out[0])) and np.all(np.isnan(out[1]))
    assert np.isneginf(ag.logsumexp(x).to_host()[1])
    hidden = np.where(np.isinf(a), -1e30, a)
    assert close(ag.softmax(put(device, hidden.astype(np.float32))).to_host()[1], [1 / 3] * 3)


@EVERY
def test_nan_stays_in_its_row(ours, numpys, device):
    a = np.ones((3, 20), np.float32)
    a[1, 17] = np.nan
    out = ours(put(device, a)).to_host()
    assert np.all(np.isnan(out[1])) and np.all(np.isfinite(out[[0, 2]]))


def test_infinity_in_a_row(device):
    x = put(device, np.array([[np.inf, 0, 1]], np.float32))
    assert np.isposinf(ag.logsumexp(x).to_host()[0])
    assert np.all(np.isnan(ag.softmax(x).to_host()))


@EVERY
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 4)], ids=str)
def test_zero_sizes(ours, numpys, shape, device):
    x = ag.tensor(put(device, np.zeros(shape, np.float32)), requires_grad=True)
    with ag.Tape() as tape:
        out = ours(x)
    assert out.shape == (shape[:-1] if ours is ag.logsumexp else shape)
    if ours is ag.logsumexp:
        assert np.all(np.isneginf(out.to_host()))
    tape.backward(out, np.ones(out.shape))
    assert x.grad.shape == shape


def test_one_launch_each_way(device):
    x = ag.tensor(put(device, np.ones((4, 20), np.float32)), requires_grad=True)
    gamma, beta = (Parameter.full(device.queue, (20,), 1.0) for _ in range(2))
    g = put(device, np.ones((4, 20), np.float32))
    for operation in (ag.softmax, ag.log_softmax, lambda x: ag.layer_norm(x, gamma, beta)):
        with ag.Tape() as tape, device.watch() as launches:
            out = operation(x)
        assert len(launches) == 1
        with device.watch() as launches:
            tape.backward(out, g)
        assert sum("reduce" not in launch.name and "add" not in launch.name for launch in launches) == 1
    with ag.Tape() as tape:  # a gradient that nobody needs is not computed
        out = ag.layer_norm(x.value, 2.0, beta)
    with device.watch() as launches:
        tape.backward(out, g)
    assert not [launch for launch in launches if "layer_norm" in launch.name]


def test_softmax_does_not_see_a_shift_and_its_rows_add_up_to_one(device):
    a = np.random.default_rng(0).normal(size=(5, 30)).astype(np.float32)
    out = ag.softmax(put(device, a)).to_host()
    assert close(out.sum(-1), np.ones(5)) and close(ag.softmax(put(device, a + 8)).to_host(), out, size=10)
    assert close(np.exp(ag.log_softmax(put(device, a)).to_host()), out, size=10)


def test_one_tensor_as_input_and_as_gamma(exact):
    report = check(exact, lambda x: ag.layer_norm(x, x, x), lambda x: layer_norm(x, x, x), random([(6,)]))
    assert report, str(report)


def test_parameters_get_gradients_and_the_tape_names_the_operations(device):
    gamma, beta = Parameter.full(device.queue, (4,), 1.0), Parameter.full(device.queue, (4,), 0.0)
    with ag.Tape() as tape:
        x = ag.tensor(put(device, np.arange(12, dtype=np.float32).reshape(3, 4)), requires_grad=True)
        out = ag.logsumexp(ag.log_softmax(ag.softmax(ag.layer_norm(x, gamma, beta), axis=0)))
    assert [node.op_name for node in tape.nodes] == ["layer_norm", "softmax", "log_softmax", "logsumexp"]
    assert [node.attrs for node in tape.nodes][:2] == [{"eps": 1e-5}, {"axis": 0}]
    tape.backward(out, np.ones(3))
    assert gamma.grad.shape == beta.grad.shape == (4,)


def test_a_graph_is_freed_without_the_collector(device):
    gc.collect()
    gc.disable()
    try:
        x = ag.tensor(put(device, np.ones((3, 4), np.float32)), requires_grad=True)
        out = ag.logsumexp(ag.softmax(ag.layer_norm(ag.log_softmax(x))))
        watched = weakref.ref(out)
        del out
        assert watched() is None
    finally:
        gc.enable()


def test_no_grad_records_nothing(device):
    x = ag.tensor(put(device, np.ones((3, 4), np.float32)), requires_grad=True)
    with ag.Tape() as tape, ag.no_grad():
        for operation, _ in PAIRS.values():
            assert operation(x).parents == ()
    assert tape.nodes == []


def test_what_is_refused(device):
    x = put(device, np.ones((3, 4), np.float32))
    for operation, _ in PAIRS.values():
        for wrong in (1.0, [1.0, 2.0], np.ones(3)):
            with pytest.raises(TypeError, match="takes a Node or a Tensor, not .*from_host makes one"):
                operation(wrong)
        with pytest.raises(TypeError, match="holds indices"):
            operation(put(device, np.ones((3, 4), np.int32)))
        with pytest.raises(ValueError, match="no rows|no such axes"):
            operation(put(device, np.float32(1)))
    for operation in (ag.softmax, ag.log_softmax, ag.logsumexp):
        with pytest.raises(ValueError, match="no such axes"):
            operation(x, axis=2)
        with pytest.raises(TypeError):
            operation(x, axis=None)
    for gamma in (np.ones(3), np.ones((3, 4)), np.ones((4, 1))):
        with pytest.raises(ValueError, match=r"layer_norm of shape \(3, 4\) needs gamma of shape \(4,\), not"):
            ag.layer_norm(x, gamma)
    with pytest.raises(ValueError, match="needs beta of shape"):
        ag.layer_norm(x, np.ones(4), np.ones(1))
