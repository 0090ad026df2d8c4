"""Initial values of parameters: random numbers, the same for the same seed."""

import math
import threading
from typing import TypeAlias, TypeVar

import numpy as np

from tinygrad_cl.netcl.core.tensor import Tensor

Seed: TypeAlias = int | np.random.Generator | None
T = TypeVar("T", bound=Tensor)


class ThreadGenerator(threading.local):
    """A new thread starts with the seed 0."""

    def __init__(self):
        self.generator = np.random.default_rng(0)


state = ThreadGenerator()


def manual_seed(seed: int) -> None:
    """Seed this thread's generator: the same seed gives the same layers."""
    state.generator = np.random.default_rng(seed)


def generator(seed: Seed = None) -> np.random.Generator:
    """A NumPy Generator from a seed; a Generator is returned as it is; None gives this thread's
    generator, which `manual_seed` seeds.
    """
    return state.generator if seed is None else np.random.default_rng(seed)


def xavier_uniform(tensor: T, seed: Seed = None) -> T:
    """Fill a tensor of shape (in, out) with uniform random numbers from −b to b, b = √(6 / (in + out)):
    signals keep their size in the forward pass, gradients in the backward pass (Glorot and Bengio 2010).
    """
    fan_in, fan_out = fans(tensor)
    return uniform(tensor, math.sqrt(6 / max(fan_in + fan_out, 1)), seed)


def kaiming_uniform(tensor: T, a: float = 0.0, seed: Seed = None) -> T:
    """Fill a tensor of shape (in, out) with uniform random numbers from −b to b, b = √(6 / ((1 + a²) in)):
    signals keep their size through leaky ReLUs of negative slope a, and through ReLUs (He et al. 2015).
    """
    return uniform(tensor, math.sqrt(6 / ((1 + a * a) * max(fans(tensor)[0], 1))), seed)


def normal(tensor: T, mean: float = 0.0, std: float = 0.02, seed: Seed = None) -> T:
    """Fill a tensor with random numbers of the normal distribution."""
    return tensor.write(generator(seed).normal(mean, std, tensor.shape))


def constant(tensor: T, val: float) -> T:
    """Fill a tensor with one number."""
    return tensor.write(np.full(tensor.shape, val))


def uniform(tensor: T, bound: float, seed: Seed) -> T:
    """Fill a tensor with uniform random numbers from −bound to bound."""
    return tensor.write(generator(seed).uniform(-bound, bound, tensor.shape))


def fans(tensor: Tensor) -> tuple[int, ...]:
    """(fan-in, fan-out) of the weight of a layer. ValueError unless it has two axes."""
    if tensor.ndim != 2:
        raise ValueError(f"weights have the shape (in, out), not {tensor.shape}")
    return tensor.shape
