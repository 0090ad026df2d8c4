"""Where results are written: a gradebook in PostgreSQL, one that may only be read, a disk that is full."""

import errno
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from small_class import STUDENTS, graded

from autograder.errors import CourseError
from autograder.grading import classroom
from autograder.grading.gradebook import CONFIG
from autograder.grading.sample_class import CASES, MODULE, write_submission

PROGRAMS = (
    max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)
    if shutil.which("initdb") is None
    else Path(shutil.which("initdb")).parent
)


def with_database(out, url):
    out.mkdir(exist_ok=True)
    (out / "nbgrader_config.py").write_text(CONFIG + f"c.CourseDirectory.db_url = {url!r}\n")


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory):
    """The address of a database of a server that is started for these tests."""
    pytest.importorskip("psycopg2", reason="the driver psycopg2 is not installed")
    if PROGRAMS is None:
        pytest.skip("PostgreSQL is not installed")
    # Root may not run it: then it is the system's own user for it, in a folder that everybody may pass.
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    folder = Path(
        subprocess.run(
            [*as_user, "mktemp", "-d", "/tmp/pgXXXXXX"], capture_output=True, text=True, check=True
        ).stdout.strip()
    )

    def run(program, *arguments):
        subprocess.run(
            [*as_user, PROGRAMS / program, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    try:
        run("initdb", "-D", folder / "data", "--auth=trust", "--username=course")
        run(
            "pg_ctl",
            "-D",
            folder / "data",
            "-w",
            "-o",
            f"-c listen_addresses='' -k {folder}",
            "-l",
            folder / "log",
            "start",
        )
        yield f"postgresql+psycopg2://course@/postgres?host={folder}"
        run("pg_ctl", "-D", folder / "data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_the_gradebook_may_be_postgresql(postgresql, small_class, done, tmp_path):
    with_database(tmp_path, postgresql)
    for _ in range(2):  # the second run takes what the first has graded
        graded(small_class, tmp_path)
        assert (tmp_path / "grades.csv").read_bytes() == (done / "grades.csv").read_bytes()
    assert not (tmp_path / "gradebook.db").exists()
    scores = []
    for url in (postgresql, f"sqlite:///{done / 'gradebook.db'}"):
        with Gradebook(url, "autodiff") as book:
            scores.append({made.student.id: made.score for made in book.assignment_submissions(MODULE)})
    assert scores[0] == scores[1] and set(scores[0]) == set(STUDENTS)


def test_a_database_that_does_not_answer_is_one_sentence(small_class, tmp_path):
    pytest.importorskip("psycopg2", reason="the driver psycopg2 is not installed")
    with_database(tmp_path, f"postgresql+psycopg2://course@/postgres?host={tmp_path}")
    with pytest.raises(CourseError, match="^The gradebook cannot be written"):
        graded(small_class, tmp_path)


def test_a_gradebook_that_may_only_be_read_is_one_sentence_and_nothing_is_lost(small_class, done, tmp_path):
    out, larger = tmp_path / "out", tmp_path / "larger"
    shutil.copytree(done, out)
    shutil.copytree(small_class, larger)
    write_submission(larger, "another", MODULE, CASES["blank"].make())
    with_database(out, f"sqlite:///file:{out / 'gradebook.db'}?mode=ro&uri=true")
    with pytest.raises(CourseError, match="gradebook cannot be written.*readonly"):
        graded(larger, out)
    (out / "nbgrader_config.py").write_text(CONFIG)
    rows, _ = graded(larger, out)
    kept = [line for line in (out / "grades.csv").read_text().splitlines() if not line.startswith("another,")]
    assert kept == (done / "grades.csv").read_text().splitlines() and {row.student for row in rows} == {
        *STUDENTS,
        "another",
    }


def test_a_full_disk_is_one_sentence_and_the_next_run_goes_on(small_class, done, tmp_path, monkeypatch):
    written = []

    def write(path, data):
        if len(written) > 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        written.append(path)
        whole(path, data)

    whole = classroom.write_atomically
    with monkeypatch.context() as full:
        full.setattr(classroom, "write_atomically", write)
        with pytest.raises(CourseError, match="cannot be written .No space left on device.; make room"):
            graded(small_class, tmp_path)
    graded(small_class, tmp_path)
    assert (tmp_path / "grades.csv").read_bytes() == (done / "grades.csv").read_bytes()
