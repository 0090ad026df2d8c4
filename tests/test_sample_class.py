"""The main job, whole: a class with every kind of submission is graded, and each one ends in the right state."""

import csv
import os
import subprocess
import sys

import pytest
from markupsafe import escape
from nbgrader.api import Gradebook

from autograder import paths
from autograder.grading.classroom import GradingOptions, grade
from autograder.grading.gradebook import CONFIG
from autograder.grading.records import Submission
from autograder.grading.sample_class import CASES, EXERCISE, MODULE, make_sample_class, solved, write_submission
from autograder.grading.submissions import find_submissions
from autograder.judge.report import HEADLINES
from autograder.lesson.text import read_lesson
from autograder.sandbox.bubblewrap import why_not

MODULES = ["00_start", "01_value", "04_function", "12_jit"]  # one for each engine, and the first; the others take long
OPTIONS = GradingOptions(sandbox=not why_not())
RIGHT = ("solved", "right-variant", "warns-on-stderr", "prints-50-MB")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The sample class, graded once: (folder, rows of grades.csv by student and module)."""
    out = tmp_path_factory.mktemp("class")
    make_sample_class(out / "submissions", MODULES)
    (out / "nbgrader_config.py").write_text(
        CONFIG + "c.JudgeNotebook.cell_seconds = 5  # two of the class run into it\n"
    )
    seen = []
    found, oddities = find_submissions(out / "submissions")
    grade(found, out, MODULES, seen.append, OPTIONS)
    assert not oddities and not any(graded.failure for graded in seen)
    assert not [graded for graded in seen if graded.submission.student in RIGHT and graded.flags]
    with open(out / "grades.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return out, rows


def of(rows, student, module=MODULE):
    """Those of exercises, which the judge marks."""
    exercises = read_lesson(module).exercises
    own = [row for row in rows if (row["student"], row["module"]) == (student, module)]
    return {row["exercise"]: row for row in own if row["exercise"] in exercises}


def answers(module):
    """The written answers, which a person marks."""
    return [cell.name for cell in read_lesson(module).cells if cell.kind == "written"]


def test_every_exercise_of_every_submission_has_one_row(graded):
    _, rows = graded
    names = {module: read_lesson(module).exercises + answers(module) for module in MODULES}
    wanted = [(student, MODULE, name) for student in CASES for name in names[MODULE]]
    wanted += [("solved", module, name) for module in MODULES if module != MODULE for name in names[module]]
    assert sorted((row["student"], row["module"], row["exercise"]) for row in rows) == sorted(wanted)
    assert list(rows[0]) == ["student", "module", "exercise", "points", "max_points", "status", "mistake", "mark"]
    assert {row["status"] for row in rows} <= set(HEADLINES)


@pytest.mark.parametrize("student", CASES)
def test_each_submission_ends_in_its_state(graded, student):
    case, rows = CASES[student], of(graded[1], student)
    assert rows[EXERCISE]["status"] == case.status
    assert (float(rows[EXERCISE]["points"]) < float(rows[EXERCISE]["max_points"])) == case.loses
    if case.others:
        assert {row["status"] for name, row in rows.items() if name != EXERCISE} == {case.others}


def test_an_error_early_in_a_notebook_costs_once_and_the_feedback_says_so(graded):
    out, rows = graded
    mistaken = {name for name, row in of(rows, "mistakes-in-three").items() if row["status"] != "ok"}
    assert mistaken == set(read_lesson(MODULE).exercises[:3])
    page = (out / "feedback" / "mistake-1" / "index.html").read_text(encoding="utf-8")
    assert "Your <code>backward</code> is right; it failed because <code>__mul__</code> above is not right yet." in page


def test_the_solved_notebooks_earn_all_points(graded):
    for module in MODULES:
        assert all(row["points"] == row["max_points"] for row in of(graded[1], "solved", module).values())


@pytest.mark.long
@pytest.mark.parametrize("module", [name for name in paths.module_names() if name not in MODULES])
def test_so_they_do_in_the_other_modules(module, tmp_path):
    write_submission(tmp_path, "solved", module, solved(module))
    seen = []
    rows = grade(find_submissions(tmp_path)[0], tmp_path / "out", [module], seen.append, OPTIONS)
    assert {row.exercise for row in rows if row.points != row.max_points} == set(answers(module))
    assert not any(graded.flags for graded in seen)


def test_tampering_with_the_check_changes_nothing(graded):
    plain = {name: row["points"] for name, row in of(graded[1], "mistake-1").items()}
    for student in ("edited-check", "deleted-check", "duplicated-check", "raised-points"):
        assert {name: row["points"] for name, row in of(graded[1], student).items()} == plain


def test_mistakes_are_named(graded):
    assert all(of(graded[1], student)[EXERCISE]["mistake"] for student in ("mistake-1", "mistake-2", "edited-check"))


def test_the_gradebook_holds_the_same_points(graded):
    out, rows = graded
    with Gradebook(f"sqlite:///{out / 'gradebook.db'}") as gradebook:
        for student in CASES:
            submission = gradebook.find_submission(MODULE, student)
            points = {grade.name: grade.auto_score for grade in submission.notebooks[0].grades}
            for name, row in of(rows, student).items():
                assert points["check-" + name.replace(".", "-").replace("_", "-")] == float(row["points"])


def test_every_submission_has_feedback_and_an_autograded_notebook(graded):
    out, _ = graded
    for student in CASES:
        feedback = (out / "feedback" / student / MODULE / f"{MODULE}.html").read_text(encoding="utf-8")
        assert EXERCISE in feedback
        assert (out / "autograded" / student / MODULE / f"{MODULE}.ipynb").stat().st_size < 2_000_000
    assert "not JSON" in (out / "feedback" / "broken-json" / MODULE / f"{MODULE}.html").read_text(encoding="utf-8")


def test_nbgraders_own_command_gives_the_same_marks(graded, tmp_path):
    """`nbgrader autograde 01_value` in the class folder, for two of the students."""
    out, rows = graded
    for student in ("mistake-1", "broken-json"):
        command = [sys.executable, "-m", "nbgrader", "autograde", MODULE, "--student", student, "--force"]
        done = subprocess.run(command, cwd=out, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"})
        assert done.returncode == 0, done.stderr
        with Gradebook(f"sqlite:///{out / 'gradebook.db'}") as gradebook:
            score = gradebook.find_submission(MODULE, student).score
        assert score == pytest.approx(sum(float(row["points"]) for row in of(rows, student).values()))


def test_grading_again_gives_the_same_rows(graded):
    out, rows = graded
    submission = Submission("mistake-1", MODULE, out / "submissions" / "mistake-1" / MODULE)
    again = grade([submission], out.parent / "again", [MODULE], lambda *progress: None, OPTIONS)
    assert {row.exercise: str(row.points) for row in again if row.exercise not in answers(MODULE)} == {
        name: row["points"] for name, row in of(rows, "mistake-1").items()
    }


def test_the_instructors_page_shows_the_class(graded):
    out, rows = graded
    page = (out / "report.html").read_text(encoding="utf-8")
    for student in CASES:
        assert f">{student}</a>" in page
    assert all(escape(row["mistake"]) in page for row in rows)
    assert "http" not in page.replace("http-equiv", "") and page.count("<script") == 1


def test_each_student_has_a_page_of_feedback_with_every_exercise_and_none_of_their_output(graded):
    out, rows = graded
    for student, module in sorted({(row["student"], row["module"]) for row in rows}):
        page = (out / "feedback" / student / "index.html").read_text(encoding="utf-8")
        for name, row in of(rows, student, module).items():
            assert f"{name} · {float(row['points']):g} of {float(row['max_points']):g} points" in page
        assert (
            f'href="{module}/{module}.html"' in page
            and (out / "feedback" / student / module / f"{module}.html").exists()
        )
        assert "<script" not in page
