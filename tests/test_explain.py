"""A mark that is explained: the points add up, and each case that fails is a program that shows it in a notebook."""

import contextlib
import io
import re

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from small_class import SANDBOX, graded

from autograder.__main__ import main
from autograder.checks import all_checks, find
from autograder.errors import CourseError
from autograder.grading.explain import as_program, explain, runs_alone
from autograder.grading.sample_class import CASES, MODULE, blank, write_submission
from autograder.judge.case_verdict import KEPT
from autograder.judge.plan import plan_of
from autograder.judge.reference import module_of, reference_namespace

SANDBOXED = "--sandbox" if SANDBOX else "--no-sandbox"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explained")
    write_submission(folder / "in", "anna", MODULE, CASES["mistake-1"].make())
    write_submission(folder / "in", "ben", MODULE, blank())
    graded(folder / "in", folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def explained(out):
    return explain("anna", "value.mul", out, SANDBOX)


def test_the_points_are_those_of_the_run_and_add_up(explained):
    counted, other = explained.trials
    assert counted.points == explained.recorded < find("value.mul").points and other.points == counted.points
    for trial in explained.trials:
        assert (
            trial.whole in (1.0, KEPT)
            and round(sum(each.points for each in trial.tallies) * trial.whole, 2) == trial.points
        )
        for tally in trial.tallies:
            assert (tally.points == tally.most) or tally.failing
            assert len(tally.failing) <= tally.cases > 0
    assert any(tally.failing for tally in counted.tallies)
    programs = [{each.program for tally in trial.tallies for each in tally.failing} for trial in explained.trials]
    assert programs[0] != programs[1], "the second seed draws other inputs"


def test_the_text_says_it_all(explained):
    text = str(explained)
    assert text.startswith(f"anna · value.mul · {explained.recorded:g} of 2 points")
    assert "The page of feedback says:" in text and "✗ value.mul" in text
    assert "on the inputs that counted" in text and "on other inputs, for comparison" in text
    failing = next(tally.failing for tally in explained.trials[0].tallies if len(tally.failing) > 2)
    assert all(f"case {each.number}:" in text for each in failing) and failing[0].program.splitlines()[-1] in text
    assert f"case {failing[2].number}: {failing[2].inputs[:60]}" in text and failing[2].said[0] in text
    assert re.search(r"\d+ of \d+ cases right; \d\.\d\d of ", text) and "→ " in text and "The points: " in text


def test_each_case_that_fails_runs_in_the_notebook_and_gives_what_is_said(explained):
    notebook = explained.notebook()
    nbformat.validate(notebook)
    notebook.cells = notebook.cells[: len(notebook.cells) // 2]
    NotebookClient(notebook, allow_errors=True).execute()
    first = next(i for i, cell in enumerate(notebook.cells) if cell.source.startswith("Case "))
    shown = [output for output in notebook.cells[first + 1].outputs if output.output_type == "execute_result"]
    got = re.search(r"got ([^\s,)]+)", notebook.cells[first].source)[1]
    assert shown and re.sub(r"[()]", "", got)[:4] in shown[0].data["text/plain"]


def test_the_command_writes_the_notebook(out, tmp_path, capsys):
    path = tmp_path / "mul.ipynb"
    main(["explain", "anna", "value.mul", "--out", str(out), "--notebook", str(path), SANDBOXED], standalone_mode=False)
    assert "anna · value.mul" in capsys.readouterr().out
    assert nbformat.read(path, as_version=4).cells[0].source.startswith("# value.mul of anna")


def test_another_seed_than_that_of_the_run_is_said(out, explained, monkeypatch):
    assert explained.same and "have changed since" not in str(explained)
    monkeypatch.setenv("COURSE_SEED", "another one")
    assert "The file, the secret seed, the limits or the course have changed since" in str(
        explain("anna", "value.mul", out, SANDBOX)
    )


def test_what_is_not_written_is_explained_too(out):
    text = str(explain("ben", "value.mul", out, SANDBOX))
    assert text.startswith("ben · value.mul · 0 of 2 points") and "NotImplementedError" in text


def test_nothing_to_explain_is_one_sentence(out):
    with pytest.raises(CourseError, match="no result of carl in value.mul"):
        explain("carl", "value.mul", out, SANDBOX)
    with pytest.raises(CourseError, match="there is no check"):
        explain("anna", "value.nul", out, SANDBOX)


@pytest.mark.parametrize("module", ["m01_value", "m03_broadcast", "m09_kernels"])
def test_every_case_is_a_program(module):
    checks = [check for check in all_checks().values() if check.lesson == module]
    plans = [(check.name, aspect, case) for check in checks for aspect, case in plan_of(check.name, "a seed")]
    assert plans and not [
        (name, aspect.name) for name, aspect, case in plans if not runs_alone(as_program(aspect, case))
    ]


@pytest.mark.parametrize("name", ["value.mul", "value.backward", "broadcast.sum"])
def test_programs_run_on_the_reference(name):
    """What a case expects to be refused is the only error."""
    namespace, raised = reference_namespace(module_of(name)), set()
    for aspect in find(name).aspects:
        case = next(case for its, case in plan_of(name, "a seed") if its is aspect)
        try:
            with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
                exec(compile(as_program(aspect, case), "<case>", "exec"), dict(namespace))
        except Exception as error:
            raised.add(type(error))
    assert raised <= {ValueError, TypeError}
