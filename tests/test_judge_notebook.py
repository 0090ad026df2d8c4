"""A whole notebook judged: what runs, what is skipped, and what becomes of crashes, floods and lost time."""

import nbformat

from autograder.checks import find
from autograder.judge.kernel import Run
from autograder.judge.notebook import judge_notebook
from autograder.judge.notebook_run import HASTE, Limits, NotebookRun
from autograder.judge.report import Report
from autograder.lesson.notebooks import blank_notebook, solved_notebook
from autograder.lesson.text import read_lesson

MODULE = "01_value"
LESSON = read_lesson(MODULE)


def judged(change, limits=Limits()):
    """(verdicts, notebook): the solved notebook after `change(cells)`."""
    notebook = solved_notebook(LESSON)
    change(notebook.cells)
    return judge_notebook(notebook, MODULE, "a seed", limits).verdicts, notebook


def at(cells, cell_id):
    return next(i for i, cell in enumerate(cells) if cell.id == cell_id)


def added(source):
    return nbformat.v4.new_code_cell(source, id="student-1")


def statuses(verdicts):
    return {name: verdict.status for name, verdict in verdicts.items()}


def test_a_cell_that_kills_the_process_costs_nothing_but_itself():
    verdicts, _ = judged(lambda cells: cells.insert(at(cells, "check-value-mul"), added("import os; os._exit(0)")))
    assert set(statuses(verdicts).values()) == {"ok"}


def test_when_processes_end_too_often_the_rest_is_crashed():
    def kill_again_and_again(cells):
        for position in (len(cells), at(cells, "check-value-pow"), at(cells, "check-value-mul")):
            cells.insert(position, added("import os; os._exit(0)"))

    verdicts, _ = judged(kill_again_and_again, Limits(deaths=1))
    assert statuses(verdicts)["value.mul"] == "ok"
    assert statuses(verdicts)["value.pow"] == statuses(verdicts)["value.gradcheck"] == "crashed"
    assert all(verdict.points == 0 for name, verdict in verdicts.items() if verdict.status == "crashed")


def test_when_the_time_of_the_notebook_is_up_the_rest_is_timeout():
    def sleep(cells):
        cells.insert(at(cells, "check-value-mul"), added("import time; time.sleep(60)"))

    verdicts, _ = judged(sleep, Limits(cell_seconds=3, seconds=3))
    assert (
        statuses(verdicts)["value.gradcheck"] == "timeout" and "before this check" in verdicts["value.gradcheck"].reason
    )


def test_what_builds_on_an_exercise_that_does_not_end_gets_little_time():
    """It has its whole time in its second run, with the reference in place of the other."""

    class Loops:
        alive, given = True, {}

        def run(self, code, seconds):
            return Run("ok")

        def answer(self, check, seed, seconds):
            self.given[check.name] = seconds
            return Run("timeout" if check.name == "value.mul" else "error")

    kernel = Loops()
    NotebookRun(solved_notebook(LESSON), LESSON, "a seed", Limits(), kernel).judge_all()
    assert kernel.given == {
        name: HASTE if "value.mul" in find(name).needs else find(name).seconds for name in LESSON.exercises
    }
    assert HASTE in kernel.given.values()


def test_the_students_cells_keep_their_output_and_untouched_demos_do_not_run():
    def change(cells):
        cells.insert(at(cells, "check-value-mul"), added("print('here')"))

    _, notebook = judged(change)
    assert notebook.cells[at(notebook.cells, "student-1")].outputs[0].text == "here\n"
    demos = [cell for cell in notebook.cells if cell.metadata.get("course", {}).get("kind") == "demo"]
    assert demos and not any(cell.outputs for cell in demos)


def test_a_demo_that_was_edited_runs():
    def edit(cells):
        demo = next(cell for cell in cells if cell.metadata.course.kind == "demo")
        demo.source = "print('mine')"

    _, notebook = judged(edit)
    demo = next(cell for cell in notebook.cells if cell.metadata.get("course", {}).get("kind") == "demo")
    assert demo.outputs[0].text == "mine\n"


def test_a_demo_that_defines_what_the_students_code_uses_runs():
    """`plain_softmax` is a function of a demo cell: a notebook has it, so grading has it, too."""
    lesson = read_lesson("05_layers")
    notebook = solved_notebook(lesson)
    cell = notebook.cells[at(notebook.cells, "exercise-layers-softmax")]
    cell.source += """


softmax_of_rows = np.vectorize(lambda row: plain_softmax(row), signature="(n)->(n)")
right_forward = Softmax.forward


def forward(ctx, x, axis):
    softmax_of_rows(np.zeros((1, 2)))
    return right_forward(ctx, x, axis)


Softmax.forward = staticmethod(forward)
"""
    verdict = judge_notebook(notebook, "05_layers", "a seed").verdicts["layers.softmax"]
    assert verdict.status == "ok", str(Report(verdict))


def test_a_check_cell_holds_the_report_and_a_number_that_nbgrader_reads():
    _, notebook = judged(lambda cells: None)
    cell = notebook.cells[at(notebook.cells, "check-value-mul")]
    assert "all right" in cell.outputs[0].data["text/plain"]
    assert float(cell.outputs[-1].data["text/plain"]) == find("value.mul").points


def test_cells_in_any_order_are_judged():
    verdicts, _ = judged(lambda cells: cells.reverse())
    assert set(verdicts) == set(LESSON.exercises) and statuses(verdicts)["value.mul"] != "ok"


def test_a_blank_notebook_is_missing_everywhere():
    notebook = blank_notebook(LESSON)
    verdicts = judge_notebook(notebook, MODULE, "a seed").verdicts
    assert set(statuses(verdicts).values()) == {"missing"}
    assert sum(verdict.points for verdict in verdicts.values()) == 0


def test_an_invalid_notebook_is_not_run():
    notebook = blank_notebook(LESSON)
    notebook.metadata["course"] = {"invalid": "it is a poem"}
    verdicts = judge_notebook(notebook, MODULE, "a seed").verdicts
    assert {verdict.reason for verdict in verdicts.values()} == {"it is a poem"}
