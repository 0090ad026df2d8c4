"""nbgrader's exchange between accounts, each of which does what docs/instructors.md says: a teacher and two students.

It needs root, to make the accounts and to take them away again, and an environment and a checkout that all may read.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from small_class import SANDBOX

from autograder import paths
from autograder.lesson.notebooks import solved_notebook
from autograder.lesson.text import read_lesson

MODULE = "00_start"
TEACHER, ADA, BEN = PEOPLE = ("course-teacher", "course-ada", "course-ben")
pytestmark = pytest.mark.long
FILL = """
import nbformat
from autograder.lesson.notebooks import solved_notebook
from autograder.lesson.text import read_lesson
path = "00_start/00_start.ipynb"
notebook = nbformat.read(path, as_version=4)
sources = {cell.id: cell.source for cell in solved_notebook(read_lesson("00_start")).cells}
for cell in notebook.cells:
    cell.source = "Mine." if cell.metadata.course.kind == "written" else sources[cell.id]
nbformat.write(notebook, path)
"""
MARK = """
from nbgrader.api import Gradebook
with Gradebook("sqlite:///OUT/gradebook.db", "autodiff") as book:
    made = book.find_submission_notebook("00_start", "00_start", "course-ada")
    for grade in made.grades:
        if grade.name == "written-start-explain":
            grade.manual_score, grade.needs_manual_grade = 1.5, False
    for comment in made.comments:
        if comment.name == "written-start-explain":
            comment.manual_comment = "Say why."
    book.db.commit()
"""


def by(person: str, command: str) -> subprocess.CompletedProcess:
    """Run a command as this person, in their own folder."""
    own = f"PATH={sysconfig.get_path('scripts')}:$PATH PYTHONPATH={paths.ROOT} COURSE_SEED=ours"
    words = ["runuser", "-l", person, "-s", "/bin/sh", "-c", f"export {own}; {command}"]
    return subprocess.run(words, capture_output=True, text=True)


def said_by(person: str, command: str) -> str:
    done = by(person, command)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def exchange(tmp_path_factory):
    """An exchange, and the accounts; they are removed again."""
    if sys.platform != "linux" or os.geteuid() or not all(map(shutil.which, ("useradd", "userdel", "runuser"))):
        pytest.skip("accounts can be made by root alone, with Linux's useradd")
    folder = Path("/var/tmp") / f"exchange-{os.getpid()}"
    made = []
    try:
        for person in PEOPLE:
            done = subprocess.run(["useradd", "--create-home", person], capture_output=True, text=True)
            if done.returncode:
                pytest.skip(f"no account can be made: {done.stderr.strip()}")
            made.append(person)
        if by(ADA, f"{shlex.quote(sys.executable)} -c 'import autograder, nbgrader'").returncode:
            pytest.skip("other accounts cannot read this environment or this checkout")
        folder.mkdir()
        folder.chmod(0o777)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        for person in made:
            subprocess.run(["userdel", "--remove", person], capture_output=True)


def test_each_account_does_its_part_and_nothing_of_another(exchange):
    here = f"--exchange {exchange}"
    there = f"--course autodiff --Exchange.root={exchange}"
    assert "released 00" in said_by(TEACHER, f"python -m autograder release 00 --out OUT {here}")
    for student in (ADA, BEN):
        said_by(student, f"nbgrader fetch_assignment {MODULE} {there}")
    said_by(ADA, f"python -c {shlex.quote(FILL)} && nbgrader submit {MODULE} {there}")
    said_by(BEN, f"nbgrader submit {MODULE} {there}")
    assert "2 students have handed in" in said_by(TEACHER, f"python -m autograder collect 00 --out OUT {here}")

    grade = f"python -m autograder grade OUT/submitted --out OUT --workers 1{'' if SANDBOX else ' --no-sandbox'}"
    assert "All is settled." in said_by(TEACHER, grade)
    said_by(TEACHER, f"python -c {shlex.quote(MARK)}")
    assert "All is settled." in said_by(TEACHER, grade)
    most = sum(cell.metadata.nbgrader.points for cell in graded_cells())
    assert f"{ADA},{MODULE},{most - 0.5:.1f},{most:.1f}," in said_by(TEACHER, "cat OUT/submissions.csv")
    assert "2 pages of feedback" in said_by(TEACHER, f"python -m autograder return 00 --out OUT {here}")

    for student, shown in ((ADA, True), (BEN, False)):
        said_by(student, f"nbgrader fetch_feedback {MODULE} {there}")
        page = said_by(student, f"cat {MODULE}/feedback/*/{MODULE}.html")
        assert ("Say why." in page) == shown
    for place in ("OUT", "OUT/gradebook.db", "OUT/source", "OUT/submitted"):
        assert by(BEN, f"ls ~{TEACHER}/{place}").returncode, f"{place} is the teacher's alone"
    for place in ("inbound", "feedback"):
        assert by(BEN, f"ls {exchange}/autodiff/{place}").returncode, f"{place} shows nobody what others have"

    said_by(ADA, f"nbgrader submit {MODULE} {there}")  # again
    said_by(TEACHER, f"python -m autograder collect 00 --out OUT {here}")
    assert "All is settled." in said_by(TEACHER, grade)
    assert "2 pages of feedback" in said_by(TEACHER, f"python -m autograder return 00 --out OUT {here}")
    said_by(ADA, f"nbgrader fetch_feedback {MODULE} {there}")
    assert said_by(ADA, f"grep -l 'Say why.' {MODULE}/feedback/*/{MODULE}.html").count("\n") == 2


def graded_cells():
    return [
        cell for cell in solved_notebook(read_lesson(MODULE)).cells if cell.metadata.get("nbgrader", {}).get("grade")
    ]
