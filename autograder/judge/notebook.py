"""Judge a whole notebook: one run over it, a second chance for what failed because of something else, the reports."""

from nbformat.v4 import new_output

from autograder.checks import find
from autograder.judge.bench import Bench, Limits, course_cell
from autograder.judge.kernel import Box, StudentKernel
from autograder.judge.report import Report
from autograder.judge.second_chance import with_second_chances
from autograder.judge.signs import libraries_in
from autograder.judge.verdict import Verdict
from autograder.lesson.text import read_lesson


def judge_notebook(
    notebook, module: str, seed: str, limits: Limits = Limits(), box: Box | None = None
) -> dict[str, Verdict]:
    """Verdicts by exercise; the notebook's cells get their outputs, its checks their reports and marks.

    What its process did that right work has no reason for is noted in the notebook's metadata, under course.signs.

    box   the sandbox that its kernel runs in; None: an ordinary process
    """
    lesson = read_lesson(module)
    reason = notebook.metadata.get("course", {}).get("invalid")
    if reason:
        verdicts = {name: Verdict(find(name), "invalid", reason=reason) for name in lesson.exercises}
    else:
        with StudentKernel(module, box) as kernel:
            bench = Bench(notebook, lesson, seed, limits, kernel)
            verdicts = bench.run()
            for sign in libraries_in(cell for cell in notebook.cells if bench.is_to_run(cell)):
                kernel.sign(sign)

        def another_kernel() -> StudentKernel:
            made = StudentKernel(module, box)
            made.signs = kernel.signs  # what it shows is noted with the rest
            return made

        verdicts = with_second_chances(verdicts, bench, another_kernel)
        if kernel.signs:
            notebook.metadata["course"] = dict(notebook.metadata.get("course", {})) | {"signs": kernel.signs}
    for cell in notebook.cells:
        kind, name = course_cell(cell)
        if kind == "check":
            write_verdict(cell, verdicts[name])
    return verdicts


def write_verdict(cell, verdict: Verdict) -> None:
    """The check cell's outputs: the report, and the points as nbgrader reads them (a number as the last result)."""
    report = Report(verdict)
    cell.outputs = [
        new_output("display_data", {"text/html": report._repr_html_(), "text/plain": str(report)}),
        new_output("execute_result", {"text/plain": f"{verdict.points:g}"}, execution_count=1),
    ]
    cell.execution_count = 1
    cell.metadata["course"] = dict(cell.metadata["course"]) | {
        "verdict": {
            "status": verdict.status,
            "points": verdict.points,
            "max_points": verdict.check.points,
            "mistake": verdict.mistakes[0].name if verdict.mistakes else "",
        }
    }
