"""Statistics of a graded class: exercises (difficulty, discrimination, where they are failed), mistakes, and the spread of points."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autograder.checks import find
from autograder.errors import CourseError
from autograder.grading.records import Graded, Row
from autograder.judge.report import HEADLINES

FEW = 5  # an exercise that fewer students tried is never listed
HARD, EASY = 0.35, 0.9  # mean shares of the points: hard for nearly everyone below the one, easy above the other
ONE_WAY = 0.6  # share of those who failed that failed in just the same way
ENOUGH = 20  # students that a correlation needs: with 20, its standard error is about 0.2
BINS = 10
NOT_TRIED = ("missing", "invalid", "waiting")


@dataclass(frozen=True)
class ExerciseNumbers:
    """What a class made of one exercise.

    tried           how many wrote something that could be judged
    handed_in       how many handed in its module, in a file that could be read
    share           mean share of the points of those who tried it: the difficulty of classical test theory, 1 is easy; None: nobody did
    discrimination  Pearson's correlation, over those who tried it, of the share of its points with the share of the other points of the
                    module (item-rest correlation); None where fewer than ENOUGH tried it, or one of the two is the same for all
    lost            how many of those who tried it lost points
    aspects         (name, how many failed it), the most frequent first
    mistakes        (name, how many made it), the most frequent first
    states          (status, how many ended in it) of those who lost points and failed no aspect: nothing could be compared
    """

    module: str
    exercise: str
    points: float
    tried: int
    handed_in: int
    share: float | None
    discrimination: float | None
    lost: int
    aspects: Sequence[tuple[str, int]]
    mistakes: Sequence[tuple[str, int]]
    states: Sequence[tuple[str, int]]


def exercise_numbers(graded: list[Graded]) -> list[ExerciseNumbers]:
    """The numbers of every exercise, by module, in the order of the lesson. Written answers count when they are marked."""
    found: dict[tuple[str, str], list[tuple[Row, float | None, Sequence[str]]]] = {}
    for each in sorted(graded, key=lambda each: each.submission.module):
        rows = [*each.rows, *each.written]
        for row in rows:
            place = found.setdefault((row.module, row.exercise), [])
            place.append((row, rest_of(row, rows), each.failed.get(row.exercise, ())))
    return [numbers_of(module, exercise, members) for (module, exercise), members in found.items()]


def numbers_of(module: str, exercise: str, members: list[tuple[Row, float | None, Sequence[str]]]) -> ExerciseNumbers:
    tried = [(row, rest, failed) for row, rest, failed in members if row.status not in NOT_TRIED]
    lost = [(row, failed) for row, _, failed in tried if row.points < row.max_points]
    shares = [row.points / row.max_points for row, _, _ in tried]
    return ExerciseNumbers(
        module,
        exercise,
        members[0][0].max_points,
        len(tried),
        sum(row.status != "invalid" for row, _, _ in members),
        statistics.fmean(shares) if shares else None,
        correlation([(share, rest) for share, (_, rest, _) in zip(shares, tried) if rest is not None]),
        len(lost),
        Counter(name for _, failed in lost for name in failed).most_common(),
        Counter(row.mistake for row, _ in lost if row.mistake).most_common(),
        Counter(row.status for row, failed in lost if not failed).most_common(),
    )


def rest_of(row: Row, rows: Iterable[Row]) -> float | None:
    """The share of the points of the notebook's other exercises; None where it has no other that has been judged."""
    others = [each for each in rows if each is not row and each.status not in ("invalid", "waiting")]
    most = sum(each.max_points for each in others)
    return sum(each.points for each in others) / most if most else None


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's; None where there are too few pairs, or one side is constant."""
    if len(pairs) < ENOUGH:
        return None
    left, right = (
        [round(value, 9) for value in side] for side in zip(*pairs)
    )  # sums of floats differ in the last digit
    return None if len(set(left)) == 1 or len(set(right)) == 1 else statistics.correlation(left, right)


def frequent_mistakes(rows: Iterable[Row]) -> list[dict]:
    """The named mistakes, the most frequent first, with who made each."""
    made: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if row.mistake:
            made.setdefault((row.module, row.exercise, row.mistake), []).append(row.student)
    ordered = sorted(made.items(), key=lambda item: -len(item[1]))
    return [
        {"module": module, "exercise": exercise, "name": name, "students": students}
        for (module, exercise, name), students in ordered
    ]


def odd_exercises(rows: Iterable[Row], numbers: Iterable[ExerciseNumbers] = ()) -> list[tuple[str, str]]:
    """(exercise, reason) for exercises that may be faulty: hard for nearly everyone, failed mostly in the same way, or no better
    done by those who do well in the rest.

    For the first two, only students who tried the exercise and passed the exercises that it needs are counted.
    """
    rows = list(rows)
    right = {(row.student, row.exercise) for row in rows if row.status == "ok"}
    needs = {exercise: needs_of(exercise) for exercise in {row.exercise for row in rows}}
    tried: dict[str, list[Row]] = {}
    for row in rows:
        if row.status not in NOT_TRIED and all((row.student, need) in right for need in needs[row.exercise]):
            tried.setdefault(row.exercise, []).append(row)
    found = []
    for exercise, members in tried.items():
        if len(members) >= FEW:
            found += [(exercise, reason) for reason in (hard(members), one_way(members)) if reason]
    for each in numbers:
        if each.discrimination is not None and each.discrimination <= 0 and (each.share or 0) < EASY:
            reason = f"who did well in the rest of the module did no better here: discrimination {signed(each.discrimination)}."
            found.append((each.exercise, reason))
    return found


def hard(members: list[Row]) -> str:
    share = statistics.mean(row.points / row.max_points for row in members)
    if share >= HARD:
        return ""
    return f"hard for nearly everyone: {share:.0%} of the points on average, {len(members)} tried it."


def one_way(members: list[Row]) -> str:
    ways = Counter((row.mistake, row.status, row.points) for row in members if row.status != "ok")
    failed = ways.total()
    if failed < FEW or ways.most_common(1)[0][1] < ONE_WAY * failed:
        return ""
    (mistake, status, points), alike = ways.most_common(1)[0]
    way = f"the known mistake «{mistake}»" if mistake else f"no known mistake ({HEADLINES[status]}, {points:g} points)"
    return f"{alike} of the {failed} who failed did so in one way: {way}."


def needs_of(exercise: str) -> tuple[str, ...]:
    """The exercises that one builds on; only its own lesson's checks are loaded."""
    try:
        return find(exercise).needs
    except CourseError:  # of an earlier version of the course
        return ()


def signed(number: float) -> str:
    """Two digits after the point, with a true minus: "0.31", "−0.05"."""
    return f"{number:.2f}".replace("-", "−") if abs(number) >= 0.005 else "0.00"


def histogram(shares: Iterable[float]) -> list[dict]:
    """How many lie in each tenth; all the points belong to the last. Heights are in per cent of the highest bar."""
    counts = Counter(min(int(share * BINS), BINS - 1) for share in shares)
    most = max(counts.values(), default=1)
    return [
        {
            "count": counts[i],
            "height": f"{100 * counts[i] / most:.1f}",
            "label": f"{100 * i // BINS}–{100 * (i + 1) // BINS}",
        }
        for i in range(BINS)
    ]
