"""Run a student's kernel for a check: what it leaves behind; and, where Oclgrind watches, what it said."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

import numpy as np

from tinygrad_cl.opencl.kernels import Argument, Size, launch_guarded
from tinygrad_cl.opencl.oclgrind import Inspection, inspect_kernel

_seen: ContextVar[list[Inspection] | None] = ContextVar("_seen", default=None)


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
    """What a kernel leaves behind: {"out": the result, or several, "outside": numbers written outside the arrays, "inputs
    changed": how many of them}. The arrays lie between margins of NaN.

    arguments   the kernel's arguments; None stands for a result. Results are filled before, with random numbers of the
                seed and a NaN here and there: what nobody writes is right nowhere, and 0 times what was there is not 0
    result      the size of the result, or a tuple of sizes: then "out" is a list
    work_items  as for `kernels.launch_guarded`, like local_size and offset
    """
    sizes = iter(result if isinstance(result, tuple) else (result,))
    rng = np.random.default_rng(seed)
    given = [unset(next(sizes), rng) if each is None else each for each in arguments]
    after, outside = launch_guarded(source, name, *given, work_items=work_items, local_size=local_size, offset=offset)
    before = [(then, each is None) for then, each in zip(given, arguments) if isinstance(then, np.ndarray)]
    outs = [now for now, (_, is_result) in zip(after, before) if is_result]
    inputs = [(now, then) for now, (then, is_result) in zip(after, before) if not is_result]
    changed = sum(int((now.view(np.uint32) != then.view(np.uint32)).sum()) for now, then in inputs)
    if (seen := _seen.get()) is not None:
        seen.append(inspect_kernel(source, name, *given, work_items=work_items, local_size=local_size))
    return {"out": outs if isinstance(result, tuple) else outs[0], "outside": outside, "inputs changed": changed}


def unset(size: int, rng: np.random.Generator) -> np.ndarray:
    """Memory as nobody has set it: random float32 numbers, one in five NaN."""
    return np.where(rng.random(size) < 0.2, np.nan, rng.normal(0, 50, size)).astype(np.float32)


@contextlib.contextmanager
def watching() -> Iterator[list[Inspection]]:
    """In the `with` block Oclgrind watches each kernel that is `tried`; the list of what it said of each."""
    token = _seen.set([])
    try:
        yield _seen.get()  # type: ignore[misc] # it was set in the line above
    finally:
        _seen.reset(token)
