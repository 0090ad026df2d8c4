"""The name under which netcl has the heart of its autograd: nodes in `node`, the way back in
`tape`.
"""

from tinygrad_cl.netcl.autograd.node import Node, apply_op
from tinygrad_cl.netcl.autograd.tape import Tape

__all__ = ["Node", "Tape", "apply_op"]
