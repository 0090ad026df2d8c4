"""Which known mistake it is: what comes out is that of the mistake, in every case that fails, and nothing else fails."""

from collections.abc import Iterator, Sequence
from itertools import islice

from autograder.checks.aspect import NOTEBOOK_SEED, Aspect
from autograder.checks.check import Mistake
from autograder.checks.inside import Outcome, Trial
from autograder.judge.case_verdict import Cases, Failed
from autograder.judge.expected import fresh, mistaken
from autograder.judge.fingerprint import RTOL_OF_MISTAKES, Fingerprint
from autograder.judge.outcome import MISSING, same, words_of

PAIRS = 8  # that are run for one verdict
FEW = 2  # cases of an aspect, on which each mistake is tried first


def known(cases: Cases, trials: Sequence[Trial], failed: dict[int, Failed]) -> list[Mistake]:
    """The one known mistake, or the two, that explain every failing case and break no other.

    Of two, each explains some cases; or they act on one another, and their edits together give what came. That is tried only
    when it counts, since each pair is run on all cases.
    """
    partly = []
    for mistake in cases.check.mistakes:
        if cases.seed != NOTEBOOK_SEED and not is_possible(cases, mistake, trials, failed):
            continue
        theirs, its = mistaken(cases.check.name, cases.seed, mistake.name)
        if not its or not its <= set(failed):
            continue
        explained = {number for number in its if equal(cases.plan[number][0], theirs[number], trials[number])}
        compared = [number for number in explained if not cases.plan[number][0].races]
        telling = sum(is_telling(theirs[number], cases.expected[number]) for number in compared)
        worded = explained and all(said(theirs[number]) == said(trials[number]) for number in explained)
        if telling >= 2 or worded or telling and len(failed) < 4:
            partly.append((mistake, explained, its))
    whole = [mistake for mistake, explained, its in partly if explained == its == set(failed)]
    if whole:
        return whole
    for i, (one, ones, first) in enumerate(partly):
        for two, twos, second in partly[i + 1 :]:
            if ones | twos == set(failed) and ones - second and twos - first:
                return [one, two]
    if cases.seed != NOTEBOOK_SEED:
        partly.sort(key=lambda part: -len(part[1]))
        for one, two in islice(pairs([mistake for mistake, _, _ in partly], cases.check.mistakes), PAIRS):
            theirs, its = mistaken(cases.check.name, cases.seed, one.name, two.name)
            if its == set(failed) and all(equal(cases.plan[n][0], theirs[n], trials[n]) for n in its):
                return [one, two]
    return []


def is_possible(cases: Cases, mistake: Mistake, trials: Sequence[Trial], failed: dict[int, Failed]) -> bool:
    """Whether a mistake explains one of the first cases that fail, of each aspect.

    All mistakes on all cases take longer than everything else that is done for a wrong answer.
    """
    by_aspect: dict[Aspect, list[int]] = {}
    for number in sorted(failed):
        by_aspect.setdefault(failed[number].aspect, []).append(number)
    first = tuple(sorted(number for numbers in by_aspect.values() for number in numbers[:FEW]))
    theirs = fresh(cases.check.name, cases.seed, mistake.name, numbers=first)
    return any(equal(cases.plan[number][0], trial, trials[number]) for number, trial in zip(first, theirs))


def pairs(likely: Sequence[Mistake], every: Sequence[Mistake]) -> Iterator[tuple[Mistake, Mistake]]:
    """Pairs of a likely mistake and another one, whose edits can be made together; the likely ones of both first."""
    tried = set()
    for two in [*likely, *every]:
        for one in likely:
            if one is not two and {one.name, two.name} not in tried and one.edit.swaps and two.edit.swaps:
                tried.add(frozenset((one.name, two.name)))
                yield one, two


def equal(aspect: Aspect, theirs: Trial, mine: Trial) -> bool:
    """The same outcome of a case, conditions included. Both are wrong."""
    if aspect.races:
        return True
    labels = {label for label in theirs if not label.startswith("~again")}
    if labels != {label for label in mine if not label.startswith("~again")}:
        return False
    rtol = max(aspect.rtol, RTOL_OF_MISTAKES)
    return all(
        same(theirs[label], mine[label], rtol, aspect.atol)
        and (not aspect.exact or theirs[label].kind == mine[label].kind)
        for label in labels
    )


def is_telling(theirs: Trial, expected: Trial | None) -> bool:
    """Whether an outcome is more than None, 0 or an error: such have many causes."""
    for label, outcome in theirs.items():
        if label.startswith("~"):
            return True
        right = expected.get(label, MISSING) if expected is not None else MISSING
        if outcome.kind and right.kind and outcome.kind != right.kind:
            return True
        if not is_nothing(outcome) and expected is not None and not same(right, outcome, 1e-6, 1e-9):
            return True
    return False


def is_nothing(outcome: Outcome) -> bool:
    """Whether it is an error, None, empty, or 0 alone."""
    if isinstance(outcome, Fingerprint):
        return not any(outcome.sums)
    if outcome.array is None or not outcome.array.size:
        return True
    return str(outcome.array) == "None" if outcome.array.dtype.kind == "U" else not outcome.array.any()


def said(trial: Trial) -> list[str]:
    """What the errors of a trial say; a trial without one says nothing of its own."""
    return [words_of(outcome.error) for outcome in trial.values() if outcome.error] or ["no error"]
