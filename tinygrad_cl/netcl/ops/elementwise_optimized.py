"""netcl's tutorials import `elementwise_unary` under this name; every elementwise kernel here is
vectorized.
"""

from tinygrad_cl.netcl.ops.elementwise import elementwise_unary

__all__ = ["elementwise_unary"]
