"""The verdict: compare a student's arrays with those of the reference, quantity by quantity, and name the mistake.

Everything here runs in the judge's own process and sees plain arrays (`inside.Trial`), never a student's object.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from autograder.checks.check import Check, Mistake
from autograder.checks.inside import Outcome, Trial
from autograder.judge.case_verdict import Cases, Failed, known
from autograder.judge.counterexample import as_code
from autograder.judge.expected import expected_outcomes
from autograder.judge.expected_cases import cases_of, mistaken
from autograder.judge.outcome import MISSING, of_quantity, only_errors, outcome_text, same, same_trials, same_words
from autograder.judge.plan import aspects_of


@dataclass(frozen=True)
class Difference:
    """A quantity that differs from the reference, in the first trial that shows it."""

    quantity: str
    expected: Outcome
    got: Outcome
    input: str
    label: str = ""  # which part of the outcome
    code: str = ""  # lines that show the case in a cell
    where: str = ""  # in how many cases it differs, and which they are
    more: str = ""  # a condition that is broken, in one sentence


@dataclass
class Verdict:
    """The verdict on one exercise of one student."""

    check: Check
    status: str  # ok, partial, wrong, error, timeout, crashed, missing or invalid
    right: list[str] = field(default_factory=list)
    wrong: list[Difference] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)  # earlier exercises that this one builds on, and that are not right
    reason: str = ""  # one sentence, where no comparison was possible
    carried: str = ""  # one sentence, if the verdict comes from carried-error marking
    device: str = ""  # one sentence, the result of the finite-difference check
    accesses: str = ""  # one sentence, what Oclgrind said of a kernel
    stale: str = ""  # how the last run of the exercise's cell failed: what is judged is what an earlier one defined
    earned: float | None = None  # of a check that is made of cases
    same_for_all: bool = False  # is everything that is right the same for every seed, while other quantities are not?

    @property
    def points(self) -> float:
        if self.earned is not None:
            return self.earned
        total = 0 if self.same_for_all else len(self.right) + len(self.wrong)
        return round(self.check.points * len(self.right) / total, 2) if total else 0.0


def judge(check: Check, trials: list[Trial], seed: str) -> Verdict:
    """The verdict on a student's trials, the trials 0, 1, … of that seed."""
    if check.aspects:
        return judge_cases(check, trials, seed)
    expected = expected_outcomes(check.name, seed, len(trials))
    verdict = Verdict(check, "ok")
    for name in expected[0]:
        difference = first_difference(check, name, expected, trials)
        if difference:
            verdict.wrong.append(difference)
        else:
            verdict.right.append(name)
    verdict.same_for_all = bool(verdict.wrong) and only_constants(check, verdict.right, expected)
    verdict.status = status_of(verdict)
    if verdict.status not in ("ok", "missing"):
        verdict.mistakes = known_mistakes(check, trials, list(expected[0]), seed)
    return verdict


def judge_cases(check: Check, trials: list[Trial], seed: str) -> Verdict:
    cases = cases_of(check.name, seed)
    trials = (trials + [Trial()] * len(cases.plan))[: len(cases.plan)]
    failed = cases.failed(trials)
    verdict = Verdict(check, "ok", earned=cases.points(failed))
    for aspect in aspects_of(check.name):
        its = [fail for fail in failed.values() if fail.aspect is aspect]
        if its and (aspect.points or not verdict.wrong):  # an example adds nothing to a counterexample
            verdict.wrong += in_words(cases, its, failed)
        elif its:
            continue
        else:
            verdict.right.append(aspect.name)
    verdict.status = status_of(verdict)
    if not verdict.earned and any(is_unwritten(difference.got) for difference in verdict.wrong):
        verdict.status = "missing"
    elif not verdict.earned and verdict.status == "partial":
        verdict.status = "error" if any(difference.got.error for difference in verdict.wrong) else "wrong"
    if verdict.status not in ("ok", "missing"):
        verdict.mistakes = known(cases, trials, failed, mistaken(check.name, seed))
    return verdict


def is_unwritten(outcome: Outcome) -> bool:
    return outcome.error is not None and outcome.error["type"] == "NotImplementedError"


def in_words(cases: Cases, failed: list[Failed], every: dict[int, Failed]) -> list[Difference]:
    """The smallest counterexample of an aspect: the first case that fails."""
    fail = next((fail for fail in failed if fail.parts), failed[0])
    code = (
        as_code(fail.aspect, fail.case)
        or f'from autograder.notebook import case; case("{cases.check.name}", {fail.number})'
    )
    said = cases.where(fail.aspect, every)
    if not fail.parts:
        (label, outcome), *_ = fail.conditions
        more = broken(label, outcome, cases.check)
        return [Difference(fail.aspect.name, MISSING, outcome, "", "", code, said, more)]
    lines = [line for line in code.splitlines() if not fail.aspect.points]  # of an example: the line says which part
    return [
        Difference(fail.aspect.name, want, got, "", without_line(label, lines), code, said)
        for label, want, got in fail.parts
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


def only_constants(check: Check, right: list[str], expected: Sequence[dict]) -> bool:
    """Is everything that is right the same in all trials, while something else is not?

    A student can see values that do not depend on the seed in the notebook, and send them without solving anything. So
    they earn points only together with a value that does depend on it.
    """
    first, *others = expected
    varying = {
        name for name in first if any(not same(first[name], other[name], check.rtol, check.atol) for other in others)
    }
    return bool(varying) and not varying & set(right)


def first_difference(check: Check, name: str, expected: Sequence[dict], trials: list[Trial]) -> Difference | None:
    for want, trial in zip(expected, trials):
        outcome = of_quantity(trial, name)
        if not same(want[name], outcome, check.rtol, check.atol):
            return Difference(name, want[name], outcome, trial.input)
    return None


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


def known_mistakes(check: Check, trials: list[Trial], names: list[str], seed: str) -> list[Mistake]:
    """The mistakes of the check that have exactly these outcomes, in every quantity of every trial.

    Two errors are equal if their types are. If a mistake gives nothing but errors, their messages must agree, too: otherwise any
    code that raises would get the name of that mistake.
    """
    found = []
    for mistake in check.mistakes:
        expected = expected_outcomes(check.name, seed, len(trials), mistake.name)
        if same_trials(expected, trials, names, check.rtol, check.atol) and (
            not only_errors(expected) or same_words(expected, trials, names)
        ):
            found.append(mistake)
    return found
