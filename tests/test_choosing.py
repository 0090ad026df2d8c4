"""Grading some of a class: what is not chosen keeps its results, a reference is proved once, and progress without a terminal."""

import csv
import io
import json
import os
import time

import pytest
from rich.console import Console
from small_class import options

from autograder.__main__ import choice_of
from autograder.errors import CourseError
from autograder.grading import console, proved
from autograder.grading.classroom import ClassRun, grade
from autograder.grading.console import grade_with_progress, those_chosen, worth_a_look
from autograder.grading.records import Choice, Graded, Submission
from autograder.grading.sample_class import solved, write_submission
from autograder.grading.submissions import find_submissions
from autograder.judge.notebook_run import Limits
from autograder.lesson.notebooks import blank_notebook
from autograder.lesson.text import read_lesson

MODULE = "00_start"
EXERCISES = read_lesson(MODULE).exercises


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("submissions")
    for student in ("anna", "ben"):
        write_submission(made, student, MODULE, blank_notebook(read_lesson(MODULE)))
    return made


@pytest.fixture(scope="module")
def out(folder, tmp_path_factory):
    """A class folder in which both are graded, and then both have handed in a right notebook."""
    made = tmp_path_factory.mktemp("class")
    graded(folder, made)
    for student in ("anna", "ben"):
        write_submission(folder, student, MODULE, solved(MODULE))
    return made


def graded(folder, out, **choice):
    seen = []
    found, _ = find_submissions(folder)
    grade(found, out, [MODULE], seen.append, options(choice=Choice(**choice)))
    return [each.submission.student for each in seen]


def right(out, student):
    with open(out / "grades.csv", encoding="utf-8") as file:
        return {row["exercise"] for row in csv.DictReader(file) if row["student"] == student and row["status"] == "ok"}


def test_an_exercise_then_a_student_and_then_all(folder, out, monkeypatch):
    monkeypatch.setattr(ClassRun, "check_reference", lambda *_: pytest.fail("it is proved already"))
    monkeypatch.setattr(ClassRun, "compiled_ahead", lambda *_: pytest.fail("it is compiled already"))
    first = EXERCISES[0]
    assert graded(folder, out, students=("anna",), exercises=(first,)) == ["anna"]
    assert right(out, "anna") == set(EXERCISES), "another file was handed in: all of it is new"
    assert right(out, "ben") == set() and "ben" in (out / "report.html").read_text(encoding="utf-8")

    notebook = out / "autograded" / "anna" / MODULE / f"{MODULE}.ipynb"
    content = json.loads(notebook.read_bytes())
    for verdict in content["metadata"]["course"]["graded"]["verdicts"].values():
        verdict |= {"points": 0.0, "status": "wrong"}
    content["metadata"]["course"]["graded"]["key"] = "of an earlier version of the checks"
    notebook.write_text(json.dumps(content))
    assert graded(folder, out, exercises=(first,), students=("anna",)) == ["anna"]
    assert right(out, "anna") == {first} and right(out, "ben") == set()
    page = (out / "feedback" / "anna" / MODULE / f"{MODULE}.html").read_text(encoding="utf-8")
    assert page.count("all right") >= len(EXERCISES), "reports of the others are the earlier ones"

    assert sorted(graded(folder, out)) == ["anna", "ben"]
    assert right(out, "anna") == right(out, "ben") == set(EXERCISES)


def test_who_was_never_graded_and_is_not_chosen_has_no_results(folder, out, tmp_path):
    for student in ("anna", "carl"):
        write_submission(tmp_path / "in", student, MODULE, "")
    assert graded(tmp_path / "in", tmp_path / "out", students=("carl",)) == ["carl"]
    assert "anna" not in (tmp_path / "out" / "grades.csv").read_text()


def test_a_proof_holds_for_one_course_one_machine_and_one_limit(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    proofs = proved.Proofs(Limits(), True)
    assert proofs.kernels(MODULE, "a") is None
    proofs.keep(MODULE, "a", b"kernels")
    assert proved.Proofs(Limits(), True).kernels(MODULE, "a") == b"kernels"
    assert proofs.kernels(MODULE, "another version") is None and proofs.kernels("01_value", "a") is None
    assert proved.Proofs(Limits(seconds=1), True).kernels(MODULE, "a") is None
    assert proved.Proofs(Limits(), False).kernels(MODULE, "a") is None
    with monkeypatch.context() as other:
        other.setattr(proved, "machine", lambda: {"devices": ["another driver"]})
        assert proved.Proofs(Limits(), True).kernels(MODULE, "a") is None
    file = proofs.file(MODULE, "a")
    file.write_bytes(file.read_bytes()[:-1])
    assert proofs.kernels(MODULE, "a") is None


def test_few_proofs_of_a_module_are_kept_and_none_is_needed(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    proofs = proved.Proofs(Limits(), True)
    for version in range(proved.KEPT + 2):
        proofs.keep(MODULE, str(version), b"")
        os.utime(proofs.file(MODULE, str(version)), (version, version))
    kept = [proofs.kernels(MODULE, str(version)) for version in range(proved.KEPT + 2)]
    assert kept == [None] * 2 + [b""] * proved.KEPT
    monkeypatch.setenv("HOME", "/proc/no such folder")
    proofs.keep(MODULE, "a", b"kernels")
    assert proofs.kernels(MODULE, "a") is None


def test_the_machine_is_known_by_its_drivers(monkeypatch):
    from tinygrad_cl.opencl.devices import find_devices

    proved.machine.cache_clear()
    monkeypatch.setenv("TINYGRAD_CL_DEVICE", "no such device")
    found = proved.machine()
    assert found["devices"] == [device.key for device in find_devices()]
    assert found["asked for"]["TINYGRAD_CL_DEVICE"] == "no such device"
    proved.machine.cache_clear()


def test_a_choice_is_of_what_is_there(folder):
    found, _ = find_submissions(folder)
    with pytest.raises(CourseError, match="there is no submission of a student ana; there are: anna"):
        those_chosen(found, Choice(students=("ana",)))
    with pytest.raises(CourseError, match="nobody chosen handed in 01_value"):
        those_chosen(found, Choice(modules=("01_value",)))
    assert choice_of(("a",), (), (EXERCISES[0],)) == Choice(("a",), (MODULE,), (EXERCISES[0],))
    assert choice_of((), ("01", "00"), ()).modules == (MODULE, "01_value")
    with pytest.raises(CourseError, match="which --module leaves out"):
        choice_of((), ("01",), (EXERCISES[0],))


def test_without_a_terminal_there_are_lines_and_the_last_one_says_what_needs_a_look(tmp_path, monkeypatch, capsys):
    def slow(found, out, modules, step, options, oddities, doing):
        doing("first the reference solutions: 0 of 1 pass")
        time.sleep(0.3)
        for each in found:
            step(Graded(each, [], 0.1, failure="it broke" * (each.student == "ben")))
        time.sleep(0.3)
        return []

    monkeypatch.setattr(console, "SECONDS", 0.1)
    monkeypatch.setattr(console, "grade", slow)
    write_submission(tmp_path, "anna", MODULE, "")
    (tmp_path / "anna" / MODULE / f"{MODULE}.ipynb").rename(tmp_path / "anna" / MODULE / f"{MODULE} (1).ipynb")
    write_submission(tmp_path, "ben", MODULE, "")
    (tmp_path / "ben" / "01-valu").mkdir()
    unsettled = grade_with_progress(tmp_path, tmp_path / "out", options())
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith("0 of 2 graded; first the reference solutions: 0 of 1 pass")]
    assert len([line for line in lines if line.endswith(f"2 of 2 graded; last ben {MODULE}")]) == 1
    assert len(unsettled) == 2 and lines[-1] == (
        "Needs a look (listed above, and in report.html): 1 on which the grader failed; 1 left out, or without a notebook. "
        f"Recognised under another name: anna/{MODULE}/{MODULE} (1).ipynb."
    )


def test_a_class_in_order_is_said_to_be():
    assert worth_a_look([], [], []) == "All is settled."
    assert worth_a_look([], [], list("abcdefg")).endswith("a, b, c, d, e, and 2 more.")


def test_a_notebook_where_it_belongs_is_not_renamed(tmp_path):
    write_submission(tmp_path, "anna", MODULE, "")
    assert find_submissions(tmp_path)[0][0].renamed == ""
    assert Submission("anna", MODULE, tmp_path / "nowhere").renamed == ""


def test_in_a_terminal_there_is_a_bar(monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    with console.shown_in(screen, 1) as bar:
        bar.doing("first the reference solutions: 0 of 1 pass")
        bar.step("anna")
    assert "anna" in screen.file.getvalue() and "1/1" in screen.file.getvalue()
