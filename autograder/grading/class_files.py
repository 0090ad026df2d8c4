"""The files of a class folder besides nbgrader's own: copies of submissions, stamps of notebooks, tables, and which pages show what."""

import csv
import io
import json
import os
from collections.abc import Iterable
from datetime import UTC
from pathlib import Path

from autograder.checks import find
from autograder.files import write_atomically
from autograder.grading.gradebook import read_json
from autograder.grading.records import TIMESTAMP, Row, Submission
from autograder.lesson.text import read_lesson


def stamp_of(notebook: dict) -> dict:
    """What an autograded notebook, as JSON, says about how it was made; {} for one that says nothing."""
    return notebook.get("metadata", {}).get("course", {}).get("graded", {})


def file_in(out: Path, folder: str, submission: Submission, kind: str = "ipynb") -> Path:
    """A submission's file in a folder of the class, named as nbgrader does."""
    return out / folder / submission.student / submission.module / f"{submission.module}.{kind}"


def rows_of(submission: Submission, verdicts: dict[str, dict]) -> list[Row]:
    """A row for every exercise of the module; without a verdict it is "invalid", or "missing" if there was no notebook."""
    absent = "missing" if not submission.notebook.exists() else "invalid"
    rows = []
    for name in read_lesson(submission.module).exercises:
        verdict = verdicts.get(name, {"points": 0.0, "status": "invalid", "mistake": ""})
        status = absent if verdict["status"] == "invalid" else verdict["status"]
        rows.append(
            Row(
                submission.student,
                submission.module,
                name,
                verdict["points"],
                find(name).points,
                status,
                verdict["mistake"],
            )
        )
    return rows


def failed_in(verdicts: dict[str, dict]) -> dict[str, tuple[str, ...]]:
    """{exercise: the names of the aspects that came out wrong}; what an earlier version of the grader wrote names none."""
    return {name: tuple(verdict.get("failed", ())) for name, verdict in verdicts.items()}


def copy_submission(submission: Submission, path: Path) -> None:
    """Copy what was handed in into the class folder, with the time that counts for it."""
    write_atomically(path, submission.read())
    time, source = submission.handed_in
    if time is not None and source == TIMESTAMP:
        write_atomically(path.with_name(TIMESTAMP), f"{time} UTC")
    else:
        path.with_name(TIMESTAMP).unlink(missing_ok=True)
        if time is not None:
            os.utime(path, (time.replace(tzinfo=UTC).timestamp(),) * 2)


class Pages:
    """OUT/pages.json: which marks of a person each page of feedback shows, of those that show any."""

    def __init__(self, out: Path):
        self.file = out / "pages.json"
        known = read_json(self.file)
        self.known: dict[str, str] = known if isinstance(known, dict) else {}
        self.saved = True

    def shown(self, submission: Submission) -> str:
        return self.known.get(f"{submission.student}/{submission.module}", "")

    def note(self, submission: Submission, digest: str) -> None:
        place = f"{submission.student}/{submission.module}"
        if self.shown(submission) != digest:
            self.known[place], self.saved = digest, False

    def save(self) -> None:
        if not self.saved:
            write_atomically(self.file, json.dumps(self.known, indent=0))
            self.saved = True


def write_csv(columns: Iterable[str], rows: Iterable[tuple], path: Path) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    write_atomically(path, text.getvalue())
