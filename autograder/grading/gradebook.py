"""nbgrader's gradebook of a class folder. Only this module writes marks; notebooks are judged elsewhere."""

import json
import logging
import os
import warnings
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbgrader.api import Comment, Grade, Gradebook, InvalidEntry, Notebook
from nbgrader.apps import NbGraderAPI
from nbgrader.preprocessors import AssignLatePenalties, SaveAutoGrades
from sqlalchemy.exc import SAWarning, SQLAlchemyError
from traitlets.config import Config, PyFileConfigLoader

from autograder.errors import CourseError
from autograder.grading.feedback import Marks
from autograder.grading.preprocessors import JudgeNotebook
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
            out.mkdir(parents=True, exist_ok=True)
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

    def save(self, student: str, module: str, notebook) -> Marks | None:
        """Write an autograded notebook's points, as `nbgrader autograde` does; returns what a person has given in it, if anything."""
        names = {"student": student, "assignment": module, "notebook": module, "db_url": self.url}
        with self.said_plainly():
            with self.gradebook() as book:
                book.update_or_create_student(student)
                book.update_or_create_submission(module, student)
            for preprocessor in (SaveAutoGrades, AssignLatePenalties):
                preprocessor(config=self.config).preprocess(notebook, {"nbgrader": names})
            with self.gradebook() as book:
                made = book.find_submission_notebook(module, module, student)
                by_hand = any(grade.manual_score is not None or grade.extra_credit for grade in made.grades)
                comments = {comment.name: comment.manual_comment for comment in made.comments if comment.manual_comment}
                scores = {grade.name: grade.score + (grade.extra_credit or 0.0) for grade in made.grades}
                return Marks(scores, comments) if by_hand or comments else None

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
    """The settings in the folder's nbgrader_config.py, which is a program that runs in it."""
    before = os.getcwd()
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
