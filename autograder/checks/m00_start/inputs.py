"""The inputs of the checks of lesson 00: arrays, and numbers alone."""

from functools import reduce

from autograder.checks.cases import Source, Text, choice, filled, number

KINDS = ("decimals", "integers", "whole", "transposed")


def like_a(a, rng):
    """Arrays of the shape of a, and a itself."""
    return [filled(a.shape, kind, rng) for kind in ("decimals", "integers", "infinite")] + [Text("a")]


def single(*names: str) -> Source:
    """Single numbers, floats and ints, 0 among them."""
    sources = [choice(name, 0.5, 3, 0, -2, 0.0) + number(name, -1.2, 2.5) for name in names]
    return reduce(Source.__mul__, sources)
