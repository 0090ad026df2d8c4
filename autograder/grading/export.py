"""What `grade` has written in the formats that others read: Canvas, Moodle, Gradescope, a zip file of feedback, anonymous grades."""

import csv
import hashlib
import hmac
import io
import json
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.files import write_atomically
from autograder.grading.class_files import file_in
from autograder.grading.gradebook import ClassFolder, read_json
from autograder.grading.marks import Marks, comments_of, earlier_in, marks_in
from autograder.grading.records import Submission
from autograder.grading.sanitize import markdown
from autograder.grading.seed import course_seed
from autograder.judge.notebook import reports_in


@dataclass(frozen=True)
class Person:
    """A student as the roster has them; only the id is known of one who is in none. `lms` is the id in the learning platform."""

    id: str
    first: str = ""
    last: str = ""
    email: str = ""
    lms: str = ""


class Grades:
    """The tables of a class folder, and its roster."""

    def __init__(self, out: Path):
        self.out = out
        self.rows, self.submissions = read_csv(out / "grades.csv"), read_csv(out / "submissions.csv")
        self.most = {row["module"]: row["max_points"] for row in self.submissions}
        self.modules = sorted(self.most)
        self.points = {(row["student"], row["module"]): row["points"] for row in self.submissions}
        known = {row["student"]: Person(row["student"]) for row in self.submissions}
        self.people = sorted((known | roster(out)).values(), key=lambda person: (person.last, person.first, person.id))

    @property
    def is_behind(self) -> bool:
        """Whether the gradebook was written after the tables: somebody has marked since."""
        book = self.out / "gradebook.db"
        return book.exists() and book.stat().st_mtime > (self.out / "submissions.csv").stat().st_mtime

    def of(self, person: Person) -> list[str]:
        """The points in each module; "" where nothing was handed in."""
        return [self.points.get((person.id, module), "") for module in self.modules]


def roster(out: Path) -> dict[str, Person]:
    """Who is in the gradebook, by id."""
    folder = ClassFolder(out, [])
    with folder.said_plainly(), folder.gradebook() as book:
        return {
            each.id: Person(
                each.id, each.first_name or "", each.last_name or "", each.email or "", each.lms_user_id or ""
            )
            for each in book.students
        }


def canvas(grades: Grades) -> str:
    """For Canvas's gradebook, «Import»: it knows a student by its own ID, a number, or by the SIS login."""
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *grades.modules]
    most = ["    Points Possible", "", "", "", "", *(grades.most[module] for module in grades.modules)]
    rows = [[spoken(person), number(person.lms), "", person.id, "", *grades.of(person)] for person in grades.people]
    return as_csv([head, most, *rows])


def number(text: str) -> str:
    """An ID of Canvas's, "" for any other: Canvas would take what begins with digits for the ID of somebody else."""
    return text if text.isascii() and text.isdecimal() else ""


def moodle(grades: Grades) -> str:
    """For Moodle's grade import from CSV: map «Username», «ID number» or «Email address» to the user.

    Moodle gives the grades of a line with an empty cell there to the student of the line before, so a column that not
    everybody has is left out. What was not handed in is "-": of an empty cell it makes 0 points, where the column is new.
    """
    ids = {
        "Username": [person.id for person in grades.people],
        "ID number": [person.lms for person in grades.people],
        "Email address": [person.email for person in grades.people],
    }
    ids = {head: column for head, column in ids.items() if all(column)}
    names = [(person.first, person.last) for person in grades.people]
    points = [[each or "-" for each in grades.of(person)] for person in grades.people]
    rows = [[*name, *known, *given] for name, known, given in zip(names, zip(*ids.values()), points)]
    return as_csv([["First name", "Last name", *ids, *grades.modules], *rows])


def spoken(person: Person) -> str:
    return ", ".join(filter(None, (person.last, person.first))) or person.id


def anonymous(grades: Grades) -> str:
    """grades.csv with ids in the place of names: always the same for a student of this class, and nobody else can tell whose."""
    rows = [row | {"student": anonymous_id(row["student"])} for row in grades.rows]
    return as_csv([list(grades.rows[0]), *sorted(list(row.values()) for row in rows)])


def anonymous_id(student: str) -> str:
    return f"s-{hmac.new(course_seed().encode(), student.encode(), hashlib.sha256).hexdigest()[:10]}"


def gradescope(grades: Grades, student: str, module: str) -> str:
    """Gradescope's results.json for one submission: its autograder leaves it at /autograder/results/results.json."""
    rows = [row for row in grades.rows if (row["student"], row["module"]) == (student, module)]
    if not rows:
        raise CourseError(f"{grades.out} has no result of {student} in {module}")
    total = next(row for row in grades.submissions if (row["student"], row["module"]) == (student, module))
    notebook = read_json(file_in(grades.out, "autograded", Submission(student, module, Path())))
    reports = reports_in(notebook) if notebook else {}
    comments = comments_on(grades.out, student, module, notebook or {})
    tests = [
        {
            "name": row["exercise"],
            "score": float(row["points"]),
            "max_score": float(row["max_points"]),
            "status": "passed" if row["status"] == "ok" else "failed",
            "output": reports.get(row["exercise"], row["mark"] or row["status"]) + comments.get(row["exercise"], ""),
            "output_format": "html",
        }
        for row in rows
    ]
    late = f"{float(total['penalty']):g} points are taken off, because it came late." if float(total["penalty"]) else ""
    return json.dumps({"score": float(total["points"]), "output": late, "tests": tests}, ensure_ascii=False, indent=1)


def comments_on(out: Path, student: str, module: str, notebook: dict) -> dict[str, str]:
    """What a person wrote about each exercise of a submission, as HTML."""
    folder = ClassFolder(out, [])
    with folder.said_plainly(), folder.gradebook() as book:
        marks = marks_in(book, module, student).get(student, Marks())
    found: dict[str, str] = {}
    for exercise, text in comments_of(module, marks, earlier_in(notebook)):
        found[exercise] = found.get(exercise, "") + markdown(text)
    return found


def feedback_zip(grades: Grades) -> bytes:
    """The pages of feedback, a folder for each student."""
    buffer, folder = io.BytesIO(), grades.out / "feedback"
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for student in sorted({row["student"] for row in grades.submissions}):
            for path in sorted((folder / student).rglob("*.html")):
                archive.write(path, path.relative_to(folder))
    return buffer.getvalue()


def read_csv(path: Path) -> list[dict[str, str]]:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            found = list(csv.DictReader(file))
    except OSError:
        found = []
    if not found:
        raise CourseError(f"{path} is not there, or empty: grade first")
    return found


def as_csv(rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write(path: Path, content: str | bytes) -> Path:
    try:
        write_atomically(path, content)
    except OSError as error:
        raise CourseError(f"{path} cannot be written ({error.strerror})") from None
    return path
