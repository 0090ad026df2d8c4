"""Engine 2 speaks PyTorch's words: the same programs give the same numbers in both."""

from functools import partial

import numpy as np
import pytest
from tensor_ops import CLASSES, MASK, OPS, ROWS, T

from tinygrad_cl import tensor as ours

# Each operation of the table in PyTorch's words: functions of the module torch and of tensors.
TWINS = {
    "add": lambda torch, x, y: x + y,
    "sub": lambda torch, x, y: x - y,
    "mul": lambda torch, x, y: x * y,
    "div": lambda torch, x, y: x / y,
    "pow": lambda torch, x, y: x**y,
    "square": lambda torch, x: x**2,
    "cube": lambda torch, x: x**3,
    "power of 0": lambda torch, x: x**0,
    "fractional power": lambda torch, x: x**0.3,
    "inverse": lambda torch, x: x**-1,
    "number ** x": lambda torch, x: 0.3**x,
    "number − x": lambda torch, x: 2 - x,
    "number / x": lambda torch, x: 2 / x,
    "neg": lambda torch, x: -x,
    "exp": lambda torch, x: torch.exp(x),
    "log": lambda torch, x: torch.log(x),
    "sqrt": lambda torch, x: torch.sqrt(x),
    "sin": lambda torch, x: torch.sin(x),
    "cos": lambda torch, x: torch.cos(x),
    "abs": lambda torch, x: torch.abs(x),
    "where": lambda torch, x, y: torch.where(torch.tensor(MASK), x, y),
    "maximum": lambda torch, x, y: torch.maximum(x, y),
    "minimum": lambda torch, x, y: torch.minimum(x, y),
    "clone": lambda torch, x: torch.clone(x),
    "cast": lambda torch, x: x.double(),
    "relu": lambda torch, x: torch.relu(x),
    "sigmoid": lambda torch, x: torch.sigmoid(x),
    "tanh": lambda torch, x: torch.tanh(x),
    "gelu": lambda torch, x: torch.nn.functional.gelu(x, approximate="tanh"),
    "softmax": lambda torch, x: x.softmax(-1),
    "softmax, axis 0": lambda torch, x: x.softmax(0),
    "log softmax": lambda torch, x: x.log_softmax(-1),
    "sum": lambda torch, x: torch.sum(x),
    "sum, last axis": lambda torch, x: x.sum(-1),
    "sum, axis 0 kept": lambda torch, x: x.sum(0, keepdim=True),
    "sum, two axes": lambda torch, x: x.sum((0, -1)),
    "mean": lambda torch, x: torch.mean(x),
    "mean, axis 0": lambda torch, x: x.mean(0),
    "mean, two axes kept": lambda torch, x: x.mean((1, 0), keepdim=True),
    "var": lambda torch, x: x.var(0, unbiased=False),
    "norm": lambda torch, x: torch.norm(x),
    "max": lambda torch, x: torch.max(x),
    "max, last axis": lambda torch, x: x.amax(-1),
    "max, two axes kept": lambda torch, x: x.amax((0, 1), keepdim=True),
    "min, axis 0": lambda torch, x: x.amin(0),
    "cumsum": lambda torch, x: x.cumsum(-1),
    "reshape": lambda torch, x: x.reshape(-1, 2),
    "flatten": lambda torch, x: x.reshape(-1),
    "squeeze": lambda torch, x: x.squeeze(1),
    "unsqueeze": lambda torch, x: x.unsqueeze(-1),
    "permute": lambda torch, x: x.permute(1, 2, 0),
    "permute from the end": lambda torch, x: x.permute(-1, 0, 1),
    "transpose": lambda torch, x: x.transpose(0, 1),
    "mT": lambda torch, x: x.mT,
    "expand": lambda torch, x: x.expand(4, 2, 3),
    "flip": lambda torch, x: x.flip(-1),
    "cat": lambda torch, *x: torch.cat(x, 0),
    "cat, last axis": lambda torch, *x: torch.cat(x, -1),
    "stack": lambda torch, *x: torch.stack(x, 1),
    "x[1]": lambda torch, x: x[1],
    "x[rows], repeated": lambda torch, x: x[torch.tensor(ROWS)],
    "x[mask]": lambda torch, x: x[torch.tensor(MASK)],
    "x[None, 1:]": lambda torch, x: x[None, 1:],
    "x[rows, columns]": lambda torch, x: x[[0, 1, 0], [2, 0, 2]],
    "embedding": lambda torch, x: torch.nn.functional.embedding(torch.tensor(ROWS), x),
    "matmul": lambda torch, x, y: x @ y,
    "mse": lambda torch, x, y: torch.nn.functional.mse_loss(x, y),
    "bce": lambda torch, x: torch.nn.functional.binary_cross_entropy(x, torch.tensor(T, dtype=x.dtype)),
    "bce with logits": lambda torch, x: torch.nn.functional.binary_cross_entropy_with_logits(
        x, torch.tensor(T, dtype=x.dtype)
    ),
    "cross entropy": lambda torch, x: torch.nn.functional.cross_entropy(x, torch.tensor(CLASSES)),
}
BY_NAME = {op.name: op for op in OPS}


def test_every_twin_is_an_operation_of_the_table():
    assert TWINS.keys() <= BY_NAME.keys() and len(BY_NAME) - len(TWINS) < 10


@pytest.mark.parametrize("name, shapes", [(name, shapes) for name in TWINS for shapes in BY_NAME[name].shapes], ids=str)
def test_values_gradients_and_second_derivatives_are_pytorchs(torch_says, name, shapes):
    """In float64 and in float32, of the same numbers, which float32 can hold: both have to be PyTorch's in float64."""
    rng = np.random.default_rng(0)
    inputs = BY_NAME[name].inputs(shapes, np.float32, rng)
    upstream = rng.normal(size=BY_NAME[name].reference(*inputs).shape).astype(np.float32)
    directions = [rng.normal(size=x.shape).astype(np.float32) for x in inputs]

    def derivatives(f, grad, tensor, dtype):
        """Value, gradients, and the gradients of their sum weighted by `directions`."""
        x = [tensor(a.astype(dtype), requires_grad=True) for a in inputs]
        out = f(*x)
        first = grad(out, x, [tensor(upstream.astype(np.float64 if name == "cast" else dtype))], create_graph=True)
        total = sum((g * tensor(v.astype(dtype))).sum() for g, v in zip(first, directions))
        second = grad(total, x, allow_unused=True) if total.requires_grad else [None] * len(x)
        return out, first, [tensor(np.zeros(a.shape)) if g is None else g for g, a in zip(second, inputs)]

    def theirs(torch, dtype=np.float64):
        return derivatives(partial(TWINS[name], torch), torch.autograd.grad, torch.tensor, dtype)

    out, first, second = torch_says(theirs, 1e-9)
    bits = torch_says(lambda torch: torch.finfo(theirs(torch, np.float32)[0].dtype).bits)  # of a value, of float32
    for dtype, tolerance, size in ((np.float64, 1e-9, 64), (np.float32, 1e-5, bits)):
        ours_out, ours_first, ours_second = derivatives(BY_NAME[name].f, ours.grad, ours.Tensor, dtype)
        assert 8 * ours_out.dtype.itemsize == size
        close(ours_out, out, tolerance)
        for got, expected in zip((*ours_first, *ours_second), (*first, *second), strict=True):
            close(got, expected, tolerance)


def close(got, expected, tolerance):
    assert got.shape == expected.shape
    np.testing.assert_allclose(got.data, expected, rtol=tolerance, atol=tolerance)


# The same program for both: `t` is the module, and what differs in spelling is given.
def leaf(t, *numbers):
    return ours.Tensor(list(numbers), requires_grad=True) if t is ours else t.tensor(numbers, requires_grad=True)


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
    clip = ours.clip_grad_norm_ if t is ours else t.nn.utils.clip_grad_norm_
    return x.grad * float(clip([x], 1.0)) + x.grad


def extremes(t):
    x = leaf(t, -1000.0, 0.0, 1000.0)
    (x.sigmoid() + x.tanh() + x.softmax(-1) * x.log_softmax(-1) / 1000).sum().backward()
    return x.grad


def trained(name, **options):
    def program(t):
        x = leaf(t, 1.0, -2.0, 0.5)
        opt = getattr(ours if t is ours else t.optim, name)([x], **options)
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
def test_the_same_program(torch_says, program):
    close(program(ours), torch_says(program, 2e-4), 2e-4)


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
    (ours if t is ours else t.autograd).grad(leaf(t, 1.0).sum(), leaf(t, 2.0))


@pytest.mark.parametrize(
    "program", [saved_changed, leaf_changed, twice, not_a_scalar, to_numpy, does_not_depend], ids=lambda p: p.__name__
)
def test_the_same_program_is_an_error_in_both(torch_says, program):
    for run in (lambda: program(ours), lambda: torch_says(program)):
        with pytest.raises(RuntimeError):
            run()
