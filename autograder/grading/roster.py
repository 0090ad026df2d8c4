"""The roster of a class, and its deadlines: who takes part, and until when. Both lie in nbgrader's gradebook."""

import csv
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import MissingEntry
from nbgrader.utils import parse_utc

from autograder.characters import one_line
from autograder.errors import CourseError
from autograder.grading.gradebook import ClassFolder
from autograder.grading.marks import submissions_to
from autograder.grading.submissions import student_name

# What columns are called by nbgrader, Canvas and Moodle; the first that is there counts.
COLUMNS = {
    "id": ("sis login id", "username", "login", "student id", "id number", "id"),
    "first_name": ("first name", "given name"),
    "last_name": ("last name", "surname", "family name"),
    "email": ("email", "email address", "e-mail"),
    "lms_user_id": ("lms user id", "id"),
    "name": ("student", "name", "full name"),
}


def import_roster(file: Path, out: Path) -> int:
    """Put the students of a CSV file into the gradebook; returns how many. Who is there already gets the file's names."""
    people = read_roster(file)
    folder = ClassFolder(out, [])
    with folder.said_plainly(), folder.gradebook() as book:
        for person in people:
            book.update_or_create_student(person.pop("id"), **person)
    return len(people)


def read_roster(file: Path) -> list[dict[str, str]]:
    """{"id", "first_name", …} of each line; CourseError where there is no column of ids."""
    try:
        with open(file, encoding="utf-8-sig", newline="") as opened:
            text = opened.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{file} cannot be read as a table in UTF-8 ({error})") from None
    kind = "\t" if "\t" in text.partition("\n")[0] else ";" if ";" in text.partition("\n")[0] else ","
    table = csv.DictReader(text.splitlines(), delimiter=kind)
    heads = {" ".join(head.casefold().replace("_", " ").split()): head for head in table.fieldnames or () if head}
    columns = {kind: next((heads[name] for name in names if name in heads), None) for kind, names in COLUMNS.items()}
    if columns["id"] is None:
        raise CourseError(f"{file} has no column of ids; one of its columns is to be called {', '.join(COLUMNS['id'])}")
    if columns["id"] == columns["lms_user_id"]:
        columns["lms_user_id"] = heads.get("lms user id")
    return [person for row in table if (person := person_in(row, columns))]


def person_in(row: dict, columns: dict[str, str | None]) -> dict[str, str]:
    """One line's student; {} for a line without an id, such as Canvas's Points Possible."""
    found = {kind: one_line(row.get(column) or "").strip() for kind, column in columns.items() if column}
    name = found.pop("name", "")
    if name and not found.get("last_name"):
        last, comma, first = name.partition(",")
        first, last = (first, last) if comma else (name.rpartition(" ")[0], name.rpartition(" ")[2])
        found |= {"first_name": first.strip(), "last_name": last.strip()}
    if not found["id"]:
        return {}
    return {kind: student_name(text) for kind, text in found.items() if text}


def set_due(module: str, when: str, out: Path, student: str = "") -> str:
    """Set when a module is due, for all or for one student ("none": at no time, or as for all); returns a sentence.

    Who has an extension keeps its time when that of all is changed: nbgrader itself would move it along.
    """
    time = None if when == "none" else parsed(when)
    folder = ClassFolder(out, [module])
    with folder.said_plainly(), folder.gradebook() as book:
        if not student:
            before = book.find_assignment(module).duedate
            for made in submissions_to(book, module):
                if made.extension is not None and before is not None and time is not None:
                    until = before + made.extension
                    made.extension = until - time if until > time else None
            book.update_or_create_assignment(module, duedate=time)
        else:
            due = book.find_assignment(module).duedate
            if time is not None and due is None:
                raise CourseError(f"{module} is due at no time yet; set that for all first")
            try:
                book.find_student(student)
            except MissingEntry:
                raise CourseError(f"there is no student {student} in the gradebook") from None
            made = book.update_or_create_submission(module, student)
            made.extension = time - due if time is not None else None
            book.db.commit()
    until = f"is due {time:%Y-%m-%d %H:%M} UTC" if time else "is due as for all" if student else "is due at no time"
    return f"{module} {until}{f' for {student}' if student else ''}; `grade` again applies it"


def parsed(when: str) -> datetime:
    """A time as UTC; one without a time zone is in this computer's."""
    try:
        time = datetime.fromisoformat(when)
        return time.astimezone(UTC).replace(tzinfo=None)
    except ValueError:
        pass
    try:
        return parse_utc(when)
    except (ValueError, OverflowError, AttributeError, TypeError):
        raise CourseError(f"{when!r} is no time; write 2026-10-01T18:00, or 2026-10-01T18:00+02:00") from None
