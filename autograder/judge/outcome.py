"""When two outcomes of a probe's quantity, an array or an error each, are the same."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from autograder.checks.inside import Outcome

MISSING = Outcome(error={"type": "Missing", "message": "the probe gave none", "where": ""})


def of_quantity(trial: dict[str, Outcome], name: str) -> Outcome:
    """A quantity's outcome in a trial; an error of the whole probe (under "") stands for each of its quantities."""
    return trial.get(name) or trial.get("") or MISSING


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


def only_errors(trials: Sequence[dict]) -> bool:
    """Is there nothing but errors?"""
    return all(outcome.error for trial in trials for outcome in trial.values())


def same_words(expected: Sequence[dict], got: Sequence[dict], names) -> bool:
    """Do the errors of every named quantity say the same, in every trial?"""
    return all(
        words_of(of_quantity(want, name).error) == words_of(of_quantity(have, name).error)
        for want, have in zip(expected, got)
        for name in names
    )


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
    if expected.dtype.kind == "U" or got.dtype.kind == "U":
        return expected.dtype.kind == got.dtype.kind and bool((expected == got).all())
    with np.errstate(all="ignore"):
        return bool(np.allclose(got, expected, rtol=rtol, atol=atol, equal_nan=True))


def same_trials(expected: Sequence[dict], got: Sequence[dict], names, rtol: float, atol: float) -> bool:
    """The same in every named quantity of every trial."""
    return all(
        same(of_quantity(want, name), of_quantity(have, name), rtol, atol)
        for want, have in zip(expected, got)
        for name in names
    )


SHOWN = 8  # numbers of an array that a report shows


def short(array: np.ndarray, digits: int = 6) -> str:
    """An array as text: whole if it is small, else its shape and first numbers."""
    if array.ndim == 0:
        return str(array) if array.dtype.kind in "Ub" else f"{array:.{max(digits, 10)}g}"
    if not array.size:
        return f"an empty array of shape {array.shape}"
    if array.size <= SHOWN:
        return np.array2string(array, precision=digits, separator=", ").replace("\n", " ")
    first = np.array2string(array.ravel()[:SHOWN], precision=digits, separator=", ").replace("\n", " ")
    return f"{first[:-1]}, …], shape {array.shape}"


def outcome_text(outcome: Outcome, digits: int = 6) -> str:
    """An outcome as a report shows it."""
    if outcome.error:
        place = outcome.error.get("where")
        if outcome.error["type"] == "NotImplementedError":
            return f"not written yet (in {place})" if place else "not written yet"
        return f"{outcome.error['type']}: {outcome.error['message']}" + (f" (in {place})" if place else "")
    return short(outcome.array, digits)
