"""For authors of checks: every mistake and every variant through its check, and what came of it."""

import contextlib
import io
from dataclasses import dataclass

from autograder.checks.check import Check
from autograder.judge.expected import edited_sources, probe_namespace
from autograder.judge.reference import module_of, reference_namespace
from autograder.judge.verdict import Verdict, judge


@dataclass(frozen=True)
class Tried:
    """A mistake or a variant of a check, and the verdict on it."""

    kind: str  # mistake or variant
    name: str
    verdict: Verdict

    @property
    def as_it_must_be(self) -> bool:
        """A mistake loses points and is named, it alone; a variant earns all points."""
        if self.kind == "variant":
            return self.verdict.status == "ok"
        return self.verdict.points < self.verdict.check.points and [found.name for found in self.verdict.mistakes] == [self.name]


def try_all(check: Check, seed: str, trials: int) -> list[Tried]:
    """The verdicts on all mistakes and variants of a check, for a seed."""
    edits = [("mistake", mistake) for mistake in check.mistakes] + [("variant", variant) for variant in check.variants]
    found = []
    for kind, edit in edits:
        with contextlib.redirect_stdout(io.StringIO()):  # some mistakes print
            namespace = reference_namespace(module_of(check.name), edited_sources(check, edit.edit))
            records = probe_namespace(check, namespace, seed, trials)
        found.append(Tried(kind, edit.name, judge(check, records, seed)))
    return found
