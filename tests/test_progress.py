"""Progress: what the learner's own notebooks say, and what is next."""

import json

import pytest
from rich.console import Console

from autograder import paths
from autograder.checks import all_checks, find
from autograder.errors import CourseError
from autograder.judge.reference import module_of, reference_namespace
from autograder.learner.progress import (
    advice,
    all_exercises,
    answers_in,
    exercises_of,
    module_to_open,
    next_exercise,
    table_of,
)
from autograder.lesson.text import read_lesson
from autograder.notebook import run_check


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "WORK", tmp_path)
    return tmp_path


def answer(name, edits=None):
    """Save a notebook in which the check of that name was run, with the reference or an edit of it."""
    module = module_of(name)
    path = paths.work_notebook(module)
    if not path.exists():
        path.parent.mkdir(parents=True)
        path.write_bytes(paths.student_notebook(module).read_bytes())
    notebook = json.loads(path.read_text())
    bundle = run_check(name, reference_namespace(module, edits))._repr_mimebundle_()
    cell = next(cell for cell in notebook["cells"] if cell["id"] == f"check-{name.replace('.', '-')}")
    cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": bundle}]
    path.write_text(json.dumps(notebook))


def printed(exercises):
    console = Console(width=120)
    with console.capture() as text:
        console.print(table_of(exercises))
    return text.get()


def test_before_the_first_notebook_every_exercise_of_the_course_is_untried(work):
    exercises = all_exercises()
    lessons = [read_lesson(module) for module in paths.module_names()]
    assert [exercise.name for exercise in exercises] == [name for lesson in lessons for name in lesson.exercises]
    assert {exercise.name: exercise.max_points for exercise in exercises} == {
        name: each.points for name, each in all_checks().items()
    }
    assert {exercise.status for exercise in exercises} == {"untried"}
    assert next_exercise(exercises) == exercises[0] and module_to_open() == "00_start"


def test_what_the_checks_answered_is_what_is_counted(work):
    answer("value.add")
    answer("value.mul", {"value.mul": "@add_to_class(Value)\ndef __mul__(self, other):\n    return self + other"})
    found = {exercise.name: exercise for exercise in exercises_of("01_value")}
    assert found["value.add"].done and found["value.add"].points == find("value.add").points
    assert found["value.mul"].status in ("wrong", "partial", "error") and not found["value.mul"].done
    assert found["value.pow"].status == "untried"
    text = printed(list(found.values()))
    assert "●" in text and f"1 of {len(found)}" in text
    assert advice([found["value.add"], found["value.mul"]]) == (
        "Next: value.mul in 01_value, which is not right yet. `make lab` opens it."
    )


def test_when_all_is_done_it_says_so(work):
    answer("value.add")
    done = [exercise for exercise in exercises_of("01_value") if exercise.done]
    assert next_exercise(done) is None and "done" in advice(done)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"cells": 3}',
        '{"cells": [{"outputs": [{"data": {"text/plain": "x"}}]}]}',
        '{"cells": [3, {"outputs": 7}, {"outputs": [null, {"data": "x"}]}]}',
    ],
)
def test_a_notebook_that_is_broken_is_one_sentence_or_counts_nothing(work, text):
    notebook = work / "01_value.ipynb"
    notebook.write_text(text)
    try:
        assert answers_in(notebook) == {}
    except CourseError as error:
        assert "cannot be read as a notebook" in str(error)
    assert module_to_open() == "00_start"
