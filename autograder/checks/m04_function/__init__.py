"""The checks of lesson 04, a file for each exercise.

Gradients that arrive are random, never ones. Rules are asked directly, through the node that `apply` made, until `backward` is
written; afterwards through the given `input_gradients`, so that what broadcast is summed up by the engine.
"""

from autograder.checks.m04_function import (
    context,
    apply,
    add_mul,
    ends,
    backward,
    backward_edits,
    sub_div_pow,
    shapes,
    matmul,
    record,
    attach_grad,
)

__all__ = [
    "context",
    "apply",
    "add_mul",
    "ends",
    "backward",
    "backward_edits",
    "sub_div_pow",
    "shapes",
    "matmul",
    "record",
    "attach_grad",
]
