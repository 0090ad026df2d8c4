"""A small program for each engine that uses what the package builds on the lessons' functions, and the numbers it gives.

A function may pass its check and still not be what the package needs of it: `Function.apply` has to ask `ctx.wrap_result`,
for example. So after each change the program has to give the same numbers as before.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Numbers = list[float]


def scalar() -> Numbers:
    """Engine 1: each operator on both sides, a shared node, gradients that add up."""
    from tinygrad_cl.scalar import Value

    a, b = Value(0.5), Value(-2.0)
    c = (a * b + 1) * (1 - a) - a / (b - 3) + 2 * a**3 + 1 / (a + 2) + 2.0**a
    d = c.tanh() + (a * 3).exp() + (a + 1).log() + b.sigmoid() * c.relu() - (-b).relu() + (3 + c) * c
    for _ in range(2):
        d.backward()
    found = [d.data, a.grad, b.grad, c.grad]
    d.zero_grad()
    return [*found, a.grad, c.grad]


def tensor_ground() -> Numbers:
    """Engine 2 as lesson 05 uses it, the ground floor alone."""
    from tinygrad_cl.tensor.core.activations import GELU, ReLU, Sigmoid, Softmax, Tanh
    from tinygrad_cl.tensor.core.indexing import GetItem
    from tinygrad_cl.tensor.core.losses import BCEWithLogitsLoss, CrossEntropyLoss, MSELoss
    from tinygrad_cl.tensor.core.reductions import Max
    from tinygrad_cl.tensor.core.shapes import Permute
    from tinygrad_cl.tensor.core.tensor import Tensor

    numbers = np.random.default_rng(0)
    leaves: list[Any] = [Tensor(numbers.normal(size=shape), requires_grad=True) for shape in ((6, 4), (4, 3), (3,))]
    x, w, b = leaves
    found: Numbers = []
    for operation in (ReLU, Sigmoid, Tanh, GELU):
        h = operation.apply(x @ w + b)
        loss = CrossEntropyLoss.apply(h, np.array([0, 1, 2, 0, 1, 2])) + MSELoss.apply(Softmax.apply(h, axis=-1), h)
        loss = loss - BCEWithLogitsLoss.apply(GetItem.apply(h, key=(slice(None), 0)), np.ones(6))
        loss = loss / (h**2 + 1.0).sum() + Max.apply(Permute.apply(h, axes=(1, 0)), axis=1, keepdims=False).sum()
        loss.backward()
        found += [loss.item(), *(float(leaf.grad.data.sum()) for leaf in leaves)]
    w.zero_grad()
    return [*found, float(w.grad is None or not w.grad.data.any())]


def tensor_training() -> Numbers:
    """Engine 2 with its upper floor: optimizers, hooks, a checkpoint, recording switched off, MXNet's names."""
    from tinygrad_cl.tensor import (
        SGD,
        Adam,
        Tensor,
        checkpoint,
        clip_grad_norm_,
        cross_entropy,
        mse_loss,
        no_grad,
        saved_bytes,
    )
    from tinygrad_cl.tensor import binary_cross_entropy_with_logits as bce
    from tinygrad_cl.tensor.mxnet import array, record

    numbers = np.random.default_rng(0)
    x = Tensor(numbers.normal(size=(6, 4)))
    w, v = (Tensor(numbers.normal(size=shape), requires_grad=True) for shape in ((4, 5), (5, 3)))
    found: Numbers = []

    def seen(gradient: Tensor) -> None:
        found.append(float(gradient.sum()))

    for optimizer in (SGD([w, v], lr=0.1, momentum=0.5), Adam([w, v], lr=0.1)):
        for activation in ("relu", "tanh", "sigmoid", "gelu"):
            optimizer.zero_grad()
            h = getattr(x @ w, activation)()
            h.retain_grad()
            h.register_hook(seen)
            logits = checkpoint(lambda h: h @ v, h)
            loss = cross_entropy(logits, np.array([0, 1, 2, 0, 1, 2]))
            loss = loss + mse_loss(h.softmax(), h.detach()) + bce(h[:, 0], np.ones(6)) + h.max(axis=1).mean()
            found.append(float(saved_bytes(loss) > 0))
            loss.backward()
            found += [loss.item(), float(h.grad.sum()), float(clip_grad_norm_([w, v], 1.0))]
            optimizer.step()
    found += [float(w.data.sum()), float(v.data.sum())]
    y: Any = Tensor([0.5, 2.0], requires_grad=True)
    (y**3 / (y - 4.0) + y.reshape(2, 1).permute(1, 0).sum() * y.transpose(0, 0)).sum().backward()
    with no_grad():
        found.append(float((y * 2).requires_grad))
    z: Any = array([1.0, 2.0])
    z.attach_grad()
    with record():
        out = z * z
    out.backward()
    return [*found, *y.grad.data, *z.grad.data]


def tensor_second() -> Numbers:
    """Engine 2: gradients of gradients, which a rule in plain arrays does not give."""
    from tinygrad_cl.tensor import Tensor, cross_entropy, grad, mse_loss
    from tinygrad_cl.tensor import binary_cross_entropy_with_logits as bce

    numbers = np.random.default_rng(0)
    x, w, b = (Tensor(numbers.normal(size=shape), requires_grad=True) for shape in ((6, 4), (4, 3), (3,)))
    found: Numbers = []
    for activation in ("relu", "tanh", "sigmoid", "gelu"):
        h = getattr(x @ w + b, activation)()
        loss = cross_entropy(h, np.array([0, 1, 2, 0, 1, 2])) - bce(h[:, 0], np.ones(6))
        loss = loss / (h**2 + 1.0).sum() + h.permute(1, 0).max(axis=1).sum() + mse_loss(h.softmax(), h.transpose(0, 0))
        first = grad(loss, [x, w, b], create_graph=True)
        second = grad((first[0] ** 2).sum() + (first[1] ** 2).sum() + (first[2] ** 2).sum(), [x, w, b])
        found += [float(each.sum()) for each in (*first, *second)]
    return found


def netcl() -> Numbers:
    """Engine 3: nested tapes, shared nodes, a captured step of layers, a function that is compiled."""
    import tinygrad_cl.netcl.autograd as ag
    from tinygrad_cl.netcl import nn
    from tinygrad_cl.netcl.core.device import manager
    from tinygrad_cl.netcl.core.tensor import Tensor
    from tinygrad_cl.netcl.optim import Adam
    from tinygrad_cl.netcl.runtime import capture

    queue = manager.default("auto").queue
    numbers = np.random.default_rng(0)

    def on_device(*shape: int) -> Tensor:
        return Tensor.from_host(queue, numbers.normal(size=shape))

    a, b = (ag.tensor(on_device(3, 4), requires_grad=True) for _ in range(2))
    with ag.Tape(retain_grads=True) as outer:
        c = a * b + a
        with ag.Tape() as inner:
            d = ag.sum(c * c)
        loss = ag.sum(ag.tanh(c) * c + d * a)
    outer.backward(loss)
    found = numbers_in(loss, a.grad, c.grad) + [len(outer.nodes), len(inner.nodes)]

    fused = ag.jit_compile(lambda x, y: ag.tanh(x * y) * x + ag.exp(y) * x)
    a.grad = b.grad = None
    with ag.Tape() as tape:
        out = ag.sum(fused(a, b))
    tape.backward(out)
    found += numbers_in(out, a.grad, b.grad)

    model = nn.Sequential(nn.Linear(queue, 4, 5), nn.ReLU(), nn.Linear(queue, 5, 3))
    for parameter in model.parameters():
        parameter.write(numbers.normal(size=parameter.shape))
    optimizer = Adam(model.parameters(), lr=0.01)

    @capture
    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        with ag.Tape() as tape:
            loss = ag.cross_entropy(model(x), y)
        tape.backward(loss)
        optimizer.step()
        return loss.value

    x, y = on_device(6, 4), Tensor.from_host(queue, np.eye(3)[[0, 1, 2, 0, 1, 2]])
    return found + [number for _ in range(5) for number in numbers_in(step(x, y))]


def numbers_in(*tensors: Any) -> Numbers:
    """The elements of tensors and Nodes of engine 3."""
    return [float(number) for tensor in tensors for number in tensor.to_host().ravel()]


# For each engine: the first lesson that uses what a program tries, what that is, and the program.
PROGRAMS: dict[str, list[tuple[int, str, Callable[[], Numbers]]]] = {
    "scalar": [(0, "training", scalar)],
    "tensor": [
        (0, "training", tensor_ground),
        (6, "training, hooks or checkpoints", tensor_training),
        (8, "gradients of gradients", tensor_second),
    ],
    "netcl": [(0, "training, compiled or captured,", netcl)],
}


def probe(engine: str, lesson: int | None) -> dict[str, Numbers]:
    """{what: numbers} of an engine's programs that a lesson may need; of all for None. A warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {what: program() for first, what, program in PROGRAMS[engine] if lesson is None or lesson >= first}


def differing(found: dict[str, Numbers], others: dict[str, Numbers]) -> str:
    """What does not come out the same; "" if all does. Another order of additions is as right."""
    return next((what for what in found if not same(found[what], others[what])), "")


def same(a: Numbers, b: Numbers) -> bool:
    return len(a) == len(b) and np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True)
