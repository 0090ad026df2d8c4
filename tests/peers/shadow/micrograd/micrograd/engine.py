"""micrograd's `Value` is engine 1's."""

from tinygrad_cl.scalar import Value

__all__ = ["Value"]
