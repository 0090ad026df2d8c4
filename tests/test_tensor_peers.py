"""Engine 2 speaks PyTorch's words: where PyTorch is installed, the same programs give the same numbers in both."""

import numpy as np
import pytest
from tensor_ops import CLASSES, MASK, OPS, ROWS, T

from tinygrad_cl import tensor as ours

torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is a peer to compare with, not a requirement")
F = torch.nn.functional

# Each operation of the table in PyTorch's words; what is missing has no such single word there.
TWINS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "square": lambda x: x**2,
    "cube": lambda x: x**3,
    "power of 0": lambda x: x**0,
    "fractional power": lambda x: x**0.3,
    "inverse": lambda x: x**-1,
    "number ** x": lambda x: 0.3**x,
    "number − x": lambda x: 2 - x,
    "number / x": lambda x: 2 / x,
    "neg": lambda x: -x,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "sin": torch.sin,
    "cos": torch.cos,
    "abs": torch.abs,
    "where": lambda x, y: torch.where(torch.tensor(MASK), x, y),
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "clone": torch.clone,
    "cast": lambda x: x.double(),
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "gelu": lambda x: F.gelu(x, approximate="tanh"),
    "softmax": lambda x: x.softmax(-1),
    "softmax, axis 0": lambda x: x.softmax(0),
    "log softmax": lambda x: x.log_softmax(-1),
    "sum": torch.sum,
    "sum, last axis": lambda x: x.sum(-1),
    "sum, axis 0 kept": lambda x: x.sum(0, keepdim=True),
    "sum, two axes": lambda x: x.sum((0, -1)),
    "mean": torch.mean,
    "mean, axis 0": lambda x: x.mean(0),
    "mean, two axes kept": lambda x: x.mean((1, 0), keepdim=True),
    "var": lambda x: x.var(0, unbiased=False),
    "norm": torch.norm,
    "max": torch.max,
    "max, last axis": lambda x: x.amax(-1),
    "max, two axes kept": lambda x: x.amax((0, 1), keepdim=True),
    "min, axis 0": lambda x: x.amin(0),
    "cumsum": lambda x: x.cumsum(-1),
    "reshape": lambda x: x.reshape(-1, 2),
    "flatten": lambda x: x.reshape(-1),
    "squeeze": lambda x: x.squeeze(1),
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "permute": lambda x: x.permute(1, 2, 0),
    "permute from the end": lambda x: x.permute(-1, 0, 1),
    "transpose": lambda x: x.transpose(0, 1),
    "mT": lambda x: x.mT,
    "expand": lambda x: x.expand(4, 2, 3),
    "flip": lambda x: x.flip(-1),
    "cat": lambda *x: torch.cat(x, 0),
    "cat, last axis": lambda *x: torch.cat(x, -1),
    "stack": lambda *x: torch.stack(x, 1),
    "x[1]": lambda x: x[1],
    "x[rows], repeated": lambda x: x[torch.tensor(ROWS)],
    "x[mask]": lambda x: x[torch.tensor(MASK)],
    "x[None, 1:]": lambda x: x[None, 1:],
    "x[rows, columns]": lambda x: x[[0, 1, 0], [2, 0, 2]],
    "embedding": lambda x: F.embedding(torch.tensor(ROWS), x),
    "matmul": lambda x, y: x @ y,
    "mse": F.mse_loss,
    "bce": lambda x: F.binary_cross_entropy(x, torch.tensor(T, dtype=x.dtype)),
    "bce with logits": lambda x: F.binary_cross_entropy_with_logits(x, torch.tensor(T, dtype=x.dtype)),
    "cross entropy": lambda x: F.cross_entropy(x, torch.tensor(CLASSES)),
}
BY_NAME = {op.name: op for op in OPS}


def test_every_twin_is_an_operation_of_the_table():
    assert TWINS.keys() <= BY_NAME.keys() and len(BY_NAME) - len(TWINS) < 10


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name, shapes", [(name, shapes) for name in TWINS for shapes in BY_NAME[name].shapes])
def test_values_gradients_and_second_derivatives_are_pytorchs(name, shapes, dtype):
    rng = np.random.default_rng(0)
    inputs = BY_NAME[name].inputs(shapes, dtype, rng)
    if name in ("max", "mean", "norm", "bce") and not all(x.size for x in inputs):
        return
    x = [ours.Tensor(a, requires_grad=True) for a in inputs]
    y = [torch.tensor(a, requires_grad=True) for a in inputs]
    out, twin = BY_NAME[name].f(*x), TWINS[name](*y)
    upstream = rng.normal(size=out.shape).astype(out.dtype)
    close(out, twin, dtype)
    assert str(out.dtype) == str(twin.dtype).removeprefix("torch.")
    first = ours.grad(out, x, [ours.Tensor(upstream)], create_graph=True)
    first_twin = torch.autograd.grad(twin, y, torch.tensor(upstream), create_graph=True)
    second = [rng.normal(size=g.shape).astype(dtype) for g in first]
    total = sum((g * v).sum() for g, v in zip(first, second))
    total_twin = sum((g * torch.tensor(v)).sum() for g, v in zip(first_twin, second))
    for g, h in zip(first, first_twin):
        close(g, h, dtype)
    if not total_twin.requires_grad or not total.requires_grad:
        return
    for g, h in zip(ours.grad(total, x, allow_unused=True), torch.autograd.grad(total_twin, y, allow_unused=True)):
        zeros = np.zeros(())
        close(zeros if g is None else g, torch.tensor(0.0) if h is None else h, dtype)


def close(got, expected, dtype):
    expected = expected.detach().numpy()
    got = got.data if isinstance(got, ours.Tensor) else np.broadcast_to(got, expected.shape)
    expected = np.broadcast_to(expected, got.shape) if not expected.shape else expected
    assert got.shape == expected.shape
    tolerance = 2e-4 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


# The same program for both: `t` is the module, and what differs in spelling is given.
def leaf(t, *numbers):
    return t.tensor(numbers, requires_grad=True) if t is torch else ours.Tensor(list(numbers), requires_grad=True)


def max_ties(t):
    x = leaf(t, 3.0, 1.0, 3.0)
    x.max().backward()
    return x.grad


def kinks(t):
    x = leaf(t, -1.0, 0.0, 2.0)
    (x.relu() + abs(x) * 10).sum().backward()
    return x.grad


def accumulate_retain_hooks(t):
    x = leaf(t, 1.0, 2.0)
    y = x * x
    y.retain_grad()
    y.register_hook(lambda g: g * 3)
    z = (y + y * 2).sum()
    z.backward(retain_graph=True)
    z.backward()
    return x.grad + y.grad


def in_place(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y += x
    y *= 3
    y[0] = 7.0
    (y * y).sum().backward()
    return x.grad


def zero_base(t):
    x, n = leaf(t, 0.0, 0.0, 2.0), leaf(t, 2.0, 0.0, 3.0)
    (x**n).sum().backward()
    return x.grad + 10 * n.grad


def clipped(t):
    x = leaf(t, 3.0, 4.0)
    (x * x).sum().backward()
    clip = torch.nn.utils.clip_grad_norm_ if t is torch else ours.clip_grad_norm_
    return x.grad * float(clip([x], 1.0)) + x.grad


def extremes(t):
    x = leaf(t, -1000.0, 0.0, 1000.0)
    (x.sigmoid() + x.tanh() + x.softmax(-1) * x.log_softmax(-1) / 1000).sum().backward()
    return x.grad


def trained(name, **options):
    def program(t):
        x = leaf(t, 1.0, -2.0, 0.5)
        opt = getattr(torch.optim if t is torch else ours, name)([x], **options)
        for _ in range(20):
            opt.zero_grad()
            ((x - 1) ** 4).sum().backward()
            opt.step()
        return x

    program.__name__ = f"{name} {options}"
    return program


@pytest.mark.parametrize(
    "program",
    [
        max_ties,
        kinks,
        accumulate_retain_hooks,
        in_place,
        zero_base,
        clipped,
        extremes,
        trained("SGD", lr=0.01),
        trained("SGD", lr=0.01, momentum=0.9),
        trained("SGD", lr=0.01, momentum=0.9, nesterov=True),
        trained("SGD", lr=0.01, momentum=0.9, weight_decay=0.1),
        trained("Adam", lr=0.1),
        trained("Adam", lr=0.1, betas=(0.8, 0.9), weight_decay=0.1),
        trained("AdamW", lr=0.1),
        trained("AdamW", lr=0.1, weight_decay=0.3),
    ],
    ids=lambda p: p.__name__,
)
def test_the_same_program(program):
    close(program(ours), program(torch), np.float32)


def saved_changed(t):
    y = leaf(t, 1.0, 2.0) * 2
    z = y * y
    y += 1
    z.sum().backward()


def leaf_changed(t):
    x = leaf(t, 1.0, 2.0)
    x += 1


def twice(t):
    y = leaf(t, 1.0, 2.0).exp().sum()
    y.backward()
    y.backward()


def not_a_scalar(t):
    (leaf(t, 1.0, 2.0) * 2).backward()


def to_numpy(t):
    leaf(t, 1.0).numpy()


def does_not_depend(t):
    (torch.autograd if t is torch else ours).grad(leaf(t, 1.0).sum(), leaf(t, 2.0))


@pytest.mark.parametrize(
    "program", [saved_changed, leaf_changed, twice, not_a_scalar, to_numpy, does_not_depend], ids=lambda p: p.__name__
)
def test_the_same_program_is_an_error_in_both(program):
    for t in (torch, ours):
        with pytest.raises(RuntimeError):
            program(t)
