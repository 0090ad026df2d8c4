"""Small networks of lesson 03: inputs, targets and parameters."""

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
SMALL_NETWORKS = Source(
    lambda rng: (network(sizes, kind, rng) for sizes, kind in zip((*SIZES[:3], (1, 1, 1, 1), *SIZES[3:]), KINDS)), drawn
)
