"""Training: one step of an MLP 784-256-128-10 with ReLUs on 128 samples, cross-entropy and SGD.

    python benchmarks/mlp.py [--quick] [--rounds 15] [--json FILE]

A step is forward, backward and update, float32. «sync» waits for each step, «pipelined» for every
tenth. All start with the same parameters and train on the same samples, which are on the device
already; the losses of the first steps must agree.
"""

import numpy as np
from contenders import Comparison, Contender, stepping
from tables import main

SIZES, BATCH, RATE = (784, 256, 128, 10), 128, 0.05


def problem(settings):
    """(weights, biases, samples, classes), NumPy arrays: weights are (inputs, outputs)."""
    sizes, batch = settings
    rng = np.random.default_rng(0)
    weights = [(rng.normal(size=shape) * (2 / shape[0]) ** 0.5).astype(np.float32) for shape in zip(sizes, sizes[1:])]
    biases = [np.full(n, 0.1, np.float32) for n in sizes[1:]]
    samples = rng.normal(size=(batch, sizes[0])).astype(np.float32)
    return weights, biases, samples, rng.integers(0, sizes[-1], batch)


def on_the_tape(ag, model, optimizer, x, y):
    """A training step in the words that both netcls have."""

    def step():
        optimizer.zero_grad()
        with ag.Tape() as tape:
            loss = ag.cross_entropy(model(x), y)
        tape.backward(loss)
        optimizer.step()
        return loss

    return step


def our_step(settings):
    """(a training step, the queue): what a user of the package writes."""
    import tinygrad_cl.netcl.autograd as ag
    from tinygrad_cl.netcl import nn, optim
    from tinygrad_cl.netcl.core.device import manager
    from tinygrad_cl.netcl.core.tensor import Tensor

    weights, biases, samples, classes = problem(settings)
    queue = manager.default("auto").queue
    layers = [nn.Linear(queue, *weight.shape) for weight in weights]
    for layer, weight, bias in zip(layers, weights, biases):
        layer.weight.write(weight)
        layer.bias.write(bias)
    model = nn.Sequential(*[each for layer in layers for each in (layer, nn.ReLU())][:-1])
    optimizer = optim.SGD(model.parameters(), lr=RATE)
    x = Tensor.from_host(queue, samples)
    y = Tensor.from_host(queue, classes, "int32")

    return on_the_tape(ag, model, optimizer, x, y), queue


def repeated(step, finish, read, fewer=1):
    """stepping of a step that returns its loss, which read(loss) makes a number."""
    last = []

    def keep():
        last[:] = [step()]

    return stepping(keep, finish, lambda: read(last[0]), fewer)


def make_captured(settings):
    from tinygrad_cl.netcl.runtime import capture

    step, queue = our_step(settings)
    return repeated(capture(step), queue.finish, lambda loss: loss.to_host())


def make_eager(settings):
    step, queue = our_step(settings)
    return repeated(step, queue.finish, lambda loss: loss.to_host())


def make_numpy(settings):
    """By hand: every array is there already, and each product writes into its own."""
    weights, biases, samples, classes = problem(settings)
    batch, count = len(samples), len(weights)
    outputs = [np.empty((batch, len(bias)), np.float32) for bias in biases]
    slopes = [np.empty_like(output) for output in outputs]
    weight_slopes = [np.empty_like(weight) for weight in weights]
    rows = np.arange(batch)

    def step():
        x = samples
        for n, (weight, bias, output) in enumerate(zip(weights, biases, outputs)):
            np.matmul(x, weight, out=output)
            output += bias
            if n < count - 1:
                np.maximum(output, 0, out=output)
            x = output
        slope = slopes[-1]
        np.subtract(x, x.max(1, keepdims=True), out=slope)
        right = slope[rows, classes]
        np.exp(slope, out=slope)
        total = slope.sum(1, keepdims=True)
        loss = (np.log(total[:, 0]) - right).mean()
        slope /= total
        slope[rows, classes] -= 1
        slope /= batch
        for n in reversed(range(count)):
            slope = slopes[n]
            np.matmul((outputs[n - 1] if n else samples).T, slope, out=weight_slopes[n])
            if n:
                np.matmul(slope, weights[n].T, out=slopes[n - 1])
                slopes[n - 1] *= outputs[n - 1] > 0
            biases[n] -= RATE * slope.sum(0)
            weight_slopes[n] *= RATE
            weights[n] -= weight_slopes[n]
        return loss

    return repeated(step, lambda: None, float)


def torch_step(settings):
    """(the loss, the optimizer) in PyTorch."""
    import torch

    weights, biases, samples, classes = problem(settings)
    layers = [torch.nn.Linear(*weight.shape) for weight in weights]
    with torch.no_grad():
        for layer, weight, bias in zip(layers, weights, biases):
            layer.weight.copy_(torch.from_numpy(weight.T))
            layer.bias.copy_(torch.from_numpy(bias))
    model = torch.nn.Sequential(*[each for layer in layers for each in (layer, torch.nn.ReLU())][:-1])
    x, y = torch.from_numpy(samples), torch.from_numpy(classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    return lambda: torch.nn.functional.cross_entropy(model(x), y), optimizer


def make_torch(settings):
    compute_loss, optimizer = torch_step(settings)

    def step():
        optimizer.zero_grad()
        loss = compute_loss()
        loss.backward()
        optimizer.step()
        return loss

    return repeated(step, lambda: None, lambda loss: loss.item())


def make_torch_compile(settings):
    import torch

    compute_loss, optimizer = torch_step(settings)
    compute_loss, update = torch.compile(compute_loss), torch.compile(optimizer.step)

    def step():
        optimizer.zero_grad()
        loss = compute_loss()
        loss.backward()
        update()
        return loss

    return repeated(step, lambda: None, lambda loss: loss.item())


def make_jax(settings):
    import jax
    import jax.numpy as jnp

    weights, biases, samples, classes = map(jax.device_put, problem(settings))
    parameters = [(weights, biases)]

    def compute_loss(parameters):
        x = samples
        for n, (weight, bias) in enumerate(zip(*parameters)):
            x = x @ weight + bias
            x = jnp.maximum(x, 0) if n < len(weights) - 1 else x
        return -jnp.take_along_axis(jax.nn.log_softmax(x), classes[:, None], 1).mean()

    @jax.jit
    def train(parameters):
        loss, slopes = jax.value_and_grad(compute_loss)(parameters)
        return loss, jax.tree.map(lambda p, slope: p - RATE * slope, parameters, slopes)

    def step():
        loss, parameters[0] = train(parameters[0])
        return loss

    return repeated(step, lambda: jax.block_until_ready(parameters), float)


def make_tinygrad(settings):
    from tinygrad import Context, Device, Tensor, TinyJit, nn

    weights, biases, samples, classes = problem(settings)
    weights, biases = [[Tensor(p).contiguous().realize() for p in ps] for ps in (weights, biases)]
    x, y = Tensor(samples).realize(), Tensor(classes.astype(np.int32)).realize()
    optimizer = nn.optim.SGD([*weights, *biases], lr=RATE)

    @TinyJit
    def train():
        with Context(TRAINING=1):
            optimizer.zero_grad()
            h = x
            for n, (weight, bias) in enumerate(zip(weights, biases)):
                h = h @ weight + bias
                h = h.relu() if n < len(weights) - 1 else h
            loss = h.cross_entropy(y).backward()
            return loss.realize(*optimizer.schedule_step())

    return repeated(train, Device[Device.DEFAULT].synchronize, lambda loss: loss.item(), fewer=2)


def make_netcl(settings):
    import netcl.autograd as ag
    from netcl.core.device import manager
    from netcl.core.tensor import Tensor
    from netcl.nn import Linear, ReLU, Sequential
    from netcl.optim import SGD

    weights, biases, samples, classes = problem(settings)
    queue = manager.default("auto").queue
    layers = [Linear(queue, *weight.shape) for weight in weights]
    for layer, weight, bias in zip(layers, weights, biases):
        layer.weight.write(weight)
        layer.bias.write(bias)
    model = Sequential(*[each for layer in layers for each in (layer, ReLU())][:-1])
    optimizer = SGD(model.parameters(), lr=RATE)
    x = ag.tensor(Tensor.from_host(queue, samples))
    y = ag.tensor(Tensor.from_host(queue, np.eye(settings[0][-1], dtype=np.float32)[classes]))

    step = on_the_tape(ag, model, optimizer, x, y)
    return repeated(step, queue.finish, lambda loss: loss.value.to_host().mean(), fewer=20)


def comparisons(quick):
    settings = ((20, 16, 12, 4), 6) if quick else (SIZES, BATCH)
    sizes, batch = settings
    count = 10 if quick else 40
    return [
        Comparison(
            "mlp",
            f"A training step of an MLP {'-'.join(map(str, sizes))} on {batch} samples",
            (
                Contender("tinygrad_cl.netcl, captured", make_captured, ours=True),
                Contender("tinygrad_cl.netcl, eager", make_eager, ours=True),
                Contender("NumPy by hand", make_numpy),
                Contender("torch eager", make_torch, ("torch",)),
                Contender("torch.compile", make_torch_compile, ("torch",)),
                Contender("jax.jit", make_jax, ("jax",)),
                Contender("tinygrad TinyJit", make_tinygrad, ("tinygrad",), environment={"DEV": "CL"}),
                Contender("netcl", make_netcl, ("netcl",)),
            ),
            settings,
            {"sync": (count, 1), "pipelined": (count, 10)},
            tolerance=1e-3,
        )
    ]


if __name__ == "__main__":
    main(__doc__, comparisons)
