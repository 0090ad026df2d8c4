"""Outcomes as they are recorded: small ones whole, of larger ones the shape, the first numbers and two projections."""

from dataclasses import dataclass

import numpy as np

from autograder.checks.inside import Outcome
from autograder.judge.outcome import words_of

WHOLE = 8  # numbers of an outcome that are recorded


@dataclass(frozen=True)
class Fingerprint(Outcome):
    """An array that was too large to record: `array` holds its first numbers.

    sums   two weighted sums of its finite numbers, the sum of their absolute values, and how many are not finite
    """

    shape: tuple[int, ...] = ()
    sums: tuple[float, ...] = ()

    def agrees(self, got: Outcome, rtol: float, atol: float) -> bool:
        if isinstance(got, Fingerprint):
            slack = {"rtol": max(rtol, 1e-9), "atol": atol * 10}
            return got.shape == self.shape and bool(np.allclose(got.sums, self.sums, **slack, equal_nan=True))
        if got.error or got.array is None or got.array.shape != self.shape or got.array.dtype.kind == "U":
            return False
        slack = 2 * (rtol * self.sums[2] + atol * max(1, got.array.size))
        return (
            np.allclose(got.array.ravel()[:WHOLE], self.array, rtol, atol, equal_nan=True)
            and self.sums[3] == sums_of(got.array)[3]
            and bool(np.allclose(sums_of(got.array)[:3], self.sums[:3], rtol=0, atol=slack))
        )


def sums_of(array: np.ndarray) -> tuple[float, ...]:
    flat = np.asarray(array, dtype=complex if array.dtype.kind == "c" else float).ravel()
    finite = np.isfinite(flat)
    flat, place = np.where(finite, flat, 0), np.arange(flat.size)
    weights = np.cos(0.7 * place + 0.3), np.sin(1.3 * place + 0.1)
    projections = [float(np.real((flat * weight).sum())) for weight in weights]
    return (*projections, float(np.abs(flat).sum()), float((~finite).sum()))


def encode(outcome: Outcome, typed: bool = False):
    """As JSON holds it; `typed`: with the name of its type, where the exercise's text promises one."""
    if outcome.error:
        return {"error": outcome.error["type"], "words": words_of(outcome.error)}
    array = outcome.array
    kind = {"kind": outcome.kind} if typed else {}
    if array.dtype.kind == "U" and array.size > WHOLE:
        return {"texts": array.tolist()} | kind
    if array.size > WHOLE:
        first = rounded(array.ravel()[:WHOLE])
        return {"shape": list(array.shape), "first": first, "sums": [float(f"{s:.12g}") for s in sums_of(array)]} | kind
    if not array.size:
        return {"shape": list(array.shape)} | kind
    return {"value": rounded(array)} | kind if kind else rounded(array)


def rounded(array: np.ndarray):
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    if array.dtype.kind == "f":
        return np.vectorize(lambda x: float(f"{x:.12g}"), otypes=[float])(array).tolist()
    return array.tolist()


def decode(entry) -> Outcome:
    if not isinstance(entry, dict):
        return Outcome(np.asarray(entry))
    kind = entry.get("kind", "")
    if "error" in entry:
        return Outcome(error={"type": entry["error"], "message": "", "where": "", "words": entry["words"]})
    if "sums" in entry:
        return Fingerprint(np.asarray(entry["first"]), None, kind, tuple(entry["shape"]), tuple(entry["sums"]))
    if "shape" in entry:
        return Outcome(np.zeros(entry["shape"]), kind=kind)
    return Outcome(np.asarray(entry.get("texts", entry.get("value"))), kind=kind)
