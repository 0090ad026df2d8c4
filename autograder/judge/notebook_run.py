"""Run a student's notebook: its cells in order, in one kernel, and the cases of each check where it stands.

If the kernel dies, it is restarted and the earlier cells run again, without the cell that killed it. So a crash costs only
the exercise in which it happens.
"""

import re
import time
from dataclasses import dataclass

from autograder.checks import find
from autograder.checks.check import Check
from autograder.checks.inside import Trial
from autograder.judge.accesses import add_accesses, is_looked_at
from autograder.judge.device import add_finite_differences
from autograder.judge.integrity import measured_gradient, signs_in_kernel
from autograder.judge.kernel import Run, StudentKernel
from autograder.judge.launched import Launcher, given, joined, launches
from autograder.judge.plan import plan_of, watched_plan
from autograder.judge.report import unwritten
from autograder.judge.verdict import Verdict, judge
from autograder.lesson.text import Lesson

UNDEFINED = re.compile(r"^name '(\w+)' is not defined")
DEFINED = re.compile(r"^(?:def|class)\s+(\w+)|^(\w+)\s*=(?!=)", re.M)
HASTE = 2  # seconds for an exercise that needs one that timed out; `carried_errors` judges it again with its full time


@dataclass(frozen=True)
class Limits:
    """What one notebook may take: seconds per cell and in all, kernels that may die."""

    cell_seconds: float = 20
    seconds: float = 300
    deaths: int = 12


def course_cell(cell) -> tuple[str, str]:
    """(kind, exercise) of a cell as the lesson made it; ("", "") for one that the student added."""
    made = cell.metadata.get("course", {})
    return made.get("kind", ""), made.get("exercise", "")


class NotebookRun:
    """One run of one notebook. Without a launcher it must be one that hands over no kernels."""

    def __init__(
        self,
        notebook,
        lesson: Lesson,
        seed: str,
        limits: Limits,
        kernel: StudentKernel,
        launcher: Launcher | None = None,
    ):
        self.cells, self.lesson, self.seed, self.limits, self.kernel = notebook.cells, lesson, seed, limits, kernel
        self.launcher = launcher
        self.demos = {cell.id: cell.solved for cell in lesson.cells if cell.kind == "demo"}
        self.endings: dict[int, str] = {}  # position of a cell that was run → ok, error, timeout or dead
        self.deaths, self.measures = 0, False
        self.end = time.monotonic() + limits.seconds

    def judge_all(self) -> dict[str, Verdict]:
        verdicts: dict[str, Verdict] = {}
        for position, cell in enumerate(self.cells):
            kind, name = course_cell(cell)
            if kind == "check":
                verdict = verdicts[name] = self.judge(find(name), time_for(find(name), verdicts))
                not_right = {earlier for earlier, its in verdicts.items() if its.status != "ok"}
                verdict.needs = [need for need in verdict.check.needs if need in not_right]
            elif self.is_to_run(cell):
                self.run_cell(position)
        return verdicts

    def is_to_run(self, cell) -> bool:
        """Whether it is code, and not a demo that the student left as it was."""
        return cell.cell_type == "code" and bool(cell.source.strip()) and self.demos.get(cell.get("id")) != cell.source

    def run_cell(self, position: int) -> None:
        cell = self.cells[position]
        if not self.ready():
            return
        run = self.kernel.run(cell.source, self.limits.cell_seconds)
        cell.outputs, self.endings[position] = run.outputs, run.status

    @property
    def in_time(self) -> bool:
        return time.monotonic() < self.end

    def ready(self) -> bool:
        """Make sure that a kernel is alive in which the earlier cells have run; False if too many have died, or time is up."""
        if not self.in_time:
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

    def judge(self, check: Check, seconds: float) -> Verdict:
        if not self.ready():
            if not self.in_time:
                reason = f"The notebook took more than {self.limits.seconds:g} s before this check."
                return Verdict(check, "timeout", reason=reason)
            return Verdict(check, "crashed", reason="The notebook's process ended too often before this check.")
        verdict = self.observe(check, self.kernel, seconds)
        if self.run_demos_for(verdict):
            verdict = self.observe(check, self.kernel, seconds)
        return self.explained(verdict)

    def run_demos_for(self, verdict: Verdict) -> bool:
        """Run the demo cells above the check, skipped so far, that define a name which the student's code did not find."""
        errors = [difference.got.error for difference in verdict.wrong if difference.got.error]
        missing = {name for error in errors for name in UNDEFINED.findall(error.get("message", ""))}
        end = next((i for i, cell in enumerate(self.cells) if course_cell(cell) == ("check", verdict.check.name)), 0)
        ran = False
        for position, cell in enumerate(self.cells[:end] if missing else ()):
            skipped = position not in self.endings and self.demos.get(cell.get("id")) == cell.source
            if skipped and missing & {name or other for name, other in DEFINED.findall(cell.source)}:
                self.run_cell(position)
                ran = True
        return ran

    def observe(self, check: Check, kernel: StudentKernel, seconds: float) -> Verdict:
        """Run the check's cases in a kernel, within that much processor time, and judge its answer. Oclgrind looks at kernels."""
        run, to_watch = self.answer(check, kernel, self.seed, seconds)
        if run.trials is None:
            return without_trials(check, run, seconds)
        verdict = judge(check, run.trials, self.seed)
        if check.texts:
            return self.watched(verdict, to_watch, seconds)
        if not self.measures and (flag := measured_gradient(check, run.trials, self.seed)):
            self.measures = True  # one flag is enough: later exercises would show the same
            kernel.flag(flag)
        return add_finite_differences(verdict, run.trials, self.seed)

    def answer(self, check: Check, kernel: StudentKernel, seed: str, seconds: float) -> tuple[Run, list[Trial]]:
        """(the run of the check's cases, the texts that Oclgrind may look at): texts that are handed over run in a clean process."""
        run = kernel.answer(check, seed, seconds)
        if run.trials is None:
            return run, []
        plan = plan_of(check.name, seed)
        if not check.texts:
            run.trials = given(plan, run.trials)  # one for each case, however many came
            return run, []
        assert self.launcher
        handed = given(plan + watched_plan(check.name, seed), run.trials)
        request = launches(plan, handed)
        for text in {text for each in request for texts in each["given"] for text in texts.values()}:
            for flag in signs_in_kernel(text):
                kernel.flag(flag)
        run = self.launcher.run(request, seconds)
        if run.trials is not None:
            run.trials = joined(plan, handed, run.trials)
        return run, handed[len(plan) :]

    def watched(self, verdict: Verdict, texts: list[Trial], seconds: float) -> Verdict:
        """The verdict on kernels with what Oclgrind says of one launch."""
        assert self.launcher
        if is_looked_at(verdict):
            plan = watched_plan(verdict.check.name, self.seed)
            request = launches(plan, texts) if self.launcher.watched else []
            seen = self.launcher.run(request, seconds).trials
            add_accesses(verdict, (seen or [Trial()])[0] if request else None)
        if verdict.status != "ok":
            self.launcher.stop()
        return verdict

    def explained(self, verdict: Verdict) -> Verdict:
        """For a verdict without points: say if the exercise's own cell is missing, unwritten, timed out, or killed the kernel."""
        if verdict.points or verdict.status == "ok" or verdict.reason:
            return verdict
        name = verdict.check.name
        written = self.is_written(name) or verdict.status != "missing" and self.is_elsewhere(name)
        endings = {self.endings.get(position) for position in self.own_cells(name)}
        if "dead" in endings:
            verdict.status, verdict.reason = "crashed", "The exercise's cell ended the notebook's process."
        elif "timeout" in endings:
            verdict.status = "timeout"
            verdict.reason = f"The exercise's cell was stopped after {self.limits.cell_seconds:g} s."
        elif not written:
            verdict.status, verdict.mistakes = "missing", []
        elif verdict.status == "missing":  # this one is written; an earlier one that it needs is not
            verdict.status, verdict.reason = "error", f"It needs {unwritten(verdict)}, which is not written yet."
        return verdict

    def own_cells(self, exercise: str) -> list[int]:
        """The positions of the cells that the lesson has for an exercise."""
        return [i for i, cell in enumerate(self.cells) if course_cell(cell) == ("exercise", exercise)]

    def is_written(self, exercise: str) -> bool:
        """Whether the exercise's own cell holds anything of the student's."""
        stub = self.lesson.exercise(exercise).stub.strip()
        return any(self.cells[position].source.strip() not in ("", stub) for position in self.own_cells(exercise))

    def is_elsewhere(self, exercise: str) -> bool:
        """Whether another cell above its check defines what the exercise asks for."""
        names = "|".join(self.lesson.exercise(exercise).names) or "(?!)"  # (?!) is found nowhere
        definition = re.compile(rf"\bdef\s+({names})\b|\b({names})\s*=(?!=)")
        for cell in self.cells:
            kind, name = course_cell(cell)
            if (kind, name) == ("check", exercise):
                break
            if cell.cell_type == "code" and kind != "given" and name != exercise and definition.search(cell.source):
                return True
        return False


def time_for(check: Check, verdicts: dict[str, Verdict]) -> float:
    """Seconds for the check in the first run, after these verdicts."""
    endless = any(verdicts[need].status == "timeout" for need in check.needs if need in verdicts)
    return min(HASTE, check.seconds) if endless else check.seconds


def without_trials(check: Check, run: Run, seconds: float) -> Verdict:
    """The verdict where no answer came."""
    if run.status == "timeout":
        return Verdict(
            check,
            "timeout",
            reason=f"Your code did not come back within {seconds:g} s; is there a loop that never ends?",
        )
    if run.status == "dead":
        return Verdict(
            check,
            "crashed",
            reason="Your code ended the notebook's process (os._exit, a crash in a library, or out of memory).",
        )
    return Verdict(check, "error", reason="The check could not run in your notebook's process.")
