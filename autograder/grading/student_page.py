"""The page of feedback for one student: all modules, every exercise, in few words; made to be printed, too.

It shows what the judge wrote, and nothing that the student's code put out.
"""

from urllib.parse import quote

from markupsafe import Markup

from autograder.grading.marks import BY_HAND, TO_MARK
from autograder.grading.records import Graded, Row
from autograder.grading.sanitize import markdown
from autograder.pages import render


def student_page(graded: list[Graded]) -> str:
    """The page of what became of each of one student's submissions."""
    modules = [module_of(each) for each in graded]
    points, most = sum(each.points for each in graded), sum(each.max_points for each in graded)
    return render(
        "student.html",
        title=f"Feedback for {graded[0].submission.student}",
        modules=modules,
        summary=f"{points:g} of {most:g} points.{waiting(graded)}",
    )


def waiting(graded: list[Graded]) -> str:
    """A sentence on the written answers that no person has marked yet; "" where there are none."""
    count = sum(row.status == "waiting" for each in graded for row in each.written)
    if not count:
        return ""
    return " One written answer is not marked yet." if count == 1 else f" {count} written answers are not marked yet."


def module_of(graded: Graded) -> dict:
    name = quote(graded.submission.module)
    right = sum(row.status == "ok" for row in graded.rows)
    return {
        "name": graded.submission.module,
        "points": f"{graded.points:g} of {graded.max_points:g}",
        "right": f"{right} of {len(graded.rows)}",
        "page": f"{name}/{name}.html" if graded.reports else "",
        "note": note_on(graded),
        "late": graded.late,
        "marked": [
            *(said(row) for row in (*graded.rows, *graded.written) if row.mark),
            *((name, Markup(markdown(text))) for name, text in graded.comments),
        ],
        "reports": [graded.reports[row.exercise] for row in graded.rows if row.exercise in graded.reports],
    }


def said(row: Row) -> tuple[str, str]:
    """(exercise, what a person gave for it)."""
    if row.status == "waiting":
        return row.exercise, f"not marked yet, of {row.max_points:g} points"
    again = " (it will be looked at again)" if TO_MARK in row.mark else ""
    by = "marked by a person: " if row.mark.startswith(BY_HAND) else ""
    return row.exercise, f"{by}{row.points:g} of {row.max_points:g} points{again}"


def note_on(graded: Graded) -> str:
    if graded.failure:
        return "The grader failed on this notebook; that is no fault of yours. It will be graded again."
    if not graded.reports:
        return "There was no notebook in your submission, or none that can be read."
    return ""
