"""Grade a folder of submissions into a class folder: nbgrader's gradebook, autograded notebooks, feedback, grades.csv.

SUBMISSIONS holds <student>/<module>/<module>.ipynb. OUT becomes an nbgrader course folder, so that `nbgrader autograde`,
formgrader and export work in it.
"""

import csv
import io
import shutil
import tempfile
import time
import traceback
import warnings
from dataclasses import astuple, fields
from pathlib import Path
from typing import Callable

import nbformat
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from autograder import paths
from autograder.checks import find
from autograder.errors import CourseError
from autograder.grading.class_page import class_page
from autograder.grading.records import Graded, Row, Submission
from autograder.grading.seed import course_seed
from autograder.grading.student_page import student_page
from autograder.judge.kernel import Box
from autograder.judge.notebook import judge_notebook
from autograder.judge.report import Report
from autograder.lesson.build import convert, write_atomically, write_source
from autograder.lesson.notebooks import solved_notebook
from autograder.lesson.text import read_lesson
from autograder.sandbox.bubblewrap import why_not

CONFIG = '''"""Made by `python -m autograder grade`: nbgrader in this folder works with the course's judge."""

from autograder.nbgrader_config import configure

configure(get_config())
'''


def find_submissions(folder: Path) -> tuple[list[Submission], list[str]]:
    """The submissions in a folder, and a sentence for everything in it that is none."""
    if not folder.is_dir():
        raise CourseError(f"{folder} is no folder; it should hold <student>/<module>/<module>.ipynb")
    found, oddities, modules = [], [], paths.module_names()
    for student in sorted(path for path in folder.iterdir() if not path.name.startswith(".")):
        if not student.is_dir():
            oddities.append(f"{student.name} is no folder of a student; left out")
            continue
        for module in sorted(path for path in student.iterdir() if not path.name.startswith(".")):
            if module.name in modules and module.is_dir():
                found.append(Submission(student.name, module.name, module))
            else:
                oddities.append(f"{student.name}/{module.name} is no module of the course; left out")
    if not found:
        raise CourseError(f"{folder} holds no submission; it should hold <student>/<module>/<module>.ipynb")
    return found, oddities


def grade(submissions: list[Submission], out: Path, modules: list[str],
          progress: Callable[[Graded], None], sandbox: bool = True) -> list[Row]:
    """Grade every submission; returns the rows of OUT/grades.csv. No submission stops the others.

    progress(graded) is called after each, with its Graded.
    sandbox   False runs notebooks with the rights of who grades; CourseError if True and there is no sandbox here
    """
    from nbgrader.apps import NbGraderAPI

    from autograder.nbgrader_config import configure

    if sandbox and why_not():
        raise CourseError(why_not())
    prepare(out, modules)
    with tempfile.TemporaryDirectory(prefix="course-kernels-") as cache:
        for module in modules:
            prove(module, Box(cache, fill=True) if sandbox else None)
        api = NbGraderAPI(config=configure(Config(), out))
        api.config.JudgeNotebook.update(sandbox=sandbox, cache=cache)
        return grade_all(api, submissions, out, progress, sandbox)


def grade_all(api, submissions: list[Submission], out: Path, progress, sandbox: bool) -> list[Row]:
    """Grade each, write what is known after each, and the pages at the end."""
    graded: list[Graded] = []
    for submission in submissions:
        graded.append(grade_one(api, submission, out))
        write_csv([row for each in graded for row in each.rows], out / "grades.csv")
        progress(graded[-1])
    write_pages(graded, out, sandbox)
    return [row for each in graded for row in each.rows]


def grade_one(api, submission: Submission, out: Path) -> Graded:
    """One submission; whatever goes wrong with it ends here."""
    start = time.monotonic()
    try:
        collect(submission, out)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # of nbgrader's gradebook, about its own sessions
            failure = (failure_of(api.autograde(submission.module, submission.student))
                       or failure_of(api.generate_feedback(submission.module, submission.student)))
        verdicts = {} if failure else verdicts_in(autograded(submission, out))
    except Exception:
        verdicts, failure = {}, traceback.format_exc()
    return Graded(submission, rows_of(submission, verdicts), time.monotonic() - start, failure)


def write_pages(graded: list[Graded], out: Path, sandbox: bool) -> None:
    """OUT/report.html for the instructor, and OUT/feedback/<student>/index.html for each student."""
    write_atomically(out / "report.html", class_page(graded, sandbox))
    for student in {each.submission.student: None for each in graded}:
        folder = out / "feedback" / student
        folder.mkdir(parents=True, exist_ok=True)
        own = [each for each in graded if each.submission.student == student]
        write_atomically(folder / "index.html", student_page(own, {each: reports_in(autograded(each.submission, out)) for each in own}))


def prove(module: str, box: Box | None) -> None:
    """Judge the solved notebook just as a student's. If it loses a point, this machine cannot grade: say why, mark nobody."""
    notebook = solved_notebook(read_lesson(module))
    for verdict in judge_notebook(notebook, module, course_seed(), box=box).values():
        if verdict.status != "ok":
            raise CourseError(f"nothing was graded, because on this machine the reference solution itself fails:\n{Report(verdict)}")


def prepare(out: Path, modules: list[str]) -> None:
    """OUT as an nbgrader course folder, with the modules in its gradebook."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{out} cannot be written ({error.strerror}); choose another folder with --out") from None
    for module in modules:
        write_source(read_lesson(module), out)
        convert(out, module, solution=False)


def collect(submission: Submission, out: Path) -> None:
    """Copy the one file that counts into OUT/submitted. No links are followed; what is not there becomes an empty file."""
    target = out / "submitted" / submission.student / submission.module
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    copy = target / submission.notebook.name
    try:
        if submission.notebook.is_file() and not submission.notebook.is_symlink():
            shutil.copyfile(submission.notebook, copy)
            return
    except OSError:
        pass
    copy.write_bytes(b"")


def failure_of(result: dict) -> str:
    """The log of a submission on which nbgrader or the judge gave up; "" if they did not."""
    return "" if result["success"] else (result.get("log") or result.get("error") or "nbgrader gave no reason")


def autograded(submission: Submission, out: Path) -> Path:
    return out / "autograded" / submission.student / submission.module / submission.notebook.name


def rows_of(submission: Submission, verdicts: dict[str, dict]) -> list[Row]:
    """A row for every exercise of the module; without a verdict it is "invalid", or "missing" if there was no notebook."""
    absent = "missing" if not submission.notebook.exists() else "invalid"
    rows = []
    for name in read_lesson(submission.module).exercises:
        verdict = verdicts.get(name, {"points": 0.0, "status": "invalid", "mistake": ""})
        status = absent if verdict["status"] == "invalid" else verdict["status"]
        rows.append(Row(submission.student, submission.module, name, verdict["points"], find(name).points, status,
                        verdict["mistake"]))
    return rows


def verdicts_in(path: Path) -> dict[str, dict]:
    """{exercise: verdict} out of an autograded notebook."""
    cells = nbformat.read(path, as_version=4).cells
    made = [cell.metadata.get("course", {}) for cell in cells]
    return {course["exercise"]: course["verdict"] for course in made if "verdict" in course}


def reports_in(path: Path) -> dict[str, str]:
    """{exercise: what the check said, as HTML} out of an autograded notebook; {} where there is none."""
    try:
        cells = nbformat.read(path, as_version=4).cells
    except (OSError, ValueError):
        return {}
    return {cell.metadata.course.exercise: cell.outputs[0].data["text/html"] for cell in cells
            if "verdict" in cell.metadata.get("course", {})}


def write_csv(rows: list[Row], path: Path) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(Row))
    writer.writerows(astuple(row) for row in rows)
    write_atomically(path, text.getvalue())
