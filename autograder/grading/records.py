"""What grading a class handles: submissions, the rows of grades.csv, and what became of each submission."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.grading.normalise import LARGEST

SYMBOLS = {
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

    def read(self) -> bytes:
        """The one file that counts; b"" where it is none, a link, or cannot be read. At most one byte more than `normalise` accepts."""
        try:
            linked = self.notebook.is_symlink() or self.path.is_symlink()
            if self.notebook.is_file() and not linked:
                with open(self.notebook, "rb") as file:
                    return file.read(LARGEST + 1)
        except OSError:
            pass
        return b""


@dataclass(frozen=True, eq=False)
class Graded:
    """A submission that was graded; `failure` is "" unless the grader itself failed on it.

    flags    integrity flags: suspicious behaviour, for the instructor; they change no mark
    reports  {exercise: what its check said, as HTML}; none where there was no notebook that can be read
    """

    submission: Submission
    rows: list[Row]
    seconds: float
    failure: str = ""
    flags: tuple[str, ...] = ()
    reports: dict[str, str] = field(default_factory=dict)

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
