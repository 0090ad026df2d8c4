"""What a check costs: run in a notebook's process, where this file travels as text, so it imports nothing of the course."""

import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from contextlib import ExitStack


def cost_of(run: Callable[[], object], seconds: float) -> dict[str, float]:
    """{"seconds": median, "bytes": peak, "launches": kernels} of one call of `run`, in about `seconds` of measuring.

    bytes      the most that Python and NumPy held at once, above what was held before
    launches   kernels of engine 3; only where the notebook has imported it
    """
    run()  # the first one builds kernels and fills caches
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return {"seconds": statistics.median(times), **counted(run)}


def counted(run: Callable[[], object]) -> dict[str, float]:
    """The bytes and the launches of one call."""
    engine = sys.modules.get("tinygrad_cl.netcl.core.device")
    devices = engine.manager.devices() if engine else []
    with ExitStack() as stack:
        watched = [stack.enter_context(device.watch()) for device in devices]
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            run()
            peak = tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()
    return {"bytes": peak, "launches": sum(map(len, watched))} if engine else {"bytes": peak}
