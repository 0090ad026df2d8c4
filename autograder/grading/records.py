"""What grading a class handles: submissions, the rows of grades.csv, and what became of each submission."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SIGNS = {
    "ok": "✓",
    "partial": "◐",
    "wrong": "✗",
    "error": "E",
    "timeout": "T",
    "crashed": "C",
    "missing": "·",
    "invalid": "!",
}


@dataclass(frozen=True)
class Row:
    """One line of grades.csv."""

    student: str
    module: str
    exercise: str
    points: float
    max_points: float
    status: str
    mistake: str = ""


@dataclass(frozen=True)
class Submission:
    student: str
    module: str
    path: Path  # may not exist

    @property
    def notebook(self) -> Path:
        return self.path / f"{self.module}.ipynb"


@dataclass(frozen=True, eq=False)
class Graded:
    """A submission that was graded; `failure` is "" unless the grader itself failed on it.

    signs   what its process did that right work has no reason for; worth a look, and it moves no mark
    """

    submission: Submission
    rows: list[Row]
    seconds: float
    failure: str = ""
    signs: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return sum(row.points for row in self.rows)

    @property
    def max_points(self) -> float:
        return sum(row.max_points for row in self.rows)


def by_submission(rows: list[Row]) -> Iterator[tuple[str, str, list[Row]]]:
    """(student, module, rows), in order."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.student, row.module), []).append(row)
    for (student, module), group in groups.items():
        yield student, module, group
