"""The checks of the course: one module per lesson, `mNN_name.py`, or its data; `find` loads them on demand."""

import importlib
import pkgutil
from pathlib import Path

from autograder.errors import CourseError


def all_checks() -> dict:
    """Every check by its name, in the order of the lessons."""
    from autograder.checks.check import REGISTRY
    from autograder.checks.data import SUFFIX, read_checks

    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        if module[0] == "m" and module[1:3].isdigit():
            importlib.import_module(f"autograder.checks.{module}")
    for path in sorted(Path(__file__).parent.glob(f"m*{SUFFIX}")):  # in a students' copy
        read_checks(path)
    return REGISTRY


def find(name: str):
    """The check of that name; CourseError, with the names that come closest, where there is none."""
    checks = all_checks()
    if name not in checks:
        import difflib

        close = difflib.get_close_matches(name, checks, n=3) or sorted(checks)
        raise CourseError(f"there is no check {name!r}; did you mean {', '.join(close)}?")
    return checks[name]
