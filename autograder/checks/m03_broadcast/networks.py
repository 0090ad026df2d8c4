"""Small networks of lesson 03: inputs, targets and parameters."""

import numpy as np

from autograder.checks.cases import Draft, Source, filled

KINDS = ["small"] * 10
SIZES = (
    (1, 1, 1, 1),
    (2, 1, 1, 1),
    (1, 2, 1, 1),
    (1, 1, 2, 1),
    (1, 1, 1, 2),
    (2, 2, 2, 2),
    (1, 2, 3, 2),
    (3, 2, 4, 1),
    (2, 3, 2, 4),
)


def network(sizes, kind, rng):
    n, inputs, hidden, outputs = sizes
    shapes = {"x": (n, inputs), "target": (n, outputs), "w1": (inputs, hidden), "b1": (hidden,)}
    shapes |= {"w2": (hidden, outputs), "b2": (outputs,)}
    return Draft({name: filled(shape, kind, rng) for name, shape in shapes.items()})


def drawn(rng):
    return network([int(n) for n in rng.integers(1, 5, size=4)], "small", rng)


NETWORKS = Source(lambda rng: (network(sizes, kind, rng) for sizes in SIZES for kind in ("small", "decimals")), drawn)
ONE = np.ones((1, 1))
FITTED = Draft({"x": ONE, "target": ONE, "w1": ONE, "b1": np.zeros(1), "w2": ONE, "b2": np.zeros(1)})  # its loss is 0


def small_networks(rng):
    yield network(SIZES[0], "small", rng)
    yield FITTED
    for sizes, kind in zip((*SIZES[1:3], (1, 1, 1, 1), *SIZES[3:]), KINDS):
        yield network(sizes, kind, rng)


SMALL_NETWORKS = Source(small_networks, drawn)
