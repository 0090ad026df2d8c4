"""What is expected of a check: of the reference and of each mistake, recorded for the notebook, else from fresh runs."""

import contextlib
import io
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from autograder.checks import find
from autograder.checks.aspect import NOTEBOOK_SEED
from autograder.checks.cases import Case
from autograder.checks.check import Check, Edit
from autograder.checks.inside import Trial, run_cases
from autograder.checks.tools import Tools
from autograder.errors import CourseError
from autograder.judge.case_verdict import CONDITIONS, Cases, differences, is_broken
from autograder.judge.plan import aspects_of, plan_of, request, run
from autograder.judge.recorded import REFERENCE, conditions_in, decoded, recorded, recorded_trials

UNFIT = (
    "ProbeTimeout",
    "WorkLimitExceeded",
    "NameError",
    "NoDeviceError",
    "MemoryError",
)  # no reference may raise them


class ReferenceFailed(CourseError):
    """The reference solution raises in its own check: nobody can be judged."""


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


@lru_cache(maxsize=4096)
def mistaken(name: str, seed: str, *mistakes: str) -> tuple[list[Trial], frozenset[int]]:
    """(the trials of a mistake, or of two at once, the numbers of the cases in which they fail)."""
    content = recorded(find(name))
    if seed == NOTEBOOK_SEED and len(mistakes) == 1 and mistakes[0] in content:
        return recorded_trials(find(name), *mistakes), frozenset(map(int, content[mistakes[0]]))
    trials = fresh(name, seed, *mistakes)
    return trials, frozenset(cases_of(name, seed).failed(trials))


@lru_cache(maxsize=4096)
def fresh(name: str, seed: str, *mistakes: str, numbers: tuple[int, ...] | None = None) -> list[Trial]:
    """The trials of the reference, with the edits of these mistakes if any are named. Without its names where they cannot be made.
    `numbers`: of these cases alone.
    """
    from autograder.judge.reference import module_of, reference_namespace

    check = find(name)
    with contextlib.redirect_stdout(io.StringIO()):  # what a mistake prints is not the student's
        try:
            edits = edited_sources(check, edit_of(check, mistakes)) if mistakes else {}
            namespace = reference_namespace(module_of(name), edits)
        except Exception:
            if not mistakes:
                raise
            namespace = {}
        trials = run(check, namespace, seed, numbers)
    if not mistakes:
        refuse_unfit(name, trials)
    return trials


@lru_cache(maxsize=256)
def varied(name: str, seed: str, variant: str) -> list[Trial]:
    """The trials of the reference written another way, which is as right."""
    from autograder.judge.reference import module_of, reference_namespace

    check = find(name)
    edit = next(found.edit for found in check.variants if found.name == variant)
    with contextlib.redirect_stdout(io.StringIO()):  # what a variant prints is not the student's
        return run(check, reference_namespace(module_of(name), edited_sources(check, edit)), seed)


def refuse_unfit(name: str, trials: list[Trial]) -> None:
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
    moves = [(number, nudged(plan[number][1])) for number in moved]
    moves += [(number, nudged(plan[number][1], SINGLE)) for number in moved if is_single(trials[number])]
    requests = [request(plan[number][0], case) for number, case in moves]
    with contextlib.redirect_stdout(io.StringIO()):
        others = run_cases(requests, reference_namespace(module_of(check.name)), Tools(), check.seconds)
    pairs = zip((number for number, _ in moves), others)
    unfit = {number for number, other in pairs if any(differences(plan[number][0], trials[number], other))}
    return [None if number in unfit else trial for number, trial in enumerate(trials)]


def is_single(trial: Trial) -> bool:
    """Whether some of an outcome was computed in single precision."""
    return any(outcome.array is not None and outcome.array.dtype == np.float32 for outcome in trial.values())


DOUBLE = "np.nextafter({x}, np.inf{dtype})"
SINGLE = "np.multiply({x}, 1 + 2**-23 * np.resize([1.0, -1.0, -1.0], np.shape({x}))[()]{dtype})"


def nudged(case: Case, move: str = DOUBLE) -> Case:
    """The case with each of its floats moved by one unit in the last place: of its own precision, or of a float32's."""
    inputs = {}
    for name, text in case.inputs.items():
        value = case.values.get(name)
        is_float = isinstance(value, float) or isinstance(value, np.ndarray) and value.dtype.kind == "f"
        is_moved = is_float and not text.isidentifier()
        inputs[name] = move.format(x=f"({text})", dtype=dtype_of(value)) if is_moved else text
    return replace(case, inputs=inputs)


def dtype_of(value) -> str:
    return ", dtype=np.float32" if isinstance(value, np.ndarray) and value.dtype == np.float32 else ""


def kept_by_all(check: Check) -> dict[str, tuple[str, ...]]:
    """The conditions that the reference and every variant keep, by aspect; from runs on the notebook's cases."""
    kept = {aspect.name: set(CONDITIONS) for aspect in aspects_of(check.name)}
    plan = plan_of(check.name, NOTEBOOK_SEED)
    runs = [fresh(check.name, NOTEBOOK_SEED)]
    runs += [varied(check.name, NOTEBOOK_SEED, variant.name) for variant in check.variants]
    for trials in runs:
        for (aspect, _), trial in zip(plan, trials):
            for label, outcome in trial.items():
                if is_broken(aspect, trial, label, outcome):
                    kept[aspect.name].discard(label.partition(" ")[0])
    return {name: tuple(sorted(conditions)) for name, conditions in kept.items()}


def forget() -> None:
    """What was computed before is computed anew."""
    for cached in (cases_of, mistaken, fresh, varied, fit):
        cached.cache_clear()


def edit_of(check: Check, mistakes: Sequence[str]) -> Edit:
    """The edit of a mistake; of several whose edits are swaps, one swap after the other."""
    edits = [next(found.edit for found in check.mistakes if found.name == name) for name in mistakes]
    return edits[0] if len(edits) == 1 else Edit(tuple(swap for edit in edits for swap in edit.swaps))


def edited_sources(check: Check, edit: Edit) -> dict[str, str]:
    """The sources that an edit gives the exercises of the check's lesson, {exercise: source}."""
    from autograder.judge.reference import module_of
    from autograder.lesson.text import read_lesson

    lesson = read_lesson(module_of(check.name))
    return edit.apply(check.name, lambda exercise: lesson.exercise(exercise).solved)
