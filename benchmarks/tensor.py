"""Engine 2, on NumPy: a training step, and what one small operation costs.

    python benchmarks/tensor.py [--quick] [--rounds 15] [--json FILE]

- The training step is that of mlp.py.
- The chain is of operations on 64 numbers, there and back, microseconds for each operation.
"""

import contextlib
import time

import numpy as np
from contenders import Comparison, Contender
from eager import OPS, SIZE, chain, numbers
from eager import make_torch as make_torch_chain
from mlp import BATCH, RATE, SIZES, make_numpy, make_torch, problem, repeated
from tables import main


def make_ours(settings):
    from tinygrad_cl.tensor import SGD, Tensor, cross_entropy

    weights, biases, samples, classes = problem(settings)
    weights, biases = ([Tensor(p, requires_grad=True) for p in ps] for ps in (weights, biases))
    x, optimizer = Tensor(samples), SGD([*weights, *biases], lr=RATE)

    def step():
        h = x
        for n, (weight, bias) in enumerate(zip(weights, biases)):
            h = h @ weight + bias
            h = h.relu() if n < len(weights) - 1 else h
        loss = cross_entropy(h, classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return repeated(step, lambda: None, lambda loss: loss.item())


def make_autograd(settings):
    import autograd.numpy as np
    from autograd import value_and_grad

    weights, biases, samples, classes = problem(settings)
    rows = np.arange(len(classes))

    def compute_loss(parameters):
        x = samples
        for n, (weight, bias) in enumerate(zip(*parameters)):
            x = np.dot(x, weight) + bias
            x = np.maximum(x, 0) if n < len(weights) - 1 else x
        x = x - np.max(x, axis=1, keepdims=True)
        return np.mean(np.log(np.sum(np.exp(x), axis=1)) - x[rows, classes])

    both = value_and_grad(compute_loss)

    def step():
        loss, slopes = both((weights, biases))
        for parameters, theirs in zip((weights, biases), slopes):
            for p, slope in zip(parameters, theirs):
                p -= RATE * slope
        return loss

    return repeated(step, lambda: None, float)


def make_our_chain(settings):
    from tinygrad_cl.tensor import Tensor

    ones = np.ones(SIZE, np.float32)
    return chain(
        lambda: Tensor(numbers(), requires_grad=True),
        {"relu": Tensor.relu, "tanh": Tensor.tanh},
        contextlib.nullcontext,
        lambda y, tape: y.backward(ones),
        lambda: None,
    )


def make_autograd_chain(settings):
    """autograd has no graph to go back through: a function is differentiated."""
    import autograd.numpy as np
    from autograd import make_vjp

    functions = {
        "add": lambda y, x: y + x,
        "mul": lambda y, x: y * x,
        "relu": lambda y, x: np.maximum(y, 0),
        "tanh": lambda y, x: np.tanh(y),
    }
    ones = np.ones(SIZE, np.float32)

    def turn(mode):
        op, length = mode
        function = functions[op]

        def program(x):
            y = x
            for _ in range(length):
                y = function(y, x)
            return y

        data = numbers()
        start = time.perf_counter()
        back, _ = make_vjp(program)(data)
        middle = time.perf_counter()
        gradient = back(ones)
        end = time.perf_counter()
        parts = {"forward": (middle - start) / length, "backward": (end - middle) / length}
        return parts, gradient / length

    return turn


def comparisons(quick):
    settings = ((20, 16, 12, 4), 6) if quick else (SIZES, BATCH)
    sizes, batch = settings
    length = 20 if quick else 500
    return [
        Comparison(
            "tensor",
            f"Engine 2: a training step of an MLP {'-'.join(map(str, sizes))} on {batch} samples",
            (
                Contender("tinygrad_cl.tensor", make_ours, ours=True),
                Contender("NumPy by hand", make_numpy),
                Contender("torch eager", make_torch, ("torch",)),
                Contender("autograd", make_autograd, ("autograd",)),
            ),
            settings,
            {"sync": (10 if quick else 40, 1)},
            tolerance=1e-3,
        ),
        Comparison(
            "tensor chain",
            f"Engine 2: one operation on {SIZE} numbers, in a chain of {length}",
            (
                Contender("tinygrad_cl.tensor", make_our_chain, ours=True),
                Contender("torch", make_torch_chain, ("torch",)),
                Contender("autograd", make_autograd_chain, ("autograd",)),
            ),
            None,
            {title: (op, length) for title, op in OPS.items()},
            unit="µs",
            tolerance=1e-3,
        ),
    ]


if __name__ == "__main__":
    main(__doc__, comparisons)
