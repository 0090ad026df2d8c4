"""Engine 1: an MLP of single numbers beside micrograd, long chains, and gradients on the device.

    python benchmarks/scalar.py [--quick] [--rounds 15] [--json FILE]

- The MLP is built and back-propagated, with Python's garbage collector on and off: micrograd's
  closures are cyclic garbage, and the collector takes most of its time. The limit is a class with
  the same nodes and nothing else: no checks, no labels.
- A chain of 100,000 numbers should cost as much per number as one of 1,000.
- A gradient by central differences: all perturbed points in one launch on the device, or 2 N runs
  of the engine.
"""

import gc
import importlib
import random
import time
from functools import partial

from contenders import Comparison, Contender
from tables import main

SIZES, SAMPLES = (3, 16, 16, 1), 50


class Bare:
    """The least that a number of engine 1 can be: the same graph, without a check or a word."""

    __slots__ = ("data", "grad", "parents", "local_derivatives")

    def __init__(self, data, parents=(), local_derivatives=()):
        self.data, self.grad = data, 0.0
        self.parents, self.local_derivatives = parents, local_derivatives

    def __add__(self, other):
        if type(other) is not Bare:
            other = Bare(other)
        return Bare(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        if type(other) is not Bare:
            other = Bare(other)
        return Bare(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, n):
        return Bare(self.data**n, (self,), (n * self.data ** (n - 1),))

    def __sub__(self, other):
        return self + -other

    def relu(self):
        positive = self.data > 0
        return Bare(self.data if positive else 0.0, (self,), (float(positive),))

    def backward(self):
        order, visited, stack = [], set(), [self]
        while stack:
            node = stack.pop()
            if node is None:
                order.append(stack.pop())
            elif node not in visited:
                visited.add(node)
                stack += (node, None, *node.parents)
        self.grad = 1.0
        for node in reversed(order):
            grad = node.grad
            for parent, local_derivative in zip(node.parents, node.local_derivatives):
                parent.grad += local_derivative * grad


def mlp_loss(value_class, sizes, samples):
    """The squared error of a ReLU network, summed over the samples; the same numbers each time."""
    rng = random.Random(0)
    layers = [
        [([value_class(rng.uniform(-1, 1)) for _ in range(n)], value_class(0.0)) for _ in range(m)]
        for n, m in zip(sizes, sizes[1:])
    ]
    loss = value_class(0.0)
    for _ in range(samples):
        activations = [rng.uniform(-1, 1) for _ in range(sizes[0])]
        for layer in layers:
            sums = [sum((w * x for w, x in zip(weights, activations)), bias) for weights, bias in layer]
            activations = [s.relu() for s in sums] if layer is not layers[-1] else sums
        loss = loss + (activations[0] - rng.choice([-1.0, 1.0])) ** 2
    return loss


def make_mlp(engine, settings):
    """Mode: whether the garbage collector is on. No `engine`: Bare."""
    value_class = importlib.import_module(engine).Value if engine else Bare

    def turn(collect):
        gc.collect()
        (gc.enable if collect else gc.disable)()
        start = time.perf_counter()
        loss = mlp_loss(value_class, *settings)
        built = time.perf_counter()
        loss.backward()
        end = time.perf_counter()
        return {"build": built - start, "backward": end - built, "both": end - start}, loss.data

    return turn


def make_chain(engine, length, settings):
    """Numbers added one after the other; seconds for each of them."""
    value_class = importlib.import_module(engine).Value

    def turn(mode):
        gc.collect()
        x = value_class(0.5)
        start = time.perf_counter()
        y = x
        for _ in range(length):
            y = y + x
        y.backward()
        return {"step": (time.perf_counter() - start) / length}, x.grad / (length + 1)

    return turn


def ring(*x):
    """A function of any number of inputs, three operations and a sum for each."""
    return sum((a * b).tanh() * a for a, b in zip(x, x[1:] + x[:1]))


def differences(count, gradient):
    """Mode: how many inputs."""
    rng = random.Random(count)
    inputs = [rng.gauss(0, 1) for _ in range(count)]
    start = time.perf_counter()
    answer = gradient(inputs)
    return {"step": time.perf_counter() - start}, answer


def make_on_device(settings):
    from tinygrad_cl.gradcheck import device_gradient

    return lambda count: differences(count, lambda inputs: device_gradient(ring, inputs)[1])


def make_on_host(settings):
    from tinygrad_cl.gradcheck import numerical_gradient
    from tinygrad_cl.scalar import Value

    def value(*x):
        return ring(*map(Value, map(float, x))).data

    return lambda count: differences(count, lambda inputs: numerical_gradient(value, inputs))


def comparisons(quick):
    samples, lengths = (3, (100, 200)) if quick else (SAMPLES, (1_000, 100_000))
    ours, micrograd = "tinygrad_cl.scalar", "micrograd.engine"
    needs = ("micrograd",)
    return [
        Comparison(
            "scalar",
            f"Engine 1: an MLP {'-'.join(map(str, SIZES))} on {samples} samples",
            (
                Contender(ours, partial(make_mlp, ours), ours=True),
                Contender("micrograd", partial(make_mlp, micrograd), needs),
                Contender("limit: nothing but the nodes", partial(make_mlp, None)),
            ),
            (SIZES, samples),
            {"collector on": True, "collector off": False},
        ),
        Comparison(
            "chain",
            "Engine 1: a chain of additions, time per addition",
            (
                *[Contender(f"{ours}, {length:,}", partial(make_chain, ours, length), ours=True) for length in lengths],
                *[
                    Contender(f"micrograd, {length:,}", partial(make_chain, micrograd, length), needs)
                    for length in (300, *lengths)
                ],
            ),
            None,
            {"there and back": None},
            unit="µs",
        ),
        Comparison(
            "differences",
            "Gradients by central differences, of a function of N numbers",
            (
                Contender("one launch on the device", make_on_device, ours=True),
                Contender("2 N runs of engine 1", make_on_host, ours=True),
            ),
            None,
            {f"N = {count}": count for count in ((3,) if quick else (3, 10, 30, 100, 300))},
            tolerance=1e-2,
        ),
    ]


if __name__ == "__main__":
    main(__doc__, comparisons)
