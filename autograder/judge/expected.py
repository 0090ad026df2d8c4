"""Expected outcomes of a check's probe: those of the reference, or of one of the check's mistakes, for a seed."""

import contextlib
import io
from collections.abc import Sequence
from functools import lru_cache

from autograder.checks import find
from autograder.checks.aspect import NOTEBOOK_SEED
from autograder.checks.check import Check, Edit
from autograder.checks.inside import Outcome, Trial
from autograder.errors import CourseError
from autograder.judge.recorded import REFERENCE, recorded_outcomes

__all__ = ["NOTEBOOK_SEED", "NOTEBOOK_TRIALS"]

NOTEBOOK_TRIALS = 2  # what a student sees; when it counts, the seed is secret


class ReferenceFailed(CourseError):
    """The reference solution raises in its own check: nobody can be judged."""


def expected_outcomes(
    check_name: str, seed: str, trials: int, mistake: str = REFERENCE
) -> Sequence[dict[str, Outcome]]:
    """{quantity: Outcome} for each trial: recorded ones for the notebook's seed, else of a fresh run."""
    if seed == NOTEBOOK_SEED and trials <= NOTEBOOK_TRIALS:
        recorded = recorded_outcomes(find(check_name), mistake)
        if recorded is not None:
            return recorded[:trials]
    return fresh_outcomes(check_name, seed, trials, mistake)


@lru_cache(maxsize=4096)
def fresh_outcomes(check_name: str, seed: str, trials: int, mistake: str = REFERENCE) -> list[Trial]:
    """The trials of the reference, with the edit of that mistake if one is named. ReferenceFailed where the reference raises."""
    # Lessons take seconds to import, and what is recorded needs none.
    from autograder.judge.reference import module_of, reference_namespace

    check = find(check_name)
    edits = {} if mistake == REFERENCE else edited_sources(check, edit_of(check, mistake))
    with contextlib.redirect_stdout(io.StringIO()):  # what a mistake prints is not the student's
        try:
            namespace = reference_namespace(module_of(check_name), edits)
        except Exception:
            if not edits:
                raise
            namespace = {}  # a mistake whose cell does not even run: every name is missing
        found = check.run(namespace, seed, trials)
    errors = [outcome.error for trial in found for outcome in trial.values() if outcome.error]
    if errors and mistake == REFERENCE:  # else an error would be what is expected of students
        raise ReferenceFailed(
            f"{check_name} cannot be checked on this machine, because the reference solution itself "
            f"fails here: {errors[0]['type']}: {errors[0]['message']}"
        )
    return found


def edit_of(check: Check, mistake: str) -> Edit:
    return next(found.edit for found in check.mistakes if found.name == mistake)


def edited_sources(check: Check, edit: Edit) -> dict[str, str]:
    """The sources that an edit gives the exercises of the check's lesson, {exercise: source}."""
    from autograder.judge.reference import module_of
    from autograder.lesson.text import read_lesson

    lesson = read_lesson(module_of(check.name))
    return edit.apply(check.name, lambda exercise: lesson.exercise(exercise).solved)


def all_outcomes(check: Check) -> dict[str, list[Trial]]:
    """What is to be recorded of a check: fresh outcomes of the reference and of every mistake, for the notebook's seed."""
    names = [REFERENCE] + [mistake.name for mistake in check.mistakes]
    return {name: fresh_outcomes(check.name, NOTEBOOK_SEED, NOTEBOOK_TRIALS, name) for name in names}
