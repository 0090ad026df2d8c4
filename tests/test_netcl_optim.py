"""Optimizers of engine 3 against engine 2's, whose formulas have tests of their own, and PyTorch's."""

import numpy as np
import pytest
from netcl_devices import close, devices

from tinygrad_cl import tensor as engine2
from tinygrad_cl.netcl import optim
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor

SHAPES = [(3, 7), (), (40,), (0, 2), (1, 1), (16,)]


class RMSProp(engine2.optim.Optimizer):
    """PyTorch's formula; engine 2 has none."""

    def __init__(self, parameters, lr, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0):
        super().__init__(parameters, lr, weight_decay)
        self.alpha, self.eps, self.momentum = alpha, eps, momentum

    def update(self, p, g, state):
        g = g + self.weight_decay * p
        s = state["s"] = self.alpha * state.get("s", 0) + (1 - self.alpha) * g * g
        d = state["b"] = self.momentum * state.get("b", 0) + g / (np.sqrt(s) + self.eps)
        return p - self.lr * d


CASES = [
    ("SGD", {}),
    ("SGD", {"weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9}),
    ("SGD", {"momentum": 0.8, "nesterov": True, "weight_decay": 0.2}),
    ("Momentum", {}),
    ("Momentum", {"nesterov": True, "momentum": 0.5}),
    ("Adam", {}),
    ("Adam", {"betas": (0.7, 0.9), "eps": 1e-2, "weight_decay": 0.1}),
    ("AdamW", {}),
    ("AdamW", {"weight_decay": 0.5, "betas": (0.5, 0.99)}),
    ("RMSProp", {}),
    ("RMSProp", {"alpha": 0.8, "eps": 1e-2, "weight_decay": 0.1}),
    ("RMSProp", {"momentum": 0.9}),
]
EVERY = pytest.mark.parametrize("name, settings", CASES, ids=str)
TWINS = {
    "SGD": engine2.SGD,
    "Adam": engine2.Adam,
    "AdamW": engine2.AdamW,
    "RMSProp": RMSProp,
    "Momentum": lambda params, lr, momentum=0.9, **more: engine2.SGD(params, lr, momentum, **more),
}


def starts(dtype="float32", shapes=SHAPES):
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def parameters(device, arrays):
    return [Parameter.from_host(device.queue, array, array.dtype) for array in arrays]


def gradients(step, shapes=SHAPES):
    """Random ones; the first three parameters take turns in having none."""
    rng = np.random.default_rng(step)
    drawn = [rng.normal(size=shape) for shape in shapes]
    return [None if number == step % 3 else g for number, g in enumerate(drawn)]


def give(params, arrays):
    """Set the gradients of engine 3's parameters."""
    for p, array in zip(params, arrays):
        p.grad = None if array is None else Tensor.from_host(p.queue, array, p.dtype)


def run_engine2(name, settings, dtype="float32", shapes=SHAPES):
    """The parameters after each of ten steps."""
    params = [engine2.Tensor(array, requires_grad=True) for array in starts(dtype, shapes)]
    optimizer = TWINS[name](params, 0.1, **settings)
    seen = []
    for step in range(10):
        for p, array in zip(params, gradients(step, shapes)):
            p.grad = None if array is None else engine2.Tensor(array.astype(dtype))
        optimizer.step()
        seen.append([p.data.copy() for p in params])
    return seen


def agree(optimizer, expected, dtype="float32"):
    """Whether the optimizer's parameters equal engine 2's after each step, of equal gradients."""
    good = True
    for step, arrays in enumerate(expected):
        give(optimizer.params, gradients(step, [p.shape for p in optimizer.params]))
        optimizer.step()
        good &= all(close(p.to_host(), array, dtype) for p, array in zip(optimizer.params, arrays))
    return good


@EVERY
def test_ten_steps_as_in_engine_2(name, settings, device):
    optimizer = getattr(optim, name)(parameters(device, starts()), 0.1, **settings)
    buffers = [p.buffer for p in optimizer.params]
    assert agree(optimizer, run_engine2(name, settings))
    assert [p.buffer for p in optimizer.params] == buffers


@pytest.mark.parametrize("name, settings", CASES[3::3], ids=str)
def test_ten_steps_in_float64(name, settings, exact):
    optimizer = getattr(optim, name)(parameters(exact, starts("float64")), 0.1, **settings)
    assert agree(optimizer, run_engine2(name, settings, "float64"), "float64")
    assert all(x.dtype == "float64" for state in optimizer.state for x in state.values())


@EVERY
def test_a_formula_that_is_two_percent_off_is_noticed(name, settings):
    device = next(each for each in devices().values() if not isinstance(each, str))
    kind, start = getattr(optim, name), starts(shapes=[(7,)])
    expected = run_engine2(name, settings, shapes=[(7,)])
    for wrong in range(len(kind(parameters(device, start), **settings)._update.expressions)):

        class Mutant(kind):
            def update(self, *args, **names):
                new = super().update(*args, **names)
                new[wrong] = f"(0.98 * ({new[wrong]}))"
                return new

        Mutant.__name__ = f"{name}_{wrong}"
        assert not agree(Mutant(parameters(device, start), 0.1, **settings), expected)


@EVERY
def test_ten_steps_as_in_pytorch(name, settings, torch_says):
    """In float32 and, where the device has it, in float64, of the same numbers: both have to be PyTorch's in float64."""
    shapes = [(3,), (), (2,)]
    device = next(each for each in devices().values() if not isinstance(each, str))

    def theirs(torch):
        twin, more = {"RMSProp": (torch.optim.RMSprop, {}), "Momentum": (torch.optim.SGD, {"momentum": 0.9})}.get(
            name, (getattr(torch.optim, name, None), {})
        )
        params = [torch.tensor(array.astype("float64"), requires_grad=True) for array in starts(shapes=shapes)]
        optimizer, seen = twin(params, lr=0.1, **more | settings), []
        for step in range(10):
            for p, g in zip(params, gradients(step, shapes)):
                p.grad = None if g is None else torch.tensor(g)
            optimizer.step()
            seen.append(torch.cat([p.detach().flatten() for p in params]))
        return torch.stack(seen)

    expected = [[row[:3], row[3], row[4:]] for row in torch_says(theirs, 1e-12)]
    for dtype in ["float32", "float64"] if device.has(np.dtype("float64")) else ["float32"]:
        arrays = [array.astype(dtype) for array in starts(shapes=shapes)]
        assert agree(getattr(optim, name)(parameters(device, arrays), 0.1, **settings), expected, dtype)


# -- launches, replays ----------------------------------------------------------------------------


@EVERY
def test_a_step_is_one_launch_for_all_parameters_and_one_for_counts(name, settings, device):
    optimizer = getattr(optim, name)(parameters(device, starts()), 0.1, **settings)
    give(optimizer.params, gradients(1))
    with device.watch() as launches:
        optimizer.step()
    assert len(launches) == (2 if optimizer.counts else 1)


@EVERY
def test_a_recorded_step_goes_on_when_replayed_and_follows_lr(name, settings, device):
    def replay(rates):
        give(params, [np.full(p.shape, 0.5) for p in params])
        optimizer.lr = rates[0]
        with device.watch() as launches:
            optimizer.step()
        for optimizer.lr in rates[1:]:
            for each in launches:
                device.launch(each.kernel, each.size, each.group, each.operands)
        return [p.to_host() for p in params]

    def eager(rates):
        give(params, [np.full(p.shape, 0.5) for p in params])
        for optimizer.lr in rates:
            optimizer.step()
        return [p.to_host() for p in params]

    results = []
    for way in (replay, eager):
        params = parameters(device, starts())
        optimizer = getattr(optim, name)(params, **settings)
        results.append(way([0.1, 0.1, 0.02, 0.3]))
    assert all(np.array_equal(a, b) for a, b in zip(*results))


def test_more_parameters_than_a_launch_has_room_for(device):
    shapes = [(n % 5 + 1,) for n in range(150)]
    optimizer = optim.Adam(parameters(device, starts(shapes=shapes)), 0.1)
    twins = [engine2.Tensor(array, requires_grad=True) for array in starts(shapes=shapes)]
    twin = engine2.Adam(twins, 0.1)
    for step in range(2):
        give(optimizer.params, gradients(step, shapes))
        for p, array in zip(twins, gradients(step, shapes)):
            p.grad = None if array is None else engine2.Tensor(array.astype(np.float32))
        with device.watch() as launches:
            optimizer.step()
        twin.step()
    assert len(launches) < 150 // 4
    assert all(close(p.to_host(), twin.data) for p, twin in zip(optimizer.params, twins))


def test_float32_and_float64_parameters_in_one_optimizer(exact):
    arrays = [*starts(), *starts("float64")]
    optimizer = optim.SGD(parameters(exact, arrays), 0.1, momentum=0.9)
    give(optimizer.params, [np.ones(array.shape) for array in arrays])
    optimizer.step()
    optimizer.lr = 0.2
    optimizer.step()
    for p, array in zip(optimizer.params, arrays):
        assert close(p.to_host(), array - 0.1 - 0.2 * 1.9, p.dtype)


def test_what_has_no_gradient_or_is_frozen_stays(device):
    p, frozen = parameters(device, [np.ones(3, np.float32)] * 2)
    optimizer = optim.Adam([p, frozen], 0.1)
    optimizer.step()
    assert np.all(p.to_host() == 1)
    give([p, frozen], [np.ones(3)] * 2)
    frozen.requires_grad = False
    optimizer.step()
    assert np.all(p.to_host() < 1) and np.all(frozen.to_host() == 1)
    optimizer.zero_grad()
    assert p.grad is None and frozen.grad is None


# -- state ----------------------------------------------------------------------------------------


@EVERY
def test_a_state_that_is_saved_and_loaded_goes_on(name, settings, device):
    expected = run_engine2(name, settings)
    first = getattr(optim, name)(parameters(device, starts()), 0.1, **settings)
    assert agree(first, expected[:4])
    saved = first.state_dict()
    assert all(isinstance(array, np.ndarray) for array in saved.values())
    second = getattr(optim, name)(
        [Parameter.from_host(device.queue, p.to_host()) for p in first.params], 0.7, **settings
    )
    second.load_state_dict(saved)
    assert second.lr == 0.1
    for step in range(4, 10):
        give(second.params, gradients(step))
        second.step()
    assert all(close(p.to_host(), array) for p, array in zip(second.params, expected[-1]))


def test_a_state_that_does_not_fit_changes_nothing(device):
    optimizer = optim.SGD(parameters(device, starts()), 0.1, momentum=0.9)
    saved = optimizer.state_dict()
    assert sorted(saved) == sorted(["lr", *[f"{n}.velocity" for n in range(len(SHAPES))]])
    with pytest.raises(KeyError, match="has 7.velocity, for which there is no place"):
        optimizer.load_state_dict(saved | {"7.velocity": 0})
    with pytest.raises(KeyError, match="has no lr"):
        optimizer.load_state_dict({name: array for name, array in saved.items() if name != "lr"})
    with pytest.raises(ValueError, match=r"2.velocity has shape \(40,\), in the state \(4,\)"):
        optimizer.load_state_dict(saved | {"lr": 9.0, "2.velocity": np.ones(4)})
    assert optimizer.lr == 0.1


# -- clipping -------------------------------------------------------------------------------------


@pytest.mark.parametrize("longest", [1.0, 5.0, 1000.0, 0.0])
def test_clipping_as_in_engine_2(longest, device, monkeypatch):
    arrays = gradients(3)  # the first parameter has none
    params = parameters(device, starts())
    give(params, arrays)
    twins = [engine2.Tensor(array, requires_grad=True) for array in starts()]
    for p, array in zip(twins, arrays):
        p.grad = None if array is None else engine2.Tensor(array.astype(np.float32))
    before = params[2].grad
    with monkeypatch.context() as patch:
        patch.setattr(Tensor, "to_host", lambda self: pytest.fail("read on the host"))
        norm = optim.clip_grad_norm_(params, longest)
    assert close(norm.to_host(), engine2.clip_grad_norm_(twins, longest))
    for p, twin in zip(params, twins):
        assert p.grad is None if twin.grad is None else close(p.grad.to_host(), twin.grad.data)
    assert close(before.to_host(), arrays[2])  # who holds the old one keeps it


def test_clipping_of_one_of_none_and_of_both_dtypes(exact):
    p, q = parameters(exact, [np.zeros(3, np.float32), np.zeros(2)])
    assert optim.clip_grad_norm_([p, q], 1.0) is None
    give([p], [[3.0, 0.0, 4.0]])
    assert close(optim.clip_grad_norm_(p, 1.0).to_host(), 5)
    give([p, q], [[0.0, 3.0, 0.0], [4.0, 0.0]])
    optim.clip_grad_norm_(iter([p, q]), 2.5)
    assert close(p.grad.to_host(), [0, 1.5, 0]) and close(q.grad.to_host(), [2, 0])
    assert (p.grad.dtype, q.grad.dtype) == ("float32", "float64")


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda p: optim.SGD([], 0.1), ValueError, "needs parameters"),
        (lambda p: optim.SGD([[1.0, 2.0]], 0.1), TypeError, "Parameters, not a list"),
        (lambda p: optim.SGD([Tensor.full(p.queue, (2,), 0)]), ValueError, "requires no gradient"),
        (lambda p: optim.SGD([p, p]), ValueError, "each parameter once"),
        (lambda p: optim.SGD([p], -0.1), ValueError, "lr is at least 0"),
        (lambda p: optim.SGD([p], float("nan")), ValueError, "lr is"),
        (lambda p: setattr(optim.SGD(p), "lr", -1), ValueError, "lr is"),
        (lambda p: setattr(optim.SGD(p), "momentum", 0.5), AttributeError, "momentum"),
        (lambda p: optim.SGD(p, nesterov=True), ValueError, "nesterov needs a momentum"),
        (lambda p: optim.SGD(p, momentum=-0.5), ValueError, "momentum is at least 0"),
        (lambda p: optim.Adam(p, betas=(0.9, 1.0)), ValueError, "beta is at least 0 and less than 1"),
        (lambda p: optim.AdamW(p, weight_decay=-1), ValueError, "weight_decay is at least"),
        (lambda p: optim.RMSProp(p, alpha=2), ValueError, "alpha is at least"),
        (lambda p: optim.clip_grad_norm_(p, -1), ValueError, "max_norm is at least"),
    ],
)
def test_errors(make, error, words, device):
    with pytest.raises(error, match=words):
        make(Parameter.full(device.queue, (2,), 1))


def test_a_gradient_of_another_shape_or_kind(device):
    p = Parameter.full(device.queue, (2, 3), 1)
    optimizer = optim.SGD(p)
    for wrong in (Tensor.full(device.queue, (3, 2), 1), np.ones((2, 3))):
        p.grad = wrong
        with pytest.raises(ValueError, match=r"gradient of Parameter\(shape=\(2, 3\)"):
            optimizer.step()


def test_an_optimizer_shows_itself(device):
    p = Parameter.full(device.queue, (2,), 1)
    assert repr(optim.RMSProp(p)) == (
        "RMSProp(1 parameters, lr=0.001, alpha=0.99, eps=1e-08, weight_decay=0.0, momentum=0.0)"
    )
