"""The reference as a student's namespace: the lesson's given and exercise cells, run in the judge's own process.

With edits it becomes a mistake, a variant, or a notebook with one exercise left out.
"""

import linecache
from functools import lru_cache

from autograder.checks import find
from autograder.lesson.text import read_lesson


def reference_namespace(module: str, edits: dict[str, str] | None = None) -> dict:
    """The names that the solved lesson defines; `edits` replaces the sources of exercises, {exercise: source}."""
    lesson, edits = read_lesson(module), edits or {}
    namespace = {"__name__": "__main__", "__builtins__": __builtins__}
    for cell in lesson.cells:
        if cell.kind == "given":
            run_cell(cell.solved, cell.id, namespace)
        elif cell.kind == "exercise":
            run_cell(edits.get(cell.name, cell.solved), cell.id, namespace)
    return namespace


def run_cell(source: str, cell_id: str, namespace: dict) -> None:
    exec(compile_cell(source, f"<cell {cell_id}>"), namespace)


@lru_cache(maxsize=4096)
def compile_cell(source: str, filename: str):
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return compile(source, filename, "exec")


def module_of(exercise: str) -> str:
    """The module whose lesson holds that exercise."""
    return find(exercise).lesson.removeprefix("m")
