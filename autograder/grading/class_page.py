"""The instructor's page on a class: what to look at first, frequent mistakes, every mark, and how the run went."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from autograder.checks import find
from autograder.errors import CourseError
from autograder.grading.records import SYMBOLS, Graded, Named, Row
from autograder.grading.unknown import unknown_section
from autograder.judge.accesses import kernels_of
from autograder.judge.report import HEADLINES
from autograder.pages import render

FEW = 5  # an exercise that fewer students tried is never listed
HARD = 0.35  # mean share of the points below which an exercise was hard for nearly everyone
ONE_WAY = 0.6  # share of those who failed that failed in just the same way
BINS, HIGHEST = 10, 7.0  # bars, and the height of the highest in rem
CLASSES = {"ok": "right", "partial": "partial", "missing": "muted", "waiting": "muted"}


def class_page(
    graded: list[Graded],
    sandbox: bool = True,
    left: Sequence[str] = (),
    absent: Sequence[str] = (),
    watched: bool = True,
    outdated: Sequence[Named] = (),
    alike: Sequence[str] = (),
) -> str:
    """The page for all that was graded in one run, in a sandbox or without.

    left    sentences on what was left out of it
    absent  who is in the gradebook, and not in this run
    watched whether Oclgrind looked at the kernels
    outdated  names of mistakes that nobody can get any more
    alike     modules whose notebooks were compared with each other
    """
    rows = [row for each in graded for row in each.rows]
    students = {each.submission.student for each in graded}
    modules = {each.submission.module: [] for each in graded}
    for each in graded:
        modules[each.submission.module].append(each)
    return render(
        "class.html",
        title="The class",
        unsettled=[*left, *(sentence for each in graded for sentence in each.unsettled)],
        absent=absent,
        mistakes=frequent_mistakes(rows),
        unknown=unknown_section(graded, outdated),
        alike=alike,
        odd=odd_exercises(rows),
        summary=f"{count(len(students), 'student')}, {count(len(graded), 'notebook')}. "
        f"{to_mark(graded)}"
        f"{'' if sandbox else ' Graded without a sandbox.'}",
        modules=[module_section(name, members) for name, members in sorted(modules.items())],
        legend="  ".join(f"{symbol} {status}" for status, symbol in SYMBOLS.items()),
        run=[("sandbox", "yes" if sandbox else "no"), *accesses(modules, watched), *how_it_ran(graded)],
        failures=[(place_of(each), each.failure) for each in graded if each.failure],
        flags=[(place_of(each), "; ".join(each.flags)) for each in graded if each.flags],
    )


def accesses(modules: Iterable[str], watched: bool) -> list[tuple[str, str]]:
    """Whether races, and reads outside of arrays, were looked at, where kernels are handed over."""
    said = "looked at by Oclgrind" if watched else "not looked at, for nobody: Oclgrind is not installed here"
    return [("races, and reads outside of arrays", said)] if any(map(kernels_of, modules)) else []


def count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def to_mark(graded: list[Graded]) -> str:
    """How many cells wait for a person, in formgrader."""
    waiting = sum("to be marked" in row.mark for each in graded for row in (*each.rows, *each.written))
    return f"{count(waiting, 'cell')} to be marked in formgrader." if waiting else "Everything is marked."


def place_of(graded: Graded) -> str:
    return f"{graded.submission.student}/{graded.submission.module}"


def frequent_mistakes(rows: list[Row]) -> list[dict]:
    """The named mistakes, the most frequent first, with who made each."""
    made: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.mistake:
            made.setdefault((row.exercise, row.mistake), []).append(row.student)
    ordered = sorted(made.items(), key=lambda item: -len(item[1]))
    return [{"exercise": exercise, "name": name, "students": students} for (exercise, name), students in ordered]


def odd_exercises(rows: list[Row]) -> list[tuple[str, str]]:
    """(exercise, reason) for exercises that may be faulty: hard for nearly everyone, or failed mostly in the same way.

    Only students who tried the exercise and passed the exercises that it needs are counted.
    """
    right = {(row.student, row.exercise) for row in rows if row.status == "ok"}
    needs = {exercise: needs_of(exercise) for exercise in {row.exercise for row in rows}}
    tried: dict[str, list[Row]] = {}
    for row in rows:
        if row.status not in ("missing", "invalid") and all(
            (row.student, need) in right for need in needs[row.exercise]
        ):
            tried.setdefault(row.exercise, []).append(row)
    found = []
    for exercise, members in tried.items():
        if len(members) < FEW:
            continue
        share = statistics.mean(row.points / row.max_points for row in members)
        if share < HARD:
            found.append(
                (exercise, f"hard for nearly everyone: {share:.0%} of the points on average, {len(members)} tried it.")
            )
        ways = Counter((row.mistake, row.status, row.points) for row in members if row.status != "ok")
        failed = ways.total()
        if failed >= FEW and ways.most_common(1)[0][1] >= ONE_WAY * failed:
            (mistake, status, points), alike = ways.most_common(1)[0]
            way = (
                f"the known mistake «{mistake}»"
                if mistake
                else f"no known mistake ({HEADLINES[status]}, {points:g} points)"
            )
            found.append((exercise, f"{alike} of the {failed} who failed did so in one way: {way}."))
    return found


def needs_of(exercise: str) -> tuple[str, ...]:
    """The exercises that one builds on; only its own lesson's checks are loaded."""
    try:
        return find(exercise).needs
    except CourseError:  # of an earlier version of the course
        return ()


def module_section(name: str, graded: list[Graded]) -> dict:
    """A module's distribution and matrix of students and exercises."""
    shares = [each.points / each.max_points for each in graded]
    return {
        "name": name,
        "bins": histogram(shares),
        "summary": f"{count(len(graded), 'notebook')}; median {statistics.median(shares):.0%} of {graded[0].max_points:g} points.",
        "exercises": [row.exercise for row in (*graded[0].rows, *graded[0].written)],
        "students": [
            {
                "name": each.submission.student,
                "page": f"feedback/{quote(each.submission.student)}/index.html",
                "points": f"{each.points:g}",
                "late": each.late,
                "cells": [cell_of(row) for row in (*each.rows, *each.written)],
            }
            for each in sorted(graded, key=lambda each: each.submission.student)
        ],
    }


def cell_of(row: Row) -> dict:
    state = f"{HEADLINES[row.status]}, {row.mark}" if row.mark else HEADLINES[row.status]
    what = f"{row.exercise}: {row.points:g} of {row.max_points:g}, {state}"
    return {
        "symbol": SYMBOLS[row.status],
        "css": CLASSES.get(row.status, "wrong"),
        "title": f"{what}: {row.mistake}" if row.mistake else what,
    }


def histogram(shares: list[float]) -> list[dict]:
    """How many lie in each tenth; all the points belong to the last."""
    counts = Counter(min(int(share * BINS), BINS - 1) for share in shares)
    most = max(counts.values())
    return [
        {
            "count": counts[i],
            "height": f"{HIGHEST * counts[i] / most:.2f}",
            "label": f"{100 * i // BINS}–{100 * (i + 1) // BINS}",
        }
        for i in range(BINS)
    ]


def how_it_ran(graded: list[Graded]) -> list[tuple[str, str]]:
    """Exercises by status, then times."""
    states = Counter(row.status for each in graded for row in each.rows)
    slowest = max(graded, key=lambda each: each.seconds)
    times = [each.seconds for each in graded]
    return [
        *[
            (f"{SYMBOLS[status]} {headline}", f"{states[status]}")
            for status, headline in HEADLINES.items()
            if states[status]
        ],
        ("seconds for a notebook, median", f"{statistics.median(times):.1f}"),
        (f"the longest: {place_of(slowest)}", f"{slowest.seconds:.1f}"),
        ("seconds in all", f"{sum(times):.0f}"),
    ]
