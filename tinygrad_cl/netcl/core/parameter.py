"""A tensor that an optimizer updates."""

from tinygrad_cl.netcl.core.tensor import Tensor


class Parameter(Tensor):
    """A Tensor that requires a gradient. `from_host`, `from_shape` and `full` create one.

    >>> from tinygrad_cl.netcl.core.device import manager
    >>> weights = Parameter.from_host(manager.default("auto").queue, [[0.5, -0.5]])
    >>> weights, weights.requires_grad
    (Parameter(shape=(1, 2), dtype=float32), True)
    """

    __slots__ = ()

    def __init__(self, spec, buffer, requires_grad=True):
        super().__init__(spec, buffer, requires_grad)
