"""tinygrad's names on top of engine 2 or 3: PEERS_ENGINE says which."""

from types import SimpleNamespace

from tinygrad.dtype import dtypes
from tinygrad.helpers import Context
from tinygrad.tensor import Tensor

_renderer = SimpleNamespace(supported_dtypes=lambda: [dtypes.float32, dtypes.float64])


class Device:
    """One that is called CPU."""

    DEFAULT = "CPU"

    def __class_getitem__(cls, name):
        return SimpleNamespace(renderer=_renderer)


__all__ = ["Context", "Device", "Tensor", "dtypes"]
