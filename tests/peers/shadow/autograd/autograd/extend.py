"""What users extend autograd with: primitives of their own, as Functions of engine 2."""

from autograd.core import Array, VSpace, defvjp, defvjp_argnum, notrace_primitive, primitive, vspace

Box = Array
__all__ = ["Box", "VSpace", "defvjp", "defvjp_argnum", "notrace_primitive", "primitive", "vspace"]
