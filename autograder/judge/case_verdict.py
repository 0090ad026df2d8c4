"""The verdict on a check that is made of cases: each aspect is right in all of its cases or not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from autograder.checks.aspect import NOTEBOOK_SEED, Aspect
from autograder.checks.cases import Case
from autograder.checks.check import Check
from autograder.checks.inside import Outcome, Trial
from autograder.judge.outcome import MISSING, of_label, same
from autograder.judge.plan import plan_of
from autograder.judge.tags import tags_of
from autograder.judge.where import where

CONDITIONS = {
    "~inputs": "what it is given is changed",
    "~later": "what it returned is changed by a later call",
    "~again": "the same call gives something else when other calls came before",
}
REFUSED = "it must be refused"  # a case that the reference refuses
KEPT = 0.5  # of an aspect's points, where all is right but such a condition


@dataclass(frozen=True)
class Failed:
    """A case that differs from the reference: the labels, with what was expected and what came."""

    number: int  # of the case, in the check
    aspect: Aspect
    case: Case
    parts: tuple[tuple[str, Outcome, Outcome], ...]
    conditions: tuple[tuple[str, Outcome], ...] = ()


WHY = {
    1.0: "right in all cases",
    0.0: "not right in all cases",
    KEPT: "right but for a condition on calls: a half of its points",
}


@dataclass(frozen=True)
class Part:
    """What an aspect adds to the points of a check."""

    aspect: Aspect
    points: float
    why: str


@dataclass(frozen=True, eq=False)
class Cases:
    """The trials of a check beside those of the reference."""

    check: Check
    seed: str
    plan: Sequence[tuple[Aspect, Case]]
    expected: Sequence[Trial | None]  # None: a drawn case that is not used
    conditions: dict[str, tuple[str, ...]]  # that the reference and every variant keep, by aspect

    def failed(self, trials: Sequence[Trial]) -> dict[int, Failed]:
        found = {}
        for number, ((aspect, case), want) in enumerate(zip(self.plan, self.expected)):
            if want is None:
                continue
            got = trials[number] if number < len(trials) else Trial()
            parts = tuple(differences(aspect, want, got))
            broken = () if parts else tuple(self.broken(aspect, want, got))
            if parts or broken:
                found[number] = Failed(number, aspect, case, parts, broken)
        return found

    def broken(self, aspect: Aspect, want: Trial, got: Trial) -> Iterator[tuple[str, Outcome]]:
        """The conditions that a right outcome breaks."""
        kept = self.conditions.get(aspect.name, ())
        for label, outcome in got.items():
            if label.partition(" ")[0] in kept and is_broken(aspect, want, label, outcome):
                yield label, outcome

    def points(self, failed: dict[int, Failed]) -> float:
        return round(sum(part.points for part in self.parts(failed)) * self.whole(failed), 2)

    def parts(self, failed: dict[int, Failed]) -> list["Part"]:
        """What each aspect adds to the points, and why."""
        aspects = list(dict.fromkeys(aspect for aspect, _ in self.plan))
        shares = {aspect: self.share(aspect, failed) for aspect in aspects}
        main = next((shares[aspect] for aspect in aspects if not aspect.corner), 1.0)
        secret = [shares[aspect] for aspect in aspects if aspect.points and self.is_secret(aspect)]
        parts = []
        for aspect, share in shares.items():
            why = WHY[share]
            if not main and aspect.corner:
                share, why = 0.0, "it counts once the first aspect is right"
            elif secret and not any(secret) and not self.is_secret(aspect):
                share, why = 0.0, "its cases stand in the notebook: it counts once another aspect is right"
            parts.append(Part(aspect, aspect.points * share, why))
        return parts

    def whole(self, failed: dict[int, Failed]) -> float:
        """What the sum of the points is multiplied by: less than 1 where an aspect without points is wrong, the examples say."""
        fine = all(self.share(aspect, failed) == 1 for aspect, _ in self.plan if not aspect.points)
        return 1.0 if fine else KEPT

    def share(self, aspect: Aspect, failed: dict[int, Failed]) -> float:
        """What an aspect earns of its points."""
        its = [fail for fail in failed.values() if fail.aspect is aspect]
        return 1.0 if not its else 0.0 if any(fail.parts for fail in its) else KEPT

    def is_secret(self, aspect: Aspect) -> bool:
        """Whether some of an aspect's cases are none of the notebook's, so that their outcomes cannot be copied from there."""
        known = [case.inputs for its, case in plan_of(self.check.name, NOTEBOOK_SEED) if its.name == aspect.name]
        return any(case.inputs not in known for its, case in self.plan if its is aspect)

    def where(self, aspect: Aspect, failed: dict[int, Failed]) -> str:
        """How many of an aspect's cases fail, and which."""
        mine = [
            number for number, (its, _) in enumerate(self.plan) if its is aspect and self.expected[number] is not None
        ]
        bad = [number for number in mine if number in failed]
        always = self.always_right(mine, failed)
        if len(bad) == len(mine):
            return f"wrong in all {len(mine)} cases{always}" if len(mine) > 1 else ""
        tagged = {number: tags_at(self, number) for number in mine}
        own = frozenset().union(*(self.plan[n][1].tags for n in mine), {REFUSED})
        said = where([tagged[n] for n in bad], [tagged[n] for n in mine if n not in failed], own)
        count = f"right in {len(mine) - len(bad)} of {len(mine)} cases"
        return (f"{count}; {said}" if said else count) + always

    def always_right(self, numbers: Sequence[int], failed: dict[int, Failed]) -> str:
        """Which parts of the outcome are right in every case, where others are not."""
        labels = [
            {
                label
                for label, outcome in (self.expected[number] or {}).items()
                if label[:1] not in ("~", "") and "parts" not in str(outcome.array)
            }
            for number in numbers
        ]
        wrong = {label for number in numbers if number in failed for label, _, _ in failed[number].parts}
        errors = (got.error for number in numbers if number in failed for _, _, got in failed[number].parts)
        if any(errors):  # of what did not come about, nothing can be said
            return ""
        fine = sorted(set.intersection(*labels) - wrong)
        if not fine or not wrong & set.union(*labels) or len(fine) > 3:
            return ""
        return f"; right in all of them: {', '.join(fine)}"


@lru_cache(maxsize=20_000)
def tags_at(cases: Cases, number: int) -> frozenset[str]:
    """What is special about a case of that number, in words."""
    case, expected = cases.plan[number][1], cases.expected[number]
    refused = expected is not None and "" in expected and expected[""].error
    return tags_of(case) | ({REFUSED} if refused else set())


def differences(aspect: Aspect, want: Trial, got: Trial) -> Iterator[tuple[str, Outcome, Outcome]]:
    if aspect.holds and not any(outcome.error for outcome in (*want.values(), *got.values())):
        if not agrees(aspect, want, got):
            yield from ((label, outcome, of_label(got, label)) for label, outcome in want.items() if label[:1] != "~")
        return
    if "" in got and got[""].error and not ("" in want and want[""].error):
        parts = [label for label, outcome in want.items() if label[:1] != "~" and "parts" not in str(outcome.array)]
        label = parts[0] if len(parts) == 1 else ""  # of several none is to blame
        yield label, want.get(label, MISSING), got[""]
        return
    for label, outcome in want.items():
        if not label.startswith("~"):
            found = of_label(got, label)
            if not is_right(aspect, label, outcome, found):
                yield label, outcome, found
    if not ("" in got and got[""].error):
        for label, outcome in got.items():
            if label not in want and not label.startswith("~"):
                yield label, MISSING, outcome


def is_broken(aspect: Aspect, want: Trial, label: str, outcome: Outcome) -> bool:
    """Whether a label tells of a condition that is broken; what came again may be rounded otherwise."""
    condition, _, part = label.partition(" ")
    return condition != "~again" or not same(want.get(part, MISSING), outcome, aspect.rtol, aspect.atol)


def agrees(aspect: Aspect, want: Trial, got: Trial) -> bool:
    arrays = [{label: out.array for label, out in trial.items() if label[:1] != "~"} for trial in (want, got)]
    try:
        return aspect.holds is not None and bool(aspect.holds(*arrays))
    except Exception:  # what came back is not what the function reads
        return False


def is_right(aspect: Aspect, label: str, want: Outcome, got: Outcome) -> bool:
    if (
        label in aspect.at_most
        and want.array is not None
        and got.array is not None
        and got.array.shape == want.array.shape
    ):
        return got.array.dtype.kind in "iufb" and bool((got.array <= want.array * (1 + aspect.rtol)).all())
    if aspect.exact and not want.error and not got.error and want.kind and want.kind != got.kind:
        return False
    return same(want, got, aspect.rtol, aspect.atol)
