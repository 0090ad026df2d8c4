"""nbgrader's exchange, whole: released, fetched and handed in by a student, collected, graded, returned. `test_exchange_accounts` has accounts."""

import stat
import sys

import nbformat
import pytest
from nbgrader.apps import NbGraderAPI
from nbgrader.utils import capture_log
from traitlets.config import Config

from autograder.__main__ import main
from autograder.errors import CourseError
from autograder.grading.classroom import GradingOptions, grade
from autograder.grading.submissions import find_submissions
from autograder.lesson.notebooks import solved_notebook
from autograder.lesson.text import read_lesson
from autograder.sandbox.bubblewrap import why_not

MODULE = "00_start"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nbgrader has no exchange on Windows")


@pytest.fixture
def exchange(tmp_path):
    folder = tmp_path / "exchange"
    folder.mkdir()
    folder.chmod(0o777)
    return str(folder)


def as_student(step, exchange, folder):
    """A step of nbgrader's as a student runs it in a folder of their own: "FetchAssignment" or "Submit"."""
    config = Config()
    config.CourseDirectory.course_id, config.CourseDirectory.assignment_id = "autodiff", MODULE
    config.Exchange.root, config.Exchange.cache, config.Exchange.assignment_dir = (
        exchange,
        str(folder / "cache"),
        str(folder),
    )
    api = NbGraderAPI(config=config)
    return capture_log(
        getattr(api.exchange, step)(coursedir=api.coursedir, authenticator=api.authenticator, config=config)
    )


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")  # nbgrader's
def test_a_module_is_released_fetched_handed_in_collected_graded_and_returned(tmp_path, exchange, monkeypatch, capsys):
    out = tmp_path / "class"

    def command(*arguments):
        main([*arguments, "00", "--out", str(out), "--exchange", exchange], standalone_mode=False)
        return capsys.readouterr().out

    assert f"collect with: python -m autograder collect 00 --out {out} --exchange {exchange}" in command("release")
    with pytest.raises(CourseError, match="nbgrader release_assignment 00_start failed: .*already exists"):
        command("release")
    assert stat.S_IMODE(out.stat().st_mode) == 0o700, "solutions, and what students will hand in, are nobody else's"

    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.chdir(own)  # where nbgrader puts what it fetches
    assert as_student("FetchAssignment", exchange, own)["success"]
    path = own / MODULE / f"{MODULE}.ipynb"
    fetched, solved = nbformat.read(path, as_version=4), solved_notebook(read_lesson(MODULE))
    sources = {cell.id: cell.source for cell in solved.cells}
    for cell in fetched.cells:
        cell.source = sources[cell.id]
    nbformat.write(fetched, path)
    assert as_student("Submit", exchange, own)["success"]

    assert (
        f"1 students have handed in; grade with: python -m autograder grade {out / 'submitted'} --out {out}"
        in command("collect")
    )
    found, oddities = find_submissions(out / "submitted")
    assert len(found) == 1 and not oddities
    rows = grade(found, out, [MODULE], lambda graded: None, GradingOptions(sandbox=not why_not(), workers=1))
    assert rows and all(row.points == row.max_points for row in rows if row.exercise in read_lesson(MODULE).exercises)

    assert "1 pages of feedback are in the exchange" in command("return")
    assert as_student("FetchFeedback", exchange, own)["success"]
    student = found[0].student
    feedback = out / "feedback" / student
    (fetched,) = (own / MODULE / "feedback").glob(f"*/{MODULE}.html")
    assert fetched.read_bytes() == (feedback / MODULE / f"{MODULE}.html").read_bytes()
    secret = f"{MODULE}/submission_secret.txt"
    (out / "submitted" / student / MODULE / f"{MODULE}.ipynb").write_text("{}")  # another version
    (out / "submitted" / student / secret).write_bytes(b"\xff")  # it comes from the student
    said = command("return")
    assert f"{student}/{MODULE} is not graded since it was handed in; grade, and return again" in said
    assert "0 pages of feedback are in the exchange" in said


def test_an_exchange_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(CourseError, match="^The exchange .*/nowhere is no folder that everybody may write to; make it"):
        main(
            ["collect", "00", "--out", str(tmp_path / "class"), "--exchange", str(tmp_path / "nowhere")],
            standalone_mode=False,
        )
