"""A small program for each engine that uses what the package builds on the lessons' functions, and the numbers it gives.

A function may pass its check and still not be what the package needs of it: `Function.apply` has to ask `ctx.wrap_result`,
for example. So after each change the program has to give the same numbers as before.
"""

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


def tensor() -> Numbers:
    """Engine 2: training under its optimizers, hooks, gradients of gradients, a checkpoint, MXNet's names."""
    from tinygrad_cl.tensor import (
        SGD,
        Adam,
        Tensor,
        checkpoint,
        clip_grad_norm_,
        cross_entropy,
        grad,
        mse_loss,
        no_grad,
        saved_bytes,
    )
    from tinygrad_cl.tensor import binary_cross_entropy_with_logits as bce
    from tinygrad_cl.tensor.mxnet import array, record

    numbers = np.random.default_rng(0)
    x = Tensor(numbers.normal(size=(6, 4)))
    w, v = (Tensor(numbers.normal(size=shape), requires_grad=True) for shape in ((4, 5), (5, 3)))
    found, seen = [], []
    for optimizer in (SGD([w, v], lr=0.1, momentum=0.5), Adam([w, v], lr=0.1)):
        for activation in ("relu", "tanh", "sigmoid", "gelu"):
            optimizer.zero_grad()
            h = getattr(x @ w, activation)()
            h.retain_grad()
            h.register_hook(lambda g: seen.append(float(g.sum())))
            logits = checkpoint(lambda h: h @ v, h)
            loss = cross_entropy(logits, np.array([0, 1, 2, 0, 1, 2]))
            loss = loss + mse_loss(h.softmax(), h.detach()) + bce(h[:, 0], np.ones(6)) + h.max(axis=1).mean()
            kept = saved_bytes(loss)
            loss.backward()
            found += [loss.item(), float(h.grad.sum()), float(kept), clip_grad_norm_([w, v], 1.0)]
            optimizer.step()
    found += [float(w.data.sum()), float(v.data.sum())]
    y = Tensor([0.5, 2.0], requires_grad=True)
    (first,) = grad(
        (y**3 / (y - 4.0) + y.reshape(2, 1).permute(1, 0).sum() * y.transpose(0, 0)).sum(), [y], create_graph=True
    )
    (second,) = grad(first.sum(), [y])
    with no_grad():
        found.append(float((y * 2).requires_grad))
    z: Any = array([1.0, 2.0])
    z.attach_grad()
    with record():
        out = z * z
    out.backward()
    return [*found, *seen, *first.data, *second.data, *z.grad.data]


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


def same(numbers: Numbers, others: Numbers) -> bool:
    """Whether they agree; another order of additions is as right."""
    return len(numbers) == len(others) and np.allclose(numbers, others, rtol=1e-4, atol=1e-6, equal_nan=True)


PROBES: dict[str, Callable[[], Numbers]] = {"scalar": scalar, "tensor": tensor, "netcl": netcl}
