"""Explain a mark: an exercise of one student, case by case, with programs that show what fails; on two seeds.

The submission runs once more, in its sandbox, up to the exercise's check. There it is observed in the cases that counted, and
in others, which nobody has seen: a mark that depends on the inputs would show.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.checks import find
from autograder.checks.aspect import Aspect
from autograder.checks.cases import Case
from autograder.checks.check import Check
from autograder.errors import CourseError
from autograder.grading.class_files import file_in, stamp_of
from autograder.grading.gradebook import load_config, read_json
from autograder.grading.normalise import normalised_submission
from autograder.grading.preprocessors import JudgeNotebook
from autograder.grading.records import Submission
from autograder.grading.seed import Seeds
from autograder.grading.version import key_of
from autograder.judge.accesses import is_possible, kernels_of
from autograder.judge.case_verdict import Cases, Failed
from autograder.judge.counterexample import as_whole_code
from autograder.judge.expected import cases_of
from autograder.judge.kernel import Sandbox, StudentKernel
from autograder.judge.launched import Launcher
from autograder.judge.notebook_run import NotebookRun, course_cell
from autograder.judge.reference import module_of
from autograder.judge.report import row_text, sentence
from autograder.judge.verdict import Difference, broken
from autograder.lesson.notebooks import KERNEL
from autograder.lesson.text import read_lesson
from autograder.sandbox.bubblewrap import why_not

OTHER_RUN = (
    "The file, the secret seed, the limits or the course have changed since this was graded: grade it again first."
)
WHOLE, WIDEST = 2, 100  # cases of an aspect whose programs the text shows, and characters of the inputs of the others
TOOLS = "from autograder.checks.tools import Tools\n\ntools = Tools()"
OBSERVED = """from types import SimpleNamespace

from autograder.checks.inside import Student

{source}


observe(Student(globals()), SimpleNamespace({inputs}){tools})"""


@dataclass(frozen=True)
class Counterexample:
    """A case that fails: a program for a notebook, and lines on what was expected and what came."""

    number: int
    inputs: str
    program: str
    said: tuple[str, ...]

    def lines(self, whole: bool) -> Iterator[str]:
        """The case as text: the whole program, or its inputs in a line."""
        if whole:
            yield f"case {self.number}:"
            yield from (f"  {line}" for line in self.program.splitlines())
            yield from (f"  → {line}" for line in self.said)
        else:
            inputs = self.inputs if len(self.inputs) <= WIDEST else f"{self.inputs[:WIDEST]}…"
            yield f"case {self.number}: {inputs} → {'; '.join(self.said)}"


@dataclass(frozen=True)
class Tally:
    """An aspect on one seed."""

    name: str
    points: float
    most: float
    why: str
    cases: int
    failing: tuple[Counterexample, ...]
    where: str  # which cases fail, in words


@dataclass(frozen=True)
class Trial:
    """The exercise on one seed. `reason` says why there was nothing to compare, if so."""

    title: str
    points: float
    whole: float
    tallies: tuple[Tally, ...] = ()
    reason: str = ""

    def lines(self) -> Iterator[str]:
        yield f"{self.title}: {self.points:g} points"
        if self.reason:
            yield f"  {self.reason}"
        for tally in self.tallies:
            right = tally.cases - len(tally.failing)
            yield f"  {tally.name}: {right} of {tally.cases} cases right; {tally.points:.2f} of {tally.most:g} points, {tally.why}"
            if tally.where:
                yield f"    {sentence(tally.where)}"
            for place, each in enumerate(tally.failing):
                yield from (f"    {line}" for line in each.lines(place < WHOLE))
        if self.tallies:
            added = " + ".join(f"{tally.points:.2f}" for tally in self.tallies if tally.most)
            half = "" if self.whole == 1 else f", times {self.whole:g} because an example of the text is not right"
            yield f"  The points: {added}{half} = {self.points:g}"


@dataclass(frozen=True)
class Explanation:
    """Why an exercise of a student has its points.

    recorded  what the last run over the class gave; it is more than the first trial's where an earlier exercise was wrong
    told      what the page of feedback says
    before    the student's code above the check
    """

    student: str
    check: Check
    recorded: float
    told: str
    trials: tuple[Trial, ...]
    before: tuple[str, ...]
    same: bool = True  # whether the seed and the version of the course are those of the run that counted

    def __str__(self) -> str:
        lines = [f"{self.student} · {self.check.name} · {self.recorded:g} of {self.check.points:g} points", ""]
        if not self.same:
            lines += [OTHER_RUN, ""]
        lines += ["The page of feedback says:", *(f"  {line}" for line in self.told.splitlines())]
        for trial in self.trials:
            lines += ["", *trial.lines()]
        if self.trials[0].points < self.recorded:
            lines += [
                "",
                "More was given than this, because the reference was put in the place of earlier exercises that are wrong.",
            ]
        return "\n".join(lines)

    def notebook(self) -> NotebookNode:
        """The student's code, then each case that fails as a program."""
        cells = [
            new_markdown_cell(
                f"# {self.check.name} of {self.student}\n\nThe student's code up to the check comes first. It is a program of "
                "somebody else: read it before you run it. Then comes each case that fails."
            ),
            *map(new_code_cell, self.before),
        ]
        for trial in self.trials:
            cells.append(new_markdown_cell(f"## {trial.title}: {trial.points:g} points\n\n{trial.reason}"))
            for tally in trial.tallies:
                cells.append(
                    new_markdown_cell(f"### {tally.name}\n\n{len(tally.failing)} of {tally.cases} cases fail.")
                )
                for each in tally.failing:
                    said = "\n".join(f"- {line}" for line in each.said)
                    cells += [new_markdown_cell(f"Case {each.number}\n\n{said}"), new_code_cell(each.program)]
        return new_notebook(cells=cells, metadata=KERNEL)


def explain(student: str, exercise: str, out: Path, sandbox: bool = True) -> Explanation:
    """Explain the mark of a student in an exercise of a class folder. CourseError where there is none."""
    check, module = find(exercise), module_of(exercise)
    submission = Submission(student, module, out / "submitted" / student / module)
    data, seeds = submission.read(), Seeds(out)
    graded = read_json(file_in(out, "autograded", submission)) or {}
    stamp = stamp_of(graded)
    if not data or exercise not in stamp.get("verdicts", {}):
        raise CourseError(f"{out} has no result of {student} in {exercise}; grade it first, or see to the name")
    if sandbox and why_not():
        raise CourseError(why_not())
    notebook = normalised_submission(data, module)
    reason = notebook.metadata.get("course", {}).get("invalid")
    if reason:
        raise CourseError(f"there is nothing to explain: {reason}")
    lesson, limits = read_lesson(module), JudgeNotebook(config=load_config(out)).limits
    seed = seeds.of(student, module, data)
    watched = is_possible() and bool(kernels_of(module))
    same = stamp.get("key") == key_of(module, data, seed, limits, sandbox, watched)
    named = {"on the inputs that counted": seed, "on other inputs, for comparison": f"{seed}, explained"}
    new_kernel = lambda: StudentKernel(module, Sandbox() if sandbox else None)
    with Launcher(new_kernel, watched) as launcher, new_kernel() as kernel:
        run = NotebookRun(notebook, lesson, seed, limits, kernel, launcher)
        end = next(i for i, cell in enumerate(notebook.cells) if course_cell(cell) == ("check", exercise))
        for position, cell in enumerate(notebook.cells[:end]):
            if run.is_to_run(cell) and course_cell(cell)[0] != "check":
                run.run_cell(position)
        first = run.judge(check, check.seconds)  # runs demos, too, that the code needs
        trials = tuple(trial_of(check, title, each, run, first.reason) for title, each in named.items())
        before = tuple(notebook.cells[position].source for position in sorted(run.endings))
    told = next(cell["outputs"][0]["data"]["text/plain"] for cell in graded["cells"] if is_check(cell, exercise))
    return Explanation(student, check, stamp["verdicts"][exercise]["points"], "".join(told), trials, before, same)


def is_check(cell: dict, exercise: str) -> bool:
    return cell["metadata"].get("course") == {"kind": "check", "exercise": exercise}


def trial_of(check: Check, title: str, seed: str, run: NotebookRun, reason: str) -> Trial:
    """The cases of one seed, observed where the run stands."""
    trials = run.answer(check, run.kernel, seed, check.seconds)[0].trials if run.ready() else None
    if trials is None:
        return Trial(
            title, 0.0, 1.0, reason=reason or "There was no answer: the code ended its process, or took too long."
        )
    cases = cases_of(check.name, seed)
    failed = cases.failed(trials)
    tallies = tuple(tally_of(cases, part.aspect, part.points, part.why, failed) for part in cases.parts(failed))
    return Trial(title, cases.points(failed), cases.whole(failed), tallies)


def tally_of(cases: Cases, aspect: Aspect, points: float, why: str, failed: dict[int, Failed]) -> Tally:
    its = [fail for fail in failed.values() if fail.aspect is aspect]
    used = sum(its is aspect and want is not None for (its, _), want in zip(cases.plan, cases.expected))
    found = tuple(
        Counterexample(fail.number, inputs_of(fail.case), as_program(aspect, fail.case), tuple(said(fail, cases.check)))
        for fail in its
    )
    return Tally(aspect.name, points, aspect.points, why, used, found, cases.where(aspect, failed) if its else "")


def inputs_of(case: Case) -> str:
    return ", ".join(f"{name} = {' '.join(text.split())}" for name, text in case.inputs.items())


def said(fail: Failed, check: Check) -> Iterator[str]:
    """What was expected in a case that fails, and what came."""
    for label, want, got in fail.parts:
        yield row_text(Difference(fail.aspect, want, got, label))
    for label, outcome in fail.conditions:
        yield broken(label, outcome, check)


def as_program(aspect: Aspect, case: Case) -> str:
    """A case as a program that runs in a notebook, below the student's code, however long it is."""
    code = as_whole_code(aspect, case)
    if not runs_alone(code):  # it returns from the middle, or pauses
        takes_tools = len(ast.parse(aspect.source).body[0].args.args) > 2  # type: ignore[attr-defined]
        inputs = ", ".join(f"{name}={text}" for name, text in case.inputs.items())
        code = OBSERVED.format(source=aspect.source, inputs=inputs, tools=", tools" if takes_tools else "")
    if "tools" in names_in(code):
        code = f"{TOOLS}\n{code}"
    imports = [line for name, line in (("np", "import numpy as np"), ("math", "import math")) if name in names_in(code)]
    return "\n".join([*imports, code])


def runs_alone(code: str) -> bool:
    try:
        compile(code, "<case>", "exec")
    except SyntaxError:
        return False
    return True


def names_in(code: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
