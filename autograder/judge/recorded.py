"""Recorded outcomes for the notebook's seed: of the reference and of each mistake, beside the checks as mNN_name.json.

With them a notebook's `check(…)` runs only the student's code: it reads no lesson and compiles no mistake, and a class can be
given the checks without any solution. `python -m autograder build` writes the recordings; the tests compare them with fresh runs.
"""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np

from autograder import checks
from autograder.checks.check import Check
from autograder.checks.inside import Outcome
from autograder.judge.outcome import only_errors, words_of

REFERENCE = ""  # the key of the reference among the names of the mistakes


def recorded_outcomes(check: Check, mistake: str = REFERENCE) -> list[dict[str, Outcome]] | None:
    """One dict of outcomes per trial; None where nothing is recorded yet."""
    trials = read(file_of(check)).get(check.name, {}).get(mistake)
    return None if trials is None else [{name: decode(entry) for name, entry in trial.items()} for trial in trials]


def file_of(check: Check) -> Path:
    """The file beside the lesson's checks: checks/m01_value.json for a check in checks/m01_value/add.py."""
    return Path(checks.__file__).with_name(f"{check.lesson}.json")


@lru_cache
def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def text_of(recordings: dict[str, dict[str, list[dict[str, Outcome]]]]) -> str:
    """{check: {mistake or REFERENCE: trials}} as the text of a file, a line for each."""
    checks = []
    for check, outcomes in recordings.items():
        lines = [
            f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(encoded(trials)) if isinstance(trials, list) else compact(trials)}"
            for name, trials in outcomes.items()
        ]
        checks.append(f"{json.dumps(check)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(checks) + "\n}\n"


def compact(content) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def encoded(trials: list[dict[str, Outcome]]) -> list[dict]:
    worded = only_errors(trials)  # where nothing else tells a mistake from another, its words do
    return [{name: encode(outcome, worded) for name, outcome in trial.items()} for trial in trials]


def encode(outcome: Outcome, worded: bool = False):
    """A number or nested list, to 12 digits; {"error": type}, also with its words; {"shape": …} for an array without elements."""
    if outcome.error:
        return {"error": outcome.error["type"]} | ({"words": words_of(outcome.error)} if worded else {})
    array = outcome.array
    if not array.size:
        return {"shape": list(array.shape)}
    return (
        np.vectorize(lambda x: float(f"{x:.12g}"), otypes=[float])(array).tolist()
        if array.dtype.kind == "f"
        else array.tolist()
    )


def decode(entry) -> Outcome:
    if isinstance(entry, dict):
        if "error" in entry:
            return Outcome(error={"type": entry["error"], "message": "", "where": "", "words": entry.get("words", "")})
        return Outcome(array=np.zeros(entry["shape"]))
    return Outcome(array=np.asarray(entry))
