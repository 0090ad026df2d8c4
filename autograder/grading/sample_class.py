"""A sample class: one student for every way in which a submission can be right, wrong, broken or hostile.

Each student's folder is made from the solved notebook by one edit. `EXPECTED` says in which state the edited exercise must
end; the tests grade the class and hold it against that.
"""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder import paths
from autograder.checks import find
from autograder.checks.check import Edit
from autograder.judge.expected import edited_sources
from autograder.lesson.notebooks import blank_notebook, solved_notebook
from autograder.lesson.text import read_lesson

MODULE, EXERCISE = "01_value", "value.mul"  # where the edits are made
NEEDLE = "    other = as_value(other)\n"  # the first line of that exercise's solution


@dataclass(frozen=True)
class Case:
    """One student of the sample class."""

    make: Callable[[], object]  # → a notebook, or the text of the file
    status: str  # of EXERCISE, expected
    loses: bool  # does EXERCISE lose points?
    others: str = "ok"  # status of the module's other exercises, expected; "" if they may differ


def solved(module=MODULE):
    return solved_notebook(read_lesson(module))


def blank():
    return blank_notebook(read_lesson(MODULE))


def exercise_cell(notebook):
    return next(
        cell for cell in notebook.cells if cell.metadata.get("course") == {"kind": "exercise", "exercise": EXERCISE}
    )


def exercise_cells(notebook):
    return [cell for cell in notebook.cells if cell.metadata.course.kind == "exercise"]


def check_cell(notebook):
    return next(
        cell for cell in notebook.cells if cell.metadata.get("course") == {"kind": "check", "exercise": EXERCISE}
    )


def with_line(line: str):
    """Solved, with one more line at the start of the exercise's body."""
    notebook = solved()
    cell = exercise_cell(notebook)
    assert NEEDLE in cell.source, "the reference solution changed; adapt NEEDLE"
    cell.source = cell.source.replace(NEEDLE, f"    {line}\n{NEEDLE}")
    return notebook


def with_edit(edit: Edit):
    """Solved, but for an edit of a check: a mistake or a variant."""
    notebook, sources = solved(), edited_sources(find(EXERCISE), edit)
    for cell in notebook.cells:
        if cell.metadata.get("course", {}).get("kind") == "exercise":
            cell.source = sources.get(cell.metadata.course.exercise, cell.source)
    return notebook


def with_mistake(index: int):
    return with_edit(find(EXERCISE).mistakes[index].edit)


def several_mistakes():
    """One mistake in each of the first three exercises of the module."""
    notebook = solved()
    for cell in exercise_cells(notebook)[:3]:
        name = cell.metadata.course.exercise
        cell.source = edited_sources(find(name), find(name).mistakes[0].edit)[name]
    return notebook


def stub_left():
    notebook = solved()
    exercise_cell(notebook).source = read_lesson(MODULE).exercise(EXERCISE).stub
    return notebook


def in_one_cell(notebook):
    """All that stands in exercises in the cell of the first one; the other cells are deleted."""
    first, *others = exercise_cells(notebook)
    first.source = "\n\n\n".join(cell.source for cell in (first, *others))
    for cell in others:
        notebook.cells.remove(cell)
    return notebook


def closures_with_mistake():
    """The whole lesson in the way of the first variant, with the exercise's last mistake, which is made in that way, too."""
    notebook = with_edit(find(EXERCISE).variants[0].edit)
    exercise_cell(notebook).source = edited_sources(find(EXERCISE), find(EXERCISE).mistakes[-1].edit)[EXERCISE]
    return notebook


def edited_check():
    notebook = with_mistake(0)
    check_cell(notebook).source = "print('all tests passed')\n2"
    return notebook


def deleted_check():
    notebook = with_mistake(0)
    notebook.cells.remove(check_cell(notebook))
    return notebook


def duplicated_check():
    notebook = with_mistake(0)
    cell = check_cell(notebook)
    notebook.cells.insert(notebook.cells.index(cell) + 1, copy.deepcopy(cell))
    return notebook


def raised_points():
    notebook = with_mistake(0)
    check_cell(notebook).metadata.nbgrader.points = 1000
    return notebook


def stripped_metadata():
    notebook = solved()
    for cell in notebook.cells:
        cell.metadata = {}
    return notebook


def deleted_answer():
    notebook = solved()
    notebook.cells.remove(exercise_cell(notebook))
    return notebook


def prints_much():
    notebook = solved()
    exercise_cell(notebook).source += "\n\nfor _ in range(500):\n    print('x' * 100_000)"
    return notebook


def broken_json():
    text = json.dumps(solved())
    return text[: len(text) // 2]


CASES = {
    "solved": Case(solved, "ok", False),
    "blank": Case(blank, "missing", True, "missing"),
    "mistake-1": Case(lambda: with_mistake(0), "partial", True),
    "mistake-2": Case(lambda: with_mistake(1), "partial", True),
    "mistakes-in-three": Case(several_mistakes, "partial", True, ""),
    "closures-mistake": Case(closures_with_mistake, "partial", True),
    "right-variant": Case(lambda: with_edit(find(EXERCISE).variants[0].edit), "ok", False),
    "stub-left": Case(stub_left, "missing", True),
    "one-cell": Case(lambda: in_one_cell(solved()), "ok", False),
    "one-cell-mistake": Case(lambda: in_one_cell(with_mistake(0)), "partial", True),
    "edited-check": Case(edited_check, "partial", True),
    "deleted-check": Case(deleted_check, "partial", True),
    "duplicated-check": Case(duplicated_check, "partial", True),
    "raised-points": Case(raised_points, "partial", True),
    "stripped-metadata": Case(stripped_metadata, "ok", False),
    "deleted-answer": Case(deleted_answer, "missing", True),
    "broken-json": Case(broken_json, "invalid", True, "invalid"),
    "endless-loop": Case(lambda: with_line("while True: pass"), "timeout", True),
    "exits": Case(lambda: with_line("import os; os._exit(0)"), "crashed", True),
    "warns-on-stderr": Case(lambda: with_line("import sys; print('careful', file=sys.stderr)"), "ok", False),
    "prints-50-MB": Case(prints_much, "ok", False),
}


def make_sample_class(folder: Path, modules: list[str] | None = None) -> None:
    """Write folder/<student>/<module>/<module>.ipynb for every case; `solved` hands in these modules, by default all of them."""
    for student, case in CASES.items():
        write_submission(folder, student, MODULE, case.make())
    for module in paths.module_names() if modules is None else modules:
        write_submission(folder, "solved", module, solved(module))


def write_submission(folder: Path, student: str, module: str, content) -> None:
    target = folder / student / module
    target.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (target / f"{module}.ipynb").write_text(text, encoding="utf-8")
