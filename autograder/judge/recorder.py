"""Write the recorded outcomes (`recorded`) of all checks, and find those that are stale."""

from pathlib import Path

from autograder.checks import all_checks
from autograder.checks.check import Check
from autograder.judge.expected import all_outcomes
from autograder.judge.outcome import only_errors, same_trials, same_words
from autograder.judge.recorded import file_of, read, recorded_outcomes, text_of


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
        path: text_of({check.name: all_outcomes(check) for check in checks})
        for path, checks in files.items()
        if set(read(path)) != {check.name for check in checks} or not all(map(is_recorded, checks))
    }


def is_recorded(check: Check) -> bool:
    """Does a fresh run of the reference and of every mistake give what is recorded of the check?"""
    fresh, content = all_outcomes(check), read(file_of(check)).get(check.name, {})
    if set(content) != set(fresh):
        return False
    for name, trials in fresh.items():
        recorded = recorded_outcomes(check, name)
        if [set(trial) for trial in recorded] != [set(trial) for trial in trials]:
            return False
        if not all(same_trials([want], [have], want, check.rtol, check.atol) for want, have in zip(trials, recorded)):
            return False
        if only_errors(trials) and not all(same_words([want], [have], want) for want, have in zip(trials, recorded)):
            return False
    return True
