"""Judge a whole notebook: one run over it, a second chance for what failed because of something else, the reports."""

from dataclasses import dataclass

from nbformat.v4 import new_output

from autograder.checks import find
from autograder.judge.bench import Bench, Limits, course_cell
from autograder.judge.kernel import Box, StudentKernel
from autograder.judge.report import Report
from autograder.judge.second_chance import with_second_chances
from autograder.judge.signs import libraries_in
from autograder.judge.verdict import Verdict
from autograder.lesson.text import read_lesson


@dataclass(frozen=True)
class Judgement:
    """What comes of a notebook.

    verdicts  by exercise
    signs     what it did that right work has no reason for; worth a look, and they move no mark
    """

    verdicts: dict[str, Verdict]
    signs: tuple[str, ...] = ()


def judge_notebook(notebook, module: str, seed: str, limits: Limits = Limits(), box: Box | None = None) -> Judgement:
    """Run and judge a notebook; its cells get their outputs, its checks their reports and marks.

    box   the sandbox that its kernel runs in; None: an ordinary process
    """
    lesson, signs = read_lesson(module), []

    def new_kernel() -> StudentKernel:
        kernel = StudentKernel(module, box)
        kernel.signs = signs  # of all kernels together
        return kernel

    reason = notebook.metadata.get("course", {}).get("invalid")
    if reason:
        verdicts = {name: Verdict(find(name), "invalid", reason=reason) for name in lesson.exercises}
    else:
        with new_kernel() as kernel:
            bench = Bench(notebook, lesson, seed, limits, kernel)
            verdicts = bench.run()
            for sign in libraries_in(cell for cell in notebook.cells if bench.is_to_run(cell)):
                kernel.sign(sign)
        verdicts = with_second_chances(verdicts, bench, new_kernel)
    write_verdicts(notebook, verdicts)
    return Judgement(verdicts, tuple(signs))


def write_verdicts(notebook, verdicts: dict[str, Verdict]) -> None:
    """The outputs of the check cells: the report, and the points as nbgrader reads them (a number as the last result)."""
    for cell in notebook.cells:
        kind, name = course_cell(cell)
        if kind == "check":
            report = Report(verdicts[name])
            cell.outputs = [
                new_output("display_data", {"text/html": report._repr_html_(), "text/plain": str(report)}),
                new_output("execute_result", {"text/plain": f"{verdicts[name].points:g}"}, execution_count=1),
            ]
            cell.execution_count = 1


def reports_in(notebook) -> dict[str, str]:
    """{exercise: what its check said, as HTML} out of a notebook with verdicts, as nbformat or as JSON has it."""
    made = [(cell["metadata"].get("course", {}), cell) for cell in notebook["cells"]]
    return {
        course["exercise"]: "".join(cell["outputs"][0]["data"]["text/html"])
        for course, cell in made
        if course.get("kind") == "check"
    }
