"""The checks of lesson 03, a file for each exercise.

Upstream gradients are random, no two sizes of a case are equal (but where a square tells two mistakes apart), and what is
given must be the same afterwards.
"""

from autograder.checks.m03_broadcast import shape, unbroadcast, mul, sum, mean, matmul, matmul_any, network, train

__all__ = ["shape", "unbroadcast", "mul", "sum", "mean", "matmul", "matmul_any", "network", "train"]
