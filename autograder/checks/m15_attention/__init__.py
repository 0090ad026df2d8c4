"""The checks of lesson 15, a file for each exercise.

Numbers are float32 on the device, so tolerances are those of sums in another order. Gradients start from random numbers of both
signs, and no two lengths of a case are equal.
"""

from autograder.checks.m15_attention import windows, embedding, normalize, attention, heads, block, generate

__all__ = ["windows", "embedding", "normalize", "attention", "heads", "block", "generate"]
