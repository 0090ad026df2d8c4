"""When a module is due: for all, and for who has an extension."""

import json
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.utils import parse_utc

from autograder.errors import CourseError
from autograder.files import write_atomically
from autograder.grading.gradebook import ClassFolder
from autograder.grading.marks import submissions_to

RESTING = "extensions.json"  # in OUT


def set_due(module: str, when: str, out: Path, student: str = "") -> str:
    """Set when a module is due, for all or for one student ("none": at no time, or as for all); returns a sentence.

    Who has an extension keeps its time when that of all is changed: nbgrader itself would move it along. While that of all
    is later, or there is none, an extension rests in OUT/extensions.json; the gradebook has those that count.
    """
    time = None if when == "none" else parsed(when)
    folder, resting = ClassFolder(out, [module]), resting_in(out)
    with folder.said_plainly(), folder.gradebook() as book:
        due = book.find_assignment(module).duedate
        if student:
            check_extension(book, module, student, due, time)
            book.update_or_create_submission(module, student).extension = time - due if time and due else None
            resting[module].pop(student, None)
        else:
            until = resting[module] | granted(book, module, due)
            resting[module] = {}
            for who in until.keys() & {each.id for each in book.students}:
                extension = until[who] - time if time is not None and until[who] > time else None
                book.update_or_create_submission(module, who).extension = extension
                if extension is None:
                    resting[module][who] = until[who]
            book.update_or_create_assignment(module, duedate=time)
        book.db.commit()
    keep(resting, out)
    said = f"is due {time:%Y-%m-%d %H:%M} UTC" if time else "is due as for all" if student else "is due at no time"
    sentences = [f"{module} {said}{f' for {student}' if student else ''}; `grade` again applies it"]
    if not student:
        sentences += [
            f"{who}'s extension until {until:%Y-%m-%d %H:%M} UTC rests: it counts when the module is due before that"
            for who, until in sorted(resting[module].items())
        ]
    return "\n".join(sentences)


def check_extension(book: Gradebook, module: str, student: str, due: datetime | None, time: datetime | None) -> None:
    """CourseError where a student cannot have an extension to this time."""
    try:
        book.find_student(student)
    except MissingEntry:
        raise CourseError(f"there is no student {student} in the gradebook") from None
    if time is None:
        return
    if due is None:
        raise CourseError(f"{module} is due at no time yet; set that for all first")
    if time <= due:
        raise CourseError(f"{module} is due {due:%Y-%m-%d %H:%M} UTC for all; an extension ends later than that")


def granted(book: Gradebook, module: str, due: datetime | None) -> dict[str, datetime]:
    """Until when the extensions last that count, {student: time}."""
    made = submissions_to(book, module) if due is not None else ()
    return {each.student_id: due + each.extension for each in made if each.extension is not None}


def resting_in(out: Path) -> defaultdict[str, dict[str, datetime]]:
    """The extensions that do not count at present, {module: {student: until when}}, in UTC."""
    path = out / RESTING
    found: defaultdict[str, dict[str, datetime]] = defaultdict(dict)
    try:
        for module, its in json.loads(path.read_bytes()).items():
            found[module] = {student: datetime.fromisoformat(time) for student, time in its.items()}
    except FileNotFoundError:
        pass
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise CourseError(f"{path} cannot be read ({error}); correct it, or delete it") from None
    return found


def keep(resting: dict[str, dict[str, datetime]], out: Path) -> None:
    """Write them, unless there are none and never were."""
    found = {module: {who: str(until) for who, until in its.items()} for module, its in resting.items() if its}
    if found or (out / RESTING).exists():
        write_atomically(out / RESTING, json.dumps(found, ensure_ascii=False, indent=1))


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
