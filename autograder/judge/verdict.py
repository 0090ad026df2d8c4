"""The verdict: compare a student's trials with those of the reference, aspect by aspect, and name the mistake.

Everything here runs in the judge's own process and sees plain arrays (`inside.Trial`), never a student's object.
"""

from dataclasses import dataclass, field

from autograder.checks.aspect import NOTEBOOK_SEED, Aspect
from autograder.checks.check import Check, Mistake
from autograder.checks.inside import Outcome, Trial
from autograder.judge.case_verdict import Cases, Failed
from autograder.judge.counterexample import shown
from autograder.judge.expected import cases_of
from autograder.judge.known import known
from autograder.judge.outcome import MISSING, outcome_text
from autograder.judge.plan import aspects_of


@dataclass(frozen=True)
class Difference:
    """A part of an aspect that differs from the reference, in the smallest case that shows it."""

    aspect: Aspect
    expected: Outcome
    got: Outcome
    label: str = ""  # which part of the outcome
    code: str = ""  # lines that show the case in a cell
    where: str = ""  # in how many cases it differs, and which they are
    more: str = ""  # a condition that is broken, in one sentence


@dataclass
class Verdict:
    """The verdict on one exercise of one student."""

    check: Check
    status: str  # ok, partial, wrong, error, timeout, crashed, missing or invalid
    right: list[str] = field(default_factory=list)  # names of aspects
    wrong: list[Difference] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)  # earlier exercises that this one builds on, and that are not right
    reason: str = ""  # one sentence, where no comparison was possible
    carried: str = ""  # one sentence, if the verdict comes from carried-error marking
    device: str = ""  # one sentence, the result of the finite-difference check
    accesses: str = ""  # one sentence, what Oclgrind said of a kernel
    stale: str = ""  # how the last run of the exercise's cell failed: what is judged is what an earlier one defined
    points: float = 0.0


def judge(check: Check, trials: list[Trial], seed: str) -> Verdict:
    """The verdict on a student's trials: one for each case of that seed's plan."""
    cases = cases_of(check.name, seed)
    trials = (trials + [Trial()] * len(cases.plan))[: len(cases.plan)]
    failed = cases.failed(trials)
    verdict = Verdict(check, "ok", points=cases.points(failed))
    for aspect in aspects_of(check.name):
        its = [fail for fail in failed.values() if fail.aspect is aspect]
        if its and (aspect.points or not verdict.wrong):  # an example adds nothing to a counterexample
            verdict.wrong += in_words(cases, its, failed)
        elif its:
            continue
        else:
            verdict.right.append(aspect.name)
    verdict.status = status_of(verdict)
    if not verdict.points and any(is_unwritten(difference.got) for difference in verdict.wrong):
        verdict.status = "missing"
    elif not verdict.points and verdict.status == "partial":
        verdict.status = "error" if any(difference.got.error for difference in verdict.wrong) else "wrong"
    if verdict.status not in ("ok", "missing"):
        verdict.mistakes = known(cases, trials, failed)
    return verdict


def is_unwritten(outcome: Outcome) -> bool:
    return outcome.error is not None and outcome.error["type"] == "NotImplementedError"


def in_words(cases: Cases, failed: list[Failed], every: dict[int, Failed]) -> list[Difference]:
    """The smallest counterexample of an aspect: the first case that fails."""
    fail = next((fail for fail in failed if fail.parts), failed[0])
    code = shown(fail.aspect, fail.case, cases.check.name, fail.number, cases.seed == NOTEBOOK_SEED)
    said = cases.where(fail.aspect, every)
    if not fail.parts:
        (label, outcome), *_ = fail.conditions
        more = broken(label, outcome, cases.check)
        return [Difference(fail.aspect, MISSING, outcome, "", code, said, more)]
    lines = [line for line in code.splitlines() if not fail.aspect.points]  # of an example: the line says which part
    return [
        Difference(fail.aspect, want, got, without_line(label, lines), code, said) for label, want, got in fail.parts
    ]


def without_line(label: str, lines: list[str]) -> str:
    """What a label says beyond the line of an example that it begins with, where that is the last one."""
    return label.removeprefix(lines[-1]) if lines else label


def broken(label: str, outcome: Outcome, check: Check) -> str:
    """A condition that is not kept, as one sentence."""
    condition, _, part = label.partition(" ")
    if condition == "~inputs":
        return f"The result is right, but your code changes what it was given: {outcome.array}."
    if condition == "~later":
        return "The result is right, but a later call changes it: does your code hand out something that it keeps?"
    what = f"{part} is" if part else "the result is"
    came = outcome_text(outcome)
    return f"Your code keeps something between calls: called again after others, {what} {came}."


def status_of(verdict: Verdict) -> str:
    if not verdict.wrong:
        return "ok"
    if verdict.right:
        return "partial"
    errors = [difference.got.error["type"] for difference in verdict.wrong if difference.got.error]
    if len(errors) == len(verdict.wrong) and set(errors) == {"NotImplementedError"}:
        return "missing"
    if "ProbeTimeout" in errors or "WorkLimitExceeded" in errors:
        return "timeout"
    return "error" if errors else "wrong"
