"""Judge a whole notebook: run it, mark carried errors, write the reports into its cells."""

from dataclasses import dataclass, field
from html import escape

from nbformat.v4 import new_output

from autograder.characters import whole
from autograder.checks import find
from autograder.judge.accesses import is_possible
from autograder.judge.carried_errors import mark_carried_errors
from autograder.judge.integrity import LIBRARIES, signs_in
from autograder.judge.kernel import Sandbox, StudentKernel
from autograder.judge.launched import Launcher
from autograder.judge.notebook_run import Limits, NotebookRun, course_cell
from autograder.judge.report import Report
from autograder.judge.unknown import unknown_answers
from autograder.judge.verdict import Verdict
from autograder.lesson.text import read_lesson


@dataclass(frozen=True)
class Judgement:
    """The result of judging a notebook.

    verdicts  by exercise
    flags     integrity flags: sentences about suspicious behaviour. An instructor should look; they change no mark.
    unknown   {exercise: what a wrong answer computes that no known mistake explains}, where that was asked for
    """

    verdicts: dict[str, Verdict]
    flags: tuple[str, ...] = ()
    unknown: dict[str, dict] = field(default_factory=dict)


def judge_notebook(
    notebook,
    module: str,
    seed: str,
    limits: Limits = Limits(),
    sandbox: Sandbox | None = None,
    watched: bool | None = None,
    unknown: bool = False,
) -> Judgement:
    """Run and judge a notebook; its cells get their outputs, its checks their reports and marks.

    sandbox   the sandbox that its kernel runs in; None: an ordinary process
    watched   whether Oclgrind looks at the kernels that it hands over; None: where it is installed
    unknown   record what wrong answers compute that no known mistake explains
    """
    lesson, flags, records = read_lesson(module), list[str](), dict[str, dict]()

    def new_kernel() -> StudentKernel:
        kernel = StudentKernel(module, sandbox)
        kernel.flags = flags  # of all kernels together
        return kernel

    reason = notebook.metadata.get("course", {}).get("invalid")
    if reason:
        verdicts = {name: Verdict(find(name), "invalid", reason=reason) for name in lesson.exercises}
    else:
        with Launcher(new_kernel, is_possible() if watched is None else watched) as launcher:
            with new_kernel() as kernel:
                first_run = NotebookRun(notebook, lesson, seed, limits, kernel, launcher)
                verdicts = first_run.judge_all()
                imported = [f"imports {name}" for name in kernel.imported(LIBRARIES)]
                for flag in imported + signs_in(cell for cell in notebook.cells if first_run.is_to_run(cell)):
                    kernel.flag(flag)
            verdicts = mark_carried_errors(verdicts, first_run, new_kernel)
            if unknown:
                records = unknown_answers(verdicts, first_run, new_kernel)
    write_verdicts(notebook, verdicts)
    return Judgement(verdicts, tuple(flags), records)


def write_verdicts(notebook, verdicts: dict[str, Verdict]) -> None:
    """Write each check cell's outputs: the report, then the points in the form that nbgrader reads, a number as the last result."""
    for cell in notebook.cells:
        kind, name = course_cell(cell)
        if kind == "check":
            html, text = whole_report(verdicts[name])
            cell.outputs = [
                new_output("display_data", {"text/html": html, "text/plain": text}),
                new_output("execute_result", {"text/plain": f"{verdicts[name].points:g}"}, execution_count=1),
            ]
            cell.execution_count = 1


def whole_report(verdict: Verdict) -> tuple[str, str]:
    """A verdict's report as HTML and as text. What came back may hold what nothing can print; then its first line is the report."""
    report = Report(verdict)
    try:
        return whole(report._repr_html_()), whole(str(report))
    except Exception:
        said = f"{report.headline()} (what came back cannot be shown)"
        return f"<b>{escape(said)}</b>", said


def reports_in(notebook) -> dict[str, str]:
    """{exercise: what its check said, as HTML} out of a notebook with verdicts, as nbformat or as JSON has it."""
    made = [(cell["metadata"].get("course", {}), cell) for cell in notebook["cells"]]
    return {
        course["exercise"]: "".join(cell["outputs"][0]["data"]["text/html"])
        for course, cell in made
        if course.get("kind") == "check"
    }


def notes_on(notebook) -> tuple[str, ...]:
    """What the instructor has to know of a notebook that could not be judged as one of the lesson's."""
    course = notebook["metadata"].get("course", {})
    return tuple(course[kind] for kind in ("invalid", "foreign", "given_up") if course.get(kind))
