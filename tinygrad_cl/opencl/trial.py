"""One run of a student's kernel for a check: what it computed, and a sentence on what it did to memory."""

from collections.abc import Sequence

import numpy as np

from tinygrad_cl.opencl.kernels import Argument, Size, launch_guarded
from tinygrad_cl.opencl.oclgrind import inspect_kernel

UNSET = -1000.0  # in every result before the run
FINE = "as it should be"


def try_kernel(
    source: str,
    name: str,
    *arguments: Argument | None,
    result: int | tuple[int, ...],
    work_items: Size,
    local_size: Size | None = None,
    offset: Size = 0,
    right: np.ndarray | Sequence[np.ndarray] | None = None,
) -> tuple[np.ndarray | list[np.ndarray], str]:
    """(the result as an array, a sentence on memory) of a kernel between margins.

    arguments   what the kernel takes; None stands for the result, an array of as many numbers as `result` says
    result      a tuple where there are several results: then they come back as a list, and `right` is a sequence, too
    right       what the result should be: then a kernel that is right is run under Oclgrind, where that is installed, so
                that an access outside an array or a race does not pass by luck
    """
    several = isinstance(result, tuple)
    sizes = iter(result if isinstance(result, tuple) else (result,))
    given = [np.full(next(sizes), UNSET, np.float32) if argument is None else argument for argument in arguments]
    before = [argument for argument in given if isinstance(argument, np.ndarray)]
    is_result = [argument is None for argument in arguments if argument is None or isinstance(argument, np.ndarray)]
    after, outside = launch_guarded(source, name, *given, work_items=work_items, local_size=local_size, offset=offset)
    outs = [array for array, written in zip(after, is_result) if written]
    changed = sum(int((now != then).sum()) for now, then, written in zip(after, before, is_result) if not written)
    is_right = right is not None and all(
        np.allclose(out, expected, 1e-4, 1e-4) for out, expected in zip(outs, right if several else [right])
    )
    said = (
        verdict_on_memory(outs, outside, changed)
        or hidden_fault(source, name, given, work_items, local_size, is_right)
        or FINE
    )
    return outs if several else outs[0], said


def verdict_on_memory(outs: Sequence[np.ndarray], outside: int, changed: int) -> str:
    faults = [f"{outside} numbers outside the arrays overwritten"] * bool(outside)
    faults += [f"{changed} numbers of the inputs overwritten"] * bool(changed)
    faults += ["nothing written into the result"] * any((out == UNSET).all() for out in outs)
    return "; ".join(faults)


_inspected: dict[tuple, str] = {}


def hidden_fault(
    source: str, name: str, given: Sequence[Argument], work_items: Size, local_size: Size | None, is_right: bool
) -> str:
    """What Oclgrind sees in a kernel whose results are right; "" where it sees nothing, or is not there."""
    if not is_right:
        return ""
    key = source, name, work_items, local_size
    if key not in _inspected:  # the next trial of a check asks the same
        _inspected[key] = "; ".join(inspect_kernel(source, name, *given, work_items=work_items, local_size=local_size))
    return _inspected[key]
