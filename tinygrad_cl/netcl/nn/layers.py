"""All layers, under the name that netcl has for them.

Generated from `__all__` of its modules by `make notebooks`: edit those.
"""

from tinygrad_cl.netcl.nn.activation import (
    Softmax,
)
from tinygrad_cl.netcl.nn.activations import (
    ELU,
    GELU,
    LeakyReLU,
    ReLU,
    SiLU,
    Sigmoid,
    Softplus,
    Swish,
    Tanh,
)
from tinygrad_cl.netcl.nn.basic import (
    Dropout,
    Embedding,
    Flatten,
    LayerNorm,
    Linear,
    Sequential,
)
from tinygrad_cl.netcl.nn.module import (
    Module,
)

__all__ = [
    "Dropout",
    "ELU",
    "Embedding",
    "Flatten",
    "GELU",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "Module",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Swish",
    "Tanh",
]
