"""The checks of lesson 12, a file for each exercise.

Text that a student's code writes is never compared with a text: it is built, run, and judged by its numbers. The structures are the
same for every seed, so that a kernel is compiled once.
"""

from autograder.checks.m12_jit import operation, forward, kernel, backward, needed, key, primitive, bytes_moved

__all__ = ["operation", "forward", "kernel", "backward", "needed", "key", "primitive", "bytes_moved"]
