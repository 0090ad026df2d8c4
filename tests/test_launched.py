"""Kernels' texts: launched in a process that no cell of the student's has touched, and watched by Oclgrind."""

import numpy as np
import pytest

from autograder.checks import find
from autograder.checks.inside import Outcome, Trial
from autograder.grading.class_page import accesses
from autograder.judge import accesses as looks
from autograder.judge.integrity import signs_in_kernel
from autograder.judge.launched import asked, given, joined, launches, questions
from autograder.judge.notebook import judge_notebook
from autograder.judge.plan import plan_of, watched_plan
from autograder.judge.report import Report
from autograder.judge.verdict import Verdict
from autograder.lesson.notebooks import solved_notebook
from autograder.lesson.text import read_lesson

MODULE, SEED = "00_start", "a seed"
PLAN = plan_of("start.kernel", SEED) + watched_plan("start.kernel", SEED)


def handed(text):
    return Trial({"SIN_TIMES": Outcome(np.array(text), kind="str")})


def notebook_with(**sources):
    """The solved notebook of lesson 00 with other sources of exercises, by the last part of their names."""
    notebook = solved_notebook(read_lesson(MODULE))
    for cell in notebook.cells:
        made = cell.metadata.get("course", {})
        if made.get("kind") == "exercise" and (name := made["exercise"].partition(".")[2]) in sources:
            cell.source = sources[name].replace("SOLVED", cell.source)
    return notebook


def verdicts(**sources):
    return judge_notebook(notebook_with(**sources), MODULE, SEED, watched=False).verdicts


def test_a_text_that_all_cases_share_is_asked_for_once_and_launched_in_each():
    (request,) = asked(PLAN)
    assert len(questions(PLAN)) == 1 and request["observe"] == "" and "SIN_TIMES" in request["texts"]
    answers = given(PLAN, [handed("text")])
    assert len(answers) == len(PLAN)
    sent = launches(PLAN, answers)
    assert sum(len(part["cases"]) for part in sent) == len(PLAN)
    assert all(part["given"] == [{"SIN_TIMES": "text"}] * len(part["cases"]) for part in sent)


@pytest.mark.parametrize(
    "answer", [Trial(), Trial({"SIN_TIMES": Outcome(np.zeros(3))}), Trial({"": Outcome(error={"type": "E"})})]
)
def test_what_is_no_text_is_not_launched_and_is_wrong(answer):
    answers = given(PLAN, [answer])
    assert launches(PLAN, answers) == []
    assert not any(out.array is not None for trial in joined(PLAN, answers, []) for out in trial.values())


def test_a_text_per_case_is_asked_for_in_each():
    plan = plan_of("jit.kernel", SEED)
    assert len(questions(plan)) == len(plan)


def test_launches_do_not_see_what_cells_have_done_to_the_course_and_a_crash_costs_its_own_exercise():
    cheat = """
import tinygrad_cl.opencl.trial as trial, tinygrad_cl.opencl.kernels as kernels
trial.tried = kernels.launch_guarded = lambda *args, **options: {"out": 0}
SIN_TIMES = "__kernel void sin_times(__global float *a, __global float *b, __global float *out, int n) {}"
"""
    found = verdicts(kernel=cheat)
    assert found["start.kernel"].points == 0
    assert found["start.backward_kernel"].status == "ok"
    crash = (
        "SOLVED\nSIN_TIMES = SIN_TIMES.replace('if (i < n)', 'if (i < n) out[1000000000L * (i + 1)] = 1; if (i < n)')"
    )
    found = verdicts(kernel=crash)
    assert found["start.kernel"].points == 0
    assert found["start.backward_kernel"].status == "ok"


def with_start(kernel, begin, top=""):
    """The right kernel of that name, with more at its start, and above it."""
    return f"SOLVED\n{kernel} = {top!r} + {kernel}.replace('int i =', {begin + ' int i ='!r})"


@pytest.mark.parametrize(
    "top, begin",
    [
        ("extern void _exit(int);\n", "_exit(0);"),
        ('#include "/etc/passwd"\n', ""),
        ("", '__asm__ volatile("hlt");'),
    ],
    ids=["a function of the process", "a file", "an instruction that ends the process"],
)
def test_a_hostile_kernel_costs_itself_alone(top, begin):
    found = verdicts(kernel=with_start("SIN_TIMES", begin, top))
    assert found["start.kernel"].points == 0
    assert found["start.backward_kernel"].status == "ok"


def test_assembly_in_a_kernel_that_is_right_is_flagged():
    notebook = notebook_with(kernel=with_start("SIN_TIMES", '__asm__ volatile("nop");'))
    judged = judge_notebook(notebook, MODULE, SEED, watched=False)
    assert judged.verdicts["start.kernel"].status == "ok" and judged.flags == ("a kernel holds assembly (asm)",)
    assert signs_in_kernel("float asmall = 1; // plasma") == []


def verdict_on(name):
    return Verdict(find(name), "ok", points=find(name).points)


def test_where_oclgrind_is_missing_report_and_class_page_say_so_and_no_mark_changes():
    verdict = looks.add_accesses(verdict_on("start.kernel"), None)
    assert verdict.points == 3 and verdict.status == "ok"
    assert "Not looked at: races" in str(Report(verdict)) and "Not looked at: races" in Report(verdict)._repr_html_()
    assert "not looked at, for nobody" in accesses(["00_start", "01_value"], False)[0][1]
    assert accesses(["01_value"], False) == []
    assert looks.add_accesses(verdict_on("start.double"), None).accesses == ""


def test_what_it_finds_costs_half_and_what_it_could_not_look_at_costs_nothing():
    found = {"found": Outcome(np.array("line 1: a race")), "failed": Outcome(np.array(""))}
    verdict = looks.add_accesses(verdict_on("start.kernel"), Trial(found))
    assert (verdict.points, verdict.status) == (1.5, "partial") and "line 1: a race" in str(Report(verdict))
    for seen in (Trial(), Trial({"found": Outcome(np.array("")), "failed": Outcome(np.array("It failed."))})):
        verdict = looks.add_accesses(verdict_on("start.kernel"), seen)
        assert verdict.points == 3 and "Not looked at" in verdict.accesses


@pytest.mark.skipif(not looks.is_possible(), reason="Oclgrind is not installed")
def test_when_it_counts_it_looks_at_a_launch():
    early = "SOLVED\nSIN_TIMES = SIN_TIMES.replace('if (i < n)', 'float x = a[i]; if (i < n)').replace('sin(a[i])', 'sin(x)')"
    found = judge_notebook(notebook_with(kernel=early), MODULE, SEED).verdicts
    assert found["start.kernel"].points == 1.5
    assert "reads what lies outside the array" in str(Report(found["start.kernel"]))
    assert "nothing wrong" in found["start.backward_kernel"].accesses
