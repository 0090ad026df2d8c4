"""What is made of the lessons beside their notebooks: two pages of docs/, and the notebook of the open tasks."""

from pathlib import Path

from autograder import paths
from autograder.files import outdated, update
from autograder.lesson import exercises, glossary, projects


def files() -> dict[Path, str]:
    """The generated files, {path: text}."""
    return {
        exercises.FILE: exercises.table(),
        glossary.FILE: glossary.page(),
        paths.project_notebook(): projects.notebook(),
    }


def stale() -> list[str]:
    """What is wrong with these files, a sentence each; empty if they are what the lessons give."""
    return [f"{path.relative_to(paths.ROOT)} is not what the lessons give" for path in outdated(files())]


def write() -> list[Path]:
    """Write those that are stale; returns them."""
    return update(files())
