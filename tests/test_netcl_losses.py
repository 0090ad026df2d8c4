"""Losses of engine 3: values, gradients, reductions, targets of every kind, and netcl's faults."""

from functools import partial

import numpy as np
import pytest
from netcl_devices import check, close, put, tape_gradient

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.gradcheck import taylor_check
from tinygrad_cl.netcl.autograd import losses
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.rows import RowFormula
from tinygrad_cl.tensor import Tensor as HostTensor
from tinygrad_cl.tensor import functional

REDUCE = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}
LABELS = np.array([2, 0, 3, 3, 1])


def log_softmax(x):
    return x - np.logaddexp.reduce(x, -1, keepdims=True)


def indexed(x, labels):
    return -np.take_along_axis(log_softmax(x), np.asarray(labels)[..., None], -1)[..., 0]


ELEMENTWISE = {  # ours, NumPy's without the reduction, where the two inputs lie
    "mse_loss": (ag.mse_loss, lambda x, y: (x - y) ** 2, (-2, 2), (-2, 2)),
    "l1_loss": (ag.l1_loss, lambda x, y: np.abs(x - y), (-2, 2), (-2, 2)),
    "binary_cross_entropy": (
        ag.binary_cross_entropy,
        lambda p, t: -t * np.log(p) - (1 - t) * np.log(1 - p),
        (0.05, 0.95),
        (0, 1),
    ),
    "binary_cross_entropy_with_logits": (
        ag.binary_cross_entropy_with_logits,
        lambda x, t: np.logaddexp(x, 0) - x * t,
        (-4, 4),
        (0, 1),
    ),
}
EVERY = pytest.mark.parametrize("ours, numpys, first, second", ELEMENTWISE.values(), ids=ELEMENTWISE)


def between(ranges, shape, dtype=np.float64):
    rng = np.random.default_rng(5)
    return [rng.uniform(*each, shape).astype(dtype) for each in ranges]


def probabilities(*shape):
    rows = np.random.default_rng(1).uniform(0.1, 1, shape)
    return rows / rows.sum(-1, keepdims=True)


CASES = {  # ours, NumPy's without the reduction, inputs
    **{
        name: (ours, numpys, between((first, second), (3, 4)))
        for name, (ours, numpys, first, second) in ELEMENTWISE.items()
    },
    "cross_entropy": (
        lambda x, **more: ag.cross_entropy(x, LABELS, **more),
        lambda x: indexed(x, LABELS),
        between([(-3, 3)], (5, 4)),
    ),
    "cross_entropy of 3 axes": (
        lambda x, **more: ag.cross_entropy(x, [[0, 2, 1], [1, 1, 0]], **more),
        lambda x: indexed(x, [[0, 2, 1], [1, 1, 0]]),
        between([(-3, 3)], (2, 3, 17)),
    ),
    "cross_entropy of one row": (
        lambda x, **more: ag.cross_entropy(x, 3, **more),
        lambda x: indexed(x, 3),
        between([(-3, 3)], (5,)),
    ),
    "cross_entropy probabilities": (
        ag.cross_entropy,
        lambda x, p: -(p * log_softmax(x)).sum(-1),
        [*between([(-3, 3)], (5, 4)), probabilities(5, 4)],
    ),
    "cross_entropy weights": (
        ag.cross_entropy,
        lambda x, p: -(p * log_softmax(x)).sum(-1),  # no sum of 1
        between([(-3, 3), (0, 2)], (2, 3, 4)),
    ),
}
CASE = pytest.mark.parametrize("ours, numpys, arrays", CASES.values(), ids=CASES)
FAULTS = [lambda g: 2.001 * g, lambda g: -g, np.zeros_like, lambda g: g[..., ::-1]]


@CASE
@pytest.mark.parametrize("reduction", REDUCE)
def test_gradients_under_a_random_upstream(ours, numpys, arrays, reduction, exact):
    report = check(exact, partial(ours, reduction=reduction), lambda *a: REDUCE[reduction](numpys(*a)), arrays)
    assert report, str(report)


@CASE
def test_a_wrong_gradient_is_noticed(ours, numpys, arrays, exact):
    """The test of the tester: off by a factor or a sign, gone, or along the wrong way."""
    for fault in FAULTS:
        report = check(exact, ours, lambda *a: np.mean(numpys(*a)), arrays, fault)
        assert not any(worst.ok for worst in report.inputs), str(report)


@CASE
def test_the_taylor_remainder_falls_with_the_square(ours, numpys, arrays, exact):
    report = taylor_check(lambda *a: np.mean(numpys(*a)), tape_gradient(exact, ours), arrays)
    assert report, str(report)


WRONG = {
    "CROSS_ENTROPY_BACKWARD": [
        "scale * (exp(x - m) / s - (place == target ? (V)(1) : (V)(0)))",
        "g * (exp(x - m) / s - (place == target ? (V)(1) : (V)(0)))",
        "g * scale * exp(x - m) / s",
        "g * scale * (exp(x - m) - (place == target ? (V)(1) : (V)(0)))",
    ],
    "SOFT_CROSS_ENTROPY_BACKWARD": [
        "g * (exp(x - m) / s * total - p)",
        "g * scale * exp(x - m) / s * total",
        "g * scale * (exp(x - m) / s - p)",
    ],
}


@pytest.mark.parametrize("name, output", [(name, output) for name, outputs in WRONG.items() for output in outputs])
def test_a_wrong_rule_is_noticed(name, output, exact, monkeypatch):
    """The upstream gradient or 1 / rows left out, the target forgotten."""
    right = getattr(losses, name)
    outputs = (output, *right.outputs[1:])
    monkeypatch.setattr(losses, name, RowFormula("wrong", right.inputs, (), outputs, (), right.indices))
    case = CASES["cross_entropy" if name.startswith("CROSS") else "cross_entropy weights"]
    assert not check(exact, case[0], lambda *a: np.mean(case[1](*a)), case[2]).inputs[0].ok


@EVERY
@pytest.mark.parametrize("shape", [(), (1,), (37,), (3, 1, 17), (0, 3)], ids=str)
def test_values_of_elementwise_losses(ours, numpys, first, second, shape, device):
    x, y = between((first, second), shape, np.float32)
    for reduction, reduce in REDUCE.items():
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = numpys(*[each.astype(np.float64) for each in (x, y)])
            expected = reduce(expected) if x.size or reduction != "mean" else np.nan
        assert close(ours(put(device, x), put(device, y), reduction=reduction).to_host(), expected, size=100)


@pytest.mark.parametrize("shape", [(1, 1), (3, 15), (3, 16), (3, 17), (2, 3, 4), (2, 1000), (0, 4)], ids=str)
def test_values_of_cross_entropy(shape, device):
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=shape).astype(np.float32), rng.integers(0, shape[-1], shape[:-1])
    onehot = (labels[..., None] == np.arange(shape[-1])).astype(np.float32)
    expected = indexed(x.astype(np.float64), labels)
    for reduction, reduce in REDUCE.items():
        value = reduce(expected) if x.size or reduction != "mean" else np.nan
        for target in (labels, onehot):
            assert close(ag.cross_entropy(put(device, x), target, reduction=reduction).to_host(), value, size=100)


def test_targets_of_every_kind(device):
    x = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    expected = indexed(x, LABELS).mean()
    kinds = [
        LABELS,
        LABELS.tolist(),
        LABELS.astype(np.float32),
        LABELS.astype(np.uint8),
        put(device, LABELS.astype(np.int32)),
        put(device, LABELS.astype(np.float32)),
        ag.tensor(put(device, LABELS.astype(np.int32))),
        np.eye(4)[LABELS],
        np.eye(4, dtype=int)[LABELS],
        put(device, np.eye(4, dtype=np.float32)[LABELS]),
        ag.tensor(put(device, np.eye(4, dtype=np.float32)[LABELS])),
    ]
    if device.has(np.dtype(np.float64)):
        kinds.append(put(device, LABELS.astype(np.float64)))
    for target in kinds:
        leaf = ag.tensor(put(device, x), requires_grad=True)
        with ag.Tape() as tape:
            loss = ag.cross_entropy(leaf, target)
        tape.backward(loss)
        assert close(loss.to_host(), expected)
        assert close(leaf.grad.to_host(), (np.exp(log_softmax(x)) - np.eye(4)[LABELS]) / 5)


def test_engine_2_agrees(exact):
    """Its losses have rules of their own, written with arrays."""
    x, t = between([(-3, 3), (0, 1)], (4, 5))
    p = 1 / (1 + np.exp(-x))
    for ours, theirs, prediction, target in [
        (ag.mse_loss, functional.mse_loss, x, t),
        (ag.binary_cross_entropy, functional.binary_cross_entropy, p, t),
        (ag.binary_cross_entropy_with_logits, functional.binary_cross_entropy_with_logits, x, t),
        (ag.cross_entropy, functional.cross_entropy, x, np.array([0, 4, 2, 2])),
    ]:
        leaf, host = ag.tensor(put(exact, prediction), requires_grad=True), HostTensor(prediction, requires_grad=True)
        with ag.Tape() as tape:
            loss = ours(leaf, target)
        tape.backward(loss)
        expected = theirs(host, target)
        expected.backward()
        assert close(loss.to_host(), expected.data, "float64", 100)
        assert close(leaf.grad.to_host(), host.grad.data, "float64", 100)


# -- faults of netcl ------------------------------------------------------------------------------


def gradient(device, loss, prediction, target, factor=1.0):
    leaf = ag.tensor(put(device, np.asarray(prediction, np.float32)), requires_grad=True)
    with ag.Tape() as tape:
        out = loss(leaf, target) * factor
    tape.backward(out)
    return out.to_host(), leaf.grad.to_host()


def test_netcl_mse_loss_ignores_the_upstream_gradient_and_is_a_sum(device):
    value, grad = gradient(device, ag.mse_loss, [1, 2, 4], [0, 4, 4], 10.0)
    assert close(value, 50 / 3) and close(grad, np.array([20, -40, 0]) / 3)


def test_netcl_l1_loss_raises_in_backward(device):
    value, grad = gradient(device, ag.l1_loss, [1, 2, 4], [0, 4, 4], 10.0)
    assert close(value, 10.0) and close(grad, np.array([10, -10, 0]) / 3)


def test_netcl_cross_entropy_clips_at_18(device):
    for factor in (100, 1e4):
        value, grad = gradient(device, ag.cross_entropy, [[factor, 0], [0, factor]], [1, 1])
        assert close(value, factor / 2) and close(grad, [[0.5, -0.5], [0, 0]])


def test_netcl_binary_cross_entropy_has_no_gradient_near_the_ends(device):
    """It clips p at 1e-6, where the slope is −10⁶ and not 0; and it gives a list, no mean."""
    value, grad = gradient(device, ag.binary_cross_entropy, [1e-7, 0.5], [1, 1])
    assert close(value, -np.log([1e-7, 0.5]).mean()) and close(grad[0] * 1e-7, -0.5) and close(grad[1], -1)


# -- extremes -------------------------------------------------------------------------------------


def test_extreme_logits(device):
    x = np.array([[1e4, -1e4], [-1e4, 1e4]])
    value, grad = gradient(device, ag.cross_entropy, x, [0, 0])
    assert close(value, 1e4) and close(grad, [[0, 0], [-0.5, 0.5]])
    value, grad = gradient(device, ag.binary_cross_entropy_with_logits, x, [[1, 0], [1, 0]])
    assert close(value, 5e3) and close(grad, [[0, 0], [-0.25, 0.25]])


def test_a_logarithm_of_0_counts_as_minus_100(device):
    """As in PyTorch and in engine 2."""
    value, grad = gradient(device, ag.binary_cross_entropy, [0, 1, 0, 1], [0, 1, 1, 0])
    assert close(value, 50) and np.all(np.isfinite(grad)) and np.all(grad[:2] == 0)


def test_the_slope_of_l1_loss_at_0_is_0_and_nan_stays(device):
    _, grad = gradient(device, ag.l1_loss, [1, np.nan, np.inf], [1, 0, 0])
    assert close(grad, [0, np.nan, 1 / 3])


def test_a_masked_class_costs_nothing_unless_it_is_the_target(device):
    x = np.array([[0, -np.inf, 0], [0, -np.inf, 0]], np.float32)
    for target in ([0, 1], np.eye(3)[[0, 1]]):
        loss = ag.cross_entropy(put(device, x), target, reduction="none").to_host()
        assert close(loss, [np.log(2), np.inf])


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_nan_stays_in_its_row(odd, device):
    x = np.zeros((3, 20), np.float32)
    x[1, 17] = odd
    loss = ag.cross_entropy(put(device, x), [0, 0, 0], reduction="none").to_host()
    assert np.isnan(loss[1]) and close(loss[[0, 2]], np.log([20.0, 20.0]))


def test_an_index_that_is_no_class_is_refused_on_the_host(device):
    x = put(device, np.zeros((2, 3), np.float32))
    for wrong in (3, -1, -100):
        with pytest.raises(ValueError, match=rf"{wrong} at \[1\] is no index here: indices go from 0 to 2"):
            ag.cross_entropy(x, [0, wrong])
    with pytest.raises(ValueError, match="no whole number"):
        ag.cross_entropy(x, [0, 0.5])


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_an_index_that_is_no_class_makes_its_row_nan_on_the_device(dtype, device):
    for wrong in (4, -1, 2**30, *([0.5, np.nan] if dtype == "float32" else [])):
        target = Tensor.from_host(device.queue, [1, wrong, 3], dtype)
        leaf = ag.tensor(put(device, np.zeros((3, 4), np.float32)), requires_grad=True)
        with ag.Tape() as tape:
            loss = ag.cross_entropy(leaf, target, reduction="none")
        tape.backward(loss, np.ones(3))
        for array in (loss.to_host(), leaf.grad.to_host()):
            assert np.all(np.isnan(array[1])) and np.all(np.isfinite(array[[0, 2]]))


# -- what it costs, and what is refused -----------------------------------------------------------


def test_launches(device):
    """Cross-entropy: the rows and their mean forward, one kernel backward."""
    x = ag.tensor(put(device, np.zeros((5, 4), np.float32)), requires_grad=True)
    target = put(device, LABELS.astype(np.int32))
    with ag.Tape() as tape, device.watch() as launches:
        loss = ag.cross_entropy(x, target)
    assert len(launches) == 2
    with device.watch() as launches:
        tape.backward(loss)
    assert len(launches) == 1
    with device.watch() as launches:
        ag.mse_loss(x, x)
    assert len(launches) == 2


def test_a_gradient_that_nobody_needs_is_not_computed(device):
    x, p = (put(device, array.astype(np.float32)) for array in (np.zeros((5, 4)), probabilities(5, 4)))
    for needs in [(True, False), (False, True)]:
        leaves = [ag.tensor(each, requires_grad=need) for each, need in zip((x, p), needs)]
        with ag.Tape() as tape:
            loss = ag.cross_entropy(*leaves)
        with device.watch() as launches:
            tape.backward(loss)
        assert len(launches) == 1 and len(launches[0].operands) == 1 + 7
        assert [leaf.grad is not None for leaf in leaves] == list(needs)
        x.grad = p.grad = None


def test_the_tape_names_the_operations(device):
    x = ag.tensor(put(device, np.zeros((5, 4), np.float32)), requires_grad=True)
    tape = ag.Tape()
    ag.cross_entropy(x, LABELS, tape=tape)
    ag.mse_loss(x, np.ones((5, 4)), tape=tape, reduction="sum")
    assert [node.op_name for node in tape.nodes] == ["cross_entropy", "squared_error", "sum"]
    assert tape.nodes[0].attrs == {"reduction": "mean"}
    assert ag.bce_with_logits is ag.binary_cross_entropy_with_logits


def test_what_is_refused(device):
    x = put(device, np.zeros((4, 3), np.float32))
    for ours, *_ in ELEMENTWISE.values():
        with pytest.raises(ValueError, match=r"prediction has shape \(4, 3\), the target \(4,\); they must be equal"):
            ours(x, np.zeros(4))
    for target, shape in [(np.zeros(3), r"\(3,\)"), (np.zeros((4, 1)), r"\(4, 1\)"), (0, r"\(\)")]:
        with pytest.raises(ValueError, match=rf"of shape \(4,\), or probabilities .* not a target of shape {shape}"):
            ag.cross_entropy(x, target)
    with pytest.raises(TypeError, match="cross_entropy takes a Node or a Tensor, not list"):
        ag.cross_entropy([[0.0, 1.0]], [1])
    with pytest.raises(TypeError, match="holds indices"):
        ag.cross_entropy(put(device, np.zeros((4, 3), np.int32)), [0, 1, 2, 0])
    for loss in (ag.mse_loss, ag.cross_entropy):
        with pytest.raises(ValueError, match='reduction is "mean", "sum" or "none", not \'avg\''):
            loss(x, x, reduction="avg")


def test_no_classes_have_no_loss(device):
    """As in PyTorch: a sum of nothing. ln Σ of nothing, times 0, was NaN."""
    logits = ag.tensor(Tensor.from_host(device.queue, np.zeros((2, 0))), requires_grad=True)
    loss = ag.cross_entropy(logits, np.zeros((2, 0)))
    ag.Tape().backward(loss)
    assert loss.to_host() == 0 and logits.grad.shape == (2, 0)
