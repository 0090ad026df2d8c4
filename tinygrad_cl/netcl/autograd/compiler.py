"""netcl's names for its compiler. The table of operations is in ops.primitives, tracing in `trace`,
kernels in `compiled_graph`.
"""

from tinygrad_cl.netcl.autograd.jit import jit_compile
from tinygrad_cl.netcl.autograd.trace import TraceNode
from tinygrad_cl.netcl.ops.primitives import get_primitive, register_primitive

__all__ = ["TraceNode", "get_primitive", "jit_compile", "register_primitive"]
