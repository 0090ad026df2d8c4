"""The name under which netcl has the tape: it stands in `tinygrad_cl.netcl.tape`."""

from tinygrad_cl.netcl.tape.tape import Tape, topological_order

__all__ = ["Tape", "topological_order"]
