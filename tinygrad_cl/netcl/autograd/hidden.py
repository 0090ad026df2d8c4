"""What a function asks that may answer something else in the next call: clocks, random generators, input."""

import gc
import sys
from contextlib import contextmanager
from types import ModuleType

import numpy as np

MODULES = {"time", "random", "_random"}
CALLS = {"datetime.now", "datetime.today", "datetime.utcnow", "builtins.input", "io.open", "_io.open"}
# They read files of kernels, and take times: nothing that a result depends on.
BUILDERS = ("pyopencl", "tinygrad_cl.opencl")
CALLS |= {f"{system}.{name}" for system in ("posix", "nt") for name in ("urandom", "getrandom", "times")}


@contextmanager
def watched():
    """`with watched() as found:` — a list that gets the name of each such call of this thread.

    Seen are functions written in C, however they are reached: those of Python ask them. The generator
    behind np.random.rand, which is none, is looked at before and after.
    """
    found, printing = [], []

    def look(frame, event, function):
        if function is print:  # a notebook's output asks a clock
            printing[:] = [event] * (event == "c_call")
        elif event == "c_call" and not printing:
            owner = getattr(function, "__self__", None)
            kind = owner if isinstance(owner, type) else type(owner)
            module = owner.__name__ if isinstance(owner, ModuleType) else kind.__module__
            name = f"{module}.{function.__name__}"
            if (module in MODULES or name in CALLS) and not builds_a_kernel(frame):
                found.append(name)

    def drawn():
        _, words, *rest = np.random.get_state()
        return words.tobytes(), *rest

    before, draws, collects = sys.getprofile(), drawn(), gc.isenabled()
    gc.disable()  # a collection calls whoever asked to be told, and they ask clocks
    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    if drawn() != draws:
        found.append("np.random")


def builds_a_kernel(frame) -> bool:
    """Whether a call comes from what builds and keeps kernels."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(BUILDERS):
            return True
        frame = frame.f_back
    return False
