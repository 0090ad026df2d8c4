"""The checks of lesson 10, a file for each exercise.

Numbers are float32 on the default device; launches, buffers and calls are counted, never timed. Observations put the thread's
state back, whatever a wrong solution leaves behind.
"""

from autograder.checks.m10_tape import nest, apply_op, mul, order, accumulate, backward, backward_edits, anomaly

__all__ = ["nest", "apply_op", "mul", "order", "accumulate", "backward", "backward_edits", "anomaly"]
