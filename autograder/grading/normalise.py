"""Normalise a submitted file: merge the student's code into the released notebook, which is the template.

Given and check cells, points and metadata come from the template; the student's code and its order stay. No input makes this
raise: a file that cannot be read becomes the released notebook, marked invalid.
"""

import copy
import re

import nbformat
from nbformat import NotebookNode

from autograder.grading.reading import NotReadable, SubmittedCell, read_cells
from autograder.lesson.notebooks import blank_notebook
from autograder.lesson.text import Lesson, read_lesson


def normalised_submission(data: bytes, module: str):
    """The submission as a notebook for the judge.

    metadata.course.invalid says why it cannot be read, if so, and metadata.course.foreign that no cell of it is the lesson's.
    """
    lesson = read_lesson(module)
    template = blank_notebook(lesson)
    try:
        cells = read_cells(data)
    except NotReadable as reason:
        template.metadata["course"] = {"invalid": str(reason)}
        return template
    ids = recognised(cells, template.cells, lesson)
    if not any(ids):
        template.metadata["course"] = {
            "foreign": f"None of its {len(cells)} cells is one of {module}: is it another one?"
        }
    template.cells = merge_into_template(cells, ids, template.cells)
    return template


def recognised(cells: list[SubmittedCell], template: list, lesson: Lesson) -> list[str | None]:
    """For each cell the id of the lesson's cell that it is, or None.

    Cells are known by their ids. Some programs (Colab, say) leave them out: then they are known by their text, and an
    answer, which has another text, by what it defines, or by its place if no other cell is there.
    """
    originals = {cell.id: cell for cell in template}
    found = [next((each for each in cell.ids if each in originals), None) for cell in cells]
    by_text: dict[tuple[bool, str], list[str]] = {}
    for original in template:
        if original.id not in found:
            by_text.setdefault((original.cell_type == "code", original.source.strip()), []).append(original.id)
    for i, cell in enumerate(cells):
        same = by_text.get((cell.is_code, cell.source.strip()))
        if found[i] is None and same:
            found[i] = same.pop(0)
    for original in template:
        if original.id not in found and is_answer(original):
            place = place_of(original, cells, found, template, lesson)
            if place is not None:
                found[place] = original.id
    return found


def place_of(
    original, cells: list[SubmittedCell], found: list[str | None], template: list, lesson: Lesson
) -> int | None:
    """Where an answer without an id stands: between the lesson's cells around it, if that is clear."""
    order = [cell.id for cell in template]
    at = order.index(original.id)
    before = max((found.index(each) for each in order[:at] if each in found), default=-1)
    after = next((i for i in range(before + 1, len(cells)) if found[i] in order[at + 1 :]), len(cells))
    is_code = original.cell_type == "code"
    there = [i for i in range(before + 1, after) if found[i] is None and cells[i].is_code == is_code]
    if is_code:
        names = "|".join(map(re.escape, lesson.exercise(original.metadata.course.exercise).names)) or "(?!)"
        definition = re.compile(rf"\b(?:def|class)\s+({names})\b|^({names})\s*=(?!=)", re.M)
        defining = [i for i in there if definition.search(cells[i].source)]
        return defining[-1] if defining else None
    return there[0] if len(there) == 1 else None


def merge_into_template(cells: list[SubmittedCell], ids: list[str | None], template: list) -> list:
    """The student's cells in their order, with the course's cells from the template: each once, none changed, none missing."""
    originals = {cell.id: cell for cell in template}
    last = {cell_id: i for i, cell_id in enumerate(ids)}  # of several copies, the last counts
    result: list[NotebookNode] = []
    placed = set()
    for i, (cell, cell_id) in enumerate(zip(cells, ids)):
        original = originals.get(cell_id)
        if original is not None and is_locked(original):
            before, after = merged_into(original, cell)
            result += [added_cell(each, len(result)) for each in before]
            if cell_id not in placed:
                result.append(copy.deepcopy(original))
            result += [added_cell(each, len(result)) for each in after]
        elif original is None or last[cell_id] != i:
            result.append(added_cell(cell, len(result)))
        else:
            kept = copy.deepcopy(original)
            kept.source = cell.source
            if kept.metadata.course.kind == "demo":  # it is run only where a check needs it: what was measured stays
                kept.outputs = nbformat.from_dict(cell.outputs)
            result.append(with_attachments(kept, cell))
        placed.add(cell_id)
    return with_missing(result, template)


def merged_into(original, cell: SubmittedCell) -> tuple[list[SubmittedCell], list[SubmittedCell]]:
    """What a student merged into a locked cell, before and after its own text; nothing where that was changed."""
    before, text, after = cell.source.partition(original.source.strip())
    if not text or not cell.is_code:
        return [], []
    made = [[SubmittedCell(True, rest.strip("\n"))] if rest.strip() else [] for rest in (before, after)]
    return made[0], made[1]


def restored(original):
    """A cell that was deleted. An exercise comes back empty: its stub would undo what the student wrote elsewhere."""
    cell = copy.deepcopy(original)
    if cell.metadata.course.kind == "exercise":
        cell.source = ""
    return cell


def is_locked(cell) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("locked"))


def is_answer(cell) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def added_cell(cell: SubmittedCell, position: int):
    make = nbformat.v4.new_code_cell if cell.is_code else nbformat.v4.new_markdown_cell
    return with_attachments(make(cell.source, id=f"student-{position}"), cell)


def with_attachments(made, cell: SubmittedCell):
    if cell.attachments and made.cell_type != "code":
        made.attachments = nbformat.from_dict(cell.attachments)
    return made


def with_missing(cells: list, template: list) -> list:
    """Put every nbgrader cell that is not there after the cell that precedes it in the release."""
    present = {cell.id for cell in cells}
    previous = None
    for original in template:
        if "nbgrader" in original.metadata and original.id not in present:
            position = 1 + next((i for i, cell in enumerate(cells) if cell.id == previous), -1)
            cells.insert(position, restored(original))
            present.add(original.id)
        if original.id in present:
            previous = original.id
    return cells
