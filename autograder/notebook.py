"""What a student's notebook imports: `check`, `predict`, `add_to_class` and `mine`."""

import os
import sys
from typing import Any

from autograder import paths
from autograder.checks import find
from autograder.checks.aspect import NOTEBOOK_SEED
from autograder.checks.check import Check
from autograder.errors import CourseError
from autograder.judge.accesses import add_accesses, is_looked_at, is_possible, look
from autograder.judge.device import add_finite_differences
from autograder.judge.failed_cells import failure_of, watch_cells
from autograder.judge.plan import run
from autograder.judge.replay import Replay, replay
from autograder.judge.report import Report
from autograder.judge.verdict import judge
from autograder.student import ReferenceAlone, add_to_class, predict

__all__ = ["add_to_class", "case", "check", "mine", "predict"]

mine: Any
if paths.is_students_copy():
    mine = ReferenceAlone(
        "mine() is for the whole course: in this copy of a class the course's own engine carries you."
    )
else:
    from autograder.learner.mine import mine

watch_cells()
RUNNING: list[str] = []  # the check that is running; a function that checks itself would never end


class NotRight(CourseError):
    """An exercise that is not right, for nbgrader's validator: the message is the check's report."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows of it: the report, and no lines of the checker's code."""
        return str(self).splitlines()


def check(name: str) -> None:
    """Check an exercise of this notebook and show the result. `check("value.mul")` answers within a second.

    NotRight where nbgrader validates the notebook, and not all is right: it looks for cells that raise.
    """
    validating = "NBGRADER_VALIDATING" in os.environ
    try:
        report = run_check(name, sys._getframe(1).f_globals)
    except CourseError as error:
        if validating:
            raise NotRight(str(error)) from None
        print(error)
        return
    verdict = report.verdict
    if is_looked_at(verdict):
        verdict.accesses = "Oclgrind is looking at every access to memory …" if is_possible() else ""
        shown = display_report(report) if verdict.accesses else None
        verdict.accesses = ""
        report = Report(add_accesses(verdict, look(verdict.check, sys._getframe(1).f_globals, NOTEBOOK_SEED)))
        display_report(report, shown)
    else:
        display_report(report)
    if validating and report.verdict.status != "ok":
        raise NotRight(str(report))


def case(name: str, number: int) -> Replay | None:
    """Replay a case that a check has shown by its number: its program, what your code gives, and what is right."""
    try:
        return replay(name, number, sys._getframe(1).f_globals)
    except CourseError as error:
        print(error)
        return None


def run_check(name: str, namespace: dict) -> Report:
    """The report of a check on a namespace, with the notebook's own seed."""
    if RUNNING:
        raise CourseError(
            f"{RUNNING[0]} is being checked: code that is checked cannot call check itself; move that call to a cell "
            "of its own"
        )
    RUNNING.append(name)
    try:
        with mine.reference():  # as when it is graded: earlier lessons are the reference's
            exercise = find(name)
            trials = run(exercise, namespace, NOTEBOOK_SEED)
            verdict = judge(exercise, trials, NOTEBOOK_SEED)
            verdict.stale = failure_of(exercise)
            if verdict.status != "ok":
                verdict.needs = [need for need in exercise.needs if not is_right(find(need), namespace)]
            return Report(add_finite_differences(verdict, trials, NOTEBOOK_SEED))
    finally:
        RUNNING.clear()


def is_right(exercise: Check, namespace: dict) -> bool:
    """Whether a namespace earns all points of an exercise that another one builds on."""
    return judge(exercise, run(exercise, namespace, NOTEBOOK_SEED), NOTEBOOK_SEED).status == "ok"


def display_report(report: Report, shown: Any = None) -> Any:
    """Display in Jupyter, in place of what was shown before; print elsewhere. Returns what may be shown something else."""
    from IPython import get_ipython

    if get_ipython() is None:
        print(report)
        return None
    if shown:
        shown.update(report)
        return shown
    from IPython.display import display

    return display(report, display_id=True)
