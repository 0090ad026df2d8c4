"""The name under which netcl offers `register_primitive`; the table itself is in ops.primitives."""

from tinygrad_cl.netcl.ops.primitives import register_primitive

__all__ = ["register_primitive"]
