"""The package running on a learner's functions: bound where the lesson's exercise is pulled from, and back again.

The learner's cells run once more, and this time the names that a lesson pulls from the package are the package's own: their
`@add_to_class(Value)` adds to tinygrad_cl's `Value`. Of a class that they wrote, the members move to the package's class, so
there is one class, for isinstance and for what is derived from it. A function takes the other's place in each module that
holds it. A learner's function still finds its globals in their notebook.
"""

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any

from autograder.errors import CourseError
from autograder.learner.own_work import ADDED, Answer, Work, execute, quiet, said
from autograder.learner.probes import Numbers, differing
from autograder.lesson.symbols import parse, pull
from autograder.lesson.text import Cell
from autograder.stand_in import is_packages

MISSING = object()
OF_THE_CLASS = {  # what every class statement makes, and what cannot move to another class
    "__annotations__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__qualname__",
    "__slots__",
    "__static_attributes__",
    "__weakref__",
}


@dataclass(frozen=True)
class Member:
    """An attribute of a class of the package."""

    owner: type
    name: str
    theirs: Any
    mine: Any

    def put(self, mine: bool) -> None:
        value = self.mine if mine else self.theirs
        if value is MISSING:
            if self.name in vars(self.owner):
                delattr(self.owner, self.name)
        else:
            setattr(self.owner, self.name, value)

    @property
    def label(self) -> str:
        return f"{self.owner.__name__}.{self.name}"


@dataclass(frozen=True)
class Function:
    """A function of the package, wherever a module of it or the notebook holds it."""

    label: str
    theirs: Any
    mine: Any

    def put(self, mine: bool) -> None:
        old, new = (self.theirs, self.mine) if mine else (self.mine, self.theirs)
        for module in holders():
            for name in [name for name, value in vars(module).items() if value is old]:
                setattr(module, name, new)


@dataclass
class Carried:
    """A lesson on which the package runs: its changes, and for each exercise the reason why it is the reference's, or ""."""

    module: str
    space: ModuleType
    changes: dict[str, list[Member | Function]] = field(
        default_factory=dict
    )  # by exercise; "" for what other cells add
    whys: dict[str, str] = field(default_factory=dict)
    cells: dict[str, Cell] = field(default_factory=dict)

    def put(self, mine: bool) -> None:
        """Let the package run on the learner's functions, or on its own again."""
        changes = [change for changes in self.changes.values() for change in changes]
        for change in changes if mine else reversed(changes):
            change.put(mine)

    def functions(self) -> Iterator[tuple[str, CodeType, bool]]:
        """(name, code, whether it is the learner's) of each function that its exercises ask for, as it runs when this is put."""
        for exercise, cell in self.cells.items():
            for change in self.changes[exercise]:
                if (code := code_of(change.mine)) is not None:
                    yield change.label, code, True
            if self.whys[exercise]:
                for symbol in cell.pulled:
                    yield from ((label, code, False) for label, code in functions_behind(symbol))

    def replaced(self) -> Iterator[tuple[str, CodeType]]:
        """(name, code) of the package's functions in whose place the learner's stand."""
        for change in [change for changes in self.changes.values() for change in changes]:
            if (code := code_of(change.theirs)) is not None:
                yield change.label, code


def holders() -> list[ModuleType]:
    """The modules that may hold a function of the package: its own, those of carried notebooks, and the open notebook."""
    return [
        module
        for name, module in list(sys.modules.items())
        if name == "__main__" or name.split(".")[0] == "tinygrad_cl" and isinstance(module, ModuleType)
    ]


def carry(work: Work, probe: Callable[[], dict[str, Numbers]]) -> Carried:
    """Let the package run on what is right of a notebook.

    probe   runs programs on the package, and returns {what: numbers}, which have to stay what they were

    First all exercises together, since one may need another that is written in the same style (with closures, say). If the
    package does not run on them, one by one: one that is right by its check, but not for the package, stays the reference's.
    """
    expected = probe()

    def complaint() -> str:
        try:
            what = differing(probe(), expected)
        except Exception as error:
            return f"right by its check, but the package cannot run on it: {said(error)}"
        return what and f"right by its check, but {what} would not be the same with it"

    with quiet():
        together = carry_each(work, lambda: "")
        if not complaint():
            return together
        together.put(mine=False)
        return carry_each(work, complaint)


def carry_each(work: Work, complaint: Callable[[], str]) -> Carried:
    """Run a notebook's cells for the package. The complaint after an exercise is why it stays the reference's; "" if it need not."""
    carried = Carried(work.module, ModuleType(f"work_{work.module}"))
    try:
        open_slots(carried, work)
        for answer in work.answers:
            if answer.is_carried:
                carry_exercise(carried, answer, complaint)
            elif answer.cell.pulled:
                take_from_package(carried.space, answer.cell)
                run_beside(carried, rest_of(answer.cell), ADDED)
            else:
                run_beside(carried, answer.source, answer.cell)
    except BaseException:
        carried.put(mine=False)
        raise
    return carried


def open_slots(carried: Carried, work: Work) -> None:
    """Where the learner's code sets an attribute for which a class with slots has no place, a subclass that has one stands for it.

    Lesson 01's Value has slots in the package, but not in the lesson: closures as in micrograd hang on it.
    """
    sources = [answer.source for answer in work.answers if answer.is_carried and not answer.why]
    written = {name for source in sources for name in attributes_set(source)}
    for owner in {owner for answer in work.answers if answer.is_carried for owner in classes_behind(answer.cell)}:
        if owner.__dictoffset__ == 0 and written - set(dir(owner)):  # its objects have no __dict__
            wider = type(owner.__name__, (owner,), {"__module__": owner.__module__, "__doc__": owner.__doc__})
            change = Function(owner.__name__, owner, wider)
            change.put(mine=True)
            carried.changes.setdefault("", []).append(change)


def attributes_set(source: str) -> set[str]:
    """The names x of all that sets an `….x`."""
    nodes = ast.walk(ast.parse(source))
    return {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}


def run_beside(carried: Carried, source: str, cell: Cell) -> None:
    """Run a cell that is no exercise of the package. What it adds to a class of the package stays, as a helper may; what it
    replaces there does not: lesson 10, for example, gives `Node` simple operators.
    """
    classes = {each for each in vars(carried.space).values() if isinstance(each, type) and is_packages(each)}
    before = {owner: dict(vars(owner)) for owner in classes}
    try:
        execute(source, carried.space, cell)
    except Exception:
        if cell.kind == "given":
            raise
    for change in list(added(before)):
        if change.theirs is not MISSING or any(change.name in vars(base) for base in change.owner.__mro__[1:]):
            change.put(mine=False)
        else:
            carried.changes.setdefault("", []).append(change)


def carry_exercise(carried: Carried, answer: Answer, complaint: Callable[[], str]) -> None:
    name, cell, why = answer.cell.name, answer.cell, answer.why
    changes: list[Member | Function] = []
    if not why:
        before = {owner: dict(vars(owner)) for owner in classes_behind(cell)}
        try:
            execute(answer.source, carried.space, cell)
            changes += added(before)
            for change in moved(carried.space, cell):
                change.put(mine=True)
                changes.append(change)
            why = complaint()
        except Exception as error:
            why = f"right by its check, but not in the package: {said(error)}"
            changes = changes or list(added(before))
        if why:
            for change in reversed(changes):
                change.put(mine=False)
            changes = []
    if why:
        take_from_package(carried.space, cell)
    carried.cells[name], carried.changes[name], carried.whys[name] = cell, changes, why


def added(before: dict[type, dict[str, Any]]) -> Iterator[Member]:
    """What a cell changed in classes of the package."""
    for owner, members in before.items():
        for name, value in dict(vars(owner)).items():
            if value is not members.get(name, MISSING) and name not in OF_THE_CLASS:
                yield Member(owner, name, members.get(name, MISSING), value)


def moved(space: ModuleType, cell: Cell) -> Iterator[Member | Function]:
    """What a cell defined, to stand in the place of what the package has; the cells below find the package's class."""
    for symbol in cell.pulled:
        match = parse(symbol)
        theirs, mine = from_package(symbol), getattr(space, match["name"])
        if mine is theirs:
            continue
        if not isinstance(theirs, type):
            yield Function(match["name"], theirs, mine)
            continue
        if not isinstance(mine, type):
            raise CourseError(f"{match['name']} is a class there")
        for name, member in list(vars(mine).items()):
            if name not in OF_THE_CLASS:
                belong_to(theirs, member)
                yield Member(theirs, name, vars(theirs).get(name, MISSING), member)
        setattr(space, match["name"], theirs)


def belong_to(owner: type, member: Any) -> None:
    """Let `super()` and `__class__` in a method mean the class that it moves to."""
    for function in underlying(member):
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            if name == "__class__":
                cell.cell_contents = owner


def underlying(thing: Any) -> list[FunctionType]:
    """The functions in a method, a property, a decorated function."""
    if isinstance(thing, property):
        parts = [thing.fget, thing.fset, thing.fdel]
    else:
        parts = (
            [inspect.unwrap(getattr(thing, "__func__", thing))] if callable(thing) or hasattr(thing, "__func__") else []
        )
    return [part for part in parts if isinstance(part, FunctionType)]


def code_of(thing: Any) -> CodeType | None:
    found = underlying(thing)
    return found[0].__code__ if found else None


def take_from_package(space: ModuleType, cell: Cell) -> None:
    """What a cell is pulled from, under its names."""
    for symbol in cell.pulled:
        setattr(space, parse(symbol)["name"], from_package(symbol))


def rest_of(cell: Cell) -> str:
    """What a cell says below what is pulled."""
    return cell.solved.removeprefix("\n\n\n".join(map(pull, cell.pulled)))


def from_package(symbol: str) -> Any:
    match = parse(symbol)
    return getattr(importlib.import_module(match["module"]), match["name"])


def classes_behind(cell: Cell) -> set[type]:
    """The classes of the package that a cell's symbols name."""
    return {thing for thing in map(from_package, cell.pulled) if isinstance(thing, type)}


def functions_behind(symbol: str) -> Iterator[tuple[str, CodeType]]:
    """(name, code) of the package's functions behind a symbol."""
    match, thing = parse(symbol), from_package(symbol)
    if not isinstance(thing, type):
        members = {match["name"]: thing}
    else:
        names = (match["method"] or match["members"] or " ".join(vars(thing))).split()
        members = {f"{match['name']}.{name}": vars(thing)[name] for name in names if name not in OF_THE_CLASS}
    for label, member in members.items():
        code = code_of(member)
        if code is not None:
            yield label, code
