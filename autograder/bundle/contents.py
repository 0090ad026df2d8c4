"""What a class is given: {path: bytes}. Everything in it is named here; what nobody named stays at home."""

import json
import re
from pathlib import Path

from autograder import paths
from autograder.checks import find
from autograder.checks.data import SUFFIX, text_of
from autograder.errors import CourseError
from autograder.judge.recorded import REFERENCE, file_of, read
from autograder.lesson.notebooks import blank_notebook
from autograder.lesson.symbols import without_solutions
from autograder.lesson.text import Lesson, read_lesson
from autograder.sandbox.course import hidden_symbols, less_what_is_asked, used_parts, uses

# What `check(…)`, `lab` and `progress` run. The tests import all of it where nothing else of the course is.
AUTOGRADER = (
    "__init__",
    "__main__",
    "characters",
    "errors",
    "notebook",
    "paths",
    "stand_in",
    "student",
    "checks/__init__",
    "checks/aspect",
    "checks/cases",
    "checks/check",
    "checks/data",
    "checks/inside",
    "checks/tools",
    "judge/__init__",
    "judge/accesses",
    "judge/case_verdict",
    "judge/counterexample",
    "judge/device",
    "judge/expected",
    "judge/failed_cells",
    "judge/fingerprint",
    "judge/known",
    "judge/outcome",
    "judge/plan",
    "judge/recorded",
    "judge/replay",
    "judge/report",
    "judge/tags",
    "judge/verdict",
    "judge/where",
    "learner/__init__",
    "learner/lab",
    "learner/progress",
)
ALWAYS = {
    "__main__.py",
    "traced.py",
    "py.typed",
}  # of tinygrad_cl, whatever a lesson imports: the doctor, and the checks' second opinion
SHIPPED = {".py", ".pyi", ".typed", ".cl", ".css", ".html", ".js", ".json", ".svg"}
DATA = {".npz", ".txt"}  # data sets, and their licences
SETTINGS = (  # of JupyterLab
    "autograder/learner/jupyter_server_config.json",
    "autograder/learner/labconfig/default_setting_overrides.json",
    "autograder/learner/labconfig/page_config.json",
)
AS_THEY_ARE = {
    "LICENSE": "LICENSE",
    "docs/students.md": "README.md",
    "course.mk": "Makefile",
    "requirements.lock": "requirements.lock",
    **{name: name for name in SETTINGS},
}
KINDS = ("given", "demo", "predict")  # of cells whose imports a student needs
TABLES = (
    "build-system",
    "project",
    "tool.setuptools.packages.find",
    "tool.setuptools.package-data",
)  # of pyproject.toml

LATER = (
    "{name} is what module {module} asks you to write (exercise {exercise}), so it is not in this copy of the course"
)
WRITTEN_BY_STUDENTS = "{name} is what module {module} asks you to write, so it is not in your copy of the course"


def contents(modules: list[str]) -> dict[str, bytes]:
    """The files of the students' copy with these modules, by their paths in it, sorted."""
    lessons = [read_lesson(module) for module in modules]
    texts = notebooks(lessons) | engines(lessons) | checks(lessons) | frame()
    found = {path: text.encode() for path, text in texts.items()} | data(lessons)
    return {path: found[path] for path in sorted(found)}


def notebooks(lessons: list[Lesson]) -> dict[str, str]:
    """The student notebooks, if they are what the lessons give: nothing that somebody wrote into one goes to a class."""
    found = {}
    for lesson in lessons:
        path = paths.student_notebook(lesson.module)
        text = path.read_text(encoding="utf-8") if path.exists() else '{"cells": []}'
        if [shown(cell) for cell in json.loads(text)["cells"]] != [
            shown(cell) for cell in blank_notebook(lesson).cells
        ]:
            raise CourseError(f"{relative(path)} is not what its lesson gives: run `make notebooks` first")
        found[relative(path)] = text
    return found


def shown(cell: dict) -> tuple:
    return cell["id"], "".join(cell["source"]), cell.get("outputs", [])


def engines(lessons: list[Lesson]) -> dict[str, str]:
    """What the lessons use of tinygrad_cl. What they ask for is what the notebook defines; what later ones ask for, an error."""
    used = parts_used(lessons)
    shown = {relative(file): file.read_text(encoding="utf-8") for file in files_in(used, SHIPPED)}
    found = dict(shown)
    for lesson in lessons:
        for name, text in less_what_is_asked(lesson.module, used[lesson.module], WRITTEN_BY_STUDENTS).items():
            for other in [other for other in used if other != lesson.module and uses(used[other], name)]:
                raise CourseError(
                    f"{other} imports {name}, which {lesson.module} asks students to write: bundle the two apart"
                )
            found[file_named(name)] = text
    for path, asked in asked_after(max(used)).items():
        if path in shown:
            found[path] = without_solutions(found[path], asked)
    return found


def asked_after(module: str) -> dict[str, dict[str, str]]:
    """What the modules after this one ask for, and the sentence in its place: {file: {symbol: sentence}}."""
    found: dict[str, dict[str, str]] = {}
    for later in [each for each in paths.module_names() if each > module]:
        for name, symbols in hidden_symbols(later).items():
            for symbol, exercise in symbols.items():
                sentence = LATER.format(name="{name}", module=later, exercise=exercise)
                found.setdefault(file_named(name), {})[symbol] = sentence
    return found


def file_named(name: str) -> str:
    """The file of a module."""
    return f"{name.replace('.', '/')}.py"


def data(lessons: list[Lesson]) -> dict[str, bytes]:
    """The data sets that the lessons use, as they are."""
    return {relative(file): file.read_bytes() for file in files_in(parts_used(lessons), DATA)}


def parts_used(lessons: list[Lesson]) -> dict[str, set[str]]:
    """What each lesson uses of tinygrad_cl, by the lesson's module."""
    return {lesson.module: ALWAYS | used_parts(lesson.module, KINDS) for lesson in lessons}


def checks(lessons: list[Lesson]) -> dict[str, str]:
    """The lessons' checks as data, and what was recorded of the reference and of each mistake."""
    found = {}
    for lesson in lessons:
        members = [find(name) for name in lesson.exercises]
        recorded = file_of(members[0])
        for check in members:
            if set(read(recorded).get(check.name, {})) != {REFERENCE, *(mistake.name for mistake in check.mistakes)}:
                raise CourseError(f"{relative(recorded)} lacks outcomes of {check.name}: run `make notebooks` first")
        found[relative(recorded)] = recorded.read_text(encoding="utf-8")
        found[relative(recorded.with_suffix(SUFFIX))] = text_of(members)
    return found


def frame() -> dict[str, str]:
    """The rest: what runs checks and opens the course, and what installs it."""
    code = {f"autograder/{name}.py": f"autograder/{name}.py" for name in AUTOGRADER}
    return {there: (paths.ROOT / here).read_text(encoding="utf-8") for here, there in (code | AS_THEY_ARE).items()} | {
        "pyproject.toml": students_project((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    }


def students_project(text: str) -> str:
    """pyproject.toml without what only developers and graders have: other extras, the sandbox, the tests' settings."""
    tables = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    return "".join(table for table in tables if table[1:].partition("]")[0] in TABLES)


def files_in(used: dict[str, set[str]], suffixes: set[str]) -> list[Path]:
    """The files of these kinds in all those parts of tinygrad_cl."""
    parts = set().union(*used.values())
    return [file for part in parts for file in files(paths.ROOT / "tinygrad_cl" / part) if file.suffix in suffixes]


def files(path: Path) -> list[Path]:
    """The files of a part of tinygrad_cl: a folder, or a module with its stub."""
    if path.is_dir():
        return list(path.rglob("*"))
    return [each for each in (path, path.with_suffix(".pyi")) if each.is_file()]


def relative(path: Path) -> str:
    return path.relative_to(paths.ROOT).as_posix()
