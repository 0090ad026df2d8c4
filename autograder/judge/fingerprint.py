"""Outcomes as they are recorded: small ones whole, of larger ones the shape, the first numbers and two projections."""

import math
from dataclasses import dataclass

import numpy as np

from autograder.checks.inside import Outcome
from autograder.judge.outcome import tolerance, words_of

WHOLE, DIGITS = 8, 12  # of the reference's outcomes: how many numbers are recorded, and to how many digits
OF_MISTAKES = 2, 9  # the same for a mistake's, which are compared and never shown
RTOL_OF_MISTAKES = 2e-8  # twice their last digit: two runs may be rounded apart
LARGE = "of"  # [shape, first numbers, sums without the last one where that is 0]
RTOL = 1e-9  # no two numbers are held to be different by less than these digits tell


@dataclass(frozen=True)
class Fingerprint(Outcome):
    """An array that was too large to record: `array` holds its first numbers.

    sums   two weighted sums of its finite numbers, the sum of their absolute values, and how many are not finite
    """

    shape: tuple[int, ...] = ()
    sums: tuple[float, ...] = ()

    def agrees(self, got: Outcome, rtol: float, atol: float) -> bool:
        if got.error or got.array is None or got.array.dtype.kind == "U":
            return False
        assert self.array is not None
        shape, sums = (got.shape, got.sums) if isinstance(got, Fingerprint) else (got.array.shape, sums_of(got.array))
        if shape != self.shape or sums[3] != self.sums[3]:
            return False
        first, mine = got.array.ravel(), self.array
        shared = min(len(first), len(mine))
        rtol = max(tolerance(rtol, got.array), RTOL)
        slack = 2 * (rtol * self.sums[2] + atol * max(1, math.prod(shape)))
        return bool(
            np.allclose(first[:shared], mine[:shared], rtol, atol, equal_nan=True)
            and np.allclose(sums[:3], self.sums[:3], rtol=0, atol=slack)
        )


def sums_of(array: np.ndarray) -> tuple[float, ...]:
    flat = np.asarray(array, dtype=complex if array.dtype.kind == "c" else float).ravel()
    finite = np.isfinite(flat)
    flat, place = np.where(finite, flat, 0), np.arange(flat.size)
    weights = np.cos(0.7 * place + 0.3), np.sin(1.3 * place + 0.1)
    projections = [float(np.real((flat * weight).sum())) for weight in weights]
    return (*projections, float(np.abs(flat).sum()), float((~finite).sum()))


def encode(outcome: Outcome, typed: bool = False, whole: int = WHOLE, digits: int = DIGITS):
    """As JSON holds it; `typed`: with the name of its type, where the exercise's text promises one."""
    if outcome.error:
        return {"error": outcome.error["type"], "words": words_of(outcome.error)}
    array = outcome.array
    assert array is not None
    kind = {"kind": outcome.kind} if typed else {}
    if array.dtype.kind == "U":
        return {"texts": array.tolist()} | kind if kind or array.size > whole else array.tolist()
    if array.size > whole:
        sums = [float(f"{s:.{digits}g}") for s in sums_of(array)]
        return {
            LARGE: [list(array.shape), rounded(array.ravel()[:whole], digits), sums if sums[3] else sums[:3]]
        } | kind
    if not array.size:
        return {"shape": list(array.shape)} | kind
    return {"value": rounded(array, digits)} | kind if kind else rounded(array, digits)


def rounded(array: np.ndarray, digits: int):
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    if array.dtype.kind == "f":
        return np.vectorize(lambda x: float(f"{x:.{digits}g}"), otypes=[float])(array).tolist()
    return array.tolist()


def decode(entry) -> Outcome:
    if not isinstance(entry, dict):
        return Outcome(np.asarray(entry))
    kind = entry.get("kind", "")
    if "error" in entry:
        return Outcome(error={"type": entry["error"], "message": "", "where": "", "words": entry["words"]})
    if LARGE in entry:
        shape, first, sums = entry[LARGE]
        return Fingerprint(np.asarray(first), None, kind, tuple(shape), (*sums, 0.0)[:4])
    if "shape" in entry:
        return Outcome(np.zeros(entry["shape"]), kind=kind)
    return Outcome(np.asarray(entry.get("texts", entry.get("value"))), kind=kind)
