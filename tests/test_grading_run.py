"""A run over a class: workers that are killed, files and gradebooks that are in the way."""

import json
import os
import shutil
import signal
import sqlite3
import threading
import time

import pytest
from attacks import with_cell
from nbgrader.api import Gradebook
from small_class import SANDBOX, STUDENTS, graded, options
from test_attacks import processes_left_in

from autograder.errors import CourseError
from autograder.grading import local
from autograder.grading.classroom import GradingOptions, grade
from autograder.grading.local import LocalWorkers
from autograder.grading.reading import LARGEST
from autograder.grading.sample_class import CASES, MODULE, write_submission
from autograder.grading.submissions import find_submissions
from autograder.grading.worker import Task, given_up, work
from autograder.judge.notebook_run import Limits
from autograder.lesson.text import read_lesson


def test_a_second_run_grades_nothing_and_says_the_same(small_class, done, tmp_path, monkeypatch):
    before = (done / "grades.csv").read_bytes()
    monkeypatch.setattr(GradingOptions, "start_workers", lambda self: pytest.fail("nothing is left to grade"))
    _, seen = graded(small_class, done)
    assert (done / "grades.csv").read_bytes() == before and len(seen) == len(STUDENTS)


def test_what_was_resubmitted_is_graded_and_a_manual_mark_is_asked_for_again(small_class, done, tmp_path):
    folder, out = tmp_path / "submissions", tmp_path / "out"
    shutil.copytree(small_class, folder)
    shutil.copytree(done, out)
    with Gradebook(f"sqlite:///{out / 'gradebook.db'}") as book:
        grade_of = book.find_submission_notebook(MODULE, MODULE, "blank").grades[0]
        name, grade_of.manual_score = grade_of.name, 1.5
        book.db.commit()
    write_submission(folder, "blank", MODULE, CASES["mistake-1"].make())
    rows, _ = graded(folder, out)
    points = {student: sum(row.points for row in rows if row.student == student) for student in STUDENTS}
    assert points["blank"] == points["mistake-1"] > 0
    with Gradebook(f"sqlite:///{out / 'gradebook.db'}") as book:
        now = book.find_grade(name, MODULE, MODULE, "blank")
        assert now.manual_score is None and now.needs_manual_grade, "it was given for another notebook"


# -- workers ----------------------------------------------------------------------------------------


def task(data=b"", **more):
    return Task(MODULE, data, "a seed", sandbox=SANDBOX, **more)


def test_a_worker_that_is_killed_gets_its_submission_once_more():
    with LocalWorkers(1) as workers:
        first = workers.workers[0].process
        os.kill(first.pid, signal.SIGKILL)
        results = dict(workers.results([("a", task()), ("b", task())]))
        assert workers.workers[0].process.pid != first.pid
    assert {verdict["status"] for result in results.values() for verdict in result.verdicts.values()} == {"invalid"}


def test_e5_a_worker_that_is_killed_leaves_nothing_and_its_kernel_ends(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # of the workers
    sleeps = json.dumps(with_cell("import time; time.sleep(60)")).encode()

    of_the_killed = []

    def kill_when_it_runs(pid):
        while not list(tmp_path.glob("course-of-*/kernel-*")):
            time.sleep(0.01)
        time.sleep(0.2)
        of_the_killed.extend(tmp_path.iterdir())
        os.kill(pid, signal.SIGKILL)

    with LocalWorkers(1) as workers:
        first = workers.workers[0].process.pid
        killer = threading.Thread(target=kill_when_it_runs, args=(first,))
        killer.start()
        limits = Limits(cell_seconds=1, seconds=5, deaths=1)
        results = dict(workers.results([("a", task(sleeps, limits=limits))]))
        killer.join()
        assert workers.workers[0].process.pid != first and not results["a"].failure
        assert len(of_the_killed) == 1 and not of_the_killed[0].exists()
    assert list(tmp_path.iterdir()) == [] and not processes_left_in(tmp_path)


def test_a_submission_that_kills_its_worker_again_is_crashed_with_the_reason_and_the_others_are_untouched(monkeypatch):
    def give(worker, job, real=local.Worker.give):
        real(worker, job)
        if job[0] == "fatal":
            worker.process.kill()

    monkeypatch.setattr(local.Worker, "give", give)
    with LocalWorkers(2) as workers:
        results = dict(workers.results([("fatal", task()), ("other", task())]))
    assert {verdict["status"] for verdict in results["fatal"].verdicts.values()} == {"crashed"}
    assert b"signal 9" in results["fatal"].feedback
    assert {verdict["status"] for verdict in results["other"].verdicts.values()} == {"invalid"}


def test_a_result_that_was_given_up_is_tried_again_in_the_next_run():
    assert b'"key": ""' in given_up(task(key="a key"), "why").notebook


def test_a_file_of_200_megabytes_is_not_read_whole(tmp_path):
    write_submission(tmp_path, "large", MODULE, "")
    submission = find_submissions(tmp_path)[0][0]
    with open(submission.notebook, "r+b") as file:
        file.truncate(200_000_000)
    data = submission.read()
    assert len(data) == LARGEST + 1
    assert {verdict["status"] for verdict in work(task(data)).verdicts.values()} == {"invalid"}


# -- files and gradebooks ---------------------------------------------------------------------------


def test_links_folders_and_what_vanished_are_empty_and_unicode_names_are_names(tmp_path):
    for student in ("link", "folder", "gone", "Zoë 李"):
        write_submission(tmp_path / "in", student, MODULE, "x")
    found = {submission.student: submission for submission in find_submissions(tmp_path / "in")[0]}
    secret = tmp_path / "secret"
    secret.write_text("not to be read")
    found["link"].notebook.unlink()
    found["link"].notebook.symlink_to(secret)
    found["folder"].notebook.unlink()
    found["folder"].notebook.mkdir()
    shutil.rmtree(found["gone"].path)
    assert [found[name].read() for name in ("link", "folder", "gone", "Zoë 李")] == [b"", b"", b"", b"x"]
    rows = grade(list(found.values()), tmp_path / "out", [MODULE], lambda graded: None, options())
    lesson = read_lesson(MODULE)
    assert len(rows) == 4 * len([*lesson.exercises, *(cell for cell in lesson.cells if cell.kind == "written")])
    assert {row.status for row in rows if row.student in ("Zoë 李", "link", "folder")} == {"invalid"}
    assert {row.status for row in rows if row.student == "gone"} == {"missing"}
    assert (tmp_path / "out" / "autograded" / "Zoë 李" / MODULE / f"{MODULE}.ipynb").exists()


def test_a_locked_gradebook_is_one_sentence_and_nothing_is_lost(small_class, done, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(done, out)
    with sqlite3.connect(out / "gradebook.db") as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(CourseError, match="gradebook cannot be written.*locked"):
            graded(small_class, out)
        other.rollback()
    graded(small_class, out)
    assert (out / "grades.csv").read_bytes() == (done / "grades.csv").read_bytes()


def test_a_gradebook_that_is_none_is_one_sentence(small_class, tmp_path):
    (tmp_path / "gradebook.db").mkdir()
    with pytest.raises(CourseError, match="gradebook cannot be written"):
        graded(small_class, tmp_path)
