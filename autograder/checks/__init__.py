"""The checks of the course: a module or package for each lesson, `mNN_name`, or its data; `find` loads a lesson's on demand."""

import importlib
import pkgutil
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from autograder.errors import CourseError


def all_checks() -> dict:
    """Every check by its name, in the order of the lessons."""
    from autograder.checks.check import REGISTRY

    for lesson in lessons():
        load(lesson)
    return dict(sorted(REGISTRY.items(), key=lambda item: item[1].lesson))


def find(name: str):
    """The check of that name, of which its own lesson alone is imported; CourseError, with the names that come closest, where
    there is none.
    """
    from autograder.checks.check import REGISTRY, names_checks

    for lesson in lessons():
        if names_checks(lesson, name):
            load(lesson)
    if name not in REGISTRY:
        import difflib

        checks = all_checks()
        close = difflib.get_close_matches(name, checks, n=3) or sorted(checks)
        raise CourseError(f"there is no check {name!r}; did you mean {', '.join(close)}?")
    return REGISTRY[name]


@lru_cache
def lessons() -> list[str]:
    """The lessons that have checks here, "m01_value" say, in order: as modules, or in a students' copy as data."""
    from autograder.checks.data import SUFFIX

    modules = [info.name for info in pkgutil.iter_modules(__path__)]
    data = [path.name.removesuffix(SUFFIX) for path in Path(__file__).parent.glob(f"m*{SUFFIX}")]
    return sorted(name for name in modules + data if name[0] == "m" and name[1:3].isdigit())


@lru_cache
def load(lesson: str) -> None:
    """Register a lesson's checks, once."""
    from autograder.checks.data import SUFFIX, read_checks

    data = Path(__file__).with_name(f"{lesson}{SUFFIX}")
    if data.exists():
        read_checks(data)
    else:
        importlib.import_module(f"autograder.checks.{lesson}")
        count_as_the_course_says(lesson)


def count_as_the_course_says(lesson: str) -> None:
    """Let the checks of a lesson count what course.toml says; their aspects keep their shares."""
    from autograder.checks.check import REGISTRY, names_checks
    from autograder.course import FILE, course

    for name, points in course().points.items():
        if names_checks(lesson, name):
            if name not in REGISTRY:
                raise CourseError(f"{FILE.name}: there is no exercise {name!r}")
            check = REGISTRY[name]
            factor = points / check.points
            check.aspects = [replace(aspect, points=aspect.points * factor) for aspect in check.aspects]
