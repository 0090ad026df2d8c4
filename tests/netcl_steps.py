"""For the tests of captured steps: a small training in several ways, the same at every call."""

import numpy as np
from netcl_devices import put

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import compute_into, formula_of
from tinygrad_cl.netcl.optim import SGD, Adam, clip_grad_norm_

ADD, TWICE = formula_of("v0 + v1", 2), formula_of("2 * v0", 1)


def numbers(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


class SlowMomentum:
    """v ← 0.9 v + g, p ← p − 0.1 v by hand; v is made when it is first needed."""

    move = formula_of("v0 - 0.1f * v1", 2)
    gather = formula_of("0.9f * v0 + v1", 2)

    def __init__(self, params):
        self.params, self.state = params, None

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def step(self):
        if self.state is None:
            self.state = [Tensor.full(p.queue, p.shape, 0) for p in self.params]
        for p, v in zip(self.params, self.state):
            compute_into(v, self.gather, (v, p.grad))
            compute_into(p, self.move, (p, v))


class Clipped(SGD):
    """SGD whose gradients are replaced by shorter ones."""

    def step(self):
        clip_grad_norm_(self.params, 0.5)
        super().step()


OPTIMIZERS = {
    "SGD": lambda params: SGD(params, lr=0.1),
    "momentum": lambda params: SGD(params, lr=0.05, momentum=0.9, nesterov=True),
    "Adam": lambda params: Adam(params, lr=0.01),
    "by hand": SlowMomentum,
    "clipped": lambda params: Clipped(params, lr=0.1),
}


def training(device, make_optimizer):
    """(parameters, optimizer, step) of a small network, the same at every call."""
    params = [
        Parameter.from_host(device.queue, numbers(seed, *shape))
        for seed, shape in enumerate([(5, 4), (4,), (4, 3), (3,)])
    ]
    optimizer = make_optimizer(params)

    def step(x, y):
        optimizer.zero_grad()
        with ag.Tape() as tape:
            hidden = ag.tanh(ag.matmul(x, params[0]) + params[1])
            loss = ag.mean(ag.square(ag.matmul(hidden, params[2]) + params[3] - y))
        tape.backward(loss)
        optimizer.step()
        return loss

    return params, optimizer, step


def batch(device, number):
    return put(device, numbers((number, 0), 6, 5), numbers((number, 1), 6, 3))


def same(xs, ys):
    return all(np.array_equal(x.to_host(), y.to_host()) for x, y in zip(xs, ys, strict=True))
