"""The page that puts a learner's work beside the reference: what it opens, what it covers, what it measures."""

import json

import pytest

from autograder import paths
from autograder.checks import find
from autograder.errors import CourseError
from autograder.judge.expected import edited_sources
from autograder.learner.compare import compare, side_by_side
from autograder.learner.inside import cost_of
from autograder.lesson.text import read_lesson

MODULE = "01_value"
LESSON = read_lesson(MODULE)


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "WORK", tmp_path)
    paths.work_notebook(MODULE).parent.mkdir()
    return paths.work_notebook(MODULE)


def write(notebook, **sources):
    """The released notebook, with these sources in the exercises value.<name>."""
    content = json.loads(paths.student_notebook(MODULE).read_text())
    for cell in content["cells"]:
        source = sources.get(cell["metadata"].get("course", {}).get("exercise", "").removeprefix("value."))
        if source and cell["metadata"]["course"]["kind"] == "exercise":
            cell["source"] = source
    notebook.write_text(json.dumps(content))


def own_line(name):
    """A line of the solution that no other exercise has."""
    return LESSON.exercise(name).solved.strip().splitlines()[-1].strip()


def test_only_what_was_begun_is_opened(work):
    mistake = find("value.mul").mistakes[0]
    write(
        work, add=LESSON.exercise("value.add").solved, mul=edited_sources(find("value.mul"), mistake.edit)["value.mul"]
    )
    page = compare(MODULE)
    assert "2 of 11 exercises begun, 1 right" in page
    assert "✓ value.add" in page and "✗ value.mul" in page and mistake.hints[0][:20] in page
    assert "The code is the same" in page and 'class="mine"' in page and 'class="theirs"' in page
    assert page.count("memory at its peak") == 1, "costs are shown for what is right"
    assert "value.pow" in page and "topological_order" not in page, "what was not begun is named, and stays covered"
    assert "make compare M=01 ALL=1" in page
    assert "topological_order" in compare(MODULE, everything=True)


def test_a_page_needs_nothing_from_outside_and_runs_nothing(work):
    write(
        work, add="@add_to_class(Value)\ndef __add__(self, other):\n    raise ValueError('<script>alert(1)</script>')"
    )
    page = compare(MODULE)
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")


def test_a_notebook_that_ends_its_kernel_is_compared_all_the_same(work):
    write(work, slope=LESSON.exercise("value.slope").solved, add="import os\nos._exit(1)")
    page = compare(MODULE)
    assert "✓ value.slope" in page and "✗ value.add" in page


@pytest.mark.parametrize(
    "text, sentence",
    [
        (None, "make lab"),
        ("", "cannot be compared"),
        ("{", "cannot be compared"),
        ("released", "nothing in"),
    ],
)
def test_without_work_there_is_one_sentence(work, text, sentence):
    if text == "released":
        write(work)
    elif text is not None:
        work.write_text(text)
    with pytest.raises(CourseError, match=sentence):
        compare(MODULE)


def test_equal_lines_stand_beside_each_other():
    rows = side_by_side("a = 1\nb = 2\nc = 3", "a = 1\nc = 3\nd = 4")
    assert [row.changed for row in rows] == [False, True, False, True]
    assert [bool(row.mine) for row in rows] == [True, True, True, False]
    assert [bool(row.theirs) for row in rows] == [True, False, True, True]


def test_a_cost_is_what_a_run_takes():
    cost = cost_of(lambda: bytearray(1 << 20), seconds=0.01)
    assert cost["bytes"] >= 1 << 20 and cost["seconds"] > 0
