"""Judge a whole notebook: run the student's cells in order in their kernel, and each check's probe where it stands.

A kernel that dies is started again, and the cells before it are run again without the one that killed it; so a crash in one
exercise costs that exercise.
"""

import time
from dataclasses import dataclass

from nbformat.v4 import new_output

from autograder.checks import find
from autograder.checks.check import Check
from autograder.judge.device import add_second_opinion
from autograder.judge.kernel import Box, Run, StudentKernel
from autograder.judge.report import Report, unwritten
from autograder.judge.expected import trial_seed
from autograder.judge.verdict import Verdict, judge
from autograder.lesson.text import Lesson, read_lesson


@dataclass(frozen=True)
class Limits:
    """What one notebook may take: seconds per cell and in all, kernels that may die, trials per check."""

    cell_seconds: float = 20
    seconds: float = 300
    deaths: int = 12
    trials: int = 5


def judge_notebook(notebook, module: str, seed: str, limits: Limits = Limits(), box: Box | None = None) -> dict[str, Verdict]:
    """Verdicts by exercise; the notebook's cells get their outputs, its checks their reports and marks.

    box   the sandbox that its kernel runs in; None: an ordinary process
    """
    lesson = read_lesson(module)
    reason = notebook.metadata.get("course", {}).get("invalid")
    if reason:
        verdicts = {name: Verdict(find(name), "invalid", reason=reason) for name in lesson.exercises}
    else:
        with StudentKernel(module, box) as kernel:
            verdicts = Bench(notebook, lesson, seed, limits, kernel).run()
    for cell in notebook.cells:
        kind, name = course_cell(cell)
        if kind == "check":
            write_verdict(cell, verdicts[name])
    return verdicts


def course_cell(cell) -> tuple[str, str]:
    """(kind, exercise) of a cell as the lesson made it; ("", "") for one that the student added."""
    made = cell.metadata.get("course", {})
    return made.get("kind", ""), made.get("exercise", "")


class Bench:
    """One run over one notebook."""

    def __init__(self, notebook, lesson: Lesson, seed: str, limits: Limits, kernel: StudentKernel):
        self.cells, self.lesson, self.seed, self.limits, self.kernel = notebook.cells, lesson, seed, limits, kernel
        self.demos = {cell.id: cell.solved for cell in lesson.cells if cell.kind == "demo"}
        self.endings: dict[int, str] = {}  # position of a cell that was run → ok, error, timeout or dead
        self.deaths = 0
        self.end = time.monotonic() + limits.seconds

    def run(self) -> dict[str, Verdict]:
        verdicts = {}
        for position, cell in enumerate(self.cells):
            kind, name = course_cell(cell)
            if kind == "check":
                verdict = verdicts[name] = self.judge(find(name))
                not_right = {earlier for earlier, its in verdicts.items() if its.status != "ok"}
                verdict.needs = [need for need in verdict.check.needs if need in not_right]
            elif cell.cell_type == "code" and not self.is_untouched_demo(cell):
                self.run_cell(position)
        return verdicts

    def is_untouched_demo(self, cell) -> bool:
        return self.demos.get(cell.get("id")) == cell.source

    def run_cell(self, position: int) -> None:
        cell = self.cells[position]
        if not cell.source.strip() or not self.ready():
            return
        run = self.kernel.run(cell.source, self.limits.cell_seconds)
        cell.outputs, self.endings[position] = run.outputs, run.status

    def ready(self) -> bool:
        """A kernel in which the cells before have run; False when too many have died, or the time is up."""
        if time.monotonic() > self.end:
            return False
        if self.kernel.alive:
            return True
        if self.deaths >= self.limits.deaths:
            return False
        self.deaths += 1
        self.kernel.restart()
        for position, ending in list(self.endings.items()):
            if ending in ("ok", "error"):
                run = self.kernel.run(self.cells[position].source, self.limits.cell_seconds)
                self.endings[position] = run.status
                if not self.kernel.alive:
                    return self.ready()
        return True

    def judge(self, check: Check) -> Verdict:
        if not self.ready():
            if time.monotonic() > self.end:
                return Verdict(check, "timeout", reason=f"The notebook took more than {self.limits.seconds:g} s before this check.")
            return Verdict(check, "crashed", reason="The notebook's process ended too often before this check.")
        run = self.kernel.probe(check, [trial_seed(self.seed, check.name, i) for i in range(self.limits.trials)])
        if run.records is None:
            return self.without_records(check, run)
        trials = complete(run.records, self.limits.trials)
        return self.explained(add_second_opinion(judge(check, trials, self.seed), trials, self.seed))

    def without_records(self, check: Check, run: Run) -> Verdict:
        if run.status == "timeout":
            return Verdict(check, "timeout", reason=f"Your code did not come back within {check.seconds:g} s; "
                                                    "is there a loop that never ends?")
        if run.status == "dead":
            return Verdict(check, "crashed", reason="Your code ended the notebook's process (os._exit, a crash in a "
                                                    "library, or out of memory).")
        return Verdict(check, "error", reason="The check could not run in your notebook's process.")

    def explained(self, verdict: Verdict) -> Verdict:
        """Without a point, say what became of the exercise's own cell: not there, not written, stopped, or dead."""
        if verdict.points or verdict.status == "ok":
            return verdict
        own = [i for i, cell in enumerate(self.cells) if course_cell(cell) == ("exercise", verdict.check.name)]
        endings = {self.endings.get(position) for position in own}
        stub = self.lesson.exercise(verdict.check.name).stub.strip()
        if "dead" in endings:
            verdict.status, verdict.reason = "crashed", "The exercise's cell ended the notebook's process."
        elif "timeout" in endings:
            verdict.status = "timeout"
            verdict.reason = f"The exercise's cell was stopped after {self.limits.cell_seconds:g} s."
        elif all(self.cells[position].source.strip() in ("", stub) for position in own):
            verdict.status, verdict.mistakes = "missing", []
        elif verdict.status == "missing":  # this one is written; an earlier one that it needs is not
            verdict.status, verdict.reason = "error", f"It needs {unwritten(verdict)}, which is not written yet."
        return verdict


def complete(trials: list[dict], count: int) -> list[dict]:
    """Just `count` trials: what a kernel sent beyond them is dropped, and what it kept back counts as nothing.

    Only after a trial that ran out of time fewer are right, since no more were made.
    """
    errors = [record.get("error") for record in trials[-1].values() if isinstance(record, dict)]
    if any(isinstance(error, dict) and error.get("type") == "ProbeTimeout" for error in errors):
        return trials[:count]
    return (trials + [{}] * count)[:count]


def write_verdict(cell, verdict: Verdict) -> None:
    """The check cell's outputs: the report, and the points as nbgrader reads them (a number as the last result)."""
    report = Report(verdict)
    cell.outputs = [
        new_output("display_data", {"text/html": report._repr_html_(), "text/plain": str(report)}),
        new_output("execute_result", {"text/plain": f"{verdict.points:g}"}, execution_count=1),
    ]
    cell.execution_count = 1
    cell.metadata["course"] = dict(cell.metadata["course"]) | {"verdict": {
        "status": verdict.status, "points": verdict.points, "max_points": verdict.check.points,
        "mistake": verdict.mistakes[0].name if verdict.mistakes else ""}}
