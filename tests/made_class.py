"""A graded class of any size, made up: nobody's notebook is judged. Able students do better, and hard exercises are failed more often."""

import random
from datetime import datetime
from pathlib import Path

from autograder import paths
from autograder.checks import find
from autograder.grading.marks import BY_HAND, TO_MARK
from autograder.grading.records import Graded, Row, Submission
from autograder.lesson.text import read_lesson


def made_class(students: int, modules: int, seed: int = 0) -> tuple[list[Graded], dict[str, str]]:
    """(what was graded, {student: name}) in the first modules of the course. Some are late, flagged, marked by hand, or not readable;
    one student in twenty handed in nothing, one in thirty left out a module.
    """
    chance = random.Random(seed)
    names = [f"student-{number:03}" for number in range(students)]
    roster = {name: f"{chance.choice(FIRST)} {chance.choice(LAST)}" for name in names}
    ability = {name: chance.gauss(0.8, 1) for name in names}
    found = []
    for module in paths.module_names()[:modules]:
        hardness = {name: chance.gauss(-0.6, 0.7) for name in read_lesson(module).exercises}
        for place, name in enumerate(names):
            if place % 20 != 19 and chance.random() > 1 / 30:
                found.append(made(name, module, ability[name], hardness, chance))
    return found, roster


def made(student: str, module: str, ability: float, hardness: dict[str, float], chance: random.Random) -> Graded:
    submission = Submission(student, module, Path("nowhere"))
    broken = chance.random() < 0.01
    rows, failed = [], {}
    for exercise, hard in hardness.items():
        check = find(exercise)
        wrong = [each for each in check.aspects if chance.gauss(0, 0.8) > 0.9 + ability - hard]
        points = sum(each.points for each in check.aspects if each not in wrong)
        status, mistake = "ok" if not wrong else "partial" if points else chance.choice(WRONG), ""
        if broken or chance.random() < 0.02:
            points, status = 0.0, "invalid" if broken else "missing"
        elif wrong:
            failed[exercise] = [each.name for each in wrong]
            if check.mistakes and status in ("partial", "wrong") and chance.random() < 0.7:
                mistake = check.mistakes[min(int(chance.expovariate(0.8)), len(check.mistakes) - 1)].name
        rows.append(Row(student, module, exercise, points, check.points, status, mistake))
    late = chance.random() < 0.08
    return Graded(
        submission,
        rows,
        seconds=chance.uniform(4, 30),
        failure="Traceback (most recent call last):\n  …\nMemoryError" if chance.random() < 0.001 else "",
        flags=("imports torch",) * (chance.random() < 0.01),
        notes=("The file is not JSON: it ends in the middle.",) if broken else (),
        written=[written(student, module, chance)],
        penalty=2.0 * late,
        due=datetime(2026, 10, 1, 16),
        seconds_late=late * chance.uniform(600, 200_000),
        failed=failed,
    )


def written(student: str, module: str, chance: random.Random) -> Row:
    cell = next(cell for cell in read_lesson(module).cells if cell.kind == "written")
    if chance.random() < 0.2:
        return Row(student, module, cell.name, 0.0, cell.points, "waiting", mark=TO_MARK)
    points = chance.choice((0.5, 1)) * cell.points
    return Row(
        student, module, cell.name, points, cell.points, "ok" if points == cell.points else "partial", mark=BY_HAND
    )


WRONG = ("wrong", "wrong", "wrong", "error", "error", "timeout", "crashed")
FIRST = ("Ada", "Emmy", "Kurt", "Sofja", "Alan", "Grace", "Srinivasa", "Maryam", "Leonhard", "Carl Friedrich")
LAST = ("Lovelace", "Noether", "Gödel", "Kowalewskaja", "Turing", "Hopper", "Ramanujan", "Mirzakhani", "Euler", "Gauß")
