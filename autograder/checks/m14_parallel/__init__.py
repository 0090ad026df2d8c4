"""The checks of lesson 14, a file for each exercise.

Processes are simulated, so that a check needs no MPI and gives the same every time. Messages and bytes are counted, never timed.
"""

from autograder.checks.m14_parallel import gradients, ring, micro, local, compress, overlap, scaling

__all__ = ["gradients", "ring", "micro", "local", "compress", "overlap", "scaling"]
