"""Odd but honest notebooks cost nothing (attacks.md B1 to B4): each is read, its answers stay, and its page can be made.

These tests run no kernel but for a few; test_odd_notebooks_long judges them all.
"""

import re

import nbformat
import pytest
from odd_notebooks import ANSWER, MODULE, ODD, PICTURES, of_lesson, other_lessons, png, together

from autograder.grading.feedback import Marks
from autograder.grading.normalise import normalised_submission
from autograder.grading.page_maker import made
from autograder.grading.worker import Task, work
from autograder.judge.messages import plain_output
from autograder.judge.notebook_run import Limits, course_cell
from autograder.lesson.text import read_lesson
from autograder.sandbox.bubblewrap import why_not


def test_there_are_at_least_two_hundred():
    assert len(ODD) + len(other_lessons()) >= 250 and len(ODD) >= 200


def code_before(notebook, exercise) -> list[str]:
    """The lines of code that run before an exercise's check."""
    at = next(i for i, cell in enumerate(notebook.cells) if course_cell(cell) == ("check", exercise))
    return [line for cell in notebook.cells[:at] if cell.cell_type == "code" for line in cell.source.splitlines()]


def keeps_every_answer(notebook, module):
    """Every line of every solution stands before its check, in order: so what runs there is right."""
    lesson = read_lesson(module)
    for exercise in lesson.exercises:
        there = iter(code_before(notebook, exercise))
        for line in lesson.exercise(exercise).solved.splitlines():
            assert any(line.strip() == found.strip() for found in there), f"{exercise} has lost: {line}"


def is_read_and_shown(data: bytes, module: str) -> tuple[nbformat.NotebookNode, str]:
    """The normalised notebook, and its page."""
    notebook = normalised_submission(data, module)
    assert not notebook.metadata.get("course"), notebook.metadata.course
    nbformat.validate(notebook)
    keeps_every_answer(notebook, module)
    page, reason = made(nbformat.writes(notebook).encode(), module, Marks())
    assert page and not reason
    page = page.decode()
    assert "http" not in re.sub(r'http-equiv|href="https?:[^"]*"|&lt;[^<]*|>[^<]*<', "", page), "it loads something"
    assert not re.search(
        r"<(script|iframe|form|input|style[^>]*>[^<]*@import|svg|object|video)", page.replace("<style>", "", 1)
    )
    return notebook, page


@pytest.mark.parametrize("name", ODD)
def test_an_odd_notebook_is_read_and_shown_and_keeps_its_answers(name):
    notebook, page = is_read_and_shown(ODD[name](), MODULE)
    answers = [cell.source for cell in notebook.cells if course_cell(cell)[0] == "written"]
    if "written answer" not in name or "first" in name:
        assert ANSWER in answers[0]


@pytest.mark.parametrize("module, way", other_lessons())
def test_so_do_the_other_lessons_without_our_metadata(module, way):
    is_read_and_shown(of_lesson(module, way), module)


@pytest.mark.parametrize("mime", [mime for mime in PICTURES if mime != "image/svg+xml"])
def test_b1_a_picture_stays_in_the_notebook_and_is_on_the_page(mime):
    notebook, page = is_read_and_shown(ODD[f"{mime} in a text cell"](), MODULE)
    assert {"a.picture": {mime: PICTURES[mime]}} in [cell.get("attachments") for cell in notebook.cells]
    assert f'src="data:{mime};base64,{PICTURES[mime]}"' in page


def test_b1_a_picture_in_the_written_answer_is_on_the_page():
    assert png() in is_read_and_shown(ODD["a picture in the written answer"](), MODULE)[1]


OUTPUTS = {
    "b1 a picture that is not there": ("display_data", {"data": {"text/markdown": "![x](attachment:y.png)"}, "metadata": {}}),
    "b2 half an emoji": ("stream", {"name": "stdout", "text": "\ud83d"}),
    "b2 an error with half an emoji": ("error", {"ename": "ValueError", "evalue": "\ud800", "traceback": ["\ud800"]}),
    "b2 half an emoji in HTML": ("display_data", {"data": {"text/html": "<b>\ud83d</b>"}, "metadata": {}}),
    "b4 deep CSS": ("display_data", {"data": {"text/html": "<b style='color:" + "(" * 5000 + "'>"}, "metadata": {}}),
    "deep HTML": ("display_data", {"data": {"text/html": "<b>" * 30_000}, "metadata": {}}),
    "JSON": ("display_data", {"data": {"application/json": {"a": ["\ud83d", None]}}, "metadata": {}}),
    "no data": ("display_data", {"data": {}, "metadata": {}}),
    "a picture": ("display_data", {"data": {"image/png": png()}, "metadata": {}}),
    "LaTeX": ("display_data", {"data": {"text/latex": "$x$"}, "metadata": {}}),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_of_any_kind_is_shown(name):
    kind, content = OUTPUTS[name]
    output = plain_output({"header": {"msg_type": kind}, "msg_type": kind, "content": content})
    notebook = normalised_submission(ODD["no escapes"](), MODULE)
    notebook.cells.insert(2, nbformat.v4.new_code_cell("1", id="made", outputs=[output] if output else []))
    page, reason = made(nbformat.writes(notebook).encode(), MODULE, Marks())
    assert page and not reason


def points_of(data: bytes, module: str) -> tuple[float, float]:
    limits = Limits()
    result = work(Task(module, data, "a seed", "a key", limits, sandbox=not why_not()))
    assert not result.failure and not result.notes, (result.failure, result.notes)
    assert not result.flags and b"costs no point" not in result.feedback
    lost = {name: verdict for name, verdict in result.verdicts.items() if verdict["status"] != "ok"}
    assert not lost


SOME = (
    "format 3 in two worksheets",
    "Colab, and no metadata of ours left",
    "exercises as new cells, and nothing else known",
    "half an emoji in a comment of an exercise",
)


@pytest.mark.parametrize("name", SOME)
def test_an_odd_notebook_earns_all_points(name):
    points_of(ODD[name](), MODULE)


def test_a_notebook_with_all_oddities_together_earns_all_points():
    points_of(together(), MODULE)
