"""A tensor that an optimizer updates."""

import pyopencl as cl

from tinygrad_cl.netcl.core.tensor import Tensor, TensorSpec


class Parameter(Tensor):
    """A Tensor that requires a gradient. `from_host`, `from_shape` and `full` create one.

    >>> from tinygrad_cl.netcl.core.device import manager
    >>> weights = Parameter.from_host(manager.default("auto").queue, [[0.5, -0.5]])
    >>> weights, weights.requires_grad
    (Parameter(shape=(1, 2), dtype=float32), True)
    """

    __slots__ = ()

    def __init__(self, spec: TensorSpec, buffer: cl.Buffer, requires_grad: bool = True) -> None:
        super().__init__(spec, buffer, requires_grad)
