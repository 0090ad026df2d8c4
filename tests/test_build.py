"""The generated notebooks: what the lessons give, free of solutions and outputs, safe for work done in them."""

import json

import nbformat
import pytest
from nbclient import NotebookClient

from autograder import paths
from autograder.checks import all_checks, find
from autograder.errors import CourseError
from autograder.judge import recorded, recorder
from autograder.judge.recorded import REFERENCE, file_of, read
from autograder.judge.recorder import stale_recordings
from autograder.lesson import build
from autograder.lesson.text import read_lesson

MODULES = paths.module_names()


@pytest.mark.parametrize("module", MODULES)
def test_the_committed_notebooks_are_what_the_lessons_give(module):
    assert build.stale([module]) == []


def test_the_recorded_outcomes_are_those_of_todays_checks():
    """Whether they are what fresh runs give is tested with the checks."""
    files = {}
    for check in all_checks().values():
        files.setdefault(file_of(check), set()).add(check.name)
    assert {path: set(read(path)) for path in files} == files


@pytest.mark.parametrize(
    "edit",
    [lambda outcomes: outcomes.update({"a whole number": 75}), dict.popitem, dict.clear],
    ids=["another number", "a quantity less", "no quantity"],
)
def test_recorded_outcomes_that_a_fresh_run_contradicts_are_stale(edit, tmp_path, monkeypatch):
    check = find("start.double")
    content = {check.name: json.loads(file_of(check).read_text(encoding="utf-8"))[check.name]}
    path = tmp_path / "m00_start.json"
    monkeypatch.setattr(recorder, "all_checks", lambda: {check.name: check})  # all of a module take long
    for module in (recorded, recorder):
        monkeypatch.setattr(module, "file_of", lambda check: path)
    path.write_text(json.dumps(content), encoding="utf-8")
    assert not stale_recordings(["00_start"])
    edit(content[check.name][REFERENCE]["cases"][0])
    path.write_text(json.dumps(content), encoding="utf-8")
    read.cache_clear()
    assert list(stale_recordings(["00_start"])) == [path]


@pytest.mark.parametrize("module", MODULES)
def test_the_students_notebook_holds_no_solution_and_no_output(module):
    student, lesson = nbformat.read(paths.student_notebook(module), as_version=4), read_lesson(module)
    for cell, made in zip(student.cells, lesson.cells, strict=True):
        assert cell.id == made.id and not cell.get("outputs")
        assert cell.source == made.stub
        stub = {"exercise": "raise NotImplementedError", "written": "YOUR ANSWER HERE"}.get(made.kind)
        assert (stub is None) == (made.stub == made.source) and (stub or "") in cell.source


@pytest.mark.parametrize("module", MODULES)
def test_the_solved_notebook_runs_from_top_to_bottom_with_all_checks_green(module, tmp_path):
    notebook = nbformat.read(paths.solution_notebook(module), as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    for cell in notebook.cells:
        streams = [output for output in cell.get("outputs", []) if output.output_type == "stream"]
        assert not [output.text for output in streams if output.name == "stderr"], cell.source
        if cell.metadata.course.kind == "check":
            shown = [output.data["text/plain"] for output in cell.outputs if output.output_type == "display_data"]
            assert len(shown) == 1 and "all right" in shown[0], shown


def test_work_in_a_generated_notebook_is_not_overwritten(tmp_path, monkeypatch):
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps({"cells": [{"outputs": [{"output_type": "stream"}]}]}), encoding="utf-8")
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(build, "build", lambda module: {path: "new"})
    with pytest.raises(CourseError, match="somebody worked in it"):
        build.write(["x"])
    assert "outputs" in path.read_text(encoding="utf-8")


def test_stale_and_strange_files_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(paths, "MODULES", tmp_path / "modules")
    monkeypatch.setattr(paths, "LESSONS", tmp_path / "solutions")
    for name in ("modules/a/a.ipynb", "modules/a/notes.txt", "solutions/b.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("old", encoding="utf-8")
    monkeypatch.setattr(
        build, "build", lambda module: {tmp_path / "modules/a/a.ipynb": "new", tmp_path / "solutions/a.ipynb": "new"}
    )
    assert build.stale(["a"]) == [
        "modules/a/a.ipynb is not what its lesson gives",
        "solutions/a.ipynb is missing",
        "modules/a/notes.txt belongs to no lesson",
        "solutions/b.ipynb belongs to no lesson",
    ]
