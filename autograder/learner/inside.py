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
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    cost = {"seconds": statistics.median(times), "bytes": peak_bytes(run)}
    launches = count_launches(run)
    return cost if launches is None else {**cost, "launches": launches}


def peak_bytes(run: Callable[[], object]) -> int:
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def count_launches(run: Callable[[], object]) -> int | None:
    """How many kernels engine 3 launched; None where it is not there."""
    engine = sys.modules.get("tinygrad_cl.netcl.core.device")
    if engine is None:
        return None
    with ExitStack() as stack:
        watched = [stack.enter_context(device.watch()) for device in engine.manager.devices()]
        run()
    return sum(map(len, watched))
