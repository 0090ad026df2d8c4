"""nbgrader's gradebook of a class folder. Only this module writes marks; notebooks are judged elsewhere."""

import json
import logging
import os
import sys
import warnings
from collections.abc import Collection, Iterable
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import nbformat
from nbformat.v4 import new_notebook
from nbgrader.api import Comment, Grade, Gradebook, InvalidEntry, Notebook
from nbgrader.apps import NbGraderAPI
from nbgrader.preprocessors import AssignLatePenalties, SaveAutoGrades
from sqlalchemy.exc import SAWarning, SQLAlchemyError
from traitlets.config import Config, PyFileConfigLoader

from autograder.errors import CourseError
from autograder.grading.marks import Earlier, Marks, due_of, marks_in, outdated, submissions_to
from autograder.grading.preprocessors import JudgeNotebook
from autograder.grading.records import Submission
from autograder.judge.notebook_run import Limits
from autograder.lesson.build import convert, course_folder, write_source
from autograder.lesson.notebooks import source_notebook
from autograder.lesson.text import read_lesson

CONFIG = '''"""Made by `python -m autograder grade`: nbgrader in this folder works with the course's judge."""

from autograder.nbgrader_config import configure

c = get_config()
configure(c)
'''


NBGRADERS = logging.getLogger("tornado.application")  # where nbgrader logs the traceback of what it raises


@contextmanager
def silenced(log: logging.Logger):
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


class ClassFolder:
    """OUT as an nbgrader course folder."""

    def __init__(self, out: Path, modules: list[str]):
        """Make it one, with the modules in its gradebook, unless it is one already. CourseError where it cannot be written."""
        self.out = out
        try:
            out.mkdir(mode=0o700, parents=True, exist_ok=True)  # solutions, grades, and what students handed in
            if not (out / "nbgrader_config.py").exists():
                (out / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
            trial = out / ".writable"
            trial.touch()
            trial.unlink()
        except OSError as error:
            raise CourseError(f"{out} cannot be written ({error.strerror}); choose another folder with --out") from None
        self.config = course_folder(load_config(out), out)
        self.api = NbGraderAPI(config=self.config)
        self.url = self.api.coursedir.db_url
        with self.said_plainly():
            for module in modules:
                self.release(module)
            with self.gradebook() as book:
                self.known = {
                    (made.student.id, made.assignment.name)
                    for name in modules
                    for made in book.assignment_submissions(name)
                }

    def release(self, module: str) -> None:
        """The module's source, its released version, and its cells in the gradebook, unless they are there."""
        source = self.out / "source" / module / f"{module}.ipynb"
        released = self.out / "release" / module / f"{module}.ipynb"
        wanted = nbformat.writes(source_notebook(read_lesson(module)))
        with self.gradebook() as book:
            there = any(assignment.name == module for assignment in book.assignments)
        if (
            there
            and released.exists()
            and source.exists()
            and source.read_text(encoding="utf-8").strip() == wanted.strip()
        ):
            return
        if there:
            with self.gradebook() as book:
                follow(book, module, source_notebook(read_lesson(module)))
        write_source(read_lesson(module), self.out)
        convert(self.out, module, solution=False, config=self.config)

    @property
    def limits(self) -> Limits:
        """What one notebook may take; c.JudgeNotebook in nbgrader_config.py sets it."""
        return JudgeNotebook(config=self.config).limits

    def gradebook(self) -> Gradebook:
        return Gradebook(self.url, self.api.coursedir.course_id)

    def outdated(self, submission: Submission, notebook, old: dict) -> dict[str, dict]:
        """What a person gave to an earlier version: see `marks.outdated`. `old` is the autograded notebook of before, as JSON."""
        with self.said_plainly(), self.gradebook() as book:
            marks = marks_in(book, submission.module, submission.student).get(submission.student, Marks())
        return outdated(notebook, old, marks)

    def save(self, submission: Submission, notebook, earlier: Earlier = MappingProxyType({})) -> Marks:
        """Write an autograded notebook's points, as `nbgrader autograde` does; returns what a person has given in it.

        earlier   what was given to an earlier version: it does not count any more, and is asked for again
        """
        student, module = submission.student, submission.module
        names = {"student": student, "assignment": module, "notebook": module, "db_url": self.url}
        with self.said_plainly():
            with self.gradebook() as book:
                book.update_or_create_student(student)
                book.update_or_create_submission(module, student, timestamp=submission.handed_in[0])
                marks = marks_in(book, module, student)[student]
                withdraw(book, module, student, earlier)
            SaveAutoGrades(config=self.config).preprocess(notebook, {"nbgrader": names})
            with self.gradebook() as book:
                ask(book, module, student, marks.waiting, [name for name in earlier if marks.asks(name, earlier)])
            self.penalise(student, module)
            with self.gradebook() as book:
                return marks_in(book, module, student)[student]

    def penalise(self, student: str, module: str) -> None:
        """Take points off, or give them back, as the class's plugin for late submissions says."""
        names = {"student": student, "assignment": module, "notebook": module, "db_url": self.url}
        with self.gradebook() as book:
            made = book.find_submission(module, student)
            if due_of(made) is None:  # nbgrader fails on an extension of no due date
                for notebook in made.notebooks:
                    notebook.late_submission_penalty = None
                book.db.commit()
                return
        AssignLatePenalties(config=self.config).preprocess(new_notebook(), {"nbgrader": names})

    def note_times(self, submissions: Iterable[Submission]) -> None:
        """Note when they were handed in, of those that have been graded; and what lateness costs now."""
        places = {(each.student, each.module): each for each in submissions}
        with self.said_plainly():
            late = []
            with self.gradebook() as book:
                for module in sorted({module for _, module in places}):
                    for made in submissions_to(book, module):
                        submission = places.get((made.student_id, module))
                        if submission is None:
                            continue
                        time = submission.handed_in[0]
                        if time is not None and made.timestamp != time:
                            made.timestamp = time
                        penalty = any(notebook.late_submission_penalty for notebook in made.notebooks)
                        if penalty or due_of(made) is not None and made.total_seconds_late > 0:
                            late.append((made.student_id, module))
                book.db.commit()
            for student, module in late:
                self.penalise(student, module)

    def marks(self, modules: Iterable[str]) -> dict[tuple[str, str], Marks]:
        """What persons gave, and when it was handed in, by (student, module)."""
        with self.said_plainly(), self.gradebook() as book:
            return {(student, module): marks for module in modules for student, marks in marks_in(book, module).items()}

    @contextmanager
    def said_plainly(self):
        """Turn an error of the database into one sentence, in place of what nbgrader logs of it."""
        try:
            with warnings.catch_warnings(), silenced(NBGRADERS):
                warnings.simplefilter("ignore", SAWarning)  # of nbgrader's gradebook, about its own sessions
                yield
        except (SQLAlchemyError, InvalidEntry) as error:  # nbgrader turns some into its own
            reason = str(getattr(error, "orig", error)).splitlines()[0]
            raise CourseError(
                f"The gradebook cannot be written ({reason}): is it read-only, or in use by another program? "
                "Then run the same command again; what is graded already is kept."
            ) from None


def withdraw(book: Gradebook, module: str, student: str, names: Iterable[str]) -> None:
    """Take back what a person gave in these cells."""
    made = book.find_submission_notebook(module, module, student)
    for grade in made.grades:
        if grade.name in names:
            grade.manual_score = grade.extra_credit = None
    for comment in made.comments:
        if comment.name in names:
            comment.manual_comment = None
    book.db.commit()


def ask(book: Gradebook, module: str, student: str, waited: Collection[str], again: Collection[str]) -> None:
    """Say which cells wait for a person: `again`, and of those that were marked, the ones that waited before.

    (nbgrader itself asks for every mark again whenever a notebook is graded.)
    """
    for grade in book.find_submission_notebook(module, module, student).grades:
        if grade.name in again:
            grade.needs_manual_grade = True
        elif grade.manual_score is not None:
            grade.needs_manual_grade = grade.name in waited
    book.db.commit()


def follow(book: Gradebook, module: str, source: nbformat.NotebookNode) -> None:
    """Let the gradebook of a class have the cells that a changed lesson has; nbgrader itself refuses that where there are submissions.

    What was marked by hand stays, in the cells that the lesson still has.
    """
    known = book.find_notebook(module, module)
    marked = [cell.metadata.nbgrader for cell in source.cells if "nbgrader" in cell.metadata]
    wanted = {each.grade_id for each in marked}
    for cell in [cell for cells in cells_of(known).values() for cell in cells]:
        if cell.name not in wanted:
            for row in [*(getattr(cell, "grades", None) or ()), *(getattr(cell, "comments", None) or ())]:
                book.db.delete(row)
            book.db.delete(cell)
    book.db.commit()
    there = {kind: {cell.name for cell in cells} for kind, cells in cells_of(known).items()}
    for each in marked:
        if each.grade and each.grade_id not in there["grade"]:
            more = {"max_score": each.points, "cell_type": each.cell_type}
            cell = book.add_grade_cell(each.grade_id, module, module, **more)
            book.db.add_all(Grade(cell_id=cell.id, notebook=made) for made in known.submissions)
        if each.solution and each.grade_id not in there["solution"]:
            cell = book.add_solution_cell(each.grade_id, module, module)
            book.db.add_all(Comment(cell_id=cell.id, notebook=made) for made in known.submissions)
        if each.grade_id not in there["source"]:
            book.add_source_cell(each.grade_id, module, module, cell_type=each.cell_type)
    book.db.commit()


def cells_of(known: Notebook) -> dict[str, list]:
    return {"grade": known.grade_cells, "solution": known.solution_cells, "source": known.source_cells}


def load_config(out: Path) -> Config:
    """The settings in the folder's nbgrader_config.py, a program that runs in it. It may name plugins that lie beside it."""
    before = os.getcwd()
    if str(out.resolve()) not in sys.path:
        sys.path.append(str(out.resolve()))
    os.chdir(out)
    try:
        return PyFileConfigLoader("nbgrader_config.py", path=".").load_config()
    finally:
        os.chdir(before)


def read_json(path: Path) -> dict | None:
    """A notebook as plain JSON; None where there is none that can be read."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
