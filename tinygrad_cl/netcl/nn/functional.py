"""Layers as functions: those that keep nothing between two calls.

Generated from `__all__` of its modules by `make notebooks`: edit those.
"""

from tinygrad_cl.netcl.autograd import (
    cross_entropy,
    elu,
    embedding,
    gelu,
    layer_norm,
    leaky_relu,
    linear,
    log_softmax,
    mse_loss,
    relu,
    sigmoid,
    softmax,
    softplus,
    swish,
    tanh,
)
from tinygrad_cl.netcl.nn.attention import (
    scaled_dot_product_attention,
)
from tinygrad_cl.netcl.nn.basic import (
    dropout,
)

__all__ = [
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "mse_loss",
    "relu",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "swish",
    "tanh",
]

silu = swish
