"""When two outcomes, an array or an error each, are the same."""

import hashlib
import math
import re

import numpy as np

from autograder.checks.inside import Outcome

MISSING = Outcome(error={"type": "Missing", "message": "there is none", "where": ""})


def of_label(trial: dict[str, Outcome], label: str) -> Outcome:
    """The outcome under a label; an error of the whole observation (under "") stands for each of its labels."""
    whole = trial.get("", MISSING)
    return trial.get(label) or (whole if whole.error else MISSING)


def same(expected: Outcome, got: Outcome, rtol: float, atol: float) -> bool:
    """Equal within the tolerances; two errors are the same if their types are."""
    if expected.error or got.error:
        return bool(expected.error and got.error) and is_kind_of(got.error, expected.error["type"])
    for one, other in ((expected, got), (got, expected)):
        if hasattr(one, "agrees"):  # only a fingerprint of it is recorded
            return one.agrees(other, rtol, atol)
    return same_arrays(expected.array, got.array, rtol, atol)


def is_kind_of(error: dict, name: str) -> bool:
    """Whether an error is of that type, or of a special kind of it; what is not written yet is a kind of nothing else."""
    if error["type"] == "NotImplementedError":
        return name == "NotImplementedError"
    return name in (error["type"], *error.get("bases", ()))


def words_of(error: dict | None) -> str:
    """A digest of what an error says, but for addresses and numbers, which differ from run to run; "" for no error.

    A digest, since recordings are given to students, and an error may quote a line of code.
    """
    if not error:
        return ""
    said = "" if error["type"] == "RecursionError" else re.sub(r"/tmp/\S+|0x[0-9a-f]+|\d+", "…", error["message"])
    return error.get("words") or hashlib.sha256(said.encode()).hexdigest()[:8]


def same_arrays(expected: np.ndarray, got: np.ndarray, rtol: float, atol: float) -> bool:
    if expected.shape != got.shape:
        return False
    if expected.dtype == got.dtype and expected.tobytes() == got.tobytes():  # far faster than to compare numbers
        return True
    if expected.dtype.kind == "U" or got.dtype.kind == "U":
        return expected.dtype.kind == got.dtype.kind and bool((expected == got).all())
    with np.errstate(all="ignore"):
        return bool(np.allclose(got, expected, tolerance(rtol, expected, got), atol, equal_nan=True))


LAST_DIGIT = 2**-23  # of a float32
SINGLE = 4e-6  # some thirty times that


def tolerance(rtol: float, *arrays: np.ndarray) -> float:
    """The relative tolerance between arrays, one of which may be of single precision: two right ways differ by their rounding.

    One that is below the last digit of a float32 asks for double precision, and stays.
    """
    single = rtol > LAST_DIGIT and any(array.dtype == np.float32 for array in arrays)
    return max(rtol, SINGLE) if single else rtol


SHOWN = 8  # numbers of an array that a report shows


def shape_of(outcome: Outcome) -> tuple[int, ...]:
    """The shape of what came; a fingerprint's array holds the first numbers alone."""
    return getattr(outcome, "shape", np.shape(outcome.array))


def short(array: np.ndarray, digits: int = 6, shape: tuple[int, ...] | None = None) -> str:
    """An array as text: whole if it is small, else its shape and first numbers. `shape`: of which it holds the first numbers."""
    if array.ndim == 0:
        text = str(array) if array.dtype.kind in "Ub" else f"{array:.{max(digits, 10)}g}"
        return "1 part" if text == "1 parts" else text
    if not array.size:
        return f"an empty array of shape {array.shape}"
    if math.prod(shape or array.shape) <= SHOWN:
        return on_one_line(array, digits)
    first = on_one_line(array.ravel()[:SHOWN], digits)
    return f"{first[:-1]}, …], shape {shape or array.shape}"


def on_one_line(array: np.ndarray, digits: int) -> str:
    return re.sub(r"\s*\n\s*", " ", np.array2string(array, precision=digits, separator=", "))


def outcome_text(outcome: Outcome, digits: int = 6) -> str:
    """An outcome as a report shows it."""
    if outcome is MISSING:
        return "nothing"
    if outcome.error:
        place = outcome.error.get("where")
        if outcome.error["type"] == "NotImplementedError":
            return f"not written yet (in {place})" if place else "not written yet"
        if not place and outcome.error.get("check"):
            place = f"the check, at {outcome.error['check']}"
        return f"{outcome.error['type']}: {outcome.error['message']}" + (f" (in {place})" if place else "")
    return short(outcome.array, digits, shape_of(outcome))
