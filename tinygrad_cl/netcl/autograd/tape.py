"""netcl's name for the tape, which is in `tinygrad_cl.netcl.tape`."""

from tinygrad_cl.netcl.tape.tape import Tape

__all__ = ["Tape"]
