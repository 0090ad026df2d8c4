"""The checks of lesson 05, a file for each exercise.

The gradient that arrives is random, numbers have both signs and lie away from kinks, no two sizes are equal. Numbers in
the extremes overflow in wrong solutions on purpose: NumPy's warnings are off while a probe runs.
"""

from autograder.checks.m05_layers import (
    activations,
    gelu,
    softmax,
    losses,
    cross_entropy,
    permute,
    index,
    max,
    sgd,
    adam,
)

__all__ = ["activations", "gelu", "softmax", "losses", "cross_entropy", "permute", "index", "max", "sgd", "adam"]
