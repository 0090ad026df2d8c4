"""What grading a class handles: submissions, the rows of grades.csv, and what became of each submission."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.grading.reading import LARGEST

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
    """A notebook that was handed in.

    path  the folder that it lies in
    file  the notebook; None: the one that has the module's name. It may not exist.
    """

    student: str
    module: str
    path: Path
    file: Path | None = None

    @property
    def notebook(self) -> Path:
        return self.file or self.path / f"{self.module}.ipynb"

    @property
    def renamed(self) -> str:
        """The place of a notebook that was recognised under another name; "" for one where the docs say."""
        usual = (self.module, f"{self.module}.ipynb")
        found = (self.path.name, self.notebook.name)
        return "" if found == usual or not self.notebook.exists() else "/".join((self.student, *found))

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


@dataclass(frozen=True)
class Choice:
    """What of a class is to be graded: of these students, modules and exercises; none named means all of them."""

    students: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    exercises: tuple[str, ...] = ()

    def takes(self, submission: Submission) -> bool:
        return (not self.students or submission.student in self.students) and (
            not self.modules or submission.module in self.modules
        )


@dataclass(frozen=True, eq=False)
class Graded:
    """A submission that was graded; `failure` is "" unless the grader itself failed on it.

    flags    integrity flags: suspicious behaviour, for the instructor; they change no mark
    reports  {exercise: what its check said, as HTML}; none where there was no notebook that can be read
    notes    why it could not be judged as a notebook of the lesson, or shown
    """

    submission: Submission
    rows: list[Row]
    seconds: float
    failure: str = ""
    flags: tuple[str, ...] = ()
    reports: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def unsettled(self) -> list[str]:
        """Sentences on what a person has to look at: that it could not be judged, or not be read."""
        place = f"{self.submission.student}/{self.submission.module}"
        said = ("the grader failed on it; tell its makers", *self.notes) if self.failure else self.notes
        return [f"{place}: {sentence}" for sentence in said]

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
