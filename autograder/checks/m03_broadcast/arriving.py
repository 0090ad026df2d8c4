"""The gradient that arrives in the cases of lesson 03: numbers of the result's shape, unlike those of the inputs."""

import numpy as np

from autograder.checks.cases import KINDS, array, axes_of, filled


def arriving(shape, rng):
    return filled(shape, ("decimals", "decimals", "whole")[rng.integers(3)], rng)


def of_both(a, b, rng):
    return arriving(np.broadcast_shapes(a.shape, b.shape), rng)


def of_sum(x, axis, keepdims, rng):
    return arriving(np.sum(x, axis=axis, keepdims=keepdims).shape, rng)


def of_product(a, b, rng):
    return arriving(np.matmul(a, b).shape, rng)


SUMS = (
    array(
        "x",
        shapes=((2,), (2, 3), (3, 2), (1,), (2, 2), (2, 1), (1, 3), (2, 3, 4), (3, 1, 2), (2, 2, 2), ()),
        kinds=(*KINDS, "infinite"),
    )
    .each(axis=lambda x: axes_of(x.ndim), keepdims=lambda: [False, True])
    .add(grad=of_sum)
)
