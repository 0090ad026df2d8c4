"""One submission never stops the others: what takes too long, too much or is too deep costs its author alone."""

import json
import subprocess
import sys
import time

import nbformat
import pytest
from small_class import SANDBOX

from autograder.grading import local, page_maker, worker
from autograder.grading.feedback import Marks
from autograder.grading.local import LocalWorkers
from autograder.grading.normalise import normalised_submission
from autograder.grading.page_maker import NoPage, PageMaker, made
from autograder.grading.reading import MOST_CELLS
from autograder.grading.sample_class import MODULE, blank, solved, write_submission
from autograder.grading.worker import Task, given_up
from autograder.judge.notebook_run import Limits

SLOW = {
    "links": "[a](" * 200_000,
    "pictures": "![" * 80_000,
    "links with brackets": "[a](<b" * 20_000,
    "references": "[x]: " * 20_000,
    "environments": r"\begin{a}" * 20_000,
    "attributes": "<a " + " ".join(f"a{i}=1" for i in range(18_000)) + ">",
    "divs": "<div>" * 19_000,
    "tags": "<a><b><i>" * 9_000,
    "formulas": "$" + "{" * 1_500 + "$",
}


def task(data=b"", **more):
    return Task(MODULE, data, "a seed", sandbox=SANDBOX, **more)


def with_cells(*cells):
    notebook = solved()
    notebook.cells[2:2] = cells
    return json.dumps(notebook).encode()


def page_of(data: bytes) -> tuple[bytes, str]:
    notebook = normalised_submission(data, MODULE)
    return made(nbformat.writes(notebook).encode(), MODULE, Marks())


@pytest.mark.parametrize("name", SLOW)
def test_c1_a_text_that_a_parser_takes_hours_for_is_shown_as_it_was_typed(name):
    page, reason = page_of(with_cells(nbformat.v4.new_markdown_cell(SLOW[name])))
    assert page and not reason


@pytest.mark.parametrize("source", ["a." * 20_000, "(" * 20_000, "'''" + '"' * 30_000, "x = " + "1 + " * 20_000])
def test_c1_code_that_takes_long_to_colour_is_shown_as_it_was_typed(source):
    page, reason = page_of(with_cells(nbformat.v4.new_code_cell(source)))
    assert page and not reason


@pytest.fixture
def maker():
    made = PageMaker(seconds=15)
    yield made
    made.stop()


def written(notebook) -> bytes:
    return nbformat.writes(notebook).encode()


def test_c1_a_page_that_takes_too_long_is_ended_and_the_next_one_is_made(maker):
    assert b"01_value" in maker.page(written(blank()), MODULE)
    slow = blank()
    slow.cells += [nbformat.v4.new_markdown_cell(r"\begin{a}" * 2_200 + str(i)) for i in range(150)]
    maker.seconds, start = 2, time.monotonic()
    with pytest.raises(NoPage, match="took more than 2 s"):
        maker.page(written(slow), MODULE)
    assert time.monotonic() - start < 10
    maker.seconds = 60
    assert b"01_value" in maker.page(written(blank()), MODULE)


def test_c1_a_page_whose_process_dies_is_given_up_and_the_next_one_is_made(maker):
    maker.start()
    maker.process.kill()
    with pytest.raises(NoPage, match="process that makes the page ended"):
        maker.page(written(blank()), MODULE)
    maker.seconds = 60
    assert maker.page(written(blank()), MODULE)


def test_c1_a_page_that_is_too_large_or_raises_is_a_sentence(monkeypatch):
    monkeypatch.setattr(page_maker, "LARGEST", 1000)
    assert made(written(blank()), MODULE, Marks()) == (b"", "the page would have 0 MB")
    monkeypatch.setattr(page_maker, "feedback_page", lambda *_: 1 / 0)
    assert made(written(blank()), MODULE, Marks()) == (b"", "of an error in making the page (ZeroDivisionError)")


def test_b_a_page_that_fails_costs_no_point_and_says_so(monkeypatch):
    class Fails:
        def page(self, *_):
            raise NoPage("it rained")

    notebook = normalised_submission(b"", MODULE)
    judgement = worker.judge_notebook(notebook, MODULE, "a seed")
    monkeypatch.setattr(worker, "page_maker", Fails)
    result = worker.finished(notebook, judgement, task(key="k"), 1.0)
    assert b"cannot be shown here, because it rained. That costs no point." in result.feedback
    assert result.verdicts and not result.failure and result.notes[-1].endswith("because it rained")
    assert json.loads(result.notebook)["metadata"]["course"]["graded"]["key"] == "k"


def test_c1_what_is_given_up_is_made_without_the_submission(monkeypatch):
    monkeypatch.setattr(worker, "normalised_submission", lambda *_: pytest.fail("it was read once more"))
    result = given_up(task(b"hostile"), "It took too long.")
    assert {verdict["status"] for verdict in result.verdicts.values()} == {"crashed"}
    assert b"It took too long." in result.feedback and result.notes == ("It took too long.",)


def test_c1_a_submission_that_takes_too_long_is_given_up_at_once_and_the_others_go_on(monkeypatch):
    monkeypatch.setattr(local, "LOOK_SECONDS", 0.1)
    with LocalWorkers(1) as workers:
        jobs = [("late", task(b"late", limits=Limits(seconds=0.01))), ("other", task())]
        results = dict(workers.results(jobs))
    assert results["late"].notes == ("Judging this notebook took more than 0.04 s in all.",)
    assert {verdict["status"] for verdict in results["other"].verdicts.values()} == {"invalid"}


@pytest.mark.parametrize("cell", [b"{}", b"[]", b"1", b'{"cell_type":"code"}'])
def test_c4_millions_of_cells_are_refused_in_seconds(cell):
    data = b'{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[' + (cell + b",") * 2_000_000 + cell + b"]}"
    start = time.monotonic()
    notebook = normalised_submission(data, MODULE)
    assert "cells; more than 2,000 are not read" in notebook.metadata.course.invalid and time.monotonic() - start < 60


def test_c4_as_many_cells_as_are_read_take_seconds():
    notebook = solved()
    notebook.cells += [nbformat.v4.new_code_cell("1") for _ in range(MOST_CELLS - len(notebook.cells))]
    assert not normalised_submission(json.dumps(notebook).encode(), MODULE).metadata.get("course")


def test_a_process_that_makes_pages_ends_with_its_worker():
    program = (
        "from autograder.grading.page_maker import page_maker as m; m().start(); print(m().process.pid, flush=True); "
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    import psutil

    gone, alive = psutil.wait_procs(
        [psutil.Process(int(done.stdout))] if psutil.pid_exists(int(done.stdout)) else [], 20
    )
    assert not alive


def test_c2_c3_h2_odd_names_stop_nobody_and_what_is_left_out_is_in_terminal_report_and_exit_code(tmp_path):
    import os

    submissions, out = tmp_path / "in", tmp_path / "out"
    for name in (os.fsdecode(b"M\xfcller"), "[", "[red]x", "a\nb", "=1+1", "é" * 100):
        write_submission(submissions, name, MODULE, "no notebook")
    (submissions / "[" / "[" / "x]").mkdir(parents=True)
    (submissions / "anna" / "[x]").mkdir(parents=True)
    command = [sys.executable, "-m", "autograder", "grade", str(submissions), "--out", str(out), "--workers", "1"]
    done = subprocess.run(
        [*command, *([] if SANDBOX else ["--no-sandbox"])],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )
    assert done.returncode == 3, done.stdout + done.stderr
    report, csv = (out / "report.html").read_text("utf-8"), (out / "grades.csv").read_text("utf-8")
    for name in ("Müller", "[", "[red]x", "a b", "_=1+1", "é" * 100):
        assert f"\n{name},01_value,value.slope,0.0,2.0,invalid," in csv
        assert (
            f"{name}/01_value: The file is not JSON" in done.stdout.replace("\n", " ").replace("  ", " ")
            or len(name) > 50
        )
        assert f"{name}/01_value: The file is not JSON" in report
        assert (out / "feedback" / name / MODULE / f"{MODULE}.html").exists()
    for sentence in ("[/[ is no module of the course; left out", "anna/[x] is no module of the course; left out"):
        assert sentence in done.stdout and sentence in report
    assert not any(line[0] in "=+-@\t\r" for line in csv.splitlines())
