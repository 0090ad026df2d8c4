"""Reading a lesson's text: the kinds of cells, their ids, and what is refused."""

import re

import pytest

from autograder import paths
from autograder.errors import CourseError
from autograder.lesson.text import read_lesson


@pytest.fixture
def lesson_from(tmp_path, monkeypatch):
    """Write a text as a lesson and read it."""

    def read(text):
        (tmp_path / "77_test.py").write_text(text, encoding="utf-8")
        monkeypatch.setattr(paths, "LESSONS", tmp_path)
        read_lesson.cache_clear()
        return read_lesson("77_test")

    yield read
    read_lesson.cache_clear()


TEXT = """# %% [markdown]
# Hello.

# %% given
import math

# %% exercise="t.f"
def f(x):
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION

# %% check="t.f"

# %% demo
f(1)

# %% [markdown] written="t.why" points=3
# Why?
"""


def test_the_kinds_of_cells(lesson_from):
    lesson = lesson_from(TEXT)
    assert [cell.kind for cell in lesson.cells] == ["text", "given", "exercise", "check", "demo", "written"]
    assert lesson.exercises == ["t.f"]
    assert lesson.cells[3].source == 'check("t.f")'
    assert lesson.exercise("t.f").solved == "def f(x):\n    return x"
    assert lesson.cells[5].points == 3


def test_ids_are_derived_unique_and_fit_for_nbformat(lesson_from):
    ids = [cell.id for cell in lesson_from(TEXT + "\n# %% demo\nf(1)\n").cells]
    assert ids == [cell.id for cell in lesson_from(TEXT + "\n# %% demo\nf(1)\n").cells]
    assert len(set(ids)) == len(ids) and all(re.fullmatch("[a-zA-Z0-9-]{1,64}", found) for found in ids)
    assert ids[2:4] == ["exercise-t-f", "check-t-f"]


@pytest.mark.parametrize(
    "text, part",
    [
        (TEXT.replace('# %% check="t.f"\n', ""), "must be the same"),
        (TEXT + '\n# %% check="t.f"\n', "must be the same"),
        (TEXT.replace("# %% demo", "# %%"), "a code cell is one of"),
        (
            TEXT.replace("# Why?", "# Why?\n# <!-- BEGIN SOLUTION --> So."),
            "`<!-- BEGIN SOLUTION -->` must have a line of its",
        ),
        (TEXT.replace("# Why?", "# Why? <!-- END SOLUTION -->"), "must have a line of its own, not `Why"),
    ],
)
def test_a_lesson_that_does_not_fit_is_refused(lesson_from, text, part):
    with pytest.raises(CourseError, match=part):
        lesson_from(text)


def test_a_module_that_is_not_there_lists_those_that_are():
    with pytest.raises(CourseError, match="01_value"):
        read_lesson("99_nothing")


@pytest.mark.parametrize("module", paths.module_names())
def test_every_lesson_has_five_exercises_or_nearly_and_one_written_answer(module):
    lesson = read_lesson(module)
    assert 4 <= len(lesson.exercises) <= 12
    assert sum(cell.kind == "written" for cell in lesson.cells) == 1


@pytest.mark.parametrize("module", paths.module_names())
def test_the_readme_names_each_lesson_as_it_names_itself(module):
    number, title = re.match("# (.*?) · (.*)", read_lesson(module).cells[0].source).groups()
    assert f"| {number} | {title} |" in (paths.ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", paths.module_names())
def test_no_line_of_code_is_wider_than_a_cell(module):
    wide = [
        line
        for cell in read_lesson(module).cells
        if cell.is_code
        for line in cell.source.splitlines()
        if len(line) > 100
    ]
    assert not wide
