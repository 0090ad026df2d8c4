"""course.toml beside the Makefile: which modules a course has, and what its exercises count. Both may be left out.

modules = ["01", "02", "03"]

[points]
"value.mul" = 4
"""

import tomllib
from dataclasses import dataclass, field
from functools import lru_cache

from autograder import paths
from autograder.errors import CourseError

FILE = paths.home() / "course.toml"


@dataclass(frozen=True)
class Course:
    """modules  their names or numbers, as the file has them; () for all
    points   {exercise: what it counts}, where that is not what its check says
    """

    modules: tuple[str, ...] = ()
    points: dict[str, float] = field(default_factory=dict)

    def has(self, module: str) -> bool:
        return not self.modules or module in self.modules or module.split("_")[0] in self.modules


@lru_cache
def course() -> Course:
    """The settings; CourseError where the file says something else."""
    if not FILE.exists():
        return Course()
    try:
        found = tomllib.loads(FILE.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{FILE.name} cannot be read: {error}") from None
    modules, points = found.pop("modules", []), found.pop("points", {})
    if found:
        raise CourseError(f"{FILE.name} knows modules and points, not {', '.join(found)}")
    if not isinstance(modules, list) or not all(isinstance(each, str) for each in modules):
        raise CourseError(f'{FILE.name}: modules is a list of names, modules = ["01", "02"]')
    if not isinstance(points, dict) or not all(is_number(each) for each in points.values()):
        raise CourseError(f'{FILE.name}: below [points] stands a number above 0 for each exercise, "value.mul" = 4')
    names = paths.module_names()
    unknown = [each for each in modules if each not in {*names, *(name.split("_")[0] for name in names)}]
    if unknown:
        raise CourseError(f"{FILE.name}: there is no module {unknown[0]}; there are: {', '.join(names)}")
    return Course(tuple(modules), points)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def course_modules() -> list[str]:
    """The modules of the course, in order."""
    return [module for module in paths.module_names() if course().has(module)]
