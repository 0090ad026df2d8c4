"""The ground floor of engine 2: what lessons 03 to 05 build, word for word, an engine of its own.

Read it in this order: variable (an array with a gradient), modes (recorded or not), function (an
operation with its derivative, and a call of it: a node), engine (backward), tensor (the operators);
then the rules: arithmetic, elementwise, shapes, reductions, matmul, activations, losses, indexing.
"""

from tinygrad_cl.tensor.core.engine import unbroadcast
from tinygrad_cl.tensor.core.function import Context, Function
from tinygrad_cl.tensor.core.modes import GradMode, enable_autograd, is_grad_enabled
from tinygrad_cl.tensor.core.tensor import Tensor

__all__ = [
    "Context",
    "Function",
    "GradMode",
    "Tensor",
    "enable_autograd",
    "is_grad_enabled",
    "unbroadcast",
]
