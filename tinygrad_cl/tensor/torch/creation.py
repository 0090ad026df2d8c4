"""Tensors from numbers, from shapes and at random, under PyTorch's names.

float32 unless a dtype is given. Random numbers are the engine's, those that manual_seed starts: the
same seed gives the same ones each time, but not PyTorch's.
"""

import numpy as np

from tinygrad_cl.tensor import random
from tinygrad_cl.tensor.core.tensor import numbers
from tinygrad_cl.tensor.core.variable import Variable, as_array, raw
from tinygrad_cl.tensor.torch.tensor_class import Tensor, only_cpu


def made(array, dtype=None, requires_grad=False, device=None):
    """A tensor around this array, in the dtype."""
    only_cpu(device)
    return Tensor.wrap(array if dtype is None else array.astype(dtype, copy=False)).requires_grad_(requires_grad)


def tensor(data, dtype=None, requires_grad=False, device=None):
    """A tensor of these numbers, copied."""
    return made(as_array(data, dtype), None, requires_grad, device)


def as_tensor(data, dtype=None, device=None):
    """A tensor of these numbers; of an array, or a tensor, the same memory where that is possible."""
    if isinstance(data, Tensor):
        return data.to(dtype, device=device)
    return made(raw(data), dtype, device=device) if isinstance(raw(data), np.ndarray) else tensor(data, dtype)


def from_numpy(array):
    """A tensor in the array's memory: a change of the one changes the other."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"from_numpy takes an array, not {type(array).__name__}")
    return Tensor.wrap(array)


def zeros(*shape, dtype=np.float32, **options):
    return made(np.zeros(numbers(shape), dtype), **options)


def ones(*shape, dtype=np.float32, **options):
    return made(np.ones(numbers(shape), dtype), **options)


empty = zeros  # whose numbers are anybody's, so zeros will do


def full(size, fill_value, **options):
    return made(np.full(size, as_array(fill_value)), **options)


def eye(n, m=None, dtype=np.float32, **options):
    return made(np.eye(n, m, dtype=dtype), **options)


def arange(start, end=None, step=1, dtype=None, **options):
    """start, start + step, … before end; from 0 if one number is given."""
    start, end = (0, start) if end is None else (start, end)
    real = any(isinstance(x, float) for x in (start, end, step))
    return made(np.arange(start, end, step), dtype or (np.float32 if real else np.int64), **options)


def linspace(start, end, steps, dtype=np.float32, **options):
    return made(np.linspace(start, end, steps), dtype, **options)


def rand(*shape, dtype=np.float32, **options):
    """Evenly from 0 to 1, without 1."""
    return made(random.default_generator().random(numbers(shape), dtype), **options)


def randn(*shape, dtype=np.float32, **options):
    """From the standard normal distribution."""
    return made(random.default_generator().standard_normal(numbers(shape), dtype), **options)


def randint(low, high, size=None, dtype=np.int64, **options):
    """Whole numbers from low to high − 1; from 0 if one bound is given: randint(10, (2, 3))."""
    low, high, size = (0, low, high) if size is None else (low, high, size)
    return made(random.default_generator().integers(low, high, size), dtype, **options)


def randperm(n, **options):
    """The numbers 0 to n − 1 in a random order."""
    return made(random.default_generator().permutation(n), **options)


def like(create):
    """create, with the shape and type of a tensor."""

    def of_its_shape(input, dtype=None, **options):
        if not isinstance(input, Variable):
            raise TypeError(f"{create.__name__}_like takes a tensor, not {type(input).__name__}")
        return create(input.shape, dtype=dtype or input.dtype.type, **options)

    return of_its_shape


zeros_like, ones_like, rand_like, randn_like = map(like, (zeros, ones, rand, randn))
empty_like = zeros_like


def full_like(input, fill_value, dtype=None, **options):
    return full(input.shape, fill_value, dtype=dtype or input.dtype, **options)
