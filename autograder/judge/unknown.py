"""Wrong answers that no known mistake explains: what each computes, so that equal ones are known to be equal.

Codewebs (Nguyen et al., WWW 2014) and OverCode (Glassman et al., 2015) find equal answers by their text; here they are equal if
they give the same in the same cases. Those cases do not depend on the secret seed: an answer is recognised under another seed,
and in the next year. They are run once all marks are known, in a kernel of their own, so no mark depends on them.
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache

from autograder.characters import whole
from autograder.checks import find
from autograder.checks.inside import Trial
from autograder.judge.carried_errors import can_run, checks_reached, style_of
from autograder.judge.case_verdict import Cases, Failed
from autograder.judge.counterexample import as_whole_code
from autograder.judge.expected import UNFIT, cases_of
from autograder.judge.fingerprint import OF_MISTAKES, encode
from autograder.judge.kernel import StudentKernel
from autograder.judge.known import equal, is_telling, said
from autograder.judge.notebook_run import NotebookRun
from autograder.judge.plan import plan_of, request_of
from autograder.judge.recorded import decoded
from autograder.judge.report import counterexample_lines
from autograder.judge.verdict import Verdict, in_words

SEED = "every class"  # of the cases; as many as count, and the same for everybody
LONGEST, LARGEST = 20_000, 300_000  # characters of an answer that are kept, and of what it computes
OBJECT = "an object of class "  # see `inside.leaves`
NOT_ITS_OWN = (*UNFIT, "NotImplementedError")  # errors that are not what the answer computes


def unknown_answers(
    verdicts: dict[str, Verdict],
    first_run: NotebookRun,
    new_kernel: Callable[[], AbstractContextManager[StudentKernel]],
) -> dict[str, dict]:
    """{exercise: record} for each wrong answer that no known mistake explains, and that can be told from others.

    In the kernel the reference stands for all other exercises, and for each of these once it has been observed: what is
    recorded is what this answer computes, whatever else is wrong.
    """
    names = [
        name
        for name in first_run.lesson.exercises
        if name in verdicts and is_unknown(verdicts[name]) and can_run(name, first_run)
    ]
    found: dict[str, dict] = {}
    if not names or not first_run.in_time:
        return found
    with new_kernel() as kernel:
        for name in checks_reached(names, first_run, kernel, style_of(first_run), replaced=True):
            trials = first_run.answer(find(name), kernel, SEED, find(name).seconds)[0].trials
            if find(name).texts and first_run.launcher:
                first_run.launcher.stop()  # a kernel that is wrong ran in it
            record = record_of(verdicts[name], trials) if trials is not None else None
            if record:
                found[name] = record | {"answer": whole(answer_to(name, first_run)[:LONGEST])}
    return found


def is_unknown(verdict: Verdict) -> bool:
    """Whether something was computed, it is wrong, and no known mistake explains it."""
    return (
        verdict.status in ("partial", "wrong", "error")
        and bool(verdict.wrong)
        and not (verdict.mistakes or verdict.reason or verdict.stale)
    )


def answer_to(exercise: str, first_run: NotebookRun) -> str:
    """The student's lines: the cells that the lesson has for the exercise."""
    return "\n\n".join(first_run.cells[position].source for position in first_run.own_cells(exercise))


def record_of(verdict: Verdict, trials: list[Trial]) -> dict | None:
    """What a wrong answer computes, from its trials in the cases of SEED; None where that does not tell it from others.

    check   a digest of the cases: records of other cases cannot be compared
    cases   {number of a case that fails: its trial}, as JSON
    shown   the smallest counterexample, as text
    """
    cases = cases_of(verdict.check.name, SEED)
    failed = cases.failed(trials)
    if not is_distinct(cases, trials, failed) or wrong_aspects(verdict) != failing_aspects(failed):
        return None
    kept = {
        str(number): {
            label: encode(outcome, bool(fail.aspect.exact), *OF_MISTAKES)
            for label, outcome in trials[number].items()
            if not label.startswith("~again")
        }
        for number, fail in failed.items()
    }
    text = json.dumps(kept, separators=(",", ":"))
    if len(text) > LARGEST:  # it gives long texts
        return None
    return {"check": digest_of(verdict.check.name), "cases": text, "shown": whole(smallest(cases, failed)[:LONGEST])}


def smallest(cases: Cases, failed: dict[int, Failed]) -> str:
    """The smallest counterexample as text, with its whole program: its number would be that of another case in a notebook."""
    aspect = next(iter(failed.values())).aspect
    its = [fail for fail in failed.values() if fail.aspect is aspect]
    first = next((fail for fail in its if fail.parts), its[0])
    code = as_whole_code(aspect, first.case)
    return "\n".join(counterexample_lines([replace(part, code=code) for part in in_words(cases, its, failed)]))


def wrong_aspects(verdict: Verdict) -> set[str]:
    return {difference.aspect.name for difference in verdict.wrong if difference.aspect.points}


def failing_aspects(failed: dict[int, Failed]) -> set[str]:
    return {fail.aspect.name for fail in failed.values() if fail.aspect.points}


def is_distinct(cases: Cases, trials: list[Trial], failed: dict[int, Failed]) -> bool:
    """Whether the outcomes are those of this answer and no other.

    They are not where nothing comes out but None, 0, an object of another class or errors in all cases, where a name was not
    found or the time ended, nor where an answer is wrong only when it is called again.
    """
    for number, fail in failed.items():
        if any(outcome.error and outcome.error["type"] in NOT_ITS_OWN for outcome in trials[number].values()):
            return False
        if not fail.parts and all(label.startswith("~again") for label, _ in fail.conditions):
            return False
    telling = sum(not hides(trials[n]) and is_telling(trials[n], cases.expected[n]) for n in failed)
    if telling >= 2 or telling and len(failed) < 4:
        return True
    raised = bool(failed) and all(any(outcome.error for outcome in trials[number].values()) for number in failed)
    earning = {n for n, (aspect, _) in enumerate(cases.plan) if aspect.points and cases.expected[n] is not None}
    return raised and bool(earning - set(failed))


def hides(trial: Trial) -> bool:
    """Whether something came of which nothing but its class is known."""
    texts = [out.array for out in trial.values() if out.array is not None and out.array.dtype.kind == "U"]
    return any(str(text).startswith(OBJECT) for text in texts)


@lru_cache(maxsize=1024)
def digest_of(exercise: str) -> str:
    """The same as long as the exercise is observed in the same cases."""
    return hashlib.sha256(repr(request_of(exercise, SEED)).encode()).hexdigest()[:16]


def alike(exercise: str, one: dict, other: dict) -> bool:
    """Whether two records are of answers that compute the same: the same cases fail, and give the same."""
    if one["check"] != other["check"] or one["check"] != digest_of(exercise):
        return False
    if one["cases"] == other["cases"]:
        return True
    ones, others = json.loads(one["cases"]), json.loads(other["cases"])
    if set(ones) != set(others):
        return False
    plan = plan_of(exercise, SEED)
    return all(
        same_trial(plan[int(number)][0], decoded(trial), decoded(others[number])) for number, trial in ones.items()
    )


def same_trial(aspect, one: Trial, other: Trial) -> bool:
    """The same outcome, and of errors the same words."""
    return equal(aspect, one, other) and said(one) == said(other)
