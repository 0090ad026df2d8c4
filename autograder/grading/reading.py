"""Read a submitted file: from any bytes to the cells that a student wrote, or a sentence that says why there are none."""

import json
import re
from dataclasses import dataclass, field

from autograder.characters import whole

LARGEST = 50_000_000  # bytes of a submitted file that are still read
MOST_CELLS = 2_000
MOST_TEXT = 5_000_000  # characters in all cells; outputs and attachments are not counted
MOST_OUTPUT = 2_000_000  # characters of the outputs of one cell that are kept, where they are kept at all
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")  # what may be attached to a text cell
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")


class NotReadable(Exception):
    """The file is no notebook; the message says why, for student and instructor."""


@dataclass(frozen=True)
class SubmittedCell:
    """A cell as it was handed in.

    ids          that may match a cell of the lesson: nbgrader's grade_id, then the cell's own id
    attachments  pictures of a text cell: {name: {kind: base64}}
    outputs      what code put out, texts and pictures alone, as nbformat has it
    """

    is_code: bool
    source: str
    ids: list[str] = field(default_factory=list)
    attachments: dict[str, dict[str, str]] = field(default_factory=dict)
    outputs: list[dict] = field(default_factory=list)


def read_cells(data: bytes) -> list[SubmittedCell]:
    """The cells of a file in format 4, 3 or 2, however it is encoded, whatever else is wrong with it. NotReadable for other files."""
    found = [read_cell(cell) for cell in raw_cells(content_of(data)) if isinstance(cell, dict)]
    if sum(len(cell.source) for cell in found) > MOST_TEXT:
        raise NotReadable(f"Its cells hold more than {MOST_TEXT:,} characters; a notebook of this course has 100,000.")
    return found


def content_of(data: bytes):
    if len(data) > LARGEST:
        raise NotReadable(f"The file has {len(data) / 1e6:.0f} MB; a notebook of this course has less than one.")
    if not data.strip():
        raise NotReadable("There was no notebook in the submission, or an empty one.")
    try:
        try:
            return json.loads(data)  # UTF-8, 16 or 32, with or without a byte-order mark
        except UnicodeDecodeError:
            return json.loads(data.decode("latin-1"))
    except (ValueError, RecursionError) as error:
        raise NotReadable(f"The file is not JSON, so it is no notebook ({whole(str(error))}).") from None


def raw_cells(content) -> list:
    """The cells as JSON has them: in format 4 of the notebook, before that of its worksheets."""
    if not isinstance(content, dict):
        raise NotReadable("The file is JSON, but no notebook.")
    cells = content.get("cells")
    if not isinstance(cells, list) and isinstance(content.get("worksheets"), list):
        sheets = [sheet.get("cells") for sheet in content["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
    if not isinstance(cells, list):
        raise NotReadable("The file is JSON, but no notebook: it has no list of cells.")
    if len(cells) > MOST_CELLS:
        raise NotReadable(f"It has {len(cells):,} cells; more than {MOST_CELLS:,} are not read.")
    return cells


def read_cell(cell: dict) -> SubmittedCell:
    is_code = cell.get("cell_type") == "code"
    source = text_of(cell.get("input" if is_code and "source" not in cell else "source", ""))
    if cell.get("cell_type") == "heading":  # of format 3
        level = cell.get("level")
        source = f"{'#' * (level if isinstance(level, int) and 0 < level < 7 else 1)} {source}"
    return SubmittedCell(is_code, source, ids_of(cell), attachments_of(cell), outputs_of(cell) if is_code else [])


def outputs_of(cell: dict) -> list[dict]:
    """The texts and pictures that a code cell was handed in with, up to a size; of formats before 4 none."""
    outputs, found, size = cell.get("outputs"), [], 0
    for output in outputs if isinstance(outputs, list) else []:
        made = output_of(output) if isinstance(output, dict) else None
        if made:
            size += sum(map(len, made.get("data", made).values()))
            if size > MOST_OUTPUT:
                break
            found.append(made)
    return found


def output_of(output: dict) -> dict | None:
    """An output as nbformat has it, less what is neither text nor picture; None where nothing is left."""
    if output.get("output_type") == "stream" and is_text(output.get("text")):
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return {"output_type": "stream", "name": name, "text": text_of(output["text"])}
    data = output.get("data")
    data = {kind: text for kind, text in data.items() if is_text(text)} if isinstance(data, dict) else {}
    kept = pictures_in(data)
    if "text/plain" in data:
        kept["text/plain"] = text_of(data["text/plain"])
    return {"output_type": "display_data", "data": kept, "metadata": {}} if kept else None


def is_text(value) -> bool:
    """Whether it is a text, or a list of lines."""
    return isinstance(value, str) or isinstance(value, list) and all(isinstance(line, str) for line in value)


def text_of(value) -> str:
    """A text, or a list of its lines; line ends as on Linux."""
    text = "".join(map(str, value)) if isinstance(value, list) else str(value)
    return whole(text).replace("\r\n", "\n").replace("\r", "\n")


def ids_of(cell: dict) -> list[str]:
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return [str(found) for found in (grade_id, cell.get("id")) if found]


def attachments_of(cell: dict) -> dict[str, dict[str, str]]:
    attachments = cell.get("attachments")
    if not isinstance(attachments, dict):
        return {}
    found = {whole(name): pictures_in(kinds) for name, kinds in attachments.items() if isinstance(kinds, dict)}
    return {name: kinds for name, kinds in found.items() if kinds}


def pictures_in(kinds: dict) -> dict[str, str]:
    texts = {kind: text_of(value) for kind, value in kinds.items() if kind in PICTURES}
    return {kind: text for kind, text in texts.items() if BASE64.fullmatch(text)}
