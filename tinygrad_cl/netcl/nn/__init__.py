"""Layers and models, under netcl's names: `import tinygrad_cl.netcl.nn as nn`."""

from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.nn import functional, init
from tinygrad_cl.netcl.nn.activations import Activation, activation
from tinygrad_cl.netcl.nn.attention import MultiheadAttention, TransformerBlock
from tinygrad_cl.netcl.nn.init import manual_seed
from tinygrad_cl.netcl.nn.layers import (
    ELU,
    GELU,
    Dropout,
    Embedding,
    Flatten,
    LayerNorm,
    LeakyReLU,
    Linear,
    ReLU,
    Sequential,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Swish,
    Tanh,
)
from tinygrad_cl.netcl.nn.module import Module

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
