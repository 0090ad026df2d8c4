"""A check: its aspects, the mistakes that it must catch and the variants that it must accept.

Nothing here decides a mark: the judge observes the student's code and the reference in the same cases and compares
(`autograder.judge`). The format is described in docs/lessons.md.
"""

import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field

from autograder.checks.aspect import WATCHED, Aspect, text_of, texts_function
from autograder.checks.cases import Source
from autograder.errors import CourseError

REGISTRY: dict[str, "Check"] = {}


@dataclass(frozen=True)
class Edit:
    """A change to the reference's cells: pairs (old, new) within the exercise's own cell, or whole new sources."""

    swaps: tuple[tuple[str, str], ...] = ()
    sources: dict[str, str] = field(default_factory=dict)

    def apply(self, exercise: str, cell_source: Callable[[str], str]) -> dict[str, str]:
        """The edited sources, {exercise: source}. `cell_source` gives the reference's source of an exercise."""
        if self.sources:
            return self.sources
        source = cell_source(exercise)
        for old, new in self.swaps:
            if old not in source:
                raise CourseError(f"{exercise}: the reference solution has no {old!r} to swap")
            source = source.replace(old, new)
        return {exercise: source}


@dataclass(frozen=True)
class Mistake:
    name: str
    edit: Edit
    hints: tuple[str, ...]


@dataclass(frozen=True)
class Variant:
    name: str
    edit: Edit


@dataclass
class Check:
    """One exercise's check. Call it as `check("name")` in a notebook; it is made by `exercise` below.

    about    what the exercise is, in one line
    needs    names of earlier checks whose exercises this one builds on: a message says so if they are not right yet
    seconds  of processor time for all cases together; then it is stopped
    """

    name: str
    lesson: str  # whose check it is: "m01_value", also the file of what is recorded of it
    about: str
    needs: tuple[str, ...]
    seconds: float
    measured: Callable | None = None  # what `on_device` was given
    mistakes: list[Mistake] = field(default_factory=list)
    variants: list[Variant] = field(default_factory=list)
    aspects: list[Aspect] = field(default_factory=list)
    texts: str = ""  # of an exercise that hands over kernels (see `Aspect`)
    watched: Aspect | None = None  # its launch that Oclgrind watches

    @property
    def points(self) -> float:
        return sum(aspect.points for aspect in self.aspects)

    @property
    def sharing(self) -> int:
        """How many aspects share the cases of a notebook: those that earn points."""
        return len([aspect for aspect in self.aspects if aspect.points])

    def aspect(self, name: str, points: float, *, cases: Source, agrees: Callable | None = None, **options):
        """Declare an aspect; a decorator of its observation, which may be observed in several aspects (see `Aspect`)."""

        def decorate(observation: Callable) -> Callable:
            source, agreed = text_of(observation, "observe"), text_of(agrees, "agrees")
            self.aspects.append(Aspect(name, float(points), source, cases, agrees=agreed, texts=self.texts, **options))
            return observation

        return decorate

    def watch(self, cases: Source) -> Callable:
        """Declare the one launch that Oclgrind watches, the first of the cases; a decorator of an observation that calls `tried`."""

        def decorate(observation: Callable) -> Callable:
            source = WATCHED.format(source=text_of(observation, "launched"))
            self.watched = Aspect("every access to memory", 0.0, source, cases, few=1, many=1, texts=self.texts)
            return observation

        return decorate

    def mistake(self, name: str, *, swap=None, source=None, hint=()) -> None:
        """One edit of the reference that loses points, and that a message names. `hint`: a string, or gentle to plain."""
        hints = (hint,) if isinstance(hint, str) else tuple(hint)
        if not hints:
            raise CourseError(f"{self.name}: the mistake {name!r} has no hint")
        self.mistakes.append(Mistake(name, self.edit(swap, source), hints))

    def variant(self, name: str, *, swap=None, source=None) -> None:
        """A right solution written another way; it must earn all points."""
        self.variants.append(Variant(name, self.edit(swap, source)))

    def on_device(self, names: Callable) -> Callable:
        """Say how a lesson on arrays is measured on the device: names(on, reference) returns the names that take the place of the
        reference's, {name: …}, made by `on`, the module `tinygrad_cl.measured`. Use it as a decorator.
        """
        self.measured = names
        return names

    def edit(self, swap, source) -> Edit:
        if (swap is None) == (source is None):
            raise CourseError(f"{self.name}: give swap=… or source=…, one of the two")
        if source is not None:
            sources = source if isinstance(source, dict) else {self.name: source}
            return Edit(sources={name: textwrap.dedent(text).strip("\n") for name, text in sources.items()})
        pairs = [swap] if isinstance(swap[0], str) else list(swap)
        return Edit(swaps=tuple((old, new) for old, new in pairs))


def exercise(
    name: str, about: str, *, needs=(), seconds: float = 10.0, texts: tuple[str, ...] | Callable = ()
) -> Check:
    """The check of an exercise, made of cases and aspects: `add = exercise("value.add", "The sum."); @add.aspect(…)`.

    texts   for kernels: the names of the texts that are handed over, or a function of (student, case) that gives them by name.
            Then observations see these alone, and when it counts they run in a process that no cell of the student's touches
    """
    # Not `inspect.stack()`: it reads the source lines of every frame, which took longer than all other work of the import.
    lesson = sys._getframe(1).f_globals["__name__"].removeprefix("autograder.checks.").partition(".")[0]
    return register(Check(name, lesson, about, tuple(needs), seconds, texts=texts_function(texts)))


def names_checks(lesson: str, name: str) -> bool:
    """Whether a check of that lesson may have that name: those of m11_custom_op are called customop.…"""
    return name.partition(".")[0] == lesson.partition("_")[2].replace("_", "")


def register(check: Check) -> Check:
    if check.name in REGISTRY:
        raise CourseError(f"two checks are called {check.name!r}")
    if not names_checks(check.lesson, check.name):
        raise CourseError(
            f"the check {check.name!r} of {check.lesson} begins with another lesson's name; nobody would find it"
        )
    REGISTRY[check.name] = check
    return check
