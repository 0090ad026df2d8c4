"""Basic layers: linear, layer norm, embedding, dropout, flatten, and Sequential."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import DTypeLike

from tinygrad_cl.netcl import autograd as ag
from tinygrad_cl.netcl.autograd.types import Operand
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.nn import init
from tinygrad_cl.netcl.nn.activation import Activation
from tinygrad_cl.netcl.nn.init import Seed
from tinygrad_cl.netcl.nn.module import Module
from tinygrad_cl.netcl.ops.random import Generator, probability
from tinygrad_cl.netcl.tape.node import Node, as_nodes

__all__ = ["Dropout", "Embedding", "Flatten", "LayerNorm", "Linear", "Sequential", "dropout"]


class Linear(Module):
    """x · W + b, of shape (…, in_features) → (…, out_features).

    queue   the device's; None: the default device's
    bias    whether there is a b
    seed    an integer or a NumPy Generator; by default the generator that `init.manual_seed` seeds

    weight   (in_features, out_features), at first `init.xavier_uniform`: for deep stacks of ReLUs
             call `init.kaiming_uniform(layer.weight)`
    bias     (out_features,), at first 0, or None
    """

    def __init__(
        self,
        queue: cl.CommandQueue | None = None,
        in_features: int | None = None,
        out_features: int | None = None,
        bias: bool = True,
        *,
        dtype: DTypeLike = "float32",
        seed: Seed = None,
    ) -> None:
        check_lengths(
            "Linear(queue, in_features, out_features)", queue, in_features=in_features, out_features=out_features
        )
        queue = queue or manager.default("auto").queue
        self.weight = init.xavier_uniform(Parameter.from_shape(queue, (in_features, out_features), dtype), seed)
        self.bias = Parameter.full(queue, (out_features,), 0, dtype) if bias else None

    def forward(self, x: Operand, activation: Activation | None = None) -> Node:
        """The layer; with an Activation, that of the layer, as one operation."""
        x, weight = as_nodes((x, self.weight))
        check_last_axis(self, x, weight.shape[0])
        if activation is None:
            return ag.linear(x, weight, self.bias)
        return ag.linear(x, weight, self.bias, activation.primitive, **activation.attrs)

    def __repr__(self):
        bias = "" if self.bias is not None else ", bias=False"
        return "Linear({}, {}{})".format(*self.weight.shape, bias)


class LayerNorm(Module):
    """(x − mean) / √(variance + eps) · gamma + beta, with mean and variance of each row, the last
    axis (Ba et al. 2016).

    normalized_shape   the length of a row, n or (n,)

    gamma, beta   (n,), at first 1 and 0
    """

    def __init__(
        self,
        normalized_shape: int | tuple[int],
        eps: float = 1e-5,
        queue: cl.CommandQueue | None = None,
        *,
        dtype: DTypeLike = "float32",
    ) -> None:
        shape = tuple(np.atleast_1d(normalized_shape).tolist())
        if len(shape) != 1:
            raise ValueError(f"LayerNorm is over the last axis: one length, not {shape}")
        check_lengths("LayerNorm(normalized_shape, eps, queue)", queue, normalized_shape=shape[0])
        queue = queue or manager.default("auto").queue
        self.eps = eps
        self.gamma = Parameter.full(queue, shape, 1, dtype)
        self.beta = Parameter.full(queue, shape, 0, dtype)

    def forward(self, x: Operand) -> Node:
        x, gamma = as_nodes((x, self.gamma))
        check_last_axis(self, x, gamma.shape[0])
        return ag.layer_norm(x, gamma, self.beta, self.eps)

    def __repr__(self):
        return f"LayerNorm({self.gamma.shape[0]})"


class Embedding(Module):
    """A table with a row for each index: indices (…) → (…, embedding_dim).

    weight   (num_embeddings, embedding_dim), at first normal with standard deviation init_std
    seed     as for Linear
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        queue: cl.CommandQueue | None = None,
        init_std: float = 1.0,
        *,
        dtype: DTypeLike = "float32",
        seed: Seed = None,
    ) -> None:
        check_lengths(
            "Embedding(num_embeddings, embedding_dim, queue)",
            queue,
            num_embeddings=num_embeddings,
            embedding_dim=embedding_dim,
        )
        queue = queue or manager.default("auto").queue
        self.weight = init.normal(
            Parameter.from_shape(queue, (num_embeddings, embedding_dim), dtype), 0, init_std, seed
        )

    def forward(self, idx: Operand) -> Node:
        return ag.embedding(self.weight, idx)

    def __repr__(self):
        return "Embedding({}, {})".format(*self.weight.shape)


def dropout(x: Operand, p: float, generator: Generator, training: bool = True) -> Node:
    """Set each element to 0 with probability p, and divide the others by 1 − p, so that the mean stays.
    x itself if not training. Dropped elements get no gradient.

    generator   an `ops.random.Generator`, whose state is on the device: a replayed step draws new
                numbers
    """
    (x,) = as_nodes((x,))
    if not training or p == 0:
        return x
    return ag.mul(x, generator.keep(x.shape, p, x.dtype))


class Dropout(Module):
    """Set each element to 0 with probability p, and divide the others by 1 − p; after `eval()`, x as it is
    (Srivastava et al. 2014). Its random numbers come from the device, and are new in each replay.

    queue, seed   as for Linear
    """

    def __init__(self, p: float = 0.5, seed: Seed = None, *, queue: cl.CommandQueue | None = None) -> None:
        self.p = probability(p)
        rng = init.generator(seed)
        self.generator = Generator(queue or manager.default("auto").queue, rng.integers(2**63))

    def forward(self, x: Operand) -> Node:
        return dropout(x, self.p, self.generator, self.training)

    def __repr__(self):
        return f"Dropout({self.p})"


class Flatten(Module):
    """(n, …) → (n, product of the rest)."""

    def forward(self, x: Operand) -> Node:
        (x,) = as_nodes((x,))
        return ag.reshape(x, (*x.shape[:1], math.prod(x.shape[1:])))


class Sequential(Module):
    """Layers, applied in order. A Linear followed by an Activation is computed as one operation.

    layers   Modules, or functions

    >>> from tinygrad_cl.netcl.nn.activations import ReLU
    >>> model = Sequential(Linear(None, 2, 3), ReLU(), Linear(None, 3, 1))
    >>> model(np.zeros((4, 2)))
    Node(shape=(4, 1), dtype=float32, op_name='linear', requires_grad=True)
    """

    def __init__(self, *layers: Callable[..., Any]) -> None:
        for layer in layers:
            if isinstance(layer, type):
                raise TypeError(f"{layer.__name__} is a class of layers: write {layer.__name__}()")
            if not callable(layer):
                raise TypeError(
                    f"Sequential takes layers, not a {type(layer).__name__}; write "
                    "Sequential(*layers) for a list of them"
                )
        self.layers = list(layers)

    def forward(self, x: Any) -> Any:
        done = None  # the activation that the Linear before it has computed with its own product
        for layer, follower in zip(self.layers, [*self.layers[1:], None]):
            if layer is done:
                done = None
            elif are_one(layer, follower):
                x, done = layer(x, follower), follower
            else:
                x = layer(x)
        return x

    def __len__(self) -> int:
        return len(self.layers)

    def __getitem__(self, number: int) -> Callable[..., Any]:
        return self.layers[number]

    def __repr__(self):
        return f"Sequential({', '.join(map(repr, self.layers))})"


def are_one(layer, follower):
    """Whether two layers are a Linear and an Activation that can be computed as one operation."""
    return type(layer) is Linear and isinstance(follower, Activation) and type(follower).forward is Activation.forward


def check_lengths(call, queue, **lengths):
    """Check the arguments of a layer: ValueError for a length that is no positive integer, TypeError for
    an integer in place of the queue.
    """
    if isinstance(queue, int):
        raise TypeError(f"{call}: the queue is {queue!r}; pass None for the default device")
    for name, length in lengths.items():
        if not isinstance(length, int) or length < 1:
            raise ValueError(f"{call}: {name} is a whole number from 1 on, not {length!r}")


def check_last_axis(layer, x, length):
    """ValueError if the last axis of a layer's input has another length."""
    shape = getattr(x, "shape", ())
    if shape[-1:] != (length,):
        raise ValueError(f"{layer} takes a tensor of shape (…, {length}), not {shape}")
