"""The version of the course that marks depend on: of a lesson, its checks, the engines that it uses, and the judge."""

import hashlib
import re
from functools import lru_cache
from pathlib import Path

from autograder import paths
from autograder.checks import find
from autograder.judge.notebook_run import Limits
from autograder.lesson.text import read_lesson
from autograder.sandbox.course import files_of, parts_behind


def key_of(module: str, data: bytes, seed: str, limits: Limits, sandbox: bool) -> str:
    """What a result is made from: the version of the course, the seed, the limits, and the file that was handed in."""
    return hashlib.sha256(repr((course_digest(module), seed, limits, sandbox)).encode() + data).hexdigest()


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
    checks = [path for path in (folder / "checks").rglob("*.py") if is_of(module, path.relative_to(folder / "checks"))]
    cells = [cell.solved for cell in read_lesson(module).cells if cell.is_code]
    parts = [engines / part for part in parts_behind(cells + [path.read_text(encoding="utf-8") for path in checks])]
    parts += [folder / name for name in ("judge", "lesson", "sandbox", "student.py", "stand_in.py", "characters.py")]
    parts += [folder / "grading" / name for name in ("reading.py", "normalise.py")]
    return sorted({file for part in parts for file in files_of(part)} | set(checks))


def is_of(module: str, check: Path) -> bool:
    """Whether a file below autograder/checks is the module's, or none of a single module."""
    first = check.parts[0].removesuffix(".py")
    return first == f"m{module}" or not re.match(r"m\d\d_", first)
