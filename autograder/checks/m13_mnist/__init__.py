"""The checks of lesson 13, a file for each exercise.

Gradients are asked of the lesson's `gradients`; on the device it is central differences in its place (`device.measured_gradients`).
"""

from autograder.checks.m13_mnist import linear, sequential, cross_entropy, batches, adam, step, accuracy

__all__ = ["linear", "sequential", "cross_entropy", "batches", "adam", "step", "accuracy"]
