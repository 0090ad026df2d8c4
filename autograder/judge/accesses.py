"""What Oclgrind says of a kernel that is handed over: races, reads outside of arrays, numbers that nobody has written.

It looks at one small launch, once the verdict is there. What it finds costs half of the points, as a condition that is not kept. A race
in which no work-item reads another number, whoever comes first, costs nothing. Where Oclgrind is not installed, the report says that
this was not looked at.
"""

import numpy as np

from autograder.checks import find
from autograder.checks.check import Check
from autograder.checks.inside import Outcome, Trial, run_cases
from autograder.checks.tools import Tools
from autograder.judge.case_verdict import KEPT
from autograder.judge.outcome import MISSING
from autograder.judge.plan import request, watched_plan
from autograder.judge.verdict import Difference, Verdict

NOT_LOOKED_AT = "Not looked at: races, and reads outside of arrays, which Oclgrind finds."
NOT_INSTALLED = f"{NOT_LOOKED_AT} It is not installed here."


def is_looked_at(verdict: Verdict) -> bool:
    """Whether the exercise is a kernel that runs."""
    return bool(verdict.check.watched) and verdict.status not in ("missing", "timeout", "crashed", "error", "invalid")


def is_possible() -> bool:
    from tinygrad_cl.opencl.oclgrind import is_installed

    return is_installed()


def kernels_of(module: str) -> list[str]:
    """The exercises of a module that hand over kernels which Oclgrind looks at."""
    from autograder.lesson.text import read_lesson

    return [name for name in read_lesson(module).exercises if find(name).watched]


def look(check: Check, namespace: dict, seed: str) -> Trial | None:
    """What Oclgrind says, in this process; None where it is not installed."""
    if not is_possible():
        return None
    requests = [request(aspect, case) | {"once": True} for aspect, case in watched_plan(check.name, seed)]
    return run_cases(requests, namespace, Tools(), check.seconds)[0]


def add_accesses(verdict: Verdict, seen: Trial | None) -> Verdict:
    """The verdict with what Oclgrind said of its kernel; None: it was not asked."""
    watched = verdict.check.watched
    if watched is None or not is_looked_at(verdict):
        return verdict
    found, harmless, failed = (text_in(seen, label) for label in ("found", "harmless", "failed"))
    if seen is None:
        verdict.accesses = NOT_INSTALLED
    elif found:
        verdict.wrong.append(Difference(watched, MISSING, Outcome(np.array(found)), more=found))
        verdict.points = round(verdict.points * KEPT, 2)
        verdict.status = "partial" if verdict.status == "ok" else verdict.status
    elif failed or "found" not in seen:
        verdict.accesses = f"{NOT_LOOKED_AT} {failed or 'It gave no answer.'}"
    elif harmless:
        verdict.accesses = f"Oclgrind saw a race that changes no result here, and costs nothing: {harmless}"
    else:
        verdict.accesses = "Oclgrind watched every access to memory in one launch and found nothing wrong."
    return verdict


def text_in(seen: Trial | None, label: str) -> str:
    outcome = (seen or Trial()).get(label)
    return str(outcome.array) if outcome and outcome.array is not None and outcome.array.dtype.kind == "U" else ""
