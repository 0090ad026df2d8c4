"""What parameters are at first: random numbers that a seed makes the same at every run."""

import math
import threading

import numpy as np


class ThreadGenerator(threading.local):
    """A new thread starts with the seed 0."""

    def __init__(self):
        self.generator = np.random.default_rng(0)


state = ThreadGenerator()


def manual_seed(seed):
    """Start this thread's random numbers afresh: the same seed, the same layers."""
    state.generator = np.random.default_rng(seed)


def generator(seed=None):
    """The NumPy Generator of a seed; one that is given as `seed` itself; or, for None, the one that
    `manual_seed` starts.
    """
    return state.generator if seed is None else np.random.default_rng(seed)


def xavier_uniform(tensor, seed=None):
    """Numbers from −b to b, b = √(6 / (in + out)), into a tensor of shape (in, out): signals keep
    their size on the way forward, and gradients on the way back (Glorot and Bengio 2010).
    """
    fan_in, fan_out = fans(tensor)
    return uniform(tensor, math.sqrt(6 / max(fan_in + fan_out, 1)), seed)


def kaiming_uniform(tensor, a=0.0, seed=None):
    """Numbers from −b to b, b = √(6 / ((1 + a²) in)), into a tensor of shape (in, out): signals
    keep their size through leaky ReLUs of slope a, and through ReLUs (He et al. 2015).
    """
    return uniform(tensor, math.sqrt(6 / ((1 + a * a) * max(fans(tensor)[0], 1))), seed)


def normal(tensor, mean=0.0, std=0.02, seed=None):
    """Numbers of the normal distribution."""
    return tensor.write(generator(seed).normal(mean, std, tensor.shape))


def constant(tensor, val):
    """The same number everywhere."""
    return tensor.write(np.full(tensor.shape, val))


def uniform(tensor, bound, seed):
    """Numbers from −bound to bound."""
    return tensor.write(generator(seed).uniform(-bound, bound, tensor.shape))


def fans(tensor):
    """(in, out): with how many inputs and outputs of a layer each number is connected."""
    if tensor.ndim != 2:
        raise ValueError(f"weights have the shape (in, out), not {tensor.shape}")
    return tensor.shape
