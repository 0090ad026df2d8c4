"""Read a lesson: `solutions/NN_name.py`, jupytext's percent format, with the kinds of cells of docs/lessons.md."""

import ast
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import jupytext
from nbformat import NotebookNode

from autograder import paths
from autograder.errors import CourseError
from autograder.lesson.symbols import ENDS, STUBS, mark_solutions, names_of, pull, split_symbols, strip_markers, stubbed

TITLED_KINDS = ("given", "demo", "predict")
NAMED_KINDS = ("exercise", "check", "written")


@dataclass(frozen=True)
class Cell:
    """One cell of a lesson, solved, with its solution markers still in it."""

    kind: str  # text, given, exercise, check, demo, predict or written
    source: str
    id: str  # the same in every build; for exercises and checks also nbgrader's grade_id
    name: str = ""  # of the exercise, for exercise, check and written
    points: float = 0.0  # for written; the points of a check stand in the check
    pulled: tuple[str, ...] = ()  # the symbols of the reference package that its source comes from
    hides: tuple[str, ...] = ()  # those that do the same, though the lesson has a version of its own
    own: str = ""  # why its text is not pulled, and how the package's differs

    @property
    def is_code(self) -> bool:
        return self.kind not in ("text", "written")

    @property
    def solved(self) -> str:
        return strip_markers(self.source)

    @property
    def stub(self) -> str:
        """The cell as a student finds it."""
        return stubbed(self.source)

    @property
    def names(self) -> list[str]:
        """The functions, classes and variables that the cell defines."""
        return [name for node in ast.parse(self.solved).body for name in names_of(node)]


@dataclass(frozen=True)
class Lesson:
    module: str
    cells: tuple[Cell, ...]

    @property
    def exercises(self) -> list[str]:
        """The names of the graded exercises, in order."""
        return [cell.name for cell in self.cells if cell.kind == "check"]

    def exercise(self, name: str) -> Cell:
        return next(cell for cell in self.cells if cell.kind == "exercise" and cell.name == name)


@lru_cache
def read_lesson(module: str) -> Lesson:
    """The lesson of a module such as "01_value", with its pulled solutions in place."""
    path = paths.LESSONS / f"{module}.py"
    if not path.exists():
        raise CourseError(f"there is no module {module}; there are: {', '.join(paths.module_names())}")
    lesson = Lesson(module, read_cells(path))
    validate(lesson)
    return lesson


def read_cells(path: Path) -> tuple[Cell, ...]:
    """The cells of a text in jupytext's percent format."""
    notebook = jupytext.read(path, fmt="py:percent")
    taken: dict[str, int] = {}
    return tuple(make_cell(raw, path.name, taken) for raw in notebook.cells)


def make_cell(raw: NotebookNode, file: str, taken: dict[str, int]) -> Cell:
    metadata, source = raw.metadata, raw.source.strip("\n")
    kind = kind_of(raw, file)
    name = metadata.get(kind, "") if kind in NAMED_KINDS else ""
    pulled = tuple(split_symbols(metadata.get("source", "")))
    if pulled:
        code = "\n\n\n".join(map(pull, pulled))
        code = mark_solutions(code) if kind == "exercise" else code
        source = f"{code}\n\n\n{source}" if source else code
    if kind == "check":
        source = f'check("{name}")'
    return Cell(
        kind,
        source,
        cell_id(kind, name, source, taken),
        name,
        float(metadata.get("points", 0)),
        pulled,
        tuple(split_symbols(metadata.get("hides", ""))),
        metadata.get("own", ""),
    )


def kind_of(raw: NotebookNode, file: str) -> str:
    for kind in NAMED_KINDS:
        if kind in raw.metadata:
            return kind
    if raw.cell_type == "markdown":
        return "text"
    title = raw.metadata.get("title", "").strip()
    if title not in TITLED_KINDS:
        first = raw.source.strip().splitlines()[:1]
        raise CourseError(
            f"{file}: a code cell is one of {', '.join(TITLED_KINDS + NAMED_KINDS)}, not {title!r} "
            f"(it begins with {first})"
        )
    return title


def cell_id(kind: str, name: str, source: str, taken: dict[str, int]) -> str:
    """An id that depends on what the cell is, so that builds agree on every machine and diffs stay small."""
    if name:
        dashed = name.replace(".", "-").replace("_", "-")
        base = f"{kind}-{dashed}"
    else:
        base = f"{kind}-{hashlib.sha256(source.encode()).hexdigest()[:8]}"
    taken[base] = taken.get(base, 0) + 1
    return base if taken[base] == 1 else f"{base}-{taken[base]}"


def validate(lesson: Lesson) -> None:
    """Every exercise has its one check right after it, and the other way round; each marker of a solution has its own line."""
    for line in (line.strip() for cell in lesson.cells for line in cell.source.splitlines()):
        for mark in (*STUBS, *ENDS):
            if mark in line and line != mark:
                raise CourseError(f"{lesson.module}: `{mark}` must have a line of its own, not `{line[:60]}`")
    exercises = [cell.name for cell in lesson.cells if cell.kind == "exercise"]
    if exercises != lesson.exercises or len(set(exercises)) != len(exercises):
        raise CourseError(
            f"{lesson.module}: the exercises {exercises} and the checks {lesson.exercises} must be the same,"
            " in the same order, each once"
        )
