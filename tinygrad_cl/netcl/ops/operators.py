"""What the operators between Tensors compute: core.tensor has the methods, but knows no kernels."""

from tinygrad_cl.netcl.core.tensor import OPERATORS, Tensor
from tinygrad_cl.netcl.ops import table  # noqa: F401 (fills the table)
from tinygrad_cl.netcl.ops.elementwise import compute
from tinygrad_cl.netcl.ops.matmul import matmul
from tinygrad_cl.netcl.ops.primitives import get_primitive


def elementwise(name):
    """A primitive of the table as a function of Tensors and numbers."""
    return lambda *operands: compute(get_primitive(name).forward_formula(), operands)


def product(a, b):
    """A @ B of two Tensors."""
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        raise TypeError("@ takes matrices and vectors; multiply by a number with *")
    return matmul(a, b)


OPERATORS.update({name: elementwise(name) for name in ("add", "sub", "mul", "div", "neg")}, matmul=product)
