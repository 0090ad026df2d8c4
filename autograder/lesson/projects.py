"""The notebook of the open tasks: projects/projects.py as projects/projects.ipynb. It is no module: nothing in it is graded."""

from autograder import paths
from autograder.lesson.notebooks import normalised, notebook_of
from autograder.lesson.text import Cell, Lesson, read_cells

TEXT = paths.PROJECTS / f"{paths.PROJECTS.name}.py"
READING = paths.ROOT / "docs" / "reading.md"


def notebook() -> str:
    """The text of projects/projects.ipynb: each cell as it is written, none of them locked; at the end, what to read."""
    reading = READING.read_text(encoding="utf-8").replace("\n## ", "\n### ")
    last = Cell("text", f"#{reading.strip()}", "text-reading")
    lesson = Lesson(paths.PROJECTS.name, (*read_cells(TEXT), last))
    made = notebook_of(lesson, lambda cell: cell.source)
    for cell in made.cells:
        cell.metadata.pop("nbgrader", None)
    return normalised(made, lesson)
