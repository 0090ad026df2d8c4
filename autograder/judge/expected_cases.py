"""What is expected of a check that is made of cases: recorded for the notebook, else of fresh runs of the reference."""

import contextlib
import io
from dataclasses import replace
from functools import lru_cache

import numpy as np

from autograder.checks import find
from autograder.checks.aspect import NOTEBOOK_SEED, Aspect
from autograder.checks.cases import Case
from autograder.checks.check import Check, Mistake
from autograder.checks.inside import Trial, run_cases
from autograder.checks.tools import Tools
from autograder.judge.case_verdict import CONDITIONS, Cases, differences
from autograder.judge.fingerprint import OF_MISTAKES, decode, encode
from autograder.judge.outcome import same
from autograder.judge.plan import (
    aspects_of,
    examples_in,
    examples_request,
    plan_of,
    recorded_examples,
    request,
    use_examples,
)
from autograder.judge.plan import run as run_check
from autograder.judge.recorded import REFERENCE, file_of, read

EXAMPLE = Aspect("an example", 0.0, "", None)
UNFIT = (
    "ProbeTimeout",
    "WorkLimitExceeded",
    "NameError",
    "NoDeviceError",
    "MemoryError",
)  # no reference may raise them


@lru_cache(maxsize=512)
def cases_of(name: str, seed: str) -> Cases:
    """The plan of a check for a seed, with what is expected."""
    check = find(name)
    content = recorded(check).get(REFERENCE)
    if seed == NOTEBOOK_SEED and content:
        expected = [None if trial is None else decoded(trial) for trial in content["cases"]]
        return Cases(check, seed, plan_of(check.name, seed), expected, conditions_in(content))
    conditions = conditions_in(content) if content else kept_by_all(check)
    return Cases(check, seed, plan_of(check.name, seed), fit(name, seed), conditions)


def recorded(check: Check) -> dict:
    """What is recorded of a check; {} where nothing is, or nothing of its cases."""
    content = read(file_of(check)).get(check.name, {})
    return content if isinstance(content.get(REFERENCE), dict) else {}


def conditions_in(content: dict) -> dict[str, tuple[str, ...]]:
    return {aspect: tuple(kept) for aspect, kept in content["conditions"].items()}


def mistaken(name: str, seed: str):
    """function(mistake) → the trials of that mistake for a seed."""

    def trials(mistake: Mistake) -> list[Trial]:
        content = recorded(find(name))
        if seed == NOTEBOOK_SEED and mistake.name in content:
            right = [trial or {} for trial in content[REFERENCE]["cases"]]
            return [decoded(whole(trial, content[mistake.name].get(str(n), {}))) for n, trial in enumerate(right)]
        return fresh(name, seed, mistake.name)

    return trials


WHOLE_TRIAL = "~whole"  # marks a recorded trial that lacks labels of the reference's


def other_than(aspect: Aspect, right: dict, trial: dict) -> dict:
    """The labels of a mistake's trial that are not the reference's; all of them, marked, where it lacks some."""
    if set(right) - set(trial):
        return trial | {WHOLE_TRIAL: ""}
    before, now = decoded(right), decoded(trial)
    close = {
        label
        for label in right
        if before[label].kind == now[label].kind and same(before[label], now[label], aspect.rtol / 10, aspect.atol / 10)
    }
    return {label: entry for label, entry in trial.items() if label not in close}


def whole(right: dict, recorded: dict) -> dict:
    if WHOLE_TRIAL in recorded:
        return {label: entry for label, entry in recorded.items() if label != WHOLE_TRIAL}
    return right | recorded


def decoded(trial: dict) -> Trial:
    return Trial({label: decode(entry) for label, entry in trial.items()})


@lru_cache(maxsize=4096)
def fresh(name: str, seed: str, mistake: str = REFERENCE) -> list[Trial]:
    """The trials of the reference, or of a mistake."""
    from autograder.judge.expected import edit_of, edited_sources
    from autograder.judge.reference import module_of, reference_namespace

    check = find(name)
    edits = {} if mistake == REFERENCE else edited_sources(check, edit_of(check, mistake))
    with contextlib.redirect_stdout(io.StringIO()):  # what a mistake prints is not the student's
        try:
            namespace = reference_namespace(module_of(name), edits)
        except Exception:
            if not edits:
                raise
            namespace = {}
        trials = run_check(check, namespace, seed)
    if mistake == REFERENCE:
        refuse_unfit(name, trials)
    return trials


def refuse_unfit(name: str, trials: list[Trial]) -> None:
    from autograder.judge.expected import ReferenceFailed

    for trial in trials:
        for outcome in trial.values():
            if outcome.error and outcome.error["type"] in UNFIT:
                raise ReferenceFailed(
                    f"{name} cannot be checked on this machine, because the reference solution itself fails here: "
                    f"{outcome.error['type']}: {outcome.error['message']}"
                )


@lru_cache(maxsize=512)
def fit(name: str, seed: str) -> list[Trial | None]:
    """The reference's trials, without drawn cases at which it moves if its inputs move by their last digit."""
    from autograder.judge.reference import module_of, reference_namespace

    check, trials, plan = find(name), fresh(name, seed), plan_of(name, seed)
    moved = [number for number, (_, case) in enumerate(plan) if case.drawn]
    requests = [request(plan[n][0], nudged(plan[n][1])) for n in moved]
    with contextlib.redirect_stdout(io.StringIO()):
        others = run_cases(requests, reference_namespace(module_of(check.name)), Tools(), check.seconds)
    unfit = {n for n, other in zip(moved, others) if any(differences(plan[n][0], trials[n], other))}
    return [None if number in unfit else trial for number, trial in enumerate(trials)]


def nudged(case: Case) -> Case:
    """The case with each of its floats moved by one unit in the last place."""
    inputs = {}
    for name, text in case.inputs.items():
        value = case.values.get(name)
        is_float = isinstance(value, float) or isinstance(value, np.ndarray) and value.dtype.kind == "f"
        inputs[name] = (
            f"np.nextafter({text}, np.inf{dtype_of(value)})" if is_float and not text.isidentifier() else text
        )
    return replace(case, inputs=inputs)


def dtype_of(value) -> str:
    return ", dtype=np.float32" if isinstance(value, np.ndarray) and value.dtype == np.float32 else ""


def kept_by_all(check: Check) -> dict[str, tuple[str, ...]]:
    """The conditions that the reference and every variant keep, by aspect; from runs on the notebook's cases."""
    from autograder.judge.expected import edited_sources
    from autograder.judge.reference import module_of, reference_namespace

    kept = {aspect.name: set(CONDITIONS) for aspect in aspects_of(check.name)}
    plan = plan_of(check.name, NOTEBOOK_SEED)
    runs = [fresh(check.name, NOTEBOOK_SEED)]
    for variant in check.variants:
        with contextlib.redirect_stdout(io.StringIO()):
            namespace = reference_namespace(module_of(check.name), edited_sources(check, variant.edit))
            runs.append(run_check(check, namespace, NOTEBOOK_SEED))
    for trials in runs:
        for (aspect, _), trial in zip(plan, trials):
            for label in trial:
                kept[aspect.name].discard(label.partition(" ")[0])
    return {name: tuple(sorted(conditions)) for name, conditions in kept.items()}


def recording(check: Check) -> dict:
    """What is recorded of a check: {REFERENCE: conditions and cases, mistake: {number of a case: its trial}}."""
    from autograder.judge.reference import module_of
    from autograder.lesson.text import read_lesson

    examples = examples_of(check)
    if examples != recorded_examples(check):
        use_examples(check.name, examples)
        for cached in (fresh, fit, cases_of):
            cached.cache_clear()
    plan = plan_of(check.name, NOTEBOOK_SEED)
    expected = fit(check.name, NOTEBOOK_SEED)
    cases = [None if trial is None else encoded(aspect, trial) for (aspect, _), trial in zip(plan, expected)]
    found: dict = {
        REFERENCE: {
            "names": read_lesson(module_of(check.name)).exercise(check.name).names,
            "conditions": kept_by_all(check),
            "examples": examples,
            "cases": cases,
        }
    }
    whole = Cases(check, NOTEBOOK_SEED, plan, expected, found[REFERENCE]["conditions"])
    for mistake in check.mistakes:
        trials = fresh(check.name, NOTEBOOK_SEED, mistake.name)
        failed = whole.failed(trials)
        found[mistake.name] = {
            str(n): other_than(plan[n][0], cases[n] or {}, encoded(plan[n][0], trials[n], *OF_MISTAKES)) for n in failed
        }
    return found


def encoded(aspect: Aspect, trial: Trial, *size: int) -> dict:
    return {label: encode(outcome, bool(aspect.exact), *size) for label, outcome in trial.items()}


def examples_of(check: Check) -> list[list[str]]:
    """The examples of the exercise's docstrings that the reference runs without an error, and every variant as the reference does."""
    from autograder.judge.expected import edited_sources
    from autograder.judge.reference import module_of, reference_namespace
    from autograder.lesson.text import read_lesson

    solved = read_lesson(module_of(check.name)).exercise(check.name).solved
    sessions = examples_in(solved)
    ways = [{}, *(edited_sources(check, variant.edit) for variant in check.variants)]
    runs = []
    for sources in ways:
        namespace = reference_namespace(module_of(check.name), sources)
        with contextlib.redirect_stdout(io.StringIO()):
            runs.append(run_cases(examples_request(sessions), namespace, Tools(), check.seconds))
    return [
        lines
        for lines, right, *others in zip(sessions, *runs)
        if right and not any(outcome.error for outcome in right.values())
        if not any(any(differences(EXAMPLE, right, other)) for other in others)
    ]
