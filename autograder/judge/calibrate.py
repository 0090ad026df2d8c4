"""The judge's error rates, measured on attempts that no author of a check wrote.

An attempt is a line of JSON: id, exercise, source, label ("right", "wrong" or "arguable"), idea, and more, {exercise: source}
of others that go with it. It is judged as it would count, with a secret seed, but in a plain process of this user: use it only on
attempts that you trust. `/docs/judgement.md` publishes the tables.
"""

import contextlib
import io
import json
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import TimeoutError, get_context
from multiprocessing.pool import ThreadPool
from pathlib import Path

from autograder.errors import CourseError

SEED = "calibration"
SECONDS = 60  # for one attempt; then its process is ended


@dataclass(frozen=True)
class Judged:
    """What became of an attempt.

    said   "name", or where it fails: "exactly", "only", or ""
    text   the name or the sentence
    """

    id: str
    exercise: str
    label: str
    idea: str
    points: float
    most: float
    said: str = ""
    text: str = ""

    @property
    def full(self) -> bool:
        return self.points >= self.most

    @classmethod
    def of(cls, attempt: dict, points: float, said: str, text: str) -> "Judged":
        from autograder.checks import find

        most = find(attempt["exercise"]).points
        return cls(attempt["id"], attempt["exercise"], attempt["label"], attempt["idea"], points, most, said, text)


def attempts_in(place: Path) -> list[dict]:
    """The attempts of a file, or of all files NAME.jsonl of a folder."""
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else [place]
    if not files:
        raise CourseError(f"{place} holds no attempts: NAME.jsonl, a line of JSON for each")
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [json.loads(line) for line in lines]


def calibrate(attempts: Sequence[dict], workers: int = 2, seed: str = SEED) -> Iterator[Judged]:
    """Judge attempts, each in a process that may be ended; in the order in which they are done."""
    groups: dict[str, list[dict]] = {}
    for attempt in attempts:
        groups.setdefault(attempt["exercise"], []).append(attempt)
    with ThreadPool(workers) as threads:
        for judged in threads.imap_unordered(lambda group: apart(group, seed), groups.values()):
            yield from judged


def apart(attempts: list[dict], seed: str) -> list[Judged]:
    """The attempts at one exercise, in a process of their own: what never ends takes its process with it."""
    found, pool = [], None
    for attempt in attempts:
        if pool is None:
            pool = get_context("spawn").Pool(1)
            pool.apply(expect, (attempt["exercise"], seed))  # what the reference takes is no attempt's time
        try:
            found.append(pool.apply_async(judged, (attempt, seed)).get(SECONDS))
        except TimeoutError:
            pool.terminate()
            pool = None
            found.append(Judged.of(attempt, 0.0, "", f"no verdict within {SECONDS} s"))
    if pool:
        pool.terminate()
    return found


def expect(exercise: str, seed: str) -> None:
    """Compute what is right once, before the first attempt is judged."""
    from autograder.judge.expected import cases_of

    cases_of(exercise, seed)


def judged(attempt: dict, seed: str) -> Judged:
    from autograder.checks import find
    from autograder.judge.accesses import add_accesses, is_looked_at, look
    from autograder.judge.plan import run
    from autograder.judge.reference import module_of, reference_namespace
    from autograder.judge.verdict import judge

    check = find(attempt["exercise"])
    sources = {**attempt.get("more", {}), check.name: attempt["source"]}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            namespace = reference_namespace(module_of(check.name), sources)
        except Exception as error:  # its cell does not run
            return Judged.of(attempt, 0.0, "exactly", f"its cell does not run: {error}")
        verdict = judge(check, run(check, namespace, seed), seed)
        if is_looked_at(verdict):
            add_accesses(verdict, look(check, namespace, seed))
    return Judged.of(attempt, verdict.points, *what_is_said(verdict))


def what_is_said(verdict) -> tuple[str, str]:
    if verdict.mistakes:
        return "name", "; ".join(mistake.name for mistake in verdict.mistakes)
    sentences = [difference.where for difference in verdict.wrong if difference.where]
    for words, kind in (
        ("exactly where", "exactly"),
        ("wrong everywhere", "exactly"),
        ("wrong in all", "exactly"),
        ("only where", "only"),
    ):
        for sentence in sentences:
            if words in sentence:
                return kind, sentence
    return "", ""


def table(results: Sequence[Judged]) -> list[str]:
    """The rates by lesson, as lines of a Markdown table."""
    rows = ["| lesson | wrong | full points | named | exactly where | only where | neither | right | lost points |"]
    rows.append("|" + "---|" * 9)
    groups: dict[str, list[Judged]] = {}
    for result in results:
        groups.setdefault(result.exercise.partition(".")[0], []).append(result)
    for name, group in [*groups.items(), ("**all**", list(results))]:
        wrong = [each for each in group if each.label == "wrong"]
        right = [each for each in group if each.label == "right"]
        said = Counter(each.said for each in wrong if not each.full)
        numbers = [
            len(wrong),
            sum(each.full for each in wrong),
            *(said[kind] for kind in ("name", "exactly", "only", "")),
        ]
        numbers += [len(right), sum(not each.full for each in right)]
        rows.append(f"| {name} | " + " | ".join(map(str, numbers)) + " |")
    return rows
