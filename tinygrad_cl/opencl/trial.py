"""Run a student's kernel for a check: its results, and a sentence on its memory accesses."""

from collections.abc import Sequence

import numpy as np

from tinygrad_cl.opencl.kernels import Argument, Size, launch_guarded
from tinygrad_cl.opencl.oclgrind import inspect_kernel

UNSET = -1000.0  # the elements of every result before the run
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
    """Run a kernel with margins around its arrays: (result array, sentence on its memory accesses).

    arguments   the kernel's arguments; None stands for a result, an array of `result` elements
    result      the size of the result; a tuple for several results: then they are returned as a list, and `right` is a
                sequence, too
    right       the expected result. If it is given and the kernel's result is right, the kernel runs again under
                Oclgrind, if installed, which finds accesses outside arrays and races that did no visible harm
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


def tried(
    source: str,
    name: str,
    *arguments: Argument | None,
    result: int | tuple[int, ...],
    work_items: Size,
    local_size: Size | None = None,
    offset: Size = 0,
    seed: int = 0,
) -> dict:
    """What a kernel leaves behind, for a check: {"out": the result, or several, "outside": numbers written outside the arrays,
    "inputs changed": how many of them}. Arguments as for `try_kernel`; the results are filled with random numbers of the seed
    before, so that what nobody writes is right nowhere.
    """
    sizes = iter(result if isinstance(result, tuple) else (result,))
    rng = np.random.default_rng(seed)
    given = [rng.normal(0, 50, next(sizes)).astype(np.float32) if each is None else each for each in arguments]
    after, outside = launch_guarded(source, name, *given, work_items=work_items, local_size=local_size, offset=offset)
    arrays = [(now, then, each is None) for now, (then, each) in zip(after, arrays_of(given, arguments))]
    outs = [now for now, _, written in arrays if written]
    changed = sum(int((now.view(np.uint32) != then.view(np.uint32)).sum()) for now, then, out in arrays if not out)
    return {"out": outs if isinstance(result, tuple) else outs[0], "outside": outside, "inputs changed": changed}


def arrays_of(
    given: Sequence[Argument], arguments: Sequence[Argument | None]
) -> list[tuple[np.ndarray, Argument | None]]:
    return [(now, each) for now, each in zip(given, arguments) if isinstance(now, np.ndarray)]


def faults(
    source: str,
    name: str,
    *arguments: Argument | None,
    result: int | tuple[int, ...],
    work_items: Size,
    local_size: Size | None = None,
) -> list[str]:
    """What Oclgrind finds in one launch, as sentences; [] where it finds nothing, or is not installed."""
    lengths = iter(result if isinstance(result, tuple) else (result,))
    given = [np.zeros(next(lengths), np.float32) if each is None else each for each in arguments]
    return list(inspect_kernel(source, name, *given, work_items=work_items, local_size=local_size))


def verdict_on_memory(outs: Sequence[np.ndarray], outside: int, changed: int) -> str:
    faults = [f"{outside} numbers outside the arrays overwritten"] * bool(outside)
    faults += [f"{changed} numbers of the inputs overwritten"] * bool(changed)
    faults += ["nothing written into the result"] * any((out == UNSET).all() for out in outs)
    return "; ".join(faults)


_inspected: dict[tuple, str] = {}


def hidden_fault(
    source: str, name: str, given: Sequence[Argument], work_items: Size, local_size: Size | None, is_right: bool
) -> str:
    """The faults that Oclgrind finds in a kernel whose results are right; "" if none, or without Oclgrind."""
    if not is_right:
        return ""
    key = source, name, work_items, local_size
    if key not in _inspected:  # cached, since the next trial of a check asks for the same
        _inspected[key] = "; ".join(inspect_kernel(source, name, *given, work_items=work_items, local_size=local_size))
    return _inspected[key]
