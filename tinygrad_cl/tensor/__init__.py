"""Engine 2: reverse-mode automatic differentiation of NumPy arrays, under PyTorch's names.

Two storeys. core/ is the ground floor, what lessons 03 to 05 build: read it first, and you know the
engine. The modules beside it stand on it: changes in place and gradients of gradients (memory, node),
hooks, grad() (engine), tensor_class; checkpoint, optim, functional. Programs written for a peer run
under its names: torch, mxnet, tinytorch.
"""

from tinygrad_cl.tensor.checkpoint import checkpoint
from tinygrad_cl.tensor.core import Context, Function, enable_autograd, is_grad_enabled, unbroadcast
from tinygrad_cl.tensor.engine import backward, grad, saved_bytes
from tinygrad_cl.tensor.functional import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cat,
    cross_entropy,
    dropout,
    embedding,
    mse_loss,
    stack,
    where,
)
from tinygrad_cl.tensor.modes import enable_grad, no_grad, set_grad_enabled
from tinygrad_cl.tensor.optim import SGD, Adam, AdamW, clip_grad_norm_
from tinygrad_cl.tensor.random import manual_seed
from tinygrad_cl.tensor.tensor_class import Tensor

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "Context",
    "Function",
    "Tensor",
    "backward",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cat",
    "checkpoint",
    "clip_grad_norm_",
    "cross_entropy",
    "dropout",
    "embedding",
    "enable_autograd",
    "enable_grad",
    "grad",
    "is_grad_enabled",
    "manual_seed",
    "mse_loss",
    "no_grad",
    "saved_bytes",
    "set_grad_enabled",
    "stack",
    "unbroadcast",
    "where",
]


def __getattr__(name):
    raise AttributeError(
        f"tinygrad_cl.tensor has no {name!r}; a program under PyTorch's names runs with import tinygrad_cl.tensor.torch as torch"
    )
