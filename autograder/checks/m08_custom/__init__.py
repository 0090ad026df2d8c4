"""The checks of lesson 08, a file for each exercise.

Upstream gradients are random, with both signs; shapes are not square; numbers are float64, away from kinks but for the
quantities that are about one. Where a rule can be differentiated again, the gradient of its gradient is a quantity, too.
"""

from autograder.checks.m08_custom import (
    quantize,
    masked_softmax,
    swiglu,
    numerical,
    direction,
    taylor,
    hvp,
    newton,
    maml,
)

__all__ = ["quantize", "masked_softmax", "swiglu", "numerical", "direction", "taylor", "hvp", "newton", "maml"]
