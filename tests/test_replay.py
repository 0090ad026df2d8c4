"""What a notebook says beside a verdict: a case that is replayed, a cell that did not run."""

from types import SimpleNamespace

import pytest

from autograder.checks import find
from autograder.checks.aspect import NOTEBOOK_SEED
from autograder.errors import CourseError
from autograder.judge.failed_cells import FAILED, failure_of, note_cell
from autograder.judge.plan import run
from autograder.judge.reference import reference_namespace
from autograder.judge.replay import replay
from autograder.judge.report import Report
from autograder.judge.verdict import judge
from autograder.notebook import case, run_check

NAMES = reference_namespace("03_broadcast")


def test_a_replayed_case_shows_its_lines_what_is_right_and_what_came():
    wrong = NAMES | {"mul_backward": lambda grad, a, b: (grad * a, grad * b)}
    shown = str(replay("broadcast.mul", 0, wrong))
    assert shown.startswith("mul_backward(") and "✗ [0]: expected" in shown and "✓ 2 parts" in shown
    assert "✗" not in str(replay("broadcast.mul", 0, NAMES))


def test_a_number_that_no_case_has_is_refused(capsys):
    with pytest.raises(CourseError, match="has the cases 0 to"):
        replay("broadcast.mul", 10**6, NAMES)
    assert case("broadcast.mul", -1) is None and "has the cases 0 to" in capsys.readouterr().out


def test_of_a_case_that_a_notebook_cannot_replay_the_inputs_are_shown():
    """A number means the same case for one seed only."""
    check = find("parallel.overlap")
    names = reference_namespace("14_parallel") | {"overlapped": lambda comm, gradients, bucket: []}
    here, there = (str(Report(judge(check, run(check, names, seed), seed))) for seed in (NOTEBOOK_SEED, "a secret"))
    assert 'case("parallel.overlap"' in here
    assert "case(" not in there and "given = [[" in there and "bucket = " in there


@pytest.fixture
def cells():
    FAILED.clear()
    yield lambda source, error: note_cell(
        SimpleNamespace(info=SimpleNamespace(raw_cell=source), error_before_exec=error, error_in_exec=None)
    )
    FAILED.clear()


def test_a_cell_that_did_not_run_is_said_before_what_an_earlier_run_defined(cells):
    cells("def mul_backward(grad, a, b)\n    return grad * b", SyntaxError("expected ':'"))
    assert failure_of(find("broadcast.mul")) == "SyntaxError: expected ':'" and not failure_of(find("broadcast.sum"))
    lines = str(run_check("broadcast.mul", NAMES)).splitlines()
    assert "did not run: SyntaxError: expected ':'" in lines[1]
    cells("def mul_backward(grad, a, b):\n    return grad * b", None)
    assert not failure_of(find("broadcast.mul"))
