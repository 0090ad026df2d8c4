"""nbgrader's validator, which JupyterLab's button Validate asks too, tells the truth about every exercise."""

import nbformat
import pytest
from nbgrader.validator import Validator

from autograder import paths
from autograder.grading.sample_class import CASES, MODULE, solved
from autograder.lesson.text import read_lesson
from autograder.notebook import NotRight, check


def failed(notebook, folder):
    """{the last line of a cell that failed: what was said}"""
    nbformat.write(notebook, folder / "notebook.ipynb")
    found = Validator().validate(str(folder / "notebook.ipynb")).get("failed", [])
    return {cell["source"].splitlines()[-1]: cell["raw_error"] for cell in found}


def test_a_blank_notebook_fails_in_every_exercise_and_in_the_answer(tmp_path):
    exercises = read_lesson(MODULE).exercises
    found = failed(nbformat.read(paths.student_notebook(MODULE), as_version=4), tmp_path)
    assert set(found) == {*(f'check("{name}")' for name in exercises), "YOUR ANSWER HERE"} and len(exercises) == 11
    for name in exercises:
        said = found[f'check("{name}")']
        assert said.startswith(f"✗ {name} · 0 of") and "Traceback" not in said


def test_a_wrong_product_fails_and_says_why(tmp_path):
    found = failed(CASES["mistake-1"].make(), tmp_path)
    assert 'check("value.mul")' in found and "expected" in found['check("value.mul")']
    assert 'check("value.add")' not in found


def test_a_solved_notebook_passes(tmp_path):
    assert failed(solved(), tmp_path) == {}


def test_elsewhere_a_check_never_raises(monkeypatch, capsys):
    check("value.mul")
    assert "value.mul" in capsys.readouterr().out
    monkeypatch.setenv("NBGRADER_VALIDATING", "1")
    with pytest.raises(NotRight, match="value.mul"):
        check("value.mul")
    with pytest.raises(NotRight, match="there is no check 'value.nul'"):
        check("value.nul")
