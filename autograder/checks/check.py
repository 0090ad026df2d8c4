"""A check: a probe, its points, the mistakes that it must catch and the variants that it must accept.

A probe runs in the student's namespace and returns named plain arrays. Nothing here decides a mark: the judge runs the
same probe on the reference and compares (`autograder.judge`). The format is described in docs/lessons.md.
"""

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from autograder.checks.aspect import WATCHED, Aspect, texts_function
from autograder.checks.aspect import text_of as text_of_function
from autograder.checks.cases import Source
from autograder.checks.inside import Trial, compile_probe, run_trials
from autograder.checks.tools import Tools
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
    """One exercise's check. Call it as `check("name")` in a notebook; it is made by the decorator `check` below."""

    name: str
    points: float
    lesson: str  # whose check it is: "m01_value", also the file of what is recorded of it
    probe_source: str  # the probe's own text without its decorator: all that travels to a student's kernel
    rtol: float
    atol: float
    device: tuple[str, ...]
    needs: tuple[str, ...]
    seconds: float
    measured: Callable | None = None  # what `on_device` was given
    mistakes: list[Mistake] = field(default_factory=list)
    variants: list[Variant] = field(default_factory=list)
    aspects: list[Aspect] = field(default_factory=list)
    about: str = ""
    texts: str = ""  # of an exercise that hands over kernels (see `Aspect`)
    watched: Aspect | None = None  # its launches that Oclgrind watches

    def aspect(self, name: str, points: float, *, cases: Source, agrees: Callable | None = None, **options):
        """Declare an aspect; a decorator of its observation, which may be observed in several aspects (see `Aspect`)."""

        def decorate(observation: Callable) -> Callable:
            source = text_of_function(observation, "observe")
            self.aspects.append(
                Aspect(
                    name,
                    float(points),
                    source,
                    cases,
                    agrees=text_of_function(agrees, "agrees"),
                    texts=self.texts,
                    **options,
                )
            )
            self.points = sum(aspect.points for aspect in self.aspects)
            return observation

        return decorate

    def watch(self, cases: Source) -> Callable:
        """Declare the one launch that Oclgrind watches, the first of the cases; a decorator of an observation that calls `tried`."""

        def decorate(observation: Callable) -> Callable:
            source = WATCHED.format(source=text_of_function(observation, "launched"))
            self.watched = Aspect("every access to memory", 0.0, source, cases, few=1, many=1, texts=self.texts)
            return observation

        return decorate

    @property
    def title(self) -> str:
        if self.about:
            return self.about
        return (self.standalone_probe.__doc__ or self.name).strip().splitlines()[0]

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

    @cached_property
    def standalone_probe(self) -> Callable:
        """The probe made from its own text, with no names of its module: the same here as in a student's kernel."""
        return compile_probe(self.probe_source)

    def seeds(self, seed: str, trials: int) -> list[int]:
        """The number that the probe's generator starts from in each trial; the seed itself cannot be recovered from it."""
        texts = [f"{seed}|{self.name}|{trial}" for trial in range(trials)]
        return [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts]

    def run(self, namespace: dict, seed: str, trials: int) -> list[Trial]:
        """Run the probe on a namespace of this process: a notebook's, the reference's, a mistake's."""
        return run_trials(self.standalone_probe, namespace, self.seeds(seed, trials), Tools(), self.seconds)


def check(
    name: str, points: float, *, rtol: float = 1e-6, atol: float = 1e-9, device=(), needs=(), seconds: float = 10.0
):
    """Make the decorated probe the check called `name`, worth `points`.

    rtol, atol   how far a quantity may lie from the reference's
    device       names of the quantities that are also held against central differences on the OpenCL device
    needs        names of earlier checks whose exercises this one builds on: a message says so if they are not right yet
    seconds      after this time the probe is stopped
    """

    def decorate(probe) -> Check:
        lesson = probe.__module__.removeprefix("autograder.checks.").partition(".")[0]
        return register(
            Check(name, float(points), lesson, text_of(probe), rtol, atol, tuple(device), tuple(needs), seconds)
        )

    return decorate


def exercise(
    name: str, about: str, *, needs=(), seconds: float = 10.0, texts: tuple[str, ...] | Callable = ()
) -> Check:
    """The check of an exercise, made of cases and aspects: `add = exercise("value.add", "The sum."); @add.aspect(…)`.

    texts   for kernels: the names of the texts that are handed over, or a function of (student, case) that gives them by name.
            Then observations see these alone, and when it counts they run in a process that no cell of the student's touches
    """
    lesson = inspect.stack()[1].frame.f_globals["__name__"].removeprefix("autograder.checks.").partition(".")[0]
    return register(
        Check(name, 0.0, lesson, "", 0.0, 0.0, (), tuple(needs), seconds, about=about, texts=texts_function(texts))
    )


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


def text_of(probe: Callable) -> str:
    """A probe's text, without its decorator and with the name `probe`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(probe)))
    function = tree.body[0]
    function.decorator_list, function.name = [], "probe"
    return ast.unparse(tree)
