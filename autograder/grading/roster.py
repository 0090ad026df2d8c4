"""The roster of a class: who takes part. It lies in nbgrader's gradebook."""

import csv
from pathlib import Path

from autograder.characters import one_line
from autograder.errors import CourseError
from autograder.grading.gradebook import ClassFolder
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
NOBODY = ("Points Possible", "Student, Test")  # in the column of names, as Canvas writes it


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
    rows = list(table)
    filled = {name: head for name, head in heads.items() if any((row.get(head) or "").strip() for row in rows)}
    columns = {kind: next((filled[name] for name in names if name in filled), None) for kind, names in COLUMNS.items()}
    if columns["id"] is None:
        raise CourseError(f"{file} has no column of ids; one of its columns is to be called {', '.join(COLUMNS['id'])}")
    if columns["id"] == columns["lms_user_id"]:
        columns["lms_user_id"] = filled.get("lms user id")
    people = [person for row in rows if (person := person_in(row, columns))]
    nameless = [" ".join(person.values()) for person in people if "id" not in person]
    if nameless:
        raise CourseError(
            f"{file}: the column {columns['id']} is empty for {', '.join(nameless[:3])}{' …' * (len(nameless) > 3)}; "
            "fill it in, or delete these lines"
        )
    return people


def person_in(row: dict, columns: dict[str, str | None]) -> dict[str, str]:
    """One line's student, without an "id" where there is none; {} for a line that is nobody's, as Canvas writes some."""
    found = {kind: one_line(row.get(column) or "").strip() for kind, column in columns.items() if column}
    name = found.pop("name", "")
    if name in NOBODY:
        return {}
    if name and not found.get("last_name"):
        last, comma, first = name.partition(",")
        first, last = (first, last) if comma else (name.rpartition(" ")[0], name.rpartition(" ")[2])
        found |= {"first_name": first.strip(), "last_name": last.strip()}
    return {kind: student_name(text) for kind, text in found.items() if text}
