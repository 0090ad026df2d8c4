"""The checks of lesson 06, a file for each exercise.

Tensors are float64, upstream gradients are random, no two sizes are equal. Switches are put back by the observations
themselves: a wrong solution leaves no trace for the next one.
"""

from autograder.checks.m06_control import detach, doubling, mode, threads, saved, in_place, watch, clip, nan, fit

__all__ = ["detach", "doubling", "mode", "threads", "saved", "in_place", "watch", "clip", "nan", "fit"]
