"""What grading a class handles: submissions, the rows of grades.csv, and what became of each submission."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.grading.reading import LARGEST

TIMESTAMP = "timestamp.txt"  # nbgrader writes it when a notebook is handed in through its exchange
SYMBOLS = {
    "ok": "✓",
    "partial": "◐",
    "wrong": "✗",
    "error": "E",
    "timeout": "T",
    "crashed": "C",
    "missing": "·",
    "invalid": "!",
    "waiting": "?",
}


def first_line(path: Path) -> str:
    """Of a small text; "" for what is no file. A large one is not read."""
    if not path.is_file():
        return ""
    with open(path, encoding="utf-8") as file:
        return file.readline(100).strip()


@dataclass(frozen=True)
class Row:
    """One line of grades.csv.

    mark  what a person has to do with it: "by hand", where one set the points; "to be marked"; "to be marked again"
    """

    student: str
    module: str
    exercise: str
    points: float
    max_points: float
    status: str
    mistake: str = ""
    mark: str = ""


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
    def handed_in(self) -> tuple[datetime | None, str]:
        """(when, in UTC, by what): by nbgrader's timestamp.txt beside the notebook, else by the file's own time."""
        try:
            text = first_line(self.path / TIMESTAMP) if not self.path.is_symlink() else ""
            if text:
                return parse_utc(text), TIMESTAMP
        except (OSError, ValueError, OverflowError):
            pass
        try:
            time = datetime.fromtimestamp(self.notebook.lstat().st_mtime, UTC)
        except (OSError, ValueError, OverflowError):
            return None, ""
        return time.replace(microsecond=0, tzinfo=None), "file"

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
class Named:
    """A mistake that an instructor named.

    answer  one student's lines without comments and docstrings; "" where they are no Python
    check, cases  what it computes, as `judge.unknown.record_of` says
    """

    exercise: str
    name: str
    hint: str
    answer: str
    check: str
    cases: str

    @property
    def hints(self) -> tuple[str, ...]:
        return (self.hint,)


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
    failed   {exercise: the names of the aspects that came out wrong}, where they could be compared
    reports  {exercise: what its check said, as HTML}; none where there was no notebook that can be read
    notes    why it could not be judged as a notebook of the lesson, or shown
    written  rows of the answers that a person marks
    penalty  points that are taken off because it was late
    comments of a person: (exercise, text)
    unknown  {exercise: what a wrong answer computes that no known mistake explains}
    due      when it was due for this student, in UTC; None: at no time
    """

    submission: Submission
    rows: list[Row]
    seconds: float
    failure: str = ""
    flags: tuple[str, ...] = ()
    reports: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    written: Sequence[Row] = ()
    penalty: float = 0.0
    due: datetime | None = None
    seconds_late: float = 0.0
    comments: Sequence[tuple[str, str]] = ()
    unknown: dict[str, dict] = field(default_factory=dict)
    failed: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def late(self) -> str:
        """How late it was, and by what that is known; "" where it was not."""
        if not self.seconds_late:
            return ""
        hours, minutes = divmod(round(self.seconds_late / 60), 60)
        days, hours = divmod(hours, 24)
        parts = [f"{days} d"] * bool(days) + [f"{hours} h"] * bool(hours) + [f"{minutes} min"] * (not days)
        source = self.submission.handed_in[1]
        cost = f", {self.penalty:g} points off" if self.penalty else ""
        known = source if source == TIMESTAMP else "the file's own time"
        return f"late by {' '.join(parts)} (by {known}){cost}"

    @property
    def unsettled(self) -> list[str]:
        """Sentences on what a person has to look at: that it could not be judged, or not be read."""
        place = f"{self.submission.student}/{self.submission.module}"
        said = ("the grader failed on it; tell its makers", *self.notes) if self.failure else self.notes
        return [f"{place}: {sentence}" for sentence in said]

    @property
    def points(self) -> float:
        """All of them: those of checks, of written answers, less what lateness costs."""
        return max(0.0, sum(row.points for row in (*self.rows, *self.written)) - self.penalty)

    @property
    def max_points(self) -> float:
        return sum(row.max_points for row in (*self.rows, *self.written))


def by_submission(rows: list[Row]) -> Iterator[tuple[str, str, list[Row]]]:
    """(student, module, rows), in order."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.student, row.module), []).append(row)
    for (student, module), group in groups.items():
        yield student, module, group
