"""Checks as plain data: all of them that a student may have. A students' copy of the course has these in place of their modules.

A file `m01_value.checks.json` holds the checks of a lesson: their aspects, and the names and hints of their mistakes, but of no
mistake and no variant the code. What the mistakes come to is recorded beside it (`judge.recorded`).
"""

import json
from dataclasses import fields
from pathlib import Path

from autograder.checks.aspect import NOTEBOOK_SEED, Aspect
from autograder.checks.cases import Case
from autograder.checks.check import Check, Edit, Mistake, register

SUFFIX = ".checks.json"
LEFT_OUT = (
    "mistakes",
    "variants",
    "measured",
    "aspects",
    "watched",
)  # they hold code, or are written in a way of their own


def data_of(check: Check) -> dict:
    data = {part.name: getattr(check, part.name) for part in fields(Check) if part.name not in LEFT_OUT}
    mistakes = [{"name": mistake.name, "hints": mistake.hints} for mistake in check.mistakes]
    aspects = [data_of_aspect(aspect, check) for aspect in check.aspects]
    watched = data_of_aspect(check.watched, check) if check.watched else None
    return data | {"mistakes": mistakes, "aspects": aspects, "watched": watched}


def data_of_aspect(aspect: Aspect, check: Check) -> dict:
    """An aspect with the cases that a notebook has; held against the device only where that takes none of the reference's names."""
    data = {part.name: getattr(aspect, part.name) for part in fields(Aspect) if part.name not in ("cases", "listed")}
    cases = aspect.plan(check.name, NOTEBOOK_SEED, check.sharing)
    device = 0 if check.measured else aspect.device
    return data | {"device": device, "listed": [[case.inputs, case.tags] for case in cases]}


def aspect_of(data: dict) -> Aspect:
    listed = [Case(inputs, tuple(tags)) for inputs, tags in data["listed"]]
    return Aspect(**data | {"cases": None, "listed": listed, "at_most": tuple(data["at_most"])})


def check_of(data: dict) -> Check:
    """A check as good as the one that the data come from, where the outcomes of its mistakes are recorded."""
    given = {
        name: tuple(value) if isinstance(value, list) else value for name, value in data.items() if name not in LEFT_OUT
    }
    mistakes = [Mistake(mistake["name"], Edit(), tuple(mistake["hints"])) for mistake in data["mistakes"]]
    aspects = [aspect_of(aspect) for aspect in data["aspects"]]
    watched = aspect_of(data["watched"]) if data["watched"] else None
    return Check(**given, mistakes=mistakes, aspects=aspects, watched=watched)


def text_of(checks: list[Check]) -> str:
    return json.dumps([data_of(check) for check in checks], ensure_ascii=False, indent=1) + "\n"


def read_checks(path: Path) -> list[Check]:
    """Register the checks of a file."""
    return [register(check_of(data)) for data in json.loads(path.read_text(encoding="utf-8"))]
