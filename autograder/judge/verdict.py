"""Decide: hold a student's plain arrays against those of the reference, quantity by quantity, and name the mistake.

Everything here runs in the judge's own process and sees only records of `inside.run_probe`, never a student's object.
"""

import base64
import binascii
import hashlib
import io
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from autograder.checks import find
from autograder.checks.check import Check, Mistake
from autograder.checks.tools import Tools
from autograder.errors import CourseError
from autograder.judge.inside import run_probe
from autograder.judge.reference import module_of, reference_namespace
from autograder.lesson.text import read_lesson

NOTEBOOK_SEED, NOTEBOOK_TRIALS = "notebook", 2  # what a student sees; when it counts, the seed is secret
LONGEST_ARRAY = 50_000_000  # bytes of base64 that are still decoded


class ReferenceFailed(CourseError):
    """The reference solution raises in its own check: nobody can be judged."""


@dataclass(frozen=True)
class Outcome:
    """One quantity of one trial: an array, or what was raised instead."""

    array: np.ndarray | None = None
    error: dict | None = None


@dataclass(frozen=True)
class Difference:
    """A quantity that is not as it should be, in the first trial that shows it."""

    quantity: str
    expected: Outcome
    got: Outcome
    input: str


@dataclass
class Verdict:
    """What the judge says of one exercise of one student."""

    check: Check
    status: str                       # ok, partial, wrong, error, timeout, crashed, missing or invalid
    right: list[str] = field(default_factory=list)
    wrong: list[Difference] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    reason: str = ""                  # one sentence, where no comparison was possible
    device: str = ""                  # the answer of the second opinion, one sentence

    @property
    def points(self) -> float:
        total = len(self.right) + len(self.wrong)
        return round(self.check.points * len(self.right) / total, 2) if total else 0.0


def trial_seed(seed: str, check: str, trial: int) -> int:
    """The number that a probe's generator starts from; the seed itself cannot be recovered from it."""
    return int.from_bytes(hashlib.sha256(f"{seed}|{check}|{trial}".encode()).digest()[:8], "big")


def probe_namespace(check: Check, namespace: dict, seed: str, trial: int, tools=None, only=None) -> dict:
    """Run a check's probe on a namespace of this process: a notebook's, the reference's, or a mistake's."""
    return run_probe(check.standalone_probe, namespace, trial_seed(seed, check.name, trial), tools or Tools(),
                     check.seconds, only)


def reference_sources(check: Check, edit) -> dict[str, str]:
    lesson = read_lesson(module_of(check.name))
    return edit.apply(check.name, lambda exercise: lesson.exercise(exercise).solved)


@lru_cache(maxsize=4096)
def expected_outcomes(check_name: str, seed: str, trials: int, edit_index: int | None = None) -> list[dict]:
    """The outcomes of the reference, or, with an index, of that mistake of the check. One dict per trial."""
    check = find(check_name)
    edits = None if edit_index is None else reference_sources(check, check.mistakes[edit_index].edit)
    try:
        namespace = reference_namespace(module_of(check_name), edits)
    except Exception:
        if edits is None:
            raise
        namespace = {}  # a mistake whose cell does not even run: every name is missing
    found = [outcomes_of(probe_namespace(check, namespace, seed, trial)) for trial in range(trials)]
    errors = [outcome.error for trial in found for outcome in trial.values() if outcome.error]
    if edits is None and errors:  # else an error would be what is expected of students
        raise ReferenceFailed(f"{check_name} cannot be checked on this machine, because the reference solution itself "
                              f"fails here: {errors[0]['type']}: {errors[0]['message']}")
    return found


def outcomes_of(records) -> dict[str, Outcome]:
    """Records as they came out of a student's process, turned into arrays by code that survives any bytes."""
    if not isinstance(records, dict):
        return {"": Outcome(error={"type": "BadReply", "message": "the notebook's process sent no records"})}
    return {str(name): outcome_of(record) for name, record in records.items() if name != "input"}


def outcome_of(record) -> Outcome:
    try:
        if "error" in record:
            parts = ("type", "message", "where")
            return Outcome(error={part: str(record["error"].get(part, ""))[:2000] for part in parts})
        if len(record["array"]) > LONGEST_ARRAY:
            raise ValueError("the array is too large")
        data = base64.b64decode(record["array"], validate=True)
        return Outcome(array=np.load(io.BytesIO(data), allow_pickle=False))
    except (TypeError, ValueError, KeyError, AttributeError, EOFError, OSError, MemoryError, SyntaxError,
            binascii.Error) as error:
        return Outcome(error={"type": "BadReply", "message": f"what came back is no array ({error})", "where": ""})


def same(check: Check, expected: Outcome, got: Outcome) -> bool:
    """Equal within the check's tolerances; two errors are the same if their types are."""
    if expected.error or got.error:
        return bool(expected.error and got.error) and expected.error["type"] == got.error["type"]
    return same_arrays(expected.array, got.array, check.rtol, check.atol)


def same_arrays(expected: np.ndarray, got: np.ndarray, rtol: float, atol: float) -> bool:
    if expected.shape != got.shape:
        return False
    if expected.dtype.kind == "U" or got.dtype.kind == "U":
        return expected.dtype.kind == got.dtype.kind and bool((expected == got).all())
    with np.errstate(all="ignore"):
        return bool(np.allclose(got, expected, rtol=rtol, atol=atol, equal_nan=True))


def judge(check: Check, trials: list[dict], seed: str) -> Verdict:
    """The verdict on a student's records, one dict of `run_probe` per trial, for the trials 0, 1, … of that seed."""
    outcomes = [outcomes_of(records) for records in trials]
    expected = expected_outcomes(check.name, seed, len(trials))
    names = list(expected[0])
    verdict = Verdict(check, "ok")
    for name in names:
        difference = first_difference(check, name, expected, outcomes, trials)
        if difference:
            verdict.wrong.append(difference)
        else:
            verdict.right.append(name)
    verdict.status = status_of(verdict)
    if verdict.status in ("partial", "wrong", "error"):
        verdict.mistakes = known_mistakes(check, outcomes, expected, seed)
    return verdict


def first_difference(check, name, expected, outcomes, trials) -> Difference | None:
    for want, have, records in zip(expected, outcomes, trials):
        got = have.get(name) or have.get("") or Outcome(error={"type": "Missing", "message": "the probe gave none"})
        if not same(check, want[name], got):
            text = records.get("input", {}) if isinstance(records, dict) else {}
            return Difference(name, want[name], got, str(text.get("text", "")) if isinstance(text, dict) else "")
    return None


def status_of(verdict: Verdict) -> str:
    if not verdict.wrong:
        return "ok"
    if verdict.right:
        return "partial"
    errors = [difference.got.error["type"] for difference in verdict.wrong if difference.got.error]
    if errors and all(kind == "NotImplementedError" for kind in errors) and len(errors) == len(verdict.wrong):
        return "missing"
    if "ProbeTimeout" in errors or "WorkLimitExceeded" in errors:
        return "timeout"
    return "error" if errors else "wrong"


def known_mistakes(check: Check, outcomes, expected, seed: str) -> list[Mistake]:
    """The mistakes of the check whose outcomes are just these, in every quantity of every trial."""
    return [mistake for index, mistake in enumerate(check.mistakes)
            if same_trials(check, expected_outcomes(check.name, seed, len(outcomes), index), outcomes, expected)]


def same_trials(check, mistaken, outcomes, expected) -> bool:
    def outcome(trial, name):
        return trial.get(name) or trial.get("") or Outcome(error={"type": "Missing", "message": ""})

    return all(same(check, outcome(wrong, name), outcome(got, name))
               for wrong, got, want in zip(mistaken, outcomes, expected) for name in want)
