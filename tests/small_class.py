"""For the tests of runs over a class: a few students, and what grading them gave."""

import pytest

from autograder.grading.classroom import How, find_submissions, grade
from autograder.grading.sample_class import CASES, MODULE, write_submission
from autograder.sandbox.bubblewrap import why_not

SANDBOX = not why_not()
STUDENTS = ("solved", "blank", "mistake-1", "broken-json")


def how(workers=1, **more):
    return How(sandbox=SANDBOX, workers=workers, **more)


def graded(folder, out, **more):
    """(rows, Graded of each in the order in which they ended)."""
    seen = []
    submissions, _ = find_submissions(folder)
    return grade(submissions, out, [MODULE], seen.append, how(**more)), seen


@pytest.fixture(scope="module")
def small_class(tmp_path_factory):
    folder = tmp_path_factory.mktemp("submissions")
    for student in STUDENTS:
        write_submission(folder, student, MODULE, CASES[student].make())
    return folder


@pytest.fixture(scope="module")
def done(small_class, tmp_path_factory):
    out = tmp_path_factory.mktemp("done")
    graded(small_class, out)
    return out
