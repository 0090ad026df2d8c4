"""Carried-error marking: an error early in a notebook costs once, not again in every exercise that builds on it.

After the first run over a notebook, each exercise that lost points is judged once more in a fresh kernel, in which the
reference replaces the other exercises. The better of the two results counts. That kernel never holds the reference of an
exercise that is judged in it, nor of a later one. What it sends is compared and never shown: the student's code could have
read a reference into it.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace

from autograder.checks import find
from autograder.judge.kernel import StudentKernel
from autograder.judge.notebook_run import NotebookRun, course_cell
from autograder.judge.outcome import MISSING
from autograder.judge.verdict import Verdict
from autograder.lesson.text import Lesson

ENDLESS = ("timeout", "dead")  # how a cell may end that is not run again
ATTRIBUTE = re.compile(r"\.([A-Za-z_]\w*)")


def mark_carried_errors(
    verdicts: dict[str, Verdict],
    first_run: NotebookRun,
    new_kernel: Callable[[], AbstractContextManager[StudentKernel]],
) -> dict[str, Verdict]:
    """The verdicts of the first run, improved where carried-error marking gives more points.

    An exercise that fails here, too, is not judged again: from then on its reference replaces it. So there is one kernel
    for each exercise that fails for a reason of its own, besides the first.
    """
    best, waiting = dict(verdicts), candidates(verdicts, first_run)
    style = style_of(first_run)
    while waiting and first_run.in_time and first_run.deaths < first_run.limits.deaths:
        with new_kernel() as kernel:
            found = judge_again(waiting, first_run, kernel, style)
            first_run.deaths += not kernel.alive
        best |= {name: verdict for name, verdict in found.items() if is_better(verdict, best[name])}
        waiting = [name for name in waiting if name not in found or found[name].status != "ok"][1:]
    for name, verdict in best.items():
        verdict.needs = [need for need in verdict.check.needs if need in best and best[need].status != "ok"]
        if verdict is not verdicts[name]:
            verdict.carried = explanation(verdict, best, first_run.lesson)
    return best


def candidates(verdicts: dict[str, Verdict], first_run: NotebookRun) -> list[str]:
    """The exercises that may gain points, in the order of the lesson: they failed, an earlier one failed, and they can be run.

    Left out is a known mistake in an exercise whose `needs` are all right: it is that exercise's own.
    """
    wrong = [name for name in first_run.lesson.exercises if name in verdicts and verdicts[name].status != "ok"]
    return [
        name for name in wrong[1:] if (verdicts[name].needs or not verdicts[name].mistakes) and can_run(name, first_run)
    ]


def can_run(name: str, first_run: NotebookRun) -> bool:
    """Whether the exercise is written, before its check, in a cell that ends."""
    check = next(i for i, cell in enumerate(first_run.cells) if course_cell(cell) == ("check", name))
    own = first_run.own_cells(name)
    if any(position > check or first_run.endings.get(position) in ENDLESS for position in own):
        return False
    return first_run.is_written(name) or first_run.is_elsewhere(name)


def judge_again(
    names: list[str], first_run: NotebookRun, kernel: StudentKernel, style: dict[str, str]
) -> dict[str, Verdict]:
    """Verdicts on these exercises, with the reference in place of all others; fewer if the kernel or the time ends."""
    return {
        name: unseen(first_run.observe(find(name), kernel, find(name).seconds))
        for name in checks_reached(names, first_run, kernel, style)
    }


def checks_reached(
    names: list[str], first_run: NotebookRun, kernel: StudentKernel, style: dict[str, str], replaced: bool = False
) -> Iterator[str]:
    """Run the notebook with the reference in place of all exercises but these; each of them when its check is reached.

    All cells of the student run, since one may define a helper that another needs; after each cell the references are
    defined again. The reference of an exercise is defined once the student's own cell has run, and only if the checks of all
    earlier ones that are named have been reached. `replaced`: from its check on, the reference stands for a named one, too.
    """
    exercises, passed, own = first_run.lesson.exercises, [], []
    reached: set[str] = set()
    for position, cell in enumerate(first_run.cells):
        kind, name = course_cell(cell)
        if len(reached) == len(names) or not kernel.alive or not first_run.in_time:
            break
        if kind == "check" and name in names:
            yield name
            reached.add(name)
            if replaced:
                passed.append(name)
        elif kind != "check" and first_run.is_to_run(cell) and first_run.endings.get(position) not in ENDLESS:
            run = kernel.run(cell.source, first_run.limits.cell_seconds)
            if run.status in ENDLESS:
                first_run.endings[position] = run.status  # not once more
            elif kind == "exercise" and name in names:
                own.append((name, cell.source))
        elif kind != "exercise":
            continue
        if kind == "exercise" and name not in names:
            passed.append(name)
        first = min((exercises.index(each) for each in names if each not in reached), default=0)
        references = [
            style.get(each) or first_run.lesson.exercise(each).solved
            for each in passed
            if exercises.index(each) < first
        ]
        if references:
            # A class that is defined again loses the methods that were added to it: those of this student come back.
            kernel.run("\n\n\n".join(references), first_run.limits.cell_seconds)
            for each, source in own:
                if each not in reached:
                    kernel.run(source, first_run.limits.cell_seconds)


def unseen(verdict: Verdict) -> Verdict:
    """The verdict without what the student's process said: which aspects are right, and which mistake it is."""
    wrong = [replace(difference, got=MISSING) for difference in verdict.wrong]
    return replace(verdict, wrong=wrong, device="")


def is_better(second: Verdict, first: Verdict) -> bool:
    """More points; or as many, and now it is known which mistake it is."""
    return (second.points, bool(second.mistakes)) > (first.points, bool(first.mistakes))


def style_of(first_run: NotebookRun) -> dict[str, str]:
    """References in the student's own style, {exercise: source}; {} if that is the lesson's style.

    A style runs through several exercises; it is a variant of a check, recognised by the attributes that it alone uses. It
    matters: a `backward` that calls a closure of every node cannot work on the reference's nodes, which have none.
    """
    lesson = first_run.lesson
    ways = [variant.edit.sources for name in lesson.exercises for variant in find(name).variants]
    usual = attributes(cell.solved for cell in lesson.cells if cell.is_code)
    own = attributes(cell.source for cell in first_run.cells if first_run.is_to_run(cell)) - usual
    return max([{}] + [way for way in ways if len(way) > 1], key=lambda way: len(own & attributes(way.values())))


def attributes(sources) -> set[str]:
    return {name for source in sources for name in ATTRIBUTE.findall(source)}


def explanation(verdict: Verdict, best: dict[str, Verdict], lesson: Lesson) -> str:
    """Which earlier exercises caused the failure, in one or two sentences."""
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
