"""The instructor's page on a class: what to look at first, mistakes, exercises, every mark, and how the run went.

The page holds everything as HTML; its script, pages/class.js, only sorts and hides rows. The numbers come from `class_numbers`.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from markupsafe import Markup

from autograder.grading.class_numbers import (
    ENOUGH,
    ExerciseNumbers,
    exercise_numbers,
    frequent_mistakes,
    histogram,
    odd_exercises,
    signed,
)
from autograder.grading.marks import BY_HAND, TO_MARK
from autograder.grading.records import SYMBOLS, Graded, Named, Row, Submission
from autograder.grading.unknown import unknown_section
from autograder.judge.accesses import kernels_of
from autograder.judge.report import HEADLINES, inline_code_html
from autograder.pages import render

ORDER = {status: -place for place, status in enumerate(("wrong", "error", "timeout", "crashed", "missing", "invalid"))}
MORE_STATES = {  # what a cell can be besides its status, by its class in the page
    "by-hand": "marked by hand",
    "to-mark": "to be marked",
    "late": "late",
    "none": "not handed in",
}


def class_page(
    graded: list[Graded],
    sandbox: bool = True,
    left: Sequence[str] = (),
    absent: Sequence[str] = (),
    watched: bool = True,
    roster: Mapping[str, str] = {},
    ungraded: Sequence[Submission] = (),
    outdated: Sequence[Named] = (),
    alike: Sequence[str] = (),
) -> str:
    """The page for all that was graded in one run, in a sandbox or without.

    left     sentences on what was left out of it
    absent   who is in the gradebook, and not in this run
    watched  whether Oclgrind looked at the kernels
    roster   {student: the name of the person}, of everybody in the class who is known
    ungraded what was handed in, and was never chosen to be graded
    outdated names of mistakes that nobody can get any more
    alike    modules whose notebooks were compared with each other
    """
    rows = [row for each in graded for row in each.rows]
    modules: dict[str, list[Graded]] = {}
    for each in sorted(graded, key=lambda each: (each.submission.module, each.submission.student)):
        modules.setdefault(each.submission.module, []).append(each)
    numbers = exercise_numbers(graded)
    mistakes = frequent_mistakes(rows)
    ids = {(each["exercise"], each["name"]): number for number, each in enumerate(mistakes)}
    students = student_rows(modules, roster, ungraded)
    earlier = {place.rpartition("/")[0] for place in absent}
    return render(
        "class.html",
        title="The class",
        summary=summary(graded, sandbox),
        unsettled=[*left, *(sentence for each in graded for sentence in each.unsettled)],
        failures=[(place_of(each), each.failure) for each in graded if each.failure],
        to_mark=to_mark(graded),
        flags=[(each.submission.student, each.submission.module, each.flags) for each in graded if each.flags],
        odd=odd_exercises(rows, numbers),
        nothing=[each for each in students if each["nothing"] and each["id"] not in earlier],
        absent=absent,
        mistakes=[each | {"id": number} for number, each in enumerate(mistakes)],
        unknown=unknown_section(graded, outdated),
        alike=alike,
        exercises=[exercise_row(each, ids) for each in numbers],
        enough=ENOUGH,
        totals=histogram(each["share"] for each in students if not each["nothing"]),
        students=students,
        most=sum(members[0].max_points for members in modules.values()),
        modules=[module_section(name, members, numbers, ids) for name, members in modules.items()],
        states={status: f"{SYMBOLS[status]} {headline}" for status, headline in HEADLINES.items()} | MORE_STATES,
        legend="  ".join(f"{symbol} {status}" for status, symbol in SYMBOLS.items()),
        run=[("sandbox", "yes" if sandbox else "no"), *accesses(modules, watched), *how_it_ran(graded)],
        page_of=page_of,
        code=lambda text: Markup(inline_code_html(text)),
    )


def summary(graded: list[Graded], sandbox: bool) -> str:
    students = {each.submission.student for each in graded}
    late, waiting = sum(bool(each.late) for each in graded), sum(number for _, number in to_mark(graded))
    return (
        f"{count(len(students), 'student')}, {count(len(graded), 'notebook')}{f', {late} of them late' if late else ''}. "
        + (f"{count(waiting, 'cell')} to be marked in formgrader." if waiting else "Everything is marked.")
        + ("" if sandbox else " Graded without a sandbox.")
    )


def accesses(modules: Iterable[str], watched: bool) -> list[tuple[str, str]]:
    """Whether races, and reads outside of arrays, were looked at, where kernels are handed over."""
    said = "looked at by Oclgrind" if watched else "not looked at, for nobody: Oclgrind is not installed here"
    return [("races, and reads outside of arrays", said)] if any(map(kernels_of, modules)) else []


def count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def place_of(graded: Graded) -> str:
    return f"{graded.submission.student}/{graded.submission.module}"


def page_of(student: str) -> str:
    """Where a student's page of feedback lies, seen from this page."""
    return f"feedback/{quote(student)}/index.html"


def to_mark(graded: list[Graded]) -> list[tuple[str, int]]:
    """(exercise, how many cells of it wait for a person)."""
    waiting = Counter(row.exercise for each in graded for row in (*each.rows, *each.written) if TO_MARK in row.mark)
    return sorted(waiting.items(), key=lambda item: -item[1])


def student_rows(
    modules: Mapping[str, list[Graded]], roster: Mapping[str, str], ungraded: Sequence[Submission]
) -> list[dict]:
    """Everybody in the class, each with a cell for each module and the total; a module not handed in has no points."""
    of = {(each.submission.student, name): each for name, members in modules.items() for each in members}
    handed_in = {(each.student, each.module) for each in ungraded}
    most = sum(members[0].max_points for members in modules.values())
    found = []
    for student in sorted({*roster, *(student for student, _ in (*of, *handed_in))}):
        own = {name: of.get((student, name)) for name in modules}
        points = sum(each.points for each in own.values() if each)
        found.append(
            {
                "id": student,
                "name": roster[student] if roster.get(student, student) != student else "",
                "has_page": any(own.values()),
                "nothing": not any(own.values()) and student not in {each.student for each in ungraded},
                "cells": [module_cell(each, (student, name) in handed_in) for name, each in own.items()],
                "flags": sum(len(each.flags) for each in own.values() if each),
                "points": f"{points:g}",
                "share": points / most if most else 0.0,
            }
        )
    return found


def module_cell(graded: Graded | None, handed_in: bool) -> dict:
    """A student's cell for a module: their share of its points, in per cent."""
    if graded is None:
        return {"text": "…" if handed_in else "–", "css": "" if handed_in else "none", "title": ""}
    share = graded.points / graded.max_points if graded.max_points else 0.0
    return {"text": f"{100 * share:.0f}", "css": "late" if graded.late else "", "title": "late" if graded.late else ""}


def exercise_row(numbers: ExerciseNumbers, ids: Mapping[tuple[str, str], int]) -> dict:
    """What the table of exercises says of one."""
    ways = [(name, number, None) for name, number in numbers.aspects]
    ways += [(name, number, ids.get((numbers.exercise, name))) for name, number in numbers.mistakes]
    ways += [(HEADLINES[status], number, None) for status, number in numbers.states if not numbers.mistakes]
    known = numbers.discrimination is not None
    return {
        "numbers": numbers,
        "share": "" if numbers.share is None else f"{100 * numbers.share:.0f}",
        "discrimination": signed(numbers.discrimination) if known else "",
        "key": f"{numbers.discrimination:.4f}" if known else "",
        "ways": ways,
    }


def module_section(
    name: str, graded: list[Graded], numbers: Iterable[ExerciseNumbers], ids: Mapping[tuple[str, str], int]
) -> dict:
    """A module's distribution and matrix of students and exercises."""
    shares = [each.points / each.max_points for each in graded if each.max_points]
    seconds = statistics.median(each.seconds for each in graded)
    return {
        "name": name,
        "bins": histogram(shares),
        "summary": f"{count(len(graded), 'notebook')}; median {statistics.median(shares or [0]):.0%} of "
        f"{graded[0].max_points:g} points; {seconds:.1f} s to grade one, median.",
        "exercises": [row.exercise for row in (*graded[0].rows, *graded[0].written)],
        "students": [
            {
                "name": each.submission.student,
                "points": f"{each.points:g}",
                "late": each.late,
                "cells": [cell_of(row, ids) for row in (*each.rows, *each.written)],
            }
            for each in graded
        ],
        "shares": [
            f"{100 * each.share:.0f}" if each.share is not None else "" for each in numbers if each.module == name
        ],
    }


def cell_of(row: Row, ids: Mapping[tuple[str, str], int]) -> dict:
    """A cell of the matrix. Its key orders cells by points, those of no points by state; ✓ has none, and comes after all."""
    state = f"{HEADLINES[row.status]}, {row.mark}" if row.mark else HEADLINES[row.status]
    what = f"{row.exercise}: {row.points:g} of {row.max_points:g}, {state}"
    css = [row.status] + ["by-hand"] * (BY_HAND in row.mark) + ["to-mark"] * (TO_MARK in row.mark)
    return {
        "symbol": SYMBOLS[row.status],
        "css": " ".join(css),
        "key": "" if row.status == "ok" else f"{row.points / row.max_points or ORDER.get(row.status, 0):.3g}",
        "mistake": ids.get((row.exercise, row.mistake), "") if row.mistake else "",
        "title": f"{what}: {row.mistake}" if row.mistake else "" if css == ["ok"] else what,
    }


def how_it_ran(graded: list[Graded]) -> list[tuple[str, str]]:
    """Exercises by status, then times."""
    if not graded:
        return []
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
