"""Replay one case of a check: `case("parallel.overlap", 7)` shows its program, what the code gives and what is right."""

from dataclasses import dataclass

from autograder.checks import find
from autograder.checks.aspect import NOTEBOOK_SEED
from autograder.checks.inside import Trial, run_cases
from autograder.checks.tools import Tools
from autograder.errors import CourseError
from autograder.judge.counterexample import program
from autograder.judge.expected import cases_of
from autograder.judge.outcome import MISSING, of_label, outcome_text, same
from autograder.judge.plan import plan_of, request


@dataclass(frozen=True)
class Replay:
    """A case that was run once more; displays itself as text."""

    code: str
    rows: tuple[tuple[str, str, str, bool], ...]  # label, right, yours, whether they are the same

    def __str__(self) -> str:
        lines = [self.code, ""]
        for label, right, yours, fine in self.rows:
            name = f"{label}: " if label else ""
            lines.append(f"✓ {name}{right}" if fine else f"✗ {name}expected {right}, got {yours}")
        return "\n".join(lines)

    __repr__ = __str__


def replay(name: str, number: int, namespace: dict) -> Replay:
    check = find(name)
    plan = plan_of(name, NOTEBOOK_SEED) if check.aspects else ()
    if not 0 <= number < len(plan):
        raise CourseError(f"{name} has the cases 0 to {len(plan) - 1}" if plan else f"{name} has no numbered cases")
    aspect, case = plan[number]
    (got,) = run_cases([request(aspect, case)], namespace, Tools(), check.seconds)
    want = cases_of(name, NOTEBOOK_SEED).expected[number] or Trial()
    labels = [label for label in dict.fromkeys([*want, *got]) if not label.startswith("~")]
    rows = []
    for label in labels:
        right, yours = want.get(label, MISSING), of_label(got, label)
        fine = same(right, yours, aspect.rtol, aspect.atol)
        rows.append((label, outcome_text(right), outcome_text(yours), fine))
    return Replay("\n".join(program(aspect, case)), tuple(rows))
