"""Attempts at the open tasks, for the tests: they run after the notebook's given cells, as a learner's would."""

from functools import cache
from pathlib import Path

from autograder import paths

ATTEMPTS = Path(__file__).parent / "project_attempts"


@cache
def given():
    """The names that the notebook's given cells define."""
    from autograder.lesson.text import read_cells

    namespace = {}
    for cell in read_cells(paths.PROJECTS / "projects.py"):
        if cell.kind == "given":
            exec(compile(cell.source, "<given>", "exec"), namespace)
    return namespace


def attempts(task):
    """{name: text} of a task's right solutions."""
    parts = (ATTEMPTS / f"{task}.txt").read_text(encoding="utf-8").split("=== ")[1:]
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


def functions(task, text, *swaps):
    """The task's functions in a solution, after edits of its text, (old, new)."""
    for old, new in swaps:
        assert old in text, f"{old!r} is not in the solution"
        text = text.replace(old, new)
    namespace = dict(given())
    exec(compile(text, "<attempt>", "exec"), namespace)
    return [namespace[name] for name in task.functions]
