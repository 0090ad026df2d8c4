"""The checks of lesson 05, a file for each exercise.

`rules` observes a Function: its value, and its gradient under any gradient that arrives. `walks` observes an optimizer.
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
