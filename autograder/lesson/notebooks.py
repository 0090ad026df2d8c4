"""A lesson as notebooks: nbgrader's source, the solved one, and the blank one that a student finds.

They have no outputs and derived cell ids, so they are the same, byte for byte, on every machine.
"""

import json
from collections.abc import Callable

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.checks import find
from autograder.lesson.text import Cell, Lesson

KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def source_notebook(lesson: Lesson) -> NotebookNode:
    """The lesson as nbgrader's source notebook: solved, with solution markers and nbgrader's metadata."""
    return notebook_of(lesson, lambda cell: cell.source)


def solved_notebook(lesson: Lesson) -> NotebookNode:
    """The lesson solved, as a student would hand it in."""
    return notebook_of(lesson, lambda cell: cell.solved)


def blank_notebook(lesson: Lesson) -> NotebookNode:
    """The lesson as a student finds it."""
    return notebook_of(lesson, lambda cell: cell.stub)


def notebook_of(lesson: Lesson, text: Callable[[Cell], str]) -> NotebookNode:
    notebook = new_notebook(cells=[made_cell(cell, text(cell)) for cell in lesson.cells], metadata=KERNEL)
    notebook.nbformat_minor = 5
    return notebook


def made_cell(cell: Cell, source: str) -> NotebookNode:
    metadata: dict[str, dict] = {"course": {"kind": cell.kind} | ({"exercise": cell.name} if cell.name else {})}
    if cell.kind in ("given", "exercise", "check", "written"):
        metadata["nbgrader"] = nbgrader_metadata(cell)
    new_cell = new_code_cell if cell.is_code else new_markdown_cell
    return new_cell(source, id=cell.id, metadata=metadata)


def nbgrader_metadata(cell: Cell) -> dict:
    graded = cell.kind in ("check", "written")
    metadata = {
        "schema_version": 3,
        "grade_id": cell.id,
        "grade": graded,
        "locked": cell.kind in ("given", "check"),
        "solution": cell.kind in ("exercise", "written"),
        "task": False,
        "cell_type": "code" if cell.is_code else "markdown",
    }
    if graded:
        metadata["points"] = find(cell.name).points if cell.kind == "check" else cell.points
    return metadata


def normalised(notebook: NotebookNode, lesson: Lesson) -> str:
    """The notebook as text: the lesson's cell ids, its metadata alone, one way to write JSON."""
    for cell, made in zip(notebook.cells, lesson.cells, strict=True):
        cell.id = made.id
    notebook.metadata = nbformat.from_dict(KERNEL)
    notebook.nbformat_minor = 5
    nbformat.validate(notebook)
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
