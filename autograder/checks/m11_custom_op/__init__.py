"""The checks of lesson 11, a file for each exercise.

Ops are run on small tensors under a drawn upstream gradient. Kernels that were launched are counted, and looked into for sines
and cosines: what an op computes twice shows there and not in its numbers. No check takes the time.
"""

from autograder.checks.m11_custom_op import launches, apply, needed, forward, backward, fused, second

__all__ = ["launches", "apply", "needed", "forward", "backward", "fused", "second"]
