"""Layers of engine 3: values against NumPy, gradients against differences, state, errors."""

import math

import numpy as np
import pytest
from netcl_devices import close, put

from tinygrad_cl.gradcheck import gradcheck, taylor_check
from tinygrad_cl.netcl import autograd as ag
from tinygrad_cl.netcl import io, nn
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.nn import functional as F
from tinygrad_cl.netcl.ops.primitives import get_primitive

ACTIVATIONS = {
    name: kind for name, kind in vars(nn).items() if isinstance(kind, type) and nn.Activation in kind.__bases__
}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# -- gradients ------------------------------------------------------------------------------------


def case(name, make, *shapes, whole=True):
    """make(queue, **more) gives a layer for inputs of these shapes. whole: every number is moved,
    else all of them at once, in a random direction."""
    return pytest.param(make, shapes, whole, id=name)


LAYERS = [
    case("Linear", lambda q, **m: nn.Linear(q, 3, 5, **m), (4, 3)),
    case("Linear without bias", lambda q, **m: nn.Linear(q, 3, 2, bias=False, **m), (2, 4, 3)),
    case("Linear of a vector", lambda q, **m: nn.Linear(q, 3, 2, **m), (3,)),
    case("LayerNorm", lambda q, **m: nn.LayerNorm(5, queue=q, dtype=m["dtype"]), (2, 3, 5)),
    case("Softmax", lambda q, **m: nn.Softmax(axis=0), (3, 4)),
    case("Flatten", lambda q, **m: nn.Flatten(), (2, 3, 2)),
    case(
        "Sequential", lambda q, **m: nn.Sequential(nn.Linear(q, 3, 4, **m), nn.Tanh(), nn.Linear(q, 4, 2, **m)), (5, 3)
    ),
    *[
        case(name, lambda q, kind=kind, **m: nn.Sequential(nn.Linear(q, 3, 4, **m), kind()), (2, 3))
        for name, kind in ACTIVATIONS.items()
    ],
    case(
        "MultiheadAttention",
        lambda q, **m: nn.MultiheadAttention(4, 2, queue=q, **m),
        (2, 3, 4),
        (2, 2, 4),
        (2, 2, 4),
        whole=False,
    ),
    case("TransformerBlock", lambda q, **m: nn.TransformerBlock(4, 2, queue=q, **m), (2, 3, 4), whole=False),
    case(
        "attention",
        lambda q, **m: lambda *args: F.scaled_dot_product_attention(*args),
        (2, 1, 3, 2),
        (1, 2, 4, 2),
        (4, 5),
    ),
    case(
        "causal attention",
        lambda q, **m: lambda *args: F.scaled_dot_product_attention(*args, causal=True),
        (3, 2),
        (3, 2),
        (3, 4),
    ),
]


@pytest.mark.parametrize("make, shapes, whole", LAYERS)
def test_the_gradient_is_that_of_central_differences(make, shapes, whole, exact):
    rng = np.random.default_rng(3)
    layer = make(exact.queue, dtype="float64", seed=rng)
    params = layer.parameters() if isinstance(layer, nn.Module) else []
    for p in params:  # no zeros and ones, which forgive
        p.write(rng.normal(size=p.shape))

    def load(arrays):
        for p, array in zip(params, arrays):
            p.write(array)
        return [Tensor.from_host(exact.queue, x, "float64") for x in arrays[len(params) :]]

    def forward(*arrays):
        with ag.no_grad():
            return layer(*load(arrays)).to_host()

    def gradient(upstream, *arrays):
        leaves = [ag.tensor(x, requires_grad=True) for x in load(arrays)]
        with ag.Tape() as tape:
            out = layer(*leaves)
        for p in params:
            p.grad = None
        tape.backward(out, upstream)
        return [x.grad.to_host() for x in [*params, *leaves]]

    inputs = [*[p.to_host() for p in params], *[rng.normal(size=shape) for shape in shapes]]
    assert len(params) == len({id(p) for p in params})
    report = (gradcheck if whole else taylor_check)(forward, gradient, inputs)
    assert report, str(report)


def test_the_gradient_of_an_embedding_goes_to_the_rows_that_were_taken(device):
    layer = nn.Embedding(5, 3, queue=device.queue, seed=1)
    idx, upstream = np.array([[0, 3], [3, 3]]), np.random.default_rng(0).normal(size=(2, 2, 3))
    with ag.Tape() as tape:
        out = layer(idx)
    tape.backward(out, upstream)
    assert close(out.to_host(), layer.weight.to_host()[idx])
    expected = np.zeros((5, 3))
    np.add.at(expected, idx, upstream)
    assert close(layer.weight.grad.to_host(), expected)


# -- values ---------------------------------------------------------------------------------------


def test_linear_is_a_product_and_a_sum(device):
    rng = np.random.default_rng(0)
    layer = nn.Linear(device.queue, 3, 5)
    layer.bias.write(rng.normal(size=5))
    w, b = layer.weight.to_host(), layer.bias.to_host()
    for shape in [(3,), (4, 3), (2, 1, 3), (0, 3)]:
        x = rng.normal(size=shape).astype(np.float32)
        assert close(layer(put(device, x)).to_host(), x @ w + b, size=3)
        assert close(layer(x).to_host(), x @ w + b, size=3)  # an array goes to the layer's device
    bare = nn.Linear(device.queue, 3, 5, bias=False)
    assert bare.bias is None and len(bare.parameters()) == 1


def test_layer_norm_makes_rows_alike(device):
    x = np.random.default_rng(0).normal(3, 2, size=(4, 5)).astype(np.float32)
    layer = nn.LayerNorm(5, eps=0.5, queue=device.queue)
    centred = x - x.mean(-1, keepdims=True)
    assert close(layer(put(device, x)).to_host(), centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 0.5))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_those_of_the_table(name, device):
    record, x = get_primitive(ACTIVATIONS[name].primitive), np.linspace(-3, 3, 40, dtype=np.float32)
    assert close(ACTIVATIONS[name]()(put(device, x)).to_host(), record.reference(x, **record.attrs))


def test_activations_take_the_constants_of_the_table(device):
    x = np.array([-2.0, 3.0], np.float32)
    for layer in (nn.LeakyReLU(0.5), nn.LeakyReLU(negative_slope=0.5)):
        assert close(layer(put(device, x)).to_host(), [-1, 3])
        assert repr(layer) == "LeakyReLU(negative_slope=0.5)"
    assert close(nn.ELU(2.0)(put(device, x)).to_host(), [2 * math.expm1(-2), 3])
    assert nn.Swish is nn.SiLU and "σ" in nn.SiLU.__doc__
    assert "negative_slope=0.01 by default" in nn.LeakyReLU.__doc__


def test_a_sequence_of_layers_functions_and_sequences(device):
    x = np.random.default_rng(0).normal(size=(2, 3, 2)).astype(np.float32)
    layer = nn.Linear(device.queue, 6, 4)
    model = nn.Sequential(nn.Flatten(), nn.Sequential(layer, nn.ReLU()), ag.square, nn.Softmax())
    inner = np.maximum(x.reshape(2, 6) @ layer.weight.to_host(), 0) ** 2
    assert close(model(put(device, x)).to_host(), softmax(inner), size=6)
    assert len(model) == 4 and model[1][0] is layer
    assert repr(model[1]) == "Sequential(Linear(6, 4), ReLU())"


def test_a_linear_and_its_activation_are_one_launch(device):
    class Twice(nn.ReLU):
        def forward(self, x):
            return 2 * super().forward(x)

    x = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    layer, slope = nn.Linear(device.queue, 6, 3), nn.LeakyReLU(-1.0)  # −1: |z|
    z = x @ layer.weight.to_host()
    for layers, expected, launches in [
        ((layer, slope), np.abs(z), 1),
        ((layer, slope, slope), np.abs(z), 2),
        ((layer, Twice()), 2 * np.maximum(z, 0), 3),
        ((layer, ag.relu), np.maximum(z, 0), 2),
        ((slope, layer), np.abs(x) @ layer.weight.to_host(), 2),
        ((layer,), z, 1),
    ]:
        there = put(device, x)
        with device.watch() as launched:
            out = nn.Sequential(*layers)(there)
        assert len(launched) == launches and close(out.to_host(), expected, size=6)


def test_functional_is_autograds(device):
    own = {name for name in F.__all__ if getattr(F, name) is not getattr(ag, name, None)}
    assert own == {"dropout", "scaled_dot_product_attention", "silu"} and F.silu is ag.swish


# -- parameters and their state -------------------------------------------------------------------


class Shared(nn.Module):
    """Parameters in every kind of place, one of them in two."""

    def __init__(self, queue):
        self.scale = Parameter.full(queue, (), 2)
        self.blocks = [nn.Linear(queue, 2, 2), (nn.ReLU(), nn.Linear(queue, 2, 3))]
        self.heads = {"a": nn.Linear(queue, 2, 1, bias=False)}
        self.tied = self.blocks[0].weight
        self.blocks.append(self.blocks)  # a circle
        self.note, self.queue, self.constant = "no parameter", queue, Tensor.full(queue, (2,), 1)

    def forward(self, x):
        return ag.matmul(self.blocks[0](x) * self.scale, self.tied)


def test_parameters_are_found_wherever_they_are_and_once(device):
    model = Shared(device.queue)
    assert [name for name, _ in model.named_parameters()] == [
        "scale",
        "blocks.0.weight",
        "blocks.0.bias",
        "blocks.1.1.weight",
        "blocks.1.1.bias",
        "heads.a.weight",
    ]
    assert [p.shape for p in model.parameters()] == [(), (2, 2), (2,), (2, 3), (3,), (2, 1)]
    assert len(model.modules()) == 5 and model.modules()[0] is model


def test_a_parameter_in_two_places_gets_both_gradients(device):
    model = Shared(device.queue)
    x, w = np.array([[1.0, 2.0]], np.float32), model.tied.to_host()
    with ag.Tape() as tape:
        loss = ag.sum(model(put(device, x)))
    tape.backward(loss)
    ones = np.ones((1, 2))
    assert close(model.tied.grad.to_host(), 2 * (x.T @ (ones @ w.T)) + (2 * x @ w).T @ ones)
    model.zero_grad()
    assert model.tied.grad is None


def test_a_state_goes_round(device, tmp_path):
    models = [nn.TransformerBlock(4, 2, queue=device.queue, seed=seed) for seed in (1, 2)]
    first, second = [model.state_dict() for model in models]
    assert list(first) == [name for name, _ in models[0].named_parameters()]
    assert not np.array_equal(first["mlp.layers.0.weight"], second["mlp.layers.0.weight"])
    buffers = [p.buffer for p in models[1].parameters()]
    models[1].load_state_dict(first)
    assert buffers == [p.buffer for p in models[1].parameters()]
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    assert np.array_equal(*[model(put(device, x)).to_host() for model in models])
    io.save(tmp_path / "model.npz", models[1])
    models[0].load_state_dict(second)
    io.load(tmp_path / "model.npz", into=models[0])
    assert np.array_equal(*[model(put(device, x)).to_host() for model in models])


def test_a_state_that_does_not_fit_changes_nothing(device):
    layer = nn.Linear(device.queue, 2, 3)
    before = layer.state_dict()
    with pytest.raises(KeyError, match="the state has no bias"):
        layer.load_state_dict({"weight": np.zeros((2, 3))})
    with pytest.raises(KeyError, match="has extra, for which there is no place"):
        layer.load_state_dict(before | {"extra": 0})
    with pytest.raises(ValueError, match=r"bias has shape \(3,\), in the state \(2,\)"):
        layer.load_state_dict({"weight": np.zeros((2, 3)), "bias": np.zeros(2)})
    assert np.array_equal(layer.weight.to_host(), before["weight"])


def test_the_same_seed_makes_the_same_layers(device):
    def make(**more):
        return [
            nn.Linear(device.queue, 3, 4, **more),
            nn.Embedding(3, 2, device.queue, **more),
            nn.MultiheadAttention(4, 2, queue=device.queue, **more),
        ]

    def weights(layers):
        return [p.to_host() for layer in layers for p in layer.parameters() if p.ndim == 2]

    def same(a, b):
        return [np.array_equal(x, y) for x, y in zip(weights(a), weights(b))]

    nn.manual_seed(5)
    first = make()
    assert not any(same(first, make()))
    nn.manual_seed(5)
    assert all(same(first, make()))
    assert all(same(make(seed=7), make(seed=7))) and not any(same(make(seed=7), make(seed=8)))
    q, k, *_ = weights([first[2]])
    assert not np.array_equal(q, k)


def test_what_parameters_are_at_first(device):
    layer = nn.Linear(device.queue, 300, 100)
    w, bound = layer.weight.to_host(), math.sqrt(6 / 400)
    assert bound * 0.99 < w.max() <= bound and close(w.std(), bound / math.sqrt(3), size=1e6)
    assert not layer.bias.to_host().any()
    for a in (0.0, 2.0):
        w = nn.init.kaiming_uniform(layer.weight, a=a).to_host()
        assert w.std() == pytest.approx(math.sqrt(2 / (1 + a * a) / 300), rel=0.02)
    w = nn.init.normal(layer.weight, 1.0, 0.5, seed=0).to_host()
    assert w.mean() == pytest.approx(1, abs=0.02) and w.std() == pytest.approx(0.5, abs=0.02)
    assert np.all(nn.init.constant(layer.bias, 3.0).to_host() == 3)
    norm = nn.LayerNorm((4,), queue=device.queue)
    assert norm.gamma.to_host().tolist() == [1] * 4 and norm.beta.to_host().tolist() == [0] * 4


def test_layers_of_nobodys_queue_lie_on_the_default_device():
    layers = [nn.Linear(None, 2, 3), nn.LayerNorm(2), nn.Embedding(2, 2), nn.MultiheadAttention(2, 1)]
    default = nn.Linear(None, 2, 3).weight.queue
    assert all(p.queue == default for layer in layers for p in layer.parameters())


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda q: nn.Linear(784, 128), TypeError, r"Linear\(queue, in_features, out_features\): the queue is 784"),
        (lambda q: nn.Linear(q, 784), ValueError, "out_features is a whole number from 1 on, not None"),
        (lambda q: nn.Linear(q, 3, 2.5), ValueError, "out_features is a whole number from 1 on, not 2"),
        (
            lambda q: nn.Linear(q, 3, 2)(np.zeros((4, 2))),
            ValueError,
            r"Linear\(3, 2\) takes a tensor of shape \(…, 3\), not \(4, 2\)",
        ),
        (lambda q: nn.Linear(q, 3, 2)(np.zeros(())), ValueError, r"\(…, 3\), not \(\)"),
        (
            lambda q: nn.LayerNorm(4, queue=q)(Tensor.full(q, (2, 3), 1)),
            ValueError,
            r"LayerNorm\(4\) takes a tensor of shape \(…, 4\), not \(2, 3\)",
        ),
        (lambda q: nn.LayerNorm((2, 3), queue=q), ValueError, r"one length, not \(2, 3\)"),
        (lambda q: nn.LayerNorm(0, queue=q), ValueError, "whole number from 1 on, not 0"),
        (lambda q: nn.Embedding(3, 0, q), ValueError, "embedding_dim is a whole number"),
        (lambda q: nn.Embedding(3, 2, q)([3]), ValueError, "3"),
        (lambda q: nn.Sequential([nn.ReLU()]), TypeError, r"layers, not a list; write Sequential\(\*layers\)"),
        (lambda q: nn.Sequential(nn.ReLU), TypeError, r"class of layers: write ReLU\(\)"),
        (lambda q: nn.ReLU(Tensor.full(q, (2,), 1)), TypeError, r"write ReLU\(\)\(x\)"),
        (lambda q: nn.LeakyReLU(slope=1), TypeError, "takes no slope"),
        (lambda q: nn.Module()(1), NotImplementedError, "Module has no forward"),
        (lambda q: nn.init.xavier_uniform(Tensor.full(q, (3,), 0)), ValueError, r"shape \(in, out\), not \(3,\)"),
    ],
)
def test_errors(make, error, words, device):
    with pytest.raises(error, match=words):
        make(device.queue)
