"""Build the generated notebooks: lesson → nbgrader's source → nbgrader's own converters → modules/ and solutions/*.ipynb."""

import errno
import json
import logging
import os
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from traitlets.config import Config

from autograder import paths
from autograder.errors import CourseError
from autograder.files import outdated, write_atomically
from autograder.lesson.notebooks import normalised, source_notebook
from autograder.lesson.symbols import BEGIN, BEGIN_WRITTEN, STUBS, strip_markers
from autograder.lesson.text import Lesson, read_lesson

logging.getLogger("traitlets").setLevel(logging.ERROR)  # nbgrader's converters tell of every file they touch


def build(module: str) -> dict[Path, str]:
    """The generated files of a module, {path: text}. Writes nothing outside a temporary folder."""
    lesson = read_lesson(module)
    with tempfile.TemporaryDirectory(prefix="course-build-") as folder:
        course = Path(folder)
        write_source(lesson, course)
        convert(course, module)
        student = nbformat.read(course / "release" / module / f"{module}.ipynb", as_version=4)
        solved = nbformat.read(course / "solution" / module / f"{module}.ipynb", as_version=4)
    for cell in solved.cells:
        cell.source = strip_markers(cell.source)
    return {
        paths.student_notebook(module): normalised(student, lesson),
        paths.solution_notebook(module): normalised(solved, lesson),
    }


def write_source(lesson: Lesson, course: Path) -> None:
    """Put the lesson into an nbgrader course folder, as source/MODULE/MODULE.ipynb."""
    folder = course / "source" / lesson.module
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(source_notebook(lesson), folder / f"{lesson.module}.ipynb")


def course_folder(config: Config, root: Path) -> Config:
    """nbgrader's settings for a class folder: where it is, and what stands for a solution in a student's notebook."""
    find_own_programs()
    config.CourseDirectory.root = str(root.resolve())
    config.CourseDirectory.course_id = "autodiff"
    config.ClearSolutions.code_stub = {"python": STUBS[BEGIN]}
    config.ClearSolutions.text_stub = STUBS[BEGIN_WRITTEN]
    return config


def find_own_programs() -> None:
    """Put this environment's programs on the PATH: when nbgrader creates a gradebook, it calls one of them by name (alembic)."""
    places, own = os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts")
    if own not in places.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join((own, places))


def convert(course: Path, module: str, solution: bool = True, config: Config | None = None) -> None:
    """Run nbgrader's generate_assignment (it fills the gradebook, too) and generate_solution on a course folder."""
    from nbgrader.apps import NbGraderAPI

    api = NbGraderAPI(config=course_folder(config or Config(), course))
    results = {"generate_assignment": api.generate_assignment(module, force=True)}
    if solution:
        results["generate_solution"] = generate_solution(api, module)
    for step, result in results.items():
        if not result["success"]:
            said = f"{result.get('log', '')}\n{result.get('error', '')}"
            if os.strerror(errno.ENOSPC) in said or "disk is full" in said:
                raise CourseError(
                    f"{course} cannot be written (the disk is full); make room, then run the same command again"
                )
            raise CourseError(f"nbgrader {step} {module} failed:\n{said.strip()}")


def generate_solution(api: Any, module: str) -> dict:
    """nbgrader's generate_solution without its Execute: the solved notebook is committed without outputs."""
    from nbgrader.converters import GenerateSolution
    from nbgrader.preprocessors import ClearMarkScheme, ClearOutput, IncludeHeaderFooter, LockCells
    from nbgrader.utils import capture_log, temp_attrs

    with temp_attrs(api.coursedir, assignment_id=module):
        converter = GenerateSolution(coursedir=api.coursedir, parent=api)
        converter.preprocessors = [IncludeHeaderFooter, LockCells, ClearOutput, ClearMarkScheme]
        converter.force = True
        return capture_log(converter)


def write(modules: list[str]) -> list[Path]:
    """Write the generated notebooks; returns those that changed. A notebook that holds a student's work stays."""
    changed = []
    for module in modules:
        for path, text in outdated(build(module)).items():
            if path.exists() and has_outputs(path):
                raise CourseError(
                    f"{path.relative_to(paths.ROOT)} holds outputs, so somebody worked in it; "
                    "move it away (work belongs into work/), then build again"
                )
            write_atomically(path, text)
            changed.append(path)
    return changed


def has_outputs(path: Path) -> bool:
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    except (ValueError, KeyError, AttributeError, TypeError):
        return False


def stale(modules: list[str]) -> list[str]:
    """What is wrong with the generated files, a sentence each; empty if they are just what the lessons give."""
    wanted = {path: text for module in modules for path, text in build(module).items()}
    found = []
    for path, text in wanted.items():
        name = path.relative_to(paths.ROOT)
        if not path.exists():
            found.append(f"{name} is missing")
        elif path.read_text(encoding="utf-8") != text:
            found.append(f"{name} is not what its lesson gives")
    present = [path for path in paths.MODULES.rglob("*") if path.is_file() and ".ipynb_checkpoints" not in path.parts]
    present += paths.LESSONS.glob("*.ipynb")
    made = set(wanted) | {
        path
        for module in paths.module_names()
        for path in (paths.student_notebook(module), paths.solution_notebook(module))
    }
    found += [f"{path.relative_to(paths.ROOT)} belongs to no lesson" for path in sorted(set(present) - made)]
    return found
