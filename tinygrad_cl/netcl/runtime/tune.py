"""The launch configuration of a device, measured on it instead of derived from what it reports.

Only what changes no result and no number of launches is tried: the tile of a matrix product, and when and how much of
the right factor is copied. The candidates take turns, so that what disturbs one disturbs all, and each counts with its
fastest turn. What wins is kept with the measurements of this computer; `launch_config_for` reads it.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyopencl as cl

from tinygrad_cl import measurements, opencl
from tinygrad_cl.netcl.core.device import Device, by_rules, manager, tuning_key
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.matmul import matmul

SIZES = (128, 512, 1024)
TRANSPOSITIONS = {"NN": (False, False), "NT": (False, True), "TN": (True, False)}
TILES = [{"rows": rows, "vectors": vectors} for vectors in (2, 1) for rows in (6, 8, 10, 12, 14)]
TURNS = 5
SECONDS = 20
WORTH = 0.97  # of the time by rules: what wins by less may have won by chance


@dataclass(frozen=True)
class Trial:
    """What was tried: the settings, and the seconds that each product took, {"512 NT": …}."""

    settings: dict[str, Any]
    seconds: dict[str, float]

    def ratio(self, other: "Trial") -> float:
        """The geometric mean of its seconds, each divided by the other's."""
        ratios = [self.seconds[name] / other.seconds[name] for name in self.seconds]
        return math.exp(sum(map(math.log, ratios)) / len(ratios))


def tune(
    found: opencl.Device,
    sizes: Sequence[int] = SIZES,
    seconds: float = SECONDS,
    tiles: Sequence[dict[str, Any]] = TILES,
) -> dict[str, Any]:
    """Measure a device, keep what wins, and return it with what was tried, as `kept` does.

    seconds   after that many no further candidate is tried

    A GPU's kernels have nothing to choose: nothing is tried.
    """
    end = time.monotonic() + seconds
    rules = by_rules(found)
    copies = [{"packed": rules.near * factor // 2} for factor in (1, 4, 8)]
    panels = [{"panel": rules.near // factor} for factor in (1, 4, 8)]
    best: dict[str, Any] = {}
    tried: list[tuple[dict[str, Any], float]] = []
    for candidates in () if rules.local_memory else (tiles, copies, panels):
        first, *others = measure(found, [best, *(best | each for each in candidates)], sizes, end)
        ratios = [(trial.settings, trial.ratio(first)) for trial in others]
        tried += ratios
        best = min([(best, WORTH), *ratios], key=lambda each: each[1])[0]
    if best:
        first, again = measure(found, [{}, best], sizes, math.inf)
        tried.append((best, again.ratio(first)))
        best = best if again.ratio(first) < WORTH else {}
    result = {"settings": best, "tried": tried}
    measurements.keep({"tuned": measurements.read().get("tuned", {}) | {tuning_key(found): result}})
    return result


def kept(found: opencl.Device) -> dict[str, Any]:
    """What was measured before: the settings that won, {} for the rules, and (settings, ratio) of all that was tried.

    ratio   its time divided by that of the best so far, and the last by that of the rules: a geometric mean
    """
    result = measurements.read().get("tuned", {}).get(tuning_key(found), {})
    return {"settings": {}, "tried": []} | result


def measure(found: opencl.Device, candidates: list[dict[str, Any]], sizes: Sequence[int], end: float) -> list[Trial]:
    """A Trial for each of the candidates, in turns; those that `end` leaves no time to compile are left out."""
    runs: list[dict[str, Callable[[], Any]]] = []
    for settings in candidates:
        if runs and time.monotonic() > end:
            break
        config = replace(by_rules(found), **settings)
        device = manager.use(found, cl.CommandQueue(found.context), config)
        runs.append(products(device, sizes))
        for product in runs[-1].values():  # compiles
            product()
    seconds: list[dict[str, float]] = [{} for _ in runs]
    for _ in range(TURNS):
        for products_of, fastest in zip(runs, seconds):
            for name, product in products_of.items():
                start = time.perf_counter()
                product()
                fastest[name] = min(time.perf_counter() - start, fastest.get(name, math.inf))
    return [Trial(settings, fastest) for settings, fastest in zip(candidates, seconds)]


def products(device: Device, sizes: Sequence[int]) -> dict[str, Callable[[], None]]:
    """{"512 NT": a function that multiplies two matrices of 512 × 512, the second transposed, and waits}"""

    def product_of(x: Tensor, flags: tuple[bool, bool]) -> Callable[[], None]:
        def product() -> None:
            matmul(x, x, *flags)
            device.queue.finish()

        return product

    factors = {size: Tensor.from_host(device.queue, np.ones((size, size), np.float32)) for size in sizes}
    return {
        f"{size} {name}": product_of(x, flags) for size, x in factors.items() for name, flags in TRANSPOSITIONS.items()
    }
