"""A task: properties that a right solution has, whatever it looks like; the answer about one; and a figure for the board."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from autograder.projects import board

COLOURS = {"✓": "#1a85c8", "✗": "#d55e00", "·": "#e69f00"}  # after Okabe and Ito; legible on white and on black
GIVEN = (
    "start",
    "kernel_of",
    "kind_of",
)  # functions that the notebook gives: an error there comes from the line that calls them
SMALL = 16  # numbers of an array that is written out


class Broken(Exception):
    """A property does not hold: where, and what was expected there instead of what came."""

    def __init__(self, case: str, expected: object, got: object, why: str = "") -> None:
        super().__init__(case)
        self.lines = [*case.splitlines(), f"expected {expected}", f"got      {got}", *why.splitlines()]


def run(case: str, function: Callable, *args: Any) -> Any:
    """function(*args), a part of a solution. Broken, with the input, where it raises an error."""
    try:
        return function(*args)
    except (NotImplementedError, Broken):
        raise
    except Exception as error:
        raise Broken(case, "a result", f"{type(error).__name__}: {first_line(error)}{place_of(error)}") from error


@dataclass(frozen=True)
class Figure:
    """What was measured: the number, and what else is worth knowing of that run."""

    number: float
    detail: str = ""


@dataclass
class Task:
    """An open task.

    name         of the task, and of its board
    functions    the names of what is to be written, in the order in which `check` takes them
    unit         of the figure
    higher       whether a higher figure is the better one
    properties   (name, function) in order. The function takes what `check` was given, goes from small inputs to large
                 ones, and raises Broken at the first one where the property does not hold
    """

    name: str
    functions: tuple[str, ...]
    unit: str
    higher: bool
    properties: list[tuple[str, Callable]] = field(default_factory=list)
    measurement: Callable[..., Figure] | None = None

    def property(self, name: str) -> Callable[[Callable], Callable]:
        """Decorator: the function below looks whether the property of this name holds."""

        def add(function: Callable) -> Callable:
            self.properties.append((name, function))
            return function

        return add

    def measures(self, function: Callable[..., Figure]) -> Callable[..., Figure]:
        """Decorator: the function below gives the Figure of a solution. Broken where what it timed is wrong."""
        self.measurement = function
        return function

    def check(self, *functions: Callable, **where: Any) -> "Answer":
        """The answer about a solution: the properties hold, or the first that does not, on the smallest input that shows it.

        where   `device=`: another device than the default one
        """
        if len(functions) != len(self.functions):
            raise TypeError(f"{self.name}.check takes {', '.join(self.functions)}, not {len(functions)} things")
        holds: list[str] = []
        for name, look in self.properties:
            try:
                look(*functions, **where)
            except Exception as error:
                return self.answer(holds, name, error)
            holds.append(name)
        return Answer(self, holds)

    def answer(self, holds: list[str], name: str, error: Exception) -> "Answer":
        if isinstance(error, NotImplementedError):
            return Answer(self, holds, name, missing=f"{name_of(error)} is not written yet")
        if isinstance(error, Broken):
            return Answer(self, holds, name, error.lines)
        return Answer(self, holds, name, [f"{type(error).__name__}: {first_line(error)}{place_of(error)}"])

    def measure(self, *functions: Callable, **where: Any) -> "Answer | board.Board":
        """Measure a solution that passes the check, and the board with it. Where it does not pass, the answer says why, and
        nothing is entered; nor where a result is wrong while it is measured.
        """
        answer = self.check(*functions, **{key: value for key, value in where.items() if key == "device"})
        if not answer.right:
            return answer
        assert self.measurement is not None
        try:
            figure = self.measurement(*functions, **where)
        except Exception as error:
            return self.answer(answer.holds, "what is measured is right, too", error)
        board.enter(self.name, figure.number, figure.detail, where.get("device"))
        return self.board()

    def board(self) -> board.Board:
        """Your best figures so far, the best first."""
        return board.Board(self.name, self.unit, self.higher)


@dataclass(frozen=True)
class Answer:
    """What a check found. It displays itself in Jupyter and prints as text elsewhere.

    holds     the properties that hold
    broken    the one that does not; "" if all hold
    lines     the input, what was expected there, and what came
    missing   what is not written yet
    """

    task: Task
    holds: list[str]
    broken: str = ""
    lines: list[str] = field(default_factory=list)
    missing: str = ""

    @property
    def right(self) -> bool:
        return not self.broken

    def headline(self) -> str:
        if self.missing:
            return f"· {self.task.name} · {self.missing}"
        if self.right:
            return f"✓ {self.task.name} · all {len(self.holds)} properties hold"
        return f"✗ {self.task.name} · this does not hold: {self.broken}"

    def rest(self) -> list[str]:
        """The properties that hold, and those that were not looked at."""
        if self.missing:
            return ["Write it in the cell above, run that cell, then this one again."]
        names = [name for name, _ in self.task.properties]
        later = names[len(self.holds) + 1 :] if self.broken in names else []
        said = [("Holds: ", self.holds), ("Not looked at yet: ", later)]
        return [f"{words}{'; '.join(names)}." for words, names in said if names]

    def __str__(self) -> str:
        return "\n  ".join([self.headline(), *self.lines, *self.rest()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colour, code = COLOURS[self.headline()[0]], escape("\n".join(self.lines))
        parts = [f"<b style='color:{colour}'>{escape(self.headline())}</b>"]
        if code:
            parts.append(
                f"<pre style='margin:.3em 0;background:none;padding:0;white-space:pre-wrap;color:inherit'>{code}</pre>"
            )
        parts += [f"<div style='opacity:.75;font-size:90%'>{escape(line)}</div>" for line in self.rest()]
        return f"<div style='border-left:4px solid {colour};padding:.3em .8em;line-height:1.5'>{''.join(parts)}</div>"


def frames_of(error: Exception) -> list[traceback.FrameSummary]:
    """Those of the solution: not of this package, of the engines or of libraries."""
    foreign = ("/autograder/", "/tinygrad_cl/", "/site-packages/", "/lib/python")
    found = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in found if not any(part in frame.filename.replace("\\", "/") for part in foreign)]
    return [frame for frame in own if frame.name not in GIVEN] or own


def name_of(error: Exception) -> str:
    """The function of the solution that raised it."""
    frames = frames_of(error)
    return frames[-1].name if frames else "it"


def place_of(error: Exception) -> str:
    """Where in the solution it was raised, " (conv, line 3)"; "" if no line of it was on the way."""
    frames = frames_of(error)
    return f" ({frames[-1].name}, line {frames[-1].lineno})" if frames else ""


def first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")


def written(array: Any) -> str:
    """An array as it can be pasted, if it is small; else its shape."""
    array = np.asarray(array)
    return str(array.tolist()) if array.size <= SMALL else f"an array of shape {array.shape}"


def same(case: str, expected: Any, got: Any, tolerance: Any = 0.0, why: str = "") -> None:
    """Broken if the shapes differ, or any number by more than the tolerance (of its shape, or a number); NaN always differs."""
    expected, got = np.asarray(expected, np.float64), np.asarray(got, np.float64)
    if expected.shape != got.shape:
        raise Broken(case, f"the shape {expected.shape}", f"the shape {got.shape}", why)
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(got - expected) <= tolerance)
    if not wrong.any():
        return
    if expected.size <= SMALL:
        raise Broken(case, written(expected), written(got), why)
    place = tuple(np.argwhere(wrong)[0].tolist())
    count = f"{int(wrong.sum())} of {wrong.size} numbers differ, the first at {list(place)}"
    digits = 7 if f"{expected[place]:.7g}" != f"{got[place]:.7g}" else 17
    raise Broken(case, f"{expected[place]:.{digits}g}", f"{got[place]:.{digits}g}  ({count})", why)
