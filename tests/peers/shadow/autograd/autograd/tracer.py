"""What a traced value is: an Array of engine 2."""

from autograd.core import Array, getval, isbox, notrace_primitive, primitive

Box = Array
__all__ = ["Box", "getval", "isbox", "notrace_primitive", "primitive"]
