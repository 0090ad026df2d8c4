"""The checks of lesson 04, a file for each exercise.

`inputs` draws operands in every form and place, `graphs` small programs. A rule is asked directly, through the node that `apply`
made, until `backward` is written; afterwards through the given `input_gradients`, so that the engine sums what broadcast.
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
