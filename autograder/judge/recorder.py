"""Write the recorded outcomes (`recorded`) of all checks, and find those that are stale."""

import json
from pathlib import Path

from autograder.checks import all_checks
from autograder.checks.check import Check
from autograder.judge.expected import NOTEBOOK_SEED, all_outcomes
from autograder.judge.expected_cases import decoded, recorded, recording
from autograder.judge.outcome import MISSING, only_errors, same, same_trials, same_words
from autograder.judge.plan import plan_of
from autograder.judge.recorded import REFERENCE, file_of, read, recorded_outcomes, text_of


def write_recordings(modules: list[str]) -> list[Path]:
    """Write the recorded outcomes of these modules' checks that are not what a fresh run gives; returns the files."""
    changed = stale_recordings(modules)
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
    read.cache_clear()
    return list(changed)


def stale_recordings(modules: list[str]) -> dict[Path, str]:
    """{file: its right text} for every file of recorded outcomes of these modules that a fresh run contradicts.

    Numbers are compared within each check's tolerances: mathematics libraries differ in the last digit.
    """
    files: dict[Path, list] = {}
    lessons = {f"m{module}" for module in modules}
    for check in [check for check in all_checks().values() if check.lesson in lessons]:
        files.setdefault(file_of(check), []).append(check)
    return {
        path: text_of({check.name: recording(check) if check.aspects else all_outcomes(check) for check in checks})
        for path, checks in files.items()
        if set(read(path)) != {check.name for check in checks} or not all(map(is_recorded, checks))
    }


def is_recorded(check: Check) -> bool:
    """Does a fresh run of the reference and of every mistake give what is recorded of the check?"""
    content = read(file_of(check)).get(check.name, {})
    if check.aspects:
        return is_recorded_by_cases(check, recorded(check))
    fresh = all_outcomes(check)
    if set(content) != set(fresh):
        return False
    for name, trials in fresh.items():
        before = recorded_outcomes(check, name)
        if [set(trial) for trial in before] != [set(trial) for trial in trials]:
            return False
        if not all(same_trials([want], [have], want, check.rtol, check.atol) for want, have in zip(trials, before)):
            return False
        if only_errors(trials) and not all(same_words([want], [have], want) for want, have in zip(trials, before)):
            return False
    return True


def is_recorded_by_cases(check: Check, content: dict) -> bool:
    fresh, plan = recording(check), plan_of(check.name, NOTEBOOK_SEED)
    if set(content) != set(fresh):
        return False
    if any(content[REFERENCE].get(part) != fresh[REFERENCE][part] for part in ("names", "examples")):
        return False
    if content[REFERENCE]["conditions"] != as_json(fresh[REFERENCE]["conditions"]):
        return False
    if len(content[REFERENCE]["cases"]) != len(plan):
        return False
    for name, trials in fresh.items():
        there, here = content[name], trials
        if name == REFERENCE:
            there, here = (dict(enumerate(part["cases"])) for part in (content[name], trials))
        if set(there) != set(here) or any(set(there[number] or ()) != set(here[number] or ()) for number in here):
            return False
        if not all(alike(there[number], here[number], plan[int(number)][0]) for number in here):
            return False
    return True


def as_json(content):
    return json.loads(json.dumps(content))


def alike(there: dict | None, here: dict | None, aspect) -> bool:
    """The same outcomes; of a fingerprint, the same first numbers and sums."""
    if there is None or here is None:
        return there is here
    if set(there) != set(here):
        return False
    one, two = decoded(there), decoded(here)
    return all(same_record(one.get(label, MISSING), two.get(label, MISSING), aspect) for label in one)


def same_record(one, two, aspect) -> bool:
    return same(one, two, aspect.rtol, aspect.atol)
