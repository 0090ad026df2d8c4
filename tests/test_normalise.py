"""Repair: whatever is submitted becomes a notebook in the frame of the release, and the student's answers stay."""

import copy
import json

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.grading.normalise import normalised_submission
from autograder.lesson.notebooks import blank_notebook, solved_notebook
from autograder.lesson.text import read_lesson

MODULE = "01_value"
RELEASE = blank_notebook(read_lesson(MODULE))
SOLVED = json.loads(json.dumps(solved_notebook(read_lesson(MODULE))))


def normalised(content) -> nbformat.NotebookNode:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    notebook = normalised_submission(data, MODULE)
    nbformat.validate(notebook)
    frame_is_whole(notebook)
    return notebook


def frame_is_whole(notebook):
    """Every cell of nbgrader's is there once, and what is locked is as it was released."""
    found = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    wanted = {cell.id: cell for cell in RELEASE.cells if "nbgrader" in cell.metadata}
    assert sorted(cell.id for cell in found) == sorted(wanted)
    for cell in found:
        assert cell.metadata == wanted[cell.id].metadata
        if cell.metadata.nbgrader.locked:
            assert cell.source == wanted[cell.id].source


def answers(notebook):
    return {cell.id: cell.source for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")}


def edited(change):
    notebook = copy.deepcopy(SOLVED)
    change(notebook["cells"])
    return notebook


def position(cells, cell_id):
    return next(i for i, cell in enumerate(cells) if cell["id"] == cell_id)


def test_a_solved_notebook_stays_as_it_is():
    assert answers(normalised(SOLVED)) == {
        cell["id"]: cell["source"] for cell in SOLVED["cells"] if cell["metadata"].get("nbgrader", {}).get("solution")
    }


def test_every_order_of_metadata_loss_is_mended():
    def strip(cells):
        for cell in cells:
            cell["metadata"] = {}

    assert answers(normalised(edited(strip))) == answers(normalised(SOLVED))


def test_without_cell_ids_the_grade_ids_tell():
    def strip(cells):
        for cell in cells:
            del cell["id"]

    assert answers(normalised(edited(strip))) == answers(normalised(SOLVED))


def test_check_cells_that_were_edited_deleted_or_doubled_are_restored():
    def attack(cells):
        at = position(cells, "check-value-mul")
        cells[at]["source"] = "2"
        cells[at]["metadata"]["nbgrader"]["points"] = 1000
        cells.insert(at, copy.deepcopy(cells[at]))
        del cells[position(cells, "check-value-add")]

    normalised(edited(attack))


def test_of_two_answers_to_one_exercise_both_run_and_the_last_is_the_answer():
    def double(cells):
        at = position(cells, "exercise-value-mul")
        first = copy.deepcopy(cells[at])
        first["source"] = "first = 1"
        cells.insert(at, first)

    notebook = normalised(edited(double))
    assert answers(notebook) == answers(normalised(SOLVED))
    assert "first = 1" in [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def test_an_answer_turned_into_text_is_code_again():
    def turn(cells):
        cells[position(cells, "exercise-value-mul")]["cell_type"] = "markdown"

    notebook = normalised(edited(turn))
    assert notebook.cells[position(notebook.cells, "exercise-value-mul")].cell_type == "code"


def test_cells_that_the_student_added_stay_where_they_were():
    def add(cells):
        cells.insert(
            3,
            {"cell_type": "code", "source": ["helper = ", "1"], "metadata": {}, "outputs": [], "execution_count": None},
        )

    assert normalised(edited(add)).cells[3].source == "helper = 1"


@pytest.mark.parametrize(
    "data, part",
    [
        (b"", "no notebook"),
        (b"{", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[]", "no notebook"),
        (b"42", "no notebook"),
        (b"{}", "no"),
        (b'{"cells": 3, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "no"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_notebook_is_marked_invalid_with_the_reason(data, part):
    assert part in normalised(data).metadata.course.invalid


def test_an_old_notebook_is_read():
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {},
        "worksheets": [
            {
                "metadata": {},
                "cells": [{"cell_type": "code", "input": "x = 1", "language": "python", "outputs": [], "metadata": {}}],
            }
        ],
    }
    assert "x = 1" in [cell.source for cell in normalised(old).cells]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_mutilated_notebooks_are_normalised(data):
    """Cells dropped, doubled, moved, and fields replaced by anything that JSON can say."""
    notebook = copy.deepcopy(SOLVED)
    cells = notebook["cells"]
    for _ in range(data.draw(st.integers(1, 6))):
        if not cells:
            break
        at = data.draw(st.integers(0, len(cells) - 1))
        action = data.draw(st.sampled_from(["drop", "double", "move", "field", "metadata", "replace"]))
        if action == "drop":
            del cells[at]
        elif action == "double":
            cells.insert(data.draw(st.integers(0, len(cells))), copy.deepcopy(cells[at]))
        elif action == "move":
            cells.insert(data.draw(st.integers(0, len(cells) - 1)), cells.pop(at))
        elif action == "replace":
            cells[at] = data.draw(JSON)
        elif isinstance(cells[at], dict):
            field = data.draw(st.sampled_from(["cell_type", "source", "id", "metadata", "outputs"]))
            if action == "field":
                cells[at][field] = data.draw(JSON)
            elif isinstance(cells[at].get("metadata"), dict):
                cells[at]["metadata"]["nbgrader"] = data.draw(JSON)
    normalised(notebook)
