"""A few days of a term: deadlines and extensions, marks of a person, answers that change; what every file and page says then.

The judge is not asked again and again: a worker stands in for it, which finds right what a notebook says that it is.
"""

import json
import os
from datetime import datetime, timedelta

import nbformat
import pytest
from term_class import ALL, MODULE, MUL, WRITTEN, NoJudge, Term

from autograder.grading.classroom import GradingOptions
from autograder.grading.gradebook import CONFIG, ClassFolder


@pytest.fixture
def term(tmp_path, monkeypatch):
    monkeypatch.setattr(GradingOptions, "start_workers", lambda self: NoJudge())
    return Term(tmp_path / "in", tmp_path / "out")


def test_marks_of_a_person_reach_every_page_and_every_total(term):
    term.hand_in("anna", wrong=["value.mul"])
    term.hand_in("ben", answer="")
    term.grade()
    totals = term.agree()
    assert float(totals["anna"]["points"]) == ALL - MUL.points and totals["anna"]["to_mark"] == "1"
    assert term.row("anna", WRITTEN.name)["status"] == "waiting" and "not marked yet" in term.page("anna")
    assert "One written answer is not marked yet" in term.index("anna")

    term.give("anna", WRITTEN.id, 2.0, "Say *why*.")
    term.give("anna", "check-value-mul", 1.5)
    before = os.stat(term.out / "feedback" / "ben" / MODULE / f"{MODULE}.html").st_mtime_ns
    term.grade()
    totals = term.agree()
    assert float(totals["anna"]["points"]) == ALL - MUL.points + 1.5 + 2 and totals["anna"]["to_mark"] == "0"
    assert (term.row("anna", "value.mul")["points"], term.row("anna", "value.mul")["mark"]) == ("1.5", "by hand")
    assert "Say <em>why</em>." in term.page("anna") and f"<b>{ALL - MUL.points + 3.5:g} of" in term.page("anna")
    assert f"{ALL - MUL.points + 3.5:g} of {ALL + WRITTEN.points:g} points." in term.index("anna")
    assert "marked by a person: 2 of" in term.index("anna") and "Say <em>why</em>." in term.index("anna")
    assert os.stat(term.out / "feedback" / "ben" / MODULE / f"{MODULE}.html").st_mtime_ns == before, (
        "it has no new mark"
    )

    term.give("anna", WRITTEN.id, 1.0)
    term.grade()
    assert float(term.agree()["anna"]["points"]) == ALL - MUL.points + 2.5


def test_a_new_answer_has_no_old_mark_and_is_asked_for_again(term):
    for student in ("anna", "ben", "carl"):
        term.hand_in(student, wrong=["value.mul"])
    term.grade()
    for student in ("anna", "ben", "carl"):
        term.give(student, WRITTEN.id, 2.0, "Good.")
        term.give(student, "check-value-mul", 1.5)
        term.give(student, "exercise-value-mul", comment="Nearly.")
    term.grade()
    term.hand_in("anna", answer="Because of something else.")  # and mul is right now
    term.hand_in("ben", wrong=["value.mul", "value.add"])  # what was marked is as it was
    term.grade()
    totals = term.agree()
    assert float(totals["anna"]["points"]) == ALL and totals["anna"]["to_mark"] == "2"
    assert term.row("anna", WRITTEN.name) | {"status": "waiting", "mark": "to be marked again"} == term.row(
        "anna", WRITTEN.name
    )
    assert "An earlier version was given 2 of 3 points: Good." in term.page("anna")
    assert "An earlier version was given 1.5 of 2 points" in term.page("anna")
    assert "On an earlier version: Nearly." in term.page("anna") and "Nearly." in term.index("anna")
    assert "An earlier version was given 2 of 3 points: Good." in term.index("anna")
    for student in ("ben", "carl"):
        assert term.row(student, WRITTEN.name)["mark"] == term.row(student, "value.mul")["mark"] == "by hand"
        assert totals[student]["to_mark"] == "0" and "Good." in term.page(student)
        assert "earlier version" not in term.page(student)

    term.give("anna", "exercise-value-mul", comment="Right now.")  # it stays with a version that has the same cell
    term.hand_in("anna", answer="A third one.")
    term.grade()
    assert "An earlier version was given 2 of 3 points: Good." in term.page("anna")
    assert "Right now." in term.page("anna") and "Nearly." not in term.page("anna")
    term.give("anna", WRITTEN.id, 3.0, "Very good.")
    term.grade()
    assert float(term.agree()["anna"]["points"]) == ALL + 3 and "2 of 3 points" not in term.page("anna")


PLUGIN = """
from nbgrader.plugins import LateSubmissionPlugin

class TwoADay(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 2.0 * -(-total_seconds_late // 86400)
"""
DUE = datetime(2026, 10, 1, 16, 0)


def test_deadlines_extensions_and_penalties(term):
    term.out.mkdir()
    (term.out / "late_days.py").write_text(PLUGIN)
    (term.out / "nbgrader_config.py").write_text(CONFIG + "c.AssignLatePenalties.plugin_class = 'late_days.TwoADay'\n")
    for student, hours in {"anna": -1, "ben": 1, "carl": 30, "dora": 30}.items():
        term.hand_in(student, timestamp=f"{DUE + timedelta(hours=hours)}.5 UTC".replace(".5", ".500000"))
    term.hand_in("emil")
    notebook = term.folder / "emil" / MODULE / f"{MODULE}.ipynb"
    os.utime(notebook, ((DUE - datetime(1970, 1, 1) + timedelta(days=3)).total_seconds(),) * 2)
    term.grade()
    assert not any(float(row["penalty"]) for row in term.agree().values()), "nothing is due yet"

    with term.book() as book:
        book.update_or_create_assignment(MODULE, duedate=DUE)
        book.grant_extension(MODULE, "dora", days=1)
    late = term.grade()
    totals = term.agree()
    assert {name: float(row["penalty"]) for name, row in totals.items()} == {
        "anna": 0,
        "ben": 2,
        "carl": 4,
        "dora": 2,
        "emil": 6,
    }
    assert (totals["ben"]["time_from"], totals["emil"]["time_from"]) == ("timestamp.txt", "file")
    assert totals["dora"]["due"] == "2026-10-02 16:00:00" and totals["ben"]["seconds_late"] == "3600"
    assert late["carl"].late == "late by 1 d 6 h (by timestamp.txt), 4 points off" and late["anna"].late == ""
    assert "the file's own time" in late["emil"].late
    report = (term.out / "report.html").read_text(encoding="utf-8")
    assert report.count("late by") == 4 and "late by 1 h 0 min (by timestamp.txt), 2 points off" in report
    assert "It came late by 1 d 6 h" in term.index("carl") and "4 points are taken off" in term.page("carl")
    submitted = term.out / "submitted" / "carl" / MODULE / "timestamp.txt"
    assert submitted.read_text().startswith("2026-10-02 22:00")

    with term.book() as book:
        book.grant_extension(MODULE, "carl", days=7)
    term.grade()
    assert float(term.agree()["carl"]["penalty"]) == 0 and "taken off" not in term.page("carl")


def test_an_extension_without_a_due_date_is_no_error(term):
    term.hand_in("anna")
    term.grade()
    with term.book() as book:
        book.grant_extension(MODULE, "anna", days=1)
    assert term.grade()["anna"].late == ""
    term.hand_in("anna", answer="New.")
    assert term.grade()["anna"].due is None


def test_a_timestamp_that_is_none_is_not_believed(term):
    term.hand_in("anna", timestamp="yesterday or so")
    assert term.grade()["anna"].submission.handed_in[1] == "file"


def test_formgrader_shows_rubric_and_earlier_mark_and_the_students_page_does_not(term):
    from test_sanitize import in_formgrader

    term.hand_in("anna")
    term.grade()
    term.give("anna", WRITTEN.id, 2.0, "Good.")
    term.give("anna", "check-value-mul", 1.5)
    term.grade()
    term.hand_in("anna", answer="New.", wrong=["value.mul"])
    term.grade()
    notebook = nbformat.read(term.out / "autograded" / "anna" / MODULE / f"{MODULE}.ipynb", as_version=4)
    shown = in_formgrader(notebook)
    assert "How it is marked" in shown and "An earlier version was given 2 of 3 points: Good." in shown
    assert "An earlier version was given 1.5 of 2 points." in shown
    assert shown.index("New.") < shown.index("Model answer") and "BEGIN SOLUTION" not in shown
    assert "How it is marked" not in term.page("anna") + term.index("anna")


def test_what_was_measured_is_kept_where_a_demo_was_not_changed(term):
    term.hand_in("anna")
    path = term.folder / "anna" / MODULE / f"{MODULE}.ipynb"
    content = json.loads(path.read_text())
    demo = next(cell for cell in content["cells"] if cell["metadata"]["course"]["kind"] == "demo")
    demo["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": ["7.5 GB/s\n", "measured"]},
        {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo=", "text/html": "<script>"}},
        {"output_type": "display_data", "data": {"text/plain": [[["nested"]]], "image/png": 7}},
        {"output_type": "stream", "text": {"a": 1}},
        "no output",
        {"output_type": "error", "ename": "X", "evalue": "x", "traceback": []},
    ]
    path.write_text(json.dumps(content))
    term.grade()
    notebook = nbformat.read(term.out / "autograded" / "anna" / MODULE / f"{MODULE}.ipynb", as_version=4)
    kept = next(cell for cell in notebook.cells if cell.id == demo["id"]).outputs
    assert [output.output_type for output in kept] == ["stream", "display_data"]
    assert set(kept[1].data) == {"image/png"}
    assert "7.5 GB/s" in term.page("anna") and "iVBORw0KGgo=" in term.page("anna")
    nbformat.validate(notebook)


def test_a_class_folder_of_before_needs_nothing(term):
    term.hand_in("anna")
    term.grade()
    (term.out / "submissions.csv").unlink()
    folder = ClassFolder(term.out, [MODULE])
    assert ("anna", MODULE) in folder.known
    term.grade()
    assert len(term.rows("submissions.csv")) == 1
