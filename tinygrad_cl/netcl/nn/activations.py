"""The elementwise operations that are layers.

Generated from the records in netcl/ops/table.py by `make notebooks`: edit those.
"""

from tinygrad_cl.netcl.nn.activation import Activation

__all__ = [
    "ELU",
    "GELU",
    "LeakyReLU",
    "ReLU",
    "SiLU",
    "Sigmoid",
    "Softplus",
    "Swish",
    "Tanh",
]


class ELU(Activation):
    """x if x > 0 else alpha · (eˣ − 1); alpha=1.0 by default"""

    primitive = "elu"


class GELU(Activation):
    """x · Φ(x); the slope is Φ(x) + x · φ(x)"""

    primitive = "gelu"


class LeakyReLU(Activation):
    """x if x > 0 else negative_slope · x; negative_slope=0.01 by default"""

    primitive = "leaky_relu"


class ReLU(Activation):
    """max(x, 0); the slope at 0 is 0"""

    primitive = "relu"


class SiLU(Activation):
    """x · σ(x); the slope is σ(x) · (1 + x − x · σ(x))"""

    primitive = "swish"


class Sigmoid(Activation):
    """σ(x) = 1 / (1 + e⁻ˣ)"""

    primitive = "sigmoid"


class Softplus(Activation):
    """ln(1 + eˣ)"""

    primitive = "softplus"


class Tanh(Activation):
    """tanh x"""

    primitive = "tanh"


Swish = SiLU
