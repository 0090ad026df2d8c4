"""Grade one submission: bytes in, a result out. This touches no shared disk and no gradebook, so it runs anywhere."""

import hashlib
import io
import json
import time
import traceback
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import nbformat
from nbgrader.utils import compute_checksum

from autograder.checks import find
from autograder.errors import CourseError
from autograder.grading.feedback import feedback_page, plain_page
from autograder.grading.marks import Marks
from autograder.grading.normalise import normalised_submission
from autograder.grading.page_maker import NoPage, page_maker
from autograder.judge.accesses import is_possible
from autograder.judge.kernel import Sandbox, drop_prewarmed, prewarm
from autograder.judge.notebook import Judgement, judge_notebook, notes_on, reports_in, write_verdicts
from autograder.judge.notebook_run import Limits, course_cell
from autograder.judge.verdict import Verdict
from autograder.lesson.notebooks import blank_notebook
from autograder.lesson.text import Lesson, read_lesson
from autograder.sandbox.bubblewrap import why_not
from autograder.sandbox.folders import new_folder


@dataclass(frozen=True)
class Task:
    """One submission to be graded.

    key       identifies what the result is made from; a result with this key need not be made again
    data      the submitted file, whatever it holds
    compiled  a zip file of OpenCL kernels that a driver compiled before; b"" for none
    fill      return what is compiled in this run; only for the blank notebook
    watched   let Oclgrind look at the kernels that are handed over: at those of all in a run, or of none
    """

    module: str
    data: bytes
    seed: str
    key: str = ""
    limits: Limits = Limits()
    sandbox: bool = True
    compiled: bytes = b""
    fill: bool = False
    watched: bool = False


@dataclass(frozen=True)
class Result:
    """The result of a task; `failure` is "" unless the grader itself failed.

    verdicts  {exercise: {"status", "points", "mistake", "failed": names of aspects}}
    flags     integrity flags
    reports   {exercise: what its check said, as HTML}
    notes     what else the instructor has to know, as `notes_on` a notebook
    unknown   {exercise: what a wrong answer computes that no known mistake explains}
    """

    notebook: bytes = b""
    feedback: bytes = b""
    verdicts: dict[str, dict] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    reports: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    failure: str = ""
    compiled: bytes = b""
    unknown: dict[str, dict] = field(default_factory=dict)


def work(task: Task) -> Result:
    """Grade. Every exception becomes a result with a `failure`."""
    start = time.monotonic()
    try:
        if task.sandbox and why_not():
            raise CourseError(why_not())
        if task.watched and not is_possible():
            raise CourseError(
                "Oclgrind is installed where the run was started, and not here; install it, so that all are judged alike"
            )
        notebook = submission_in_template(task)
        filled = str(new_folder("filled-")) if task.fill else ""
        sandbox = Sandbox(filled or unpacked(task.compiled), fill=task.fill) if task.sandbox else None
        if not task.fill:
            prewarm(task.module, sandbox, imports_of(read_lesson(task.module)))
        judgement = judge_notebook(notebook, task.module, task.seed, task.limits, sandbox, task.watched, unknown=True)
        result = finished(notebook, judgement, task, time.monotonic() - start)
        return replace(result, compiled=packed(Path(filled))) if task.fill else result
    except CourseError as error:
        return Result(failure=str(error), seconds=time.monotonic() - start)
    except Exception:
        return Result(failure=traceback.format_exc(), seconds=time.monotonic() - start)


def submission_in_template(task: Task):
    """The normalised submission, with the checksums by which nbgrader recognises an answer that was not touched."""
    notebook = normalised_submission(task.data, task.module)
    sums = {
        cell.id: compute_checksum(cell)
        for cell in blank_notebook(read_lesson(task.module)).cells
        if "nbgrader" in cell.metadata
    }
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader["checksum"] = sums[cell.id]
    return notebook


def finished(notebook, judgement: Judgement, task: Task, seconds: float) -> Result:
    """The result of a judged notebook. The page of feedback comes last: whatever becomes of it, the marks stand."""
    return with_marks(finished_without_page(notebook, judgement, task, seconds), task.module)


def finished_without_page(notebook, judgement: Judgement, task: Task, seconds: float) -> Result:
    """The result, but for the page. The notebook's metadata record it with the task's key, for a later run over the class."""
    verdicts = {
        name: {
            "status": verdict.status,
            "points": verdict.points,
            "mistake": verdict.mistakes[0].name if verdict.mistakes else "",
            "failed": list(dict.fromkeys(difference.aspect.name for difference in verdict.wrong)),
        }
        for name, verdict in judgement.verdicts.items()
    }
    stamp = {
        "key": task.key,
        "file": hashlib.sha256(task.data).hexdigest(),
        "seconds": round(seconds, 2),
        "verdicts": verdicts,
        "flags": list(judgement.flags),
        "unknown": judgement.unknown,
    }
    notebook.metadata["course"] = dict(notebook.metadata.get("course", {})) | {"graded": stamp}
    return Result(
        nbformat.writes(notebook).encode(errors="replace"),
        b"",
        verdicts,
        judgement.flags,
        reports_in(notebook),
        notes_on(notebook),
        seconds,
        unknown=judgement.unknown,
    )


def merged(result: Result, earlier: dict, module: str, exercises: Sequence[str]) -> Result:
    """The result for these exercises, and what an earlier autograded notebook of the same file says of the others.

    It has no key, unless both were made from the same: a run over all exercises makes it anew.
    """
    notebook = nbformat.reads(result.notebook.decode(), as_version=4)
    stamp, before = (
        notebook.metadata["course"]["graded"],
        earlier.get("metadata", {}).get("course", {}).get("graded", {}),
    )
    if before.get("file") != stamp["file"]:
        return result
    verdicts = before["verdicts"] | {name: each for name, each in result.verdicts.items() if name in exercises}
    kept = {name: verdicts[name] for name in result.verdicts if name in verdicts}
    cells = nbformat.reads(json.dumps(earlier), as_version=4).cells
    old = {course_cell(cell): cell.outputs for cell in cells if cell.cell_type == "code"}
    for cell in notebook.cells:
        kind, name = course_cell(cell)
        if kind == "check" and name not in exercises and (kind, name) in old:
            cell.outputs = old[kind, name]
    stamp["key"] = stamp["key"] if before["key"] == stamp["key"] else ""
    stamp["verdicts"] = kept
    others = {name: each for name, each in before.get("unknown", {}).items() if name not in exercises}
    stamp["unknown"] = others | {name: each for name, each in result.unknown.items() if name in exercises}
    data = nbformat.writes(notebook).encode(errors="replace")
    renewed = replace(result, notebook=data, verdicts=kept, reports=reports_in(notebook), unknown=stamp["unknown"])
    return with_marks(renewed, module)


def with_marks(result: Result, module: str, marks: Marks = Marks()) -> Result:
    """The result with its page of feedback, which shows what a person gave, too; a plain page where that cannot be made."""
    try:
        return replace(result, feedback=page_maker().page(result.notebook, module, marks))
    except NoPage as error:
        page = plain_page(module, result.verdicts, result.reports, str(error)).encode()
        note = f"its page of feedback is a plain one, because {error}"
        return replace(result, feedback=page, notes=(*result.notes, note))


def given_up(task: Task, reason: str) -> Result:
    """The result if the worker itself crashed: every exercise "crashed", with the reason.

    It is made without the submission, which may do the same to whoever reads it. It has no key, so the next run tries again.
    """
    names = read_lesson(task.module).exercises
    notebook = blank_notebook(read_lesson(task.module))
    notebook.metadata["course"] = {"given_up": reason}
    judgement = Judgement({name: Verdict(find(name), "crashed", reason=reason) for name in names})
    write_verdicts(notebook, judgement.verdicts)
    result = finished_without_page(notebook, judgement, replace(task, key=""), 0.0)
    return replace(result, feedback=feedback_page(notebook, task.module).encode())


def imports_of(lesson: Lesson) -> str:
    """The imports of a lesson's given cells, as one program that never fails."""
    lines = [
        line
        for cell in lesson.cells
        if cell.kind == "given"
        for line in cell.solved.splitlines()
        if line.startswith(("import ", "from ")) and not line.endswith(("(", "\\", ","))
    ]
    return "\n".join(f"try:\n    {line}\nexcept Exception:\n    pass" for line in lines)


def packed(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return buffer.getvalue()


@lru_cache(maxsize=64)
def unpacked(compiled: bytes) -> str:
    """A folder with what was packed, made once in each process; "" for nothing."""
    if not compiled:
        return ""
    folder = new_folder("compiled-")
    folder.chmod(0o755)  # it is copied inside, by somebody else
    with zipfile.ZipFile(io.BytesIO(compiled)) as archive:
        archive.extractall(folder)
    return str(folder)


def close() -> None:
    """End the prewarmed kernel, and the process that makes pages."""
    drop_prewarmed()
    page_maker().stop()
