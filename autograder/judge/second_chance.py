"""A second chance: an error early in a notebook costs once, not again in every exercise that builds on it.

After the run over a notebook, what lost points is judged once more, in a fresh kernel in which the reference takes the
place of all other exercises. The better of the two results counts. What is judged there has its own reference nowhere
in that kernel, and what the kernel sends is compared, but never shown: the code could have read a reference into it.
"""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from autograder.checks import find
from autograder.judge.bench import Bench, course_cell
from autograder.judge.kernel import StudentKernel
from autograder.judge.outcome import MISSING
from autograder.judge.verdict import Verdict
from autograder.lesson.text import Lesson

ENDLESS = ("timeout", "dead")  # how a cell may end that is not run again
ATTRIBUTE = re.compile(r"\.([A-Za-z_]\w*)")


def with_second_chances(
    verdicts: dict[str, Verdict], bench: Bench, new_kernel: Callable[[], AbstractContextManager[StudentKernel]]
) -> dict[str, Verdict]:
    """The verdicts of the run `bench`; where a second chance gave a better one, that one.

    What fails again is judged no more, and its reference takes its place: it, too, costs once. So there are as many
    kernels as exercises that fail for a reason of their own, besides the first.
    """
    best, waiting = dict(verdicts), candidates(verdicts, bench)
    style = style_of(bench)
    while waiting and bench.in_time and bench.deaths < bench.limits.deaths:
        with new_kernel() as kernel:
            found = judge_again(waiting, bench, kernel, style)
            bench.deaths += not kernel.alive
        best |= {name: verdict for name, verdict in found.items() if is_better(verdict, best[name])}
        waiting = [name for name in waiting if name not in found or found[name].status != "ok"][1:]
    for name, verdict in best.items():
        verdict.needs = [need for need in verdict.check.needs if need in best and best[need].status != "ok"]
        if verdict is not verdicts[name]:
            verdict.again = explanation(verdict, best, bench.lesson)
    return best


def candidates(verdicts: dict[str, Verdict], bench: Bench) -> list[str]:
    """What may gain, in the order of the lesson: not right, after something else that is not right, and it can be run.

    A known mistake, where all that the exercise builds on is right, is its own.
    """
    wrong = [name for name in bench.lesson.exercises if name in verdicts and verdicts[name].status != "ok"]
    return [
        name for name in wrong[1:] if (verdicts[name].needs or not verdicts[name].mistakes) and can_run(name, bench)
    ]


def can_run(name: str, bench: Bench) -> bool:
    """Whether the exercise is written, before its check, in a cell that ends."""
    check = next(i for i, cell in enumerate(bench.cells) if course_cell(cell) == ("check", name))
    own = bench.own_cells(name)
    if any(position > check or bench.endings.get(position) in ENDLESS for position in own):
        return False
    return bench.is_written(name) or bench.is_elsewhere(name)


def judge_again(names: list[str], bench: Bench, kernel: StudentKernel, style: dict[str, str]) -> dict[str, Verdict]:
    """Verdicts on these exercises, with the reference in place of all others; fewer if the kernel or the time ends.

    All cells of the student run, since one may hold a helper that another needs; after each of them the references are
    put in place again. A reference comes when the student's own cell has passed, and only when nothing that the
    lesson has before it is still to be judged: what is judged finds above it what it builds on, no more.
    """
    exercises, passed, found = bench.lesson.exercises, [], {}
    for position, cell in enumerate(bench.cells):
        kind, name = course_cell(cell)
        if len(found) == len(names) or not kernel.alive or not bench.in_time:
            break
        if kind == "check" and name in names:
            found[name] = unseen(bench.probe(find(name), kernel, find(name).seconds))
        elif kind != "check" and bench.is_to_run(cell) and bench.endings.get(position) not in ENDLESS:
            run = kernel.run(cell.source, bench.limits.cell_seconds)
            if run.status in ENDLESS:
                bench.endings[position] = run.status  # not once more
        elif kind != "exercise":
            continue
        if kind == "exercise" and name not in names:
            passed.append(name)
        first = min((exercises.index(each) for each in names if each not in found), default=0)
        references = [
            style.get(each) or bench.lesson.exercise(each).solved for each in passed if exercises.index(each) < first
        ]
        if references:
            kernel.run("\n\n\n".join(references), bench.limits.cell_seconds)
    return found


def unseen(verdict: Verdict) -> Verdict:
    """The verdict without what the student's process said: which quantities are right, and which mistake it is."""
    wrong = [replace(difference, got=MISSING, input="") for difference in verdict.wrong]
    return replace(verdict, wrong=wrong, device="")


def is_better(second: Verdict, first: Verdict) -> bool:
    """More points; or as many, and now it is known which mistake it is."""
    return (second.points, bool(second.mistakes)) > (first.points, bool(first.mistakes))


def style_of(bench: Bench) -> dict[str, str]:
    """The references of exercises written as this student writes, {exercise: source}; {} if that is the lesson's way.

    A way to write runs through several exercises, as a variant of a check, and is known by the attributes that it alone
    uses. A `backward` that calls a closure of every node cannot work on nodes of the reference, which have none.
    """
    lesson = bench.lesson
    ways = [variant.edit.sources for name in lesson.exercises for variant in find(name).variants]
    usual = attributes(cell.solved for cell in lesson.cells if cell.is_code)
    own = attributes(cell.source for cell in bench.cells if bench.is_to_run(cell)) - usual
    return max([{}] + [way for way in ways if len(way) > 1], key=lambda way: len(own & attributes(way.values())))


def attributes(sources) -> set[str]:
    return {name for source in sources for name in ATTRIBUTE.findall(source)}


def explanation(verdict: Verdict, best: dict[str, Verdict], lesson: Lesson) -> str:
    """What was in the way, in one or two sentences."""
    before = lesson.exercises[: lesson.exercises.index(verdict.check.name)]
    causes = verdict.needs or [name for name in before if name in best and best[name].status != "ok"]
    state = "written" if all(best[cause].status == "missing" for cause in causes) else "right"
    names, one = ", ".join(spoken(cause, lesson) for cause in causes), len(causes) == 1
    place = f"With the reference in {'its' if one else 'their'} place"
    if verdict.status != "ok":
        return f"Not {state} yet, above: {names}. {place}, this is what remains to be done here."
    reason = f"{names} above is not {state} yet" if one else f"of what is not {state} yet above: {names}"
    return f"Your {spoken(verdict.check.name, lesson)} is right; it failed because {reason}. {place} it passes."


def spoken(exercise: str, lesson: Lesson) -> str:
    """The function that an exercise asks for; the exercise's name if there are several."""
    names, last = lesson.exercise(exercise).names, exercise.split(".")[-1]
    return f"`{last}`" if last in names else f"`{names[0]}`" if len(names) == 1 else exercise
