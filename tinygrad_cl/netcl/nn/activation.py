"""Activations as layers: what `nn.activations` makes of the table of elementwise operations."""

from tinygrad_cl.netcl.autograd.node import apply_primitive
from tinygrad_cl.netcl.autograd.normalization import softmax
from tinygrad_cl.netcl.autograd.types import Operand
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.nn.module import Module
from tinygrad_cl.netcl.ops import table  # noqa: F401 (fills the table)
from tinygrad_cl.netcl.ops.primitives import get_primitive
from tinygrad_cl.netcl.tape.node import Node

__all__ = ["Activation", "Softmax", "activation"]


class Activation(Module):
    """An operation of the table as a layer. Its constants are arguments, in the table's order.

    primitive   the operation's name
    attrs       the constants that were given
    """

    primitive: str = ""

    def __init__(self, *values: float, **constants: float) -> None:
        record = get_primitive(self.primitive)
        if len(values) > len(record.attrs):
            raise TypeError(
                f"{type(self).__name__} takes {len(record.attrs)} constants, not "
                f"{len(values)}: it is a layer, so write {type(self).__name__}()(x)"
            )
        self.attrs = dict(zip(record.attrs, values)) | constants
        record.constants(self.attrs)  # TypeError for one that it does not have

    def forward(self, x: Operand) -> Node:
        return apply_primitive(self.primitive, x, **self.attrs)

    def __repr__(self):
        constants = ", ".join(f"{name}={value}" for name, value in self.attrs.items())
        return f"{type(self).__name__}({constants})"


def activation(name: str, primitive: str) -> type[Activation]:
    """The class of layers for a primitive of one input, also one that you registered."""
    record = get_primitive(primitive)
    constants = "".join(f"; {key}={value} by default" for key, value in record.attrs.items())
    return type(
        name, (Activation,), {"primitive": primitive, "__module__": __name__, "__doc__": f"{record.formula}{constants}"}
    )


class Softmax(Module):
    """eˣ / Σ eˣ along an axis: probabilities. Not needed before a cross-entropy: `cross_entropy` takes
    logits.
    """

    def __init__(self, axis: int = -1) -> None:
        self.axis = axis

    def forward(self, x: Node | Tensor) -> Node:
        return softmax(x, self.axis)

    def __repr__(self):
        return f"Softmax(axis={self.axis})"
