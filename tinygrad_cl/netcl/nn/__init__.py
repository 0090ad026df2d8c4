"""Layers and models, under netcl's names: `import tinygrad_cl.netcl.nn as nn`.

Generated from `__all__` of its modules by `make notebooks`: edit those.
"""

from tinygrad_cl.netcl.core.parameter import (
    Parameter,
)
from tinygrad_cl.netcl.nn import (
    functional,
    init,
)
from tinygrad_cl.netcl.nn.activation import (
    Activation,
    Softmax,
    activation,
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
from tinygrad_cl.netcl.nn.attention import (
    MultiheadAttention,
    TransformerBlock,
)
from tinygrad_cl.netcl.nn.basic import (
    Dropout,
    Embedding,
    Flatten,
    LayerNorm,
    Linear,
    Sequential,
)
from tinygrad_cl.netcl.nn.init import (
    manual_seed,
)
from tinygrad_cl.netcl.nn.module import (
    Module,
)

__all__ = [
    "Activation",
    "Dropout",
    "ELU",
    "Embedding",
    "Flatten",
    "GELU",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "Module",
    "MultiheadAttention",
    "Parameter",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Swish",
    "Tanh",
    "TransformerBlock",
    "activation",
    "functional",
    "init",
    "manual_seed",
]
