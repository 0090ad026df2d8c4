"""What the gradebook says of a submission besides the judge: marks and comments of a person, when it came, what lateness costs."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Gradebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.api import Grade as GradeOf

from autograder.checks import find
from autograder.grading.records import Graded, Named, Row
from autograder.judge.notebook_run import course_cell
from autograder.judge.report import with_hint
from autograder.lesson.text import read_lesson

Earlier = Mapping[str, dict]  # {grade_id: {"score", "comment"}}, given by a person to an earlier version
BY_HAND, TO_MARK, AGAIN = "by hand", "to be marked", "to be marked again"


@dataclass(frozen=True)
class Marks:
    """What a person gave and wrote, by grade_id, besides what the notebook holds.

    scores    where a person has set one, with extra credit
    comments  of a person
    hints     mistakes that a person named, and a hint for each
    waiting   grade_ids that wait for a person
    time      when it was handed in, due when it was to be, with the student's extension; both UTC
    penalty   points that are taken off because it was late
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    waiting: frozenset[str] = frozenset()
    time: datetime | None = None
    due: datetime | None = None
    penalty: float = 0.0
    hints: Mapping[str, Named] = field(default_factory=dict)

    def digest(self, earlier: Earlier) -> str:
        """The same as long as a page of feedback made with these marks is; "" where it says nothing of a person's."""
        shown = sorted(name for name in earlier if self.shows(name, earlier))
        if not (self.scores or self.comments or self.penalty or self.hints or shown):
            return ""
        hints = sorted((name, named.name, named.hint) for name, named in self.hints.items())
        plain = (sorted(self.scores.items()), sorted(self.comments.items()), self.penalty, shown, hints)
        return hashlib.sha256(repr(plain).encode()).hexdigest()

    def shows(self, name: str, earlier: Earlier) -> bool:
        """Whether what was given to an earlier version of a cell is still of interest: nobody has looked at the new one."""
        return name in earlier and (name in self.waiting or earlier[name]["score"] is None)

    def asks(self, name: str, earlier: Earlier) -> bool:
        """Whether a cell is to be marked again: its mark was given to an earlier version, and nobody has looked at this one."""
        return earlier[name]["score"] is not None and (name in self.scores or name in self.waiting)

    @property
    def seconds_late(self) -> float:
        return max(0.0, (self.time - self.due).total_seconds()) if self.time and self.due else 0.0


def marks_in(book: Gradebook, module: str, student: str = "") -> dict[str, Marks]:
    """The marks of everybody who handed in a module, or of one, {student: Marks}; few questions to the database for a class."""
    scores: defaultdict[str, dict[str, float]] = defaultdict(dict)
    comments: defaultdict[str, dict[str, str]] = defaultdict(dict)
    waiting: defaultdict[str, set[str]] = defaultdict(set)
    penalties: defaultdict[str, float] = defaultdict(float)
    for grade, who, name in of_cells(book, GradeOf, module, student):
        if grade.manual_score is not None or grade.extra_credit:
            scores[who][name] = grade.score
        if grade.needs_manual_grade:
            waiting[who].add(name)
    for comment, who, name in of_cells(book, Comment, module, student):
        if comment.manual_comment:
            comments[who][name] = comment.manual_comment
    made = submissions_to(book, module, student)
    for each in made:
        penalties[each.student_id] = sum(its.late_submission_penalty or 0.0 for its in each.notebooks)
    return {
        each.student_id: Marks(
            scores[each.student_id],
            comments[each.student_id],
            frozenset(waiting[each.student_id]),
            each.timestamp,
            due_of(each),
            penalties[each.student_id],
        )
        for each in made
    }


def of_cells(book: Gradebook, kind, module: str, student: str = "") -> list[tuple]:
    """(a grade or comment, student, grade_id) for each cell of each submission of a module."""
    rows = (
        book.db.query(kind, SubmittedAssignment.student_id, BaseCell.name)
        .join(SubmittedNotebook, kind.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .join(BaseCell, kind.cell_id == BaseCell.id)
        .filter(Assignment.name == module)
    )
    return (rows.filter(SubmittedAssignment.student_id == student) if student else rows).all()


def submissions_to(book: Gradebook, module: str, student: str = "") -> list[SubmittedAssignment]:
    rows = book.db.query(SubmittedAssignment).join(Assignment).filter(Assignment.name == module)
    return (rows.filter(SubmittedAssignment.student_id == student) if student else rows).all()


def due_of(made: SubmittedAssignment) -> datetime | None:
    """When it is due, with the student's extension. (nbgrader's own property fails on an extension of no due date.)"""
    return made.duedate if made.assignment.duedate is not None else None


def outdated(notebook, old: dict, marks: Marks) -> dict[str, dict]:
    """What a person gave to a version of the notebook that is no longer handed in, by grade_id.

    notebook   as it is graded now, with verdicts
    old        the autograded notebook of before, as JSON
    A mark stays as long as the student's cell is what it was, and what the judge gives for it.
    """
    before, now = old.get("metadata", {}).get("course", {}), notebook.metadata.get("course", {})
    looked_at = {*marks.scores, *marks.comments}  # since then
    earlier = {name: given for name, given in before.get("earlier", {}).items() if name not in looked_at}
    if before.get("graded", {}).get("file") == now["graded"]["file"]:
        return earlier
    answers = [
        {cell_name(cell): "".join(cell["source"]) for cell in cells} for cells in (old.get("cells", ()), notebook.cells)
    ]
    points = [
        {name: verdict["points"] for name, verdict in made.get("graded", {}).get("verdicts", {}).items()}
        for made in (before, now)
    ]
    for cell in notebook.cells:
        kind, exercise = course_cell(cell)
        name = cell_name(cell)
        if name in looked_at:
            own = name.replace("check-", "exercise-", 1) if kind == "check" else name
            same = answers[0].get(own) == answers[1].get(own)
            if not same or kind == "check" and points[0].get(exercise) != points[1].get(exercise):
                earlier[name] = {"score": marks.scores.get(name), "comment": marks.comments.get(name, "")}
    return earlier


def cell_name(cell) -> str:
    """A cell's grade_id, of a notebook as nbformat or as JSON has it."""
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def earlier_in(notebook: dict) -> Earlier:
    """What an autograded notebook says that a person gave to an earlier version."""
    return notebook.get("metadata", {}).get("course", {}).get("earlier", {})


def marked(graded: Graded, marks: Marks, earlier: Earlier) -> Graded:
    """What became of a submission, with what a person gave: points of exercises, written answers, lateness.

    earlier  what a person gave to an earlier version, by grade_id
    """
    ids = {cell.name: cell.id for cell in read_lesson(graded.submission.module).cells if cell.kind == "check"}
    rows = [with_mark(row, ids[row.exercise], marks, earlier) for row in graded.rows]
    hints = {row.exercise: marks.hints[ids[row.exercise]] for row in rows if ids[row.exercise] in marks.hints}
    return replace(
        graded,
        rows=rows,
        reports={name: with_hint(report, hints.get(name)) for name, report in graded.reports.items()},
        written=written_rows(graded, marks, earlier),
        comments=comments_of(graded.submission.module, marks, earlier),
        penalty=marks.penalty,
        due=marks.due,
        seconds_late=marks.seconds_late,
    )


def comments_of(module: str, marks: Marks, earlier: Earlier) -> list[tuple[str, str]]:
    """(exercise, what a person wrote about it, or about an earlier version), in the order of the lesson."""
    found = []
    for cell in read_lesson(module).cells:
        if marks.comments.get(cell.id):
            found.append((cell.name, marks.comments[cell.id]))
        if marks.shows(cell.id, earlier):
            points = find(cell.name).points if cell.kind == "check" else cell.points
            found.append((cell.name, said_earlier(earlier[cell.id], points)))
    return found


def said_earlier(given: dict, points: float | None) -> str:
    """What a person gave to an earlier version of a cell, in words."""
    if given["score"] is None:
        return f"On an earlier version: {given['comment']}"
    score = f"An earlier version was given {given['score']:g} of {points:g} points"
    return f"{score}: {given['comment']}" if given["comment"] else f"{score}. This one is looked at anew."


def with_mark(row: Row, name: str, marks: Marks, earlier: Earlier) -> Row:
    """A row with the points that a person set, and the mistake that one named."""
    asked = AGAIN if name in marks.scores or name in earlier else TO_MARK
    said = [BY_HAND] * (name in marks.scores) + [asked] * (name in marks.waiting)
    mistake = row.mistake or (marks.hints[name].name if name in marks.hints else "")
    return replace(row, points=marks.scores.get(name, row.points), mark=", ".join(said), mistake=mistake)


def written_rows(graded: Graded, marks: Marks, earlier: Earlier) -> list[Row]:
    """A row for each written answer."""
    student, module = graded.submission.student, graded.submission.module
    unread = bool(graded.rows) and all(row.status == "invalid" for row in graded.rows)
    found = []
    for cell in read_lesson(module).cells:
        if cell.kind == "written":
            row = Row(student, module, cell.name, 0.0, cell.points, "invalid" if unread else "missing")
            row = with_mark(row, cell.id, marks, earlier)
            found.append(replace(row, status=status_of(row)))
    return found


def status_of(row: Row) -> str:
    """The state of a written answer: one that nobody has to mark, and nobody has marked, was left empty, or not read."""
    if not row.mark.startswith(BY_HAND):
        return "waiting" if row.mark else row.status
    return "ok" if row.points >= row.max_points else "partial" if row.points else "wrong"


SUBMISSION_COLUMNS = "student module points max_points penalty handed_in time_from due seconds_late to_mark".split()


def submission_row(graded: Graded) -> tuple:
    """A row of submissions.csv; times are UTC."""
    submission = graded.submission
    time, source = submission.handed_in
    to_mark = sum(TO_MARK in row.mark for row in (*graded.rows, *graded.written))
    return (
        submission.student,
        submission.module,
        round(graded.points, 4),
        graded.max_points,
        graded.penalty,
        spoken(time),
        source,
        spoken(graded.due),
        round(graded.seconds_late),
        to_mark,
    )


def spoken(time: datetime | None) -> str:
    return time.isoformat(" ", "seconds") if time else ""
