"""The same engine under PyTorch's names: `import tinygrad_cl.tensor.torch as torch`.

Where the engine and PyTorch mean different things by one name, this package means what PyTorch does:
x.max(0) gives values and indices, x.var() divides by n − 1. docs/peers.md lists what differs still.

>>> import tinygrad_cl.tensor.torch as torch
>>> x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
>>> x.pow(2).sum(dim=0).backward(); x.grad
Tensor([2., 4., 6.])
"""

import numpy as np

from tinygrad_cl.tensor import functional
from tinygrad_cl.tensor.core import is_grad_enabled
from tinygrad_cl.tensor.core.variable import Variable, raw
from tinygrad_cl.tensor.functional import where
from tinygrad_cl.tensor.modes import enable_grad, no_grad, set_grad_enabled
from tinygrad_cl.tensor.peers import as_function
from tinygrad_cl.tensor.random import manual_seed
from tinygrad_cl.tensor.torch import autograd, creation, nn, optim, utils
from tinygrad_cl.tensor.torch.tensor_class import Tensor, only_cpu

__all__ = ["Tensor", "allclose", "autograd", "bool", "cat", "cuda", "device", "double", "enable_grad", "equal", "float"]
__all__ += [
    "float32",
    "float64",
    "inf",
    "inference_mode",
    "int",
    "int32",
    "int64",
    "is_grad_enabled",
    "is_tensor",
    "long",
]
__all__ += ["manual_seed", "nan", "nn", "no_grad", "optim", "pi", "set_grad_enabled", "stack", "utils", "where"]

float32 = float = np.float32
float64 = double = np.float64
int32 = int = np.int32
int64 = long = np.int64
bool = np.bool_
inf, nan, pi = np.inf, np.nan, np.pi
inference_mode = no_grad
device = only_cpu

CREATION = """
arange as_tensor empty empty_like eye from_numpy full full_like linspace ones ones_like rand rand_like randint randn
randn_like randperm tensor zeros zeros_like
""".split()
# torch.exp(x) is x.exp(): these functions are methods of their first argument.
METHODS = """
abs add all amax amin any argmax argmin bmm ceil clamp clone cos cumsum detach div dot eq exp flatten flip floor gather
ge gt isfinite isinf isnan le log log1p log_softmax lt masked_fill matmul max maximum mean min minimum mm mul mv ne neg
norm numel permute pow reciprocal relu reshape round rsqrt sigmoid sign sin softmax sqrt square squeeze std sub sum t
tanh transpose unsqueeze var
""".split()


def __getattr__(name):
    if name in CREATION:
        return getattr(creation, name)
    if name in METHODS:
        return as_function(name)
    raise AttributeError(f"torch.{name} is not among PyTorch's names that engine 2 knows: see docs/peers.md")


def __dir__():
    return [*__all__, *CREATION, *METHODS]


class cuda:
    """So that a program finds out that it stays on the processor."""

    @staticmethod
    def is_available():
        return False


def cat(tensors, dim=0):
    return functional.cat(tensors, dim)


def stack(tensors, dim=0):
    return functional.stack(tensors, dim)


def equal(a, b):
    """Have they one shape, and equal numbers?"""
    return np.array_equal(raw(a), raw(b))


def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Is |a − b| ≤ atol + rtol |b| everywhere?"""
    return np.allclose(raw(a), raw(b), rtol, atol, equal_nan)


def is_tensor(x):
    return isinstance(x, Variable)
