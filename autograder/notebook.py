"""What a student's notebook imports: `check`, `predict` and `add_to_class`."""

import sys

from autograder.checks import find
from autograder.checks.check import Check
from autograder.errors import CourseError
from autograder.judge.report import Report
from autograder.student import add_to_class, predict

__all__ = ["add_to_class", "check", "predict"]

RUNNING: list[str] = []  # the check that is running; a function that checks itself would never end


def check(name: str) -> None:
    """Check an exercise of this notebook and show the result. `check("value.mul")` answers within a second."""
    try:
        report = run_check(name, sys._getframe(1).f_globals)
    except CourseError as error:
        print(error)
        return
    show(report)


def run_check(name: str, namespace: dict) -> Report:
    """The report of a check on a namespace, with the notebook's own seed."""
    if RUNNING:
        raise CourseError(
            f"{RUNNING[0]} is being checked: code that is checked cannot call check itself; move that call to a cell "
            "of its own"
        )
    from autograder.judge.device import add_second_opinion
    from autograder.judge.expected import NOTEBOOK_SEED, NOTEBOOK_TRIALS, probe_namespace
    from autograder.judge.verdict import Verdict, judge

    def verdict_on(exercise: Check) -> tuple[Verdict, list[dict]]:
        trials = probe_namespace(exercise, namespace, NOTEBOOK_SEED, NOTEBOOK_TRIALS)
        return judge(exercise, trials, NOTEBOOK_SEED), trials

    exercise = find(name)
    RUNNING.append(name)
    try:
        verdict, trials = verdict_on(exercise)
        if verdict.status != "ok":
            verdict.needs = [need for need in exercise.needs if verdict_on(find(need))[0].status != "ok"]
        return Report(add_second_opinion(verdict, trials, NOTEBOOK_SEED))
    finally:
        RUNNING.clear()


def show(report: Report) -> None:
    """Display in Jupyter, print elsewhere."""
    from IPython import get_ipython

    if get_ipython() is None:
        print(report)
    else:
        from IPython.display import display

        display(report)
