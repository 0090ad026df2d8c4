"""For the tests of runs over a class: a few students, and what grading them gave."""

from autograder.grading.classroom import GradingOptions, grade
from autograder.grading.sample_class import CASES, MODULE, write_submission
from autograder.grading.submissions import find_submissions
from autograder.sandbox.bubblewrap import why_not

SANDBOX = not why_not()
STUDENTS = ("solved", "blank", "mistake-1", "broken-json")


def options(workers=1, **more):
    return GradingOptions(sandbox=SANDBOX, workers=workers, **more)


def graded(folder, out, **more):
    """(rows, Graded of each in the order in which they ended)."""
    seen = []
    submissions, _ = find_submissions(folder)
    return grade(submissions, out, [MODULE], seen.append, options(**more)), seen


def submissions(folder):
    """The folder, with a submission of each student in it."""
    for student in STUDENTS:
        write_submission(folder, student, MODULE, CASES[student].make())
    return folder
