"""Recordings for the notebook's seed, beside the checks as mNN_name.json: what the reference and each mistake give in every case.

With them a notebook's `check(…)` runs only the student's code: it reads no lesson and compiles no mistake, and a class can be
given the checks without any solution. `python -m autograder build` writes them (`recorder`); the tests compare them with fresh runs.
"""

import json
from functools import lru_cache
from pathlib import Path

from autograder import checks
from autograder.checks.check import Check
from autograder.checks.inside import Trial
from autograder.judge.fingerprint import decode

REFERENCE = ""  # the key of the reference among the names of the mistakes
WHOLE_TRIAL = "~whole"  # marks a recorded trial that lacks labels of the reference's


def file_of(check: Check) -> Path:
    """The file beside the lesson's checks: checks/m01_value.json for a check in checks/m01_value/add.py."""
    return Path(checks.__file__).with_name(f"{check.lesson}.json")


@lru_cache
def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def recorded(check: Check) -> dict:
    """What is recorded of a check; {} where nothing is."""
    return read(file_of(check)).get(check.name, {})


def conditions_in(content: dict) -> dict[str, tuple[str, ...]]:
    return {aspect: tuple(kept) for aspect, kept in content["conditions"].items()}


def recorded_trials(check: Check, mistake: str) -> list[Trial]:
    """The recorded trials of a mistake: where a case or a label is not recorded, it is as the reference's."""
    content = recorded(check)
    right = [trial or {} for trial in content[REFERENCE]["cases"]]
    return [decoded(whole(trial, content[mistake].get(str(number), {}))) for number, trial in enumerate(right)]


def whole(right: dict, recorded: dict) -> dict:
    if WHOLE_TRIAL in recorded:
        return {label: entry for label, entry in recorded.items() if label != WHOLE_TRIAL}
    return right | recorded


def decoded(trial: dict) -> Trial:
    return Trial({label: decode(entry) for label, entry in trial.items()})
