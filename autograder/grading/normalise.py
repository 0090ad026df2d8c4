"""Normalise a submitted file: merge the student's code into the released notebook, which is the template.

Given and check cells, points and metadata come from the template; the student's code and its order stay. No input makes this
raise: a file that cannot be read becomes the released notebook, marked invalid.
"""

import copy
import json
import warnings

import nbformat

from autograder.lesson.notebooks import blank_notebook
from autograder.lesson.text import read_lesson

LARGEST = 50_000_000  # bytes of a submitted file that are still read


def normalised_submission(data: bytes, module: str):
    """The submission as a notebook for the judge; if it cannot be read, the template with metadata.course.invalid = why."""
    template = blank_notebook(read_lesson(module))
    try:
        submitted = parse(data)
        cells = student_cells(submitted)
    except NotReadable as reason:
        template.metadata["course"] = {"invalid": str(reason)}
        return template
    template.cells = merge_into_template(cells, template.cells)
    return template


class NotReadable(Exception):
    """The file is no notebook; the message says why, for student and instructor."""


def parse(data: bytes):
    if len(data) > LARGEST:
        raise NotReadable(f"The file has {len(data) / 1e6:.0f} MB; a notebook of this course has less than one.")
    if not data.strip():
        raise NotReadable("There was no notebook in the submission, or an empty one.")
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise NotReadable(f"The file is not JSON, so it is no notebook ({error}).") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nbformat warns of what is normalised below
            return nbformat.convert(nbformat.from_dict(content), 4)
    except Exception as error:  # nbformat raises whatever its converters stumble over
        raise NotReadable(f"The file is JSON, but no notebook ({type(error).__name__}: {error}).") from None


def student_cells(notebook) -> list[dict]:
    """The cells as plain (type, source, ids), whatever else is wrong with them."""
    found = []
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise NotReadable("The notebook has no list of cells.")
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        source = cell.get("source", "")
        source = "".join(map(str, source)) if isinstance(source, list) else str(source)
        found.append({"type": cell.get("cell_type"), "source": source, "ids": ids_of(cell)})
    return found


def ids_of(cell) -> list[str]:
    """The ids that may match a cell of the template: nbgrader's grade_id, then the cell's own id."""
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return [str(found) for found in (grade_id, cell.get("id")) if found]


def merge_into_template(cells: list[dict], template: list) -> list:
    """The student's cells in their order, with the course's cells from the template: each once, none changed, none missing."""
    originals = {cell.id: cell for cell in template}
    last = {match(cell, originals): i for i, cell in enumerate(cells)}  # of several copies, the last counts
    result, placed = [], set()
    for i, cell in enumerate(cells):
        cell_id = match(cell, originals)
        original = originals.get(cell_id)
        if original is not None and is_locked(original):
            if cell_id not in placed:
                result.append(copy.deepcopy(original))
        elif original is None or last[cell_id] != i:
            result.append(added_cell(cell, len(result)))
        else:
            kept = copy.deepcopy(original)
            kept.source = cell["source"]
            result.append(kept)
        placed.add(cell_id)
    return with_missing(result, template)


def match(cell: dict, originals: dict) -> str | None:
    return next((cell_id for cell_id in cell["ids"] if cell_id in originals), None)


def restored(original):
    """A cell that was deleted. An exercise comes back empty: its stub would undo what the student wrote elsewhere."""
    cell = copy.deepcopy(original)
    if cell.metadata.course.kind == "exercise":
        cell.source = ""
    return cell


def is_locked(cell) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("locked"))


def added_cell(cell: dict, position: int):
    make = nbformat.v4.new_code_cell if cell["type"] == "code" else nbformat.v4.new_markdown_cell
    return make(cell["source"], id=f"student-{position}")


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
