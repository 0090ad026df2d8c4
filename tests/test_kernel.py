"""The kernel as the judge sees it: each run ends as ok, error, timeout or dead, and its output is cut."""

import time

import pytest

from autograder.checks import all_checks, find
from autograder.judge.kernel import Sandbox, StudentKernel
from autograder.judge.messages import OUTPUT_LIMIT, decoded
from autograder.judge.plan import request_of
from autograder.judge.reference import module_of
from autograder.judge.verdict import judge
from autograder.lesson.text import read_lesson
from autograder.sandbox.bubblewrap import why_not


@pytest.fixture(scope="module")
def kernel():
    with StudentKernel() as started:
        yield started


def fresh(kernel):
    if not kernel.alive:
        kernel.restart()
    return kernel


def test_output_and_error(kernel):
    run = fresh(kernel).run("print('one'); print('two')\n3", 10)
    assert run.status == "ok"
    assert [(o.output_type, o.get("text") or o.data["text/plain"]) for o in run.outputs] == [
        ("stream", "one\ntwo\n"),
        ("execute_result", "3"),
    ]
    run = kernel.run("1 / 0", 10)
    assert run.status == "error" and run.outputs[-1].ename == "ZeroDivisionError"


def test_an_endless_loop_is_interrupted_and_the_kernel_goes_on(kernel):
    fresh(kernel).run("kept = 5", 10)
    assert kernel.run("while True: pass", 0.5).status == "timeout"
    assert kernel.run("kept", 10).outputs[0].data["text/plain"] == "5"


def test_a_loop_that_ignores_interrupts_is_killed(kernel):
    start = time.monotonic()
    run = fresh(kernel).run("while True:\n    try:\n        while True: pass\n    except BaseException: pass", 0.5)
    assert run.status == "timeout" and time.monotonic() - start < 15
    assert fresh(kernel).run("1", 10).status == "ok"


def test_an_exit_is_dead_not_a_wait(kernel):
    start = time.monotonic()
    assert fresh(kernel).run("import os; os._exit(0)", 30).status == "dead"
    assert time.monotonic() - start < 10


def test_a_flood_of_output_is_read_and_cut(kernel):
    run = fresh(kernel).run("for _ in range(500): print('x' * 100_000)", 60)
    assert run.status == "ok"
    assert OUTPUT_LIMIT <= sum(len(output.text) for output in run.outputs) < OUTPUT_LIMIT + 200
    assert "was cut" in run.outputs[-1].text


def test_writing_past_python_to_the_file_descriptors_is_harmless(kernel):
    assert fresh(kernel).run("import os; [os.write(2, b'x' * 10_000) for _ in range(1000)]; 1", 30).status == "ok"


@pytest.mark.parametrize("module", sorted({module_of(name) for name in all_checks()}))
def test_the_verdicts_through_the_kernel_are_full_marks_for_the_reference(module):
    """One definition of a check, two transports; and nothing is hidden in the sandbox that right work needs."""
    with StudentKernel(module, None if why_not() else Sandbox()) as kernel:
        for cell in read_lesson(module).cells:
            if cell.kind in ("given", "exercise"):
                assert kernel.run(cell.solved, 30).status == "ok", cell.source
        for name in read_lesson(module).exercises:
            run = kernel.cases(request_of(name, "through the kernel"), find(name).seconds)
            verdict = judge(find(name), run.trials, "through the kernel")
            assert verdict.status == "ok", verdict.wrong


def test_names_that_a_student_shadows_do_not_break_the_probe(kernel):
    fresh(kernel).run("json = types = exec = get_ipython = compile = list = sum = None", 10)
    run = kernel.cases(request_of("value.mul", "1"), 10)
    assert run.trials


@pytest.mark.parametrize("text", [None, "", "[]", "{}", "3", "[1]", "[" * 10_000, b"\xff", "null"])
def test_a_reply_that_is_no_list_of_trials_is_none(text):
    assert decoded(text) is None
