"""A run over thirty submissions that is killed at a hundred random moments ends with the same marks, and leaves nothing behind."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
from nbgrader.api import Gradebook
from small_class import SANDBOX

from autograder.__main__ import UNSETTLED
from autograder.grading.sample_class import CASES, MODULE, write_submission

pytestmark = pytest.mark.long
SUBMISSIONS, MOMENTS, LONGEST = 30, 100, 20.0  # LONGEST: seconds until a run is killed
SLOW = {"endless-loop", "prints-50-MB"}  # a run that is killed begins them anew


@pytest.fixture
def class_of_thirty(tmp_path):
    kinds = [kind for kind in CASES if kind not in SLOW]
    for number in range(SUBMISSIONS):
        kind = kinds[number % len(kinds)]
        write_submission(tmp_path / "submissions", f"student-{number:02}-{kind}", MODULE, CASES[kind].make())
    return tmp_path / "submissions"


def started(folder, out, temporary):
    """A run of its own, as from the command line."""
    sandbox = "--sandbox" if SANDBOX else "--no-sandbox"
    command = [sys.executable, "-m", "autograder", "grade", folder, "--out", out, "--workers", "2", sandbox]
    environment = os.environ | {"TMPDIR": str(temporary)}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)


def test_a_run_killed_at_a_hundred_random_moments_ends_with_the_same_marks(class_of_thirty, tmp_path):
    temporary, out = tmp_path / "temporary", tmp_path / "out"
    temporary.mkdir()
    assert ended(started(class_of_thirty, tmp_path / "undisturbed", temporary)) == UNSETTLED  # one is no notebook
    marks = (tmp_path / "undisturbed" / "grades.csv").read_bytes()
    moment, kills, reached = random.Random(MOMENTS), 0, 0
    while kills < MOMENTS:
        run, until = started(class_of_thirty, out, temporary), time.monotonic() + moment.uniform(0, LONGEST)
        while run.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        if run.poll() is None:
            run.send_signal(signal.SIGKILL)
            run.communicate()
            kills, reached = kills + 1, max(reached, len(list(out.glob("autograded/*/*/*.ipynb"))))
        else:
            compare(run, out, marks)
            shutil.rmtree(out)
    compare(started(class_of_thirty, out, temporary), out, marks)
    assert reached > SUBMISSIONS / 2, "all moments were at the beginning of a run"
    assert list(temporary.iterdir()) == [], "something is left behind"


def compare(run, out, marks):
    """It ended as the undisturbed one did: the marks to the byte, and each student once in the gradebook."""
    assert ended(run) == UNSETTLED
    assert (out / "grades.csv").read_bytes() == marks
    with Gradebook(f"sqlite:///{out / 'gradebook.db'}") as book:
        assert len({made.student.id for made in book.assignment_submissions(MODULE)}) == SUBMISSIONS


def ended(run):
    errors = run.communicate()[1].decode()
    assert "Traceback" not in errors, errors
    return run.returncode
