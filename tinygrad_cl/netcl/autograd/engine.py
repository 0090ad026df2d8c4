"""netcl's name for the core of autograd, which is in `tinygrad_cl.netcl.tape`."""

from tinygrad_cl.netcl.autograd.kept import apply_op
from tinygrad_cl.netcl.tape.node import Node
from tinygrad_cl.netcl.tape.tape import Tape

__all__ = ["Node", "Tape", "apply_op"]
