"""A learner's notebooks as the cells that their engine is made of: each exercise as they wrote it where it is right, else the reference's.

Here nothing touches the package: a notebook's cells run in a namespace of their own, as they do in the notebook, and the
checks say what is right.
"""

import ast
import contextlib
import importlib
import io
import linecache
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from nbformat import NotebookNode

from autograder import paths
from autograder.checks import find
from autograder.checks.aspect import NOTEBOOK_SEED
from autograder.errors import CourseError
from autograder.grading.normalise import normalised_submission
from autograder.judge.notebook_run import course_cell
from autograder.judge.plan import run
from autograder.judge.verdict import judge
from autograder.lesson.imports import names_imported
from autograder.lesson.symbols import parse
from autograder.lesson.text import Cell, read_lesson

ENGINES = ("scalar", "tensor", "netcl")  # parts of tinygrad_cl
ADDED = Cell(kind="added", source="", id="")  # by the learner


@dataclass(frozen=True)
class Answer:
    """What runs of one cell.

    cell     the lesson's; ADDED for one that the learner added
    source   the learner's text, or the reference's
    why      why it is the reference's; "" where it is the learner's
    """

    cell: Cell
    source: str
    why: str = ""

    @property
    def is_exercise(self) -> bool:
        return self.cell.kind == "exercise"

    @property
    def is_carried(self) -> bool:
        """Whether the package has this exercise under a name, so that it can run on the learner's."""
        return self.is_exercise and bool(self.cell.pulled)


@dataclass
class Work:
    """One notebook: its cells in order, or why there is nothing to run."""

    module: str
    answers: list[Answer] = field(default_factory=list)
    unusable: str = ""

    @property
    def engine(self) -> str:
        """The part of tinygrad_cl that its exercises are parts of."""
        return engines_in(pulled_by(self.module))[0]

    @property
    def left_out(self) -> list[str]:
        """The exercises whose function the package does not have."""
        return [answer.cell.name for answer in self.answers if answer.is_exercise and not answer.is_carried]


def lessons_before(number: int | None) -> list[str]:
    """The lessons before this one whose exercises are parts of the engines that it uses; all such lessons for None."""
    modules = [each for each in paths.module_names() if number is None or int(each[:2]) < number]
    used = ENGINES if number is None else engines_of(lesson_numbered(number))
    return [each for each in modules if set(used) & set(engines_in(pulled_by(each)))]


def lesson_numbered(number: int) -> str:
    found = [each for each in paths.module_names() if int(each[:2]) == number]
    if not found:
        raise CourseError(f"there is no lesson {number}; mine(before=5) is for lesson 05")
    return found[0]


def engines_of(module: str) -> list[str]:
    """The engines that the given cells of a lesson import, or are pulled from."""
    given = [cell for cell in read_lesson(module).cells if cell.kind == "given"]
    names = {name for cell in given for name in (*names_imported(cell.solved), *cell.pulled)}
    return engines_in(names)


def engines_in(names: Iterable[str]) -> list[str]:
    """The engines that modules or symbols of the package belong to."""
    return [engine for engine in ENGINES if any(re.match(rf"tinygrad_cl\.{engine}\b", name) for name in names)]


def pulled_by(module: str) -> list[str]:
    """The symbols of the package that a lesson's exercises are pulled from."""
    return [symbol for cell in read_lesson(module).cells if cell.kind == "exercise" for symbol in cell.pulled]


def work_on(module: str) -> Work:
    """The learner's notebook of a lesson, tried out: each exercise is theirs where it earns all points of its check."""
    path = paths.work_notebook(module)
    shown = f"work/{module}/{module}.ipynb"
    if not path.exists():
        return Work(module, unusable=f"there is no {shown}")
    try:
        data = path.read_bytes()
    except OSError as error:
        return Work(module, unusable=f"{shown} cannot be read ({error.strerror})")
    notebook = normalised_submission(data, module)
    made = notebook.metadata.get("course", {})
    if made.get("invalid") or made.get("foreign"):
        reason = (made.get("invalid") or made["foreign"]).rstrip(".?! ")
        return Work(module, unusable=f"{shown} is not a notebook of this lesson ({reason})")
    return Trial(module).try_out(notebook)


class Trial:
    """One run of a learner's notebook, without demos, in a module that is not `__main__`."""

    def __init__(self, module: str):
        self.lesson = read_lesson(module)
        self.given = {cell.id: cell for cell in self.lesson.cells if cell.kind == "given"}
        self.space = ModuleType(f"work_{module}")
        self.work = Work(module)

    def try_out(self, notebook: NotebookNode) -> Work:
        with quiet():
            for cell in notebook.cells:
                kind, name = course_cell(cell)
                if kind == "given":
                    try:
                        self.keep(self.given[cell.id], self.given[cell.id].solved)
                    except Exception as error:
                        self.work.unusable = f"what {self.work.module} gives does not run here: {said(error)}"
                        return self.work
                elif kind == "exercise":
                    self.try_exercise(self.lesson.exercise(name), cell.source)
                elif kind == "check":
                    self.check(name)
                elif kind == "" and cell.cell_type == "code":
                    for source in definitions_in(cell.source):
                        with contextlib.suppress(Exception):
                            self.keep(ADDED, source)
        return self.work

    def keep(self, cell: Cell, source: str, why: str = "") -> None:
        """Run a cell, and list it unless it raises."""
        execute(source, self.space, cell)
        self.work.answers.append(Answer(cell, source, why))

    def try_exercise(self, cell: Cell, source: str) -> None:
        if source.strip() in ("", cell.stub.strip()):
            self.keep(cell, cell.solved, "not begun")
            return
        try:
            self.keep(cell, source)
        except Exception as error:
            self.keep(cell, cell.solved, f"its cell raises {said(error)}")

    def check(self, name: str) -> None:
        """Let the reference stand in for an exercise of the package that is not right."""
        for place, answer in enumerate(self.work.answers):
            if answer.is_carried and answer.cell.name == name and not answer.why:
                check = find(name)
                verdict = judge(check, run(check, vars(self.space), NOTEBOOK_SEED), NOTEBOOK_SEED)
                if verdict.status != "ok":
                    execute(answer.cell.solved, self.space, answer.cell)
                    why = f'not right yet, check("{name}") says why'
                    self.work.answers[place] = Answer(answer.cell, answer.cell.solved, why)


def execute(source: str, space: ModuleType, cell: Cell) -> None:
    """Run a cell in a module; where it fails, the traceback shows its lines."""
    filename = filename_of(space, cell)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    exec(compile(source, filename, "exec"), vars(space))


def filename_of(space: ModuleType, cell: Cell) -> str:
    """A name for a cell's code. It stands for a part of the package, so it lies beside it: engine 3 tells its own files from
    those of whoever calls it by their folder.
    """
    name = f"<{cell.name or 'cell'} of {space.__name__}>"
    if not cell.pulled:
        return name
    package = importlib.import_module(parse(cell.pulled[0])["module"])
    return str(Path(package.__file__ or "").with_name(name))


def definitions_in(source: str) -> list[str]:
    """What a cell that the learner added defines, one by one: imports, functions, classes, constants. The rest does not run."""
    try:
        nodes = ast.parse(source).body
    except SyntaxError:  # a magic, say
        return []
    return [ast.unparse(node) for node in nodes if is_definition(node)]


def is_definition(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        with contextlib.suppress(ValueError):
            ast.literal_eval(node.value)
            return all(isinstance(target, ast.Name) for target in node.targets)
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef))


def quiet() -> contextlib.redirect_stdout:
    """What the cells print is no news."""
    return contextlib.redirect_stdout(io.StringIO())


def said(error: Exception) -> str:
    """An error as one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
