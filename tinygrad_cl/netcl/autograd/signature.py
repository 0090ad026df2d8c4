"""What the trace of a function depends on, so that an earlier trace is used again where it is valid."""

import dis
import functools
import types
from numbers import Real

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.tape.node import Node

FIXED = (type(None), str, bytes, types.ModuleType, types.BuiltinFunctionType)
PACKAGE = __name__.partition(".")[0]


class Signature:
    """The arguments of a call, and the values of the names that the function uses from outside.

    key        the same for two calls whose traces are the same
    inputs     the Nodes, Tensors and numbers among them, in order
    complete   whether the key holds everything: a list or an object may change before the next call
    """

    __slots__ = ("key", "inputs", "complete", "_functions")

    def __init__(self, *known):
        self.key, self.inputs, self.complete = [*known], [], True
        self._functions = set()

    def add(self, x):
        """Add a value."""
        if isinstance(x, Node):
            self.key += (x.value.spec, x.requires_grad)
            self.inputs.append(x)
        elif isinstance(x, Tensor):
            self.key += (x.spec, x.requires_grad)
            self.inputs.append(x)
        elif isinstance(x, FIXED):
            self.key.append(x)
        elif isinstance(x, Real):
            self.key += (type(x), repr(x))
            self.inputs.append(x)
        elif isinstance(x, tuple):
            self.key.append(len(x))
            for each in x:
                self.add(each)
        elif isinstance(x, functools.partial):
            self.add(x.func)
            self.add(x.args)
            self.add(tuple(x.keywords.items()))
        elif isinstance(x, types.FunctionType):
            self.function(x)
        elif isinstance(x, type) and x.__module__ == "builtins":
            self.key.append(x)
        elif is_ours(type(x)) and hasattr(x, "__wrapped__"):  # another compiled function
            self.add(x.__wrapped__)
        else:
            self.key.append(...)
            self.complete = False

    def function(self, function):
        """Add a function, and what it uses from outside; functions of this package count as constant."""
        self.key.append(function)
        if function in self._functions or is_ours(function):
            return
        self._functions.add(function)
        for cell in function.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:  # not bound yet
                self.key.append(None)
        for name in global_names(function.__code__):
            self.add(function.__globals__.get(name))


def is_ours(x):
    """Whether a function or a class is of this package."""
    return (x.__module__ or "").partition(".")[0] == PACKAGE


@functools.lru_cache(maxsize=1024)
def global_names(code):
    """The names that a function's code, and the functions inside it, look up outside of it."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= set(global_names(constant))
    return tuple(sorted(names))
