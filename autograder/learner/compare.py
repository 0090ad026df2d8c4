"""A learner's work beside the reference, exercise by exercise, as one HTML page: code, verdict, cost.

It opens only what was attempted, so that it spoils nothing else.
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from difflib import SequenceMatcher
from inspect import getsource

from jupyter_core.utils import ensure_event_loop
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder import paths
from autograder.checks import find, inside
from autograder.checks.aspect import NOTEBOOK_SEED
from autograder.checks.check import Check
from autograder.errors import CourseError
from autograder.grading.normalise import normalised_submission
from autograder.judge.kernel import StudentKernel, code_in_kernel
from autograder.judge.notebook import judge_notebook
from autograder.judge.notebook_run import Limits, course_cell
from autograder.judge.plan import request_of
from autograder.judge.report import Report
from autograder.learner import inside as measuring
from autograder.lesson.notebooks import solved_notebook
from autograder.lesson.text import Lesson, read_lesson
from autograder.pages import render

FORMATTER = HtmlFormatter(nowrap=True)
STYLES = (".code", "default", ""), (".code", "github-dark", "@media (prefers-color-scheme: dark)")
SECONDS = 0.1  # of measuring, for each exercise on each side; a check that takes longer is measured once
COST = "application/x-course-cost+json"

# Runs in the kernel. What is measured is what the check does, on the same inputs.
MEASURE = f"""
run = lambda: inside.run_cases(request["aspects"], names, tools.Tools(), request["limit"])
cost = module("measuring").cost_of(run, request["seconds"])
get_ipython().display_pub.publish({{"{COST}": json.dumps(cost)}})
"""


@dataclass(frozen=True)
class Row:
    """A line of theirs beside a line of the reference, as HTML; "" where one side has none."""

    mine: str
    theirs: str
    changed: bool


@dataclass(frozen=True)
class Cost:
    """One cost of the two solutions, as texts."""

    what: str
    mine: str
    theirs: str
    ratio: str


def compare(module: str, everything: bool = False) -> str:
    """The page for a module's notebook in work/. CourseError if there is none, or nothing in it was begun."""
    path = paths.work_notebook(module)
    if not path.exists():
        raise CourseError(f"there is no {path} yet: `{paths.LAB_COMMAND}` makes your copies")
    lesson, notebook = read_lesson(module), normalised_submission(path.read_bytes(), module)
    reason = notebook.metadata.get("course", {}).get("invalid")
    if reason:
        raise CourseError(f"{path} cannot be compared: {reason}")
    own = {name: cell.source for cell in notebook.cells for kind, name in [course_cell(cell)] if kind == "exercise"}
    begun = [name for name in lesson.exercises if own[name].strip() not in ("", lesson.exercise(name).stub.strip())]
    shown = lesson.exercises if everything else begun
    if not shown:
        raise CourseError(
            f"nothing in {path} was begun yet, so there is nothing to compare; --all shows the solutions all the same"
        )
    verdicts = judge_notebook(notebook, module, NOTEBOOK_SEED).verdicts
    costs = measure(
        lesson, notebook, [name for name in begun if verdicts[name].status == "ok" and not verdicts[name].carried]
    )
    exercises = [
        {
            "name": name,
            "task": find(name).about,
            "verdict": Report(verdicts[name])._repr_html_(),
            "rows": side_by_side(own[name], lesson.exercise(name).solved),
            "costs": costs.get(name, []),
            "same": own[name].strip() == lesson.exercise(name).solved.strip(),
        }
        for name in shown
    ]
    right = sum(verdicts[name].status == "ok" for name in begun)
    return render(
        "compare.html",
        title=f"{module}: your work beside the reference",
        exercises=exercises,
        summary=f"{len(begun)} of {len(lesson.exercises)} exercises begun, {right} right. What differs is tinted.",
        left=[name for name in lesson.exercises if name not in shown],
        command=f"make compare M={module[:2]} ALL=1",
        highlighting=highlighting(),
    )


# -- code -------------------------------------------------------------------------------------------------------------


def side_by_side(mine: str, theirs: str) -> list[Row]:
    """The lines of two sources, equal ones beside each other."""
    left, right = coloured_lines(mine), coloured_lines(theirs)
    matcher = SequenceMatcher(None, mine.strip("\n").splitlines(), theirs.strip("\n").splitlines(), autojunk=False)
    rows = []
    for how, a, b, c, d in matcher.get_opcodes():
        for i in range(max(b - a, d - c)):
            rows.append(Row(left[a + i] if a + i < b else "", right[c + i] if c + i < d else "", how != "equal"))
    return rows


def coloured_lines(source: str) -> list[str]:
    """Each line as HTML with the classes of `highlighting`; an empty line is a no-break space, so that it has height."""
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    return [line or "\u00a0" for line in highlight(source.strip("\n"), lexer, FORMATTER).split("\n")]


def highlighting() -> str:
    """The style of highlighted code, for light pages and for dark ones."""
    sheets = []
    for place, style, condition in STYLES:
        rules = [
            rule
            for rule in HtmlFormatter(style=style).get_style_defs(place).splitlines()
            if rule.startswith(f"{place} .")
        ]
        sheets.append(f"{condition} {{\n{chr(10).join(rules)}\n}}" if condition else "\n".join(rules))
    return "\n".join(sheets)


# -- cost -------------------------------------------------------------------------------------------------------------


def measure(lesson: Lesson, notebook: NotebookNode, names: list[str]) -> dict[str, list[Cost]]:
    """{exercise: what a run of its check costs, theirs and the reference's}, measured at the same time in two kernels."""
    if not names:
        return {}
    with ThreadPoolExecutor(2) as pool:
        mine, theirs = pool.map(lambda each: costs_in(each, names), (notebook, solved_notebook(lesson)))
    return {
        name: rows_of(own, reference) if own and reference else [] for name, own, reference in zip(names, mine, theirs)
    }


def costs_in(notebook: NotebookNode, names: list[str]) -> list[dict | None]:
    """What the checks of these exercises cost in a kernel of this notebook; for a thread of its own, whose event loop it closes."""
    with closing(ensure_event_loop()), StudentKernel() as kernel:
        run_cells(kernel, notebook)
        return [cost_in(kernel, find(name)) for name in names]


def run_cells(kernel: StudentKernel, notebook: NotebookNode) -> None:
    """All that a check may need: every code cell but demos and checks."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and course_cell(cell)[0] in ("given", "exercise", "") and kernel.alive:
            kernel.run(cell.source, Limits.cell_seconds)


def cost_in(kernel: StudentKernel, check: Check) -> dict | None:
    """What `cost_of` says in that kernel; None where it has ended, or gave no answer."""
    if not kernel.alive:
        return None
    code = code_in_kernel(
        MEASURE,
        measuring=getsource(measuring),
        aspects=request_of(check.name, NOTEBOOK_SEED),
        limit=check.seconds,
        seconds=SECONDS,
    )
    run = kernel.run(code, check.seconds * inside.PATIENCE)
    found = [output.data[COST] for output in run.outputs if COST in output.get("data", {})]
    return json.loads(found[0]) if found else None


def rows_of(mine: dict, theirs: dict) -> list[Cost]:
    """The costs as a table; kernels are shown where there are any."""

    def row(what: str, key: str, text: Callable[[float], str]) -> Cost:
        ratio = f"{mine[key] / theirs[key]:.1f}" if theirs[key] else ""
        return Cost(what, text(mine[key]), text(theirs[key]), ratio)

    rows = [
        row("time", "seconds", lambda seconds: f"{1e3 * seconds:.3g} ms"),
        row("memory at its peak", "bytes", lambda size: f"{size / 1024:,.0f} KiB"),
    ]
    if mine.get("launches") or theirs.get("launches"):
        rows.append(row("kernels launched", "launches", str))
    return rows
