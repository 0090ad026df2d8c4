"""The version of the course that marks depend on: of a lesson, its checks, the engines that it uses, and the judge."""

import hashlib
from functools import lru_cache
from pathlib import Path

from autograder import paths
from autograder.checks import find
from autograder.judge.notebook_run import Limits
from autograder.lesson.imports import names_imported
from autograder.lesson.text import read_lesson
from autograder.sandbox.course import files_of, parts_behind


def key_of(module: str, data: bytes, seed: str, limits: Limits, sandbox: bool, watched: bool) -> str:
    """What a result is made from: the version of the course, the seed, the limits, whether Oclgrind looks, the file that was handed in."""
    return hashlib.sha256(repr((course_digest(module), seed, limits, sandbox, watched)).encode() + data).hexdigest()


@lru_cache
def course_digest(module: str) -> str:
    """What decides the marks of a module besides the submission and the seed: its lesson, its checks, the engines, the judge."""
    lesson = read_lesson(module)
    digest = hashlib.sha256(repr(lesson).encode())
    digest.update(repr([find(name).points for name in lesson.exercises]).encode())
    for file in files_that_decide(module):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def files_that_decide(module: str) -> list[Path]:
    """The files of code that a module's marks depend on. Checks of other modules, and engines that it does not use, do not matter."""
    folder, engines = paths.ROOT / "autograder", paths.ROOT / "tinygrad_cl"
    judge = [folder / name for name in ("judge", "lesson", "sandbox", "student.py", "stand_in.py", "characters.py")]
    judge += [folder / "grading" / name for name in ("reading.py", "normalise.py")]
    checks = checks_behind([file for part in [*judge, *checks_of(module)] for file in files_of(part)])
    cells = [cell.solved for cell in read_lesson(module).cells if cell.is_code]
    used = parts_behind(cells + [path.read_text(encoding="utf-8") for path in checks])
    return sorted({file for part in [*judge, *(engines / part for part in used)] for file in files_of(part)} | checks)


def checks_of(module: str) -> list[Path]:
    """A module's checks: a file, or a folder of them."""
    checks = paths.ROOT / "autograder" / "checks"
    return [path for path in (checks / f"m{module}.py", checks / f"m{module}") if path.exists()]


def checks_behind(files: list[Path]) -> set[Path]:
    """Those of the files that are below autograder/checks, and what all of them import from there."""
    checks = paths.ROOT / "autograder" / "checks"
    found, left = set(), [*files, checks / "__init__.py"]
    while left:
        file = left.pop()
        if file.is_relative_to(checks):
            found.add(file)
        names = names_imported(file.read_text(encoding="utf-8"))
        parts = [name.split(".")[2:] for name in names if name.startswith("autograder.checks.")]
        modules = {checks.joinpath(*part[:length]).with_suffix(".py") for part in parts for length in (1, 2)}
        left += [path for path in modules if path.is_file() and path not in found and path not in left]
    return found
