"""The checks of lesson 01, a file for each exercise.

Until `backward` is written, the graph is walked by `tools.backpropagate`, from an upstream gradient that is neither 1 nor
positive. Numbers come with both signs, away from kinks, and no two are equal.
"""

from autograder.checks.m01_value import (
    slope,
    add,
    mul,
    pow,
    derived,
    exp_log,
    tanh_sigmoid,
    relu,
    order,
    backward,
    gradcheck,
)

__all__ = ["slope", "add", "mul", "pow", "derived", "exp_log", "tanh_sigmoid", "relu", "order", "backward", "gradcheck"]
