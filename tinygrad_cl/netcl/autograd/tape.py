"""The name under which netcl has the tape, which stands in `tinygrad_cl.netcl.tape`."""

from tinygrad_cl.netcl.tape.tape import Tape

__all__ = ["Tape"]
