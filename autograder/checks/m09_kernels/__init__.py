"""The checks of lesson 09, a file for each exercise.

Kernels run between margins that must stay untouched (`tinygrad_cl.opencl.trial`), and Oclgrind watches one launch of each. Some launches start a part of the work-items only: it shows which numbers they leave alone.
"""

from autograder.checks.m09_kernels import host, overhead, bias_relu, lanes, tree, chunks, matmul, intensity, blocked

__all__ = ["host", "overhead", "bias_relu", "lanes", "tree", "chunks", "matmul", "intensity", "blocked"]
