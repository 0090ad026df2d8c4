"""Grade from the command line: progress while it runs, the table of the class at the end, and what needs a look."""

import difflib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from autograder.course import FILE, course
from autograder.errors import CourseError
from autograder.grading.classroom import GradingOptions, grade
from autograder.grading.records import SYMBOLS, Choice, Graded, Row, Submission, by_submission
from autograder.grading.submissions import find_submissions

WIDTH = 160  # of what is written where there is no terminal: into a file, say
SECONDS, QUIET_SECONDS = 5.0, 30.0  # between two lines of progress there; and where nothing has changed
FEW = 5  # names in a line


def grade_with_progress(submissions: Path, out: Path, options: GradingOptions = GradingOptions()) -> list[str]:
    """Grade; returns a sentence for everything that was not judged, or not as what it should be."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    found, oddities = of_the_course(*find_submissions(submissions))
    chosen = those_chosen(found, options.choice)
    about = tuple(f"{name}{mark}" for name in options.choice.students for mark in "/ ")
    left = [each for each in oddities if not about or each.startswith(about)]  # of others nothing was asked
    graded: list[Graded] = []
    modules = sorted({submission.module for submission in found})
    with shown_in(console, len(chosen)) as progress:

        def step(each: Graded):
            graded.append(each)
            progress.step(f"{each.submission.student} {each.submission.module}")
            if each.failure:
                console.print(
                    f"the grader failed on {each.submission.student}/{each.submission.module}; tell its makers:\n{each.failure}",
                    style="red",
                    highlight=False,
                    markup=False,
                )

        try:
            rows = grade(found, out, modules, step, options, oddities, progress.doing)
        except KeyboardInterrupt:
            raise CourseError(
                f"Stopped. What is graded is kept in {out}; the same command goes on from there."
            ) from None
    taken = {(each.student, each.module) for each in chosen}
    console.print(class_table([row for row in rows if (row.student, row.module) in taken]))
    console.print("  ".join(f"{symbol} {status}" for status, symbol in SYMBOLS.items()), highlight=False)
    console.print(
        f"report.html, grades.csv, gradebook.db, autograded/ and feedback/ are in {out}", highlight=False, markup=False
    )
    unsettled = [*left, *(sentence for each in graded for sentence in each.unsettled)]
    if unsettled:
        console.print("\nNot settled; see to it, and run the same command again:", style="yellow")
        for sentence in unsettled:
            console.print(f"- {sentence}", style="yellow", highlight=False, markup=False)
    look = worth_a_look(graded, left, [each.renamed for each in chosen if each.renamed])
    console.print(look, style="yellow" if unsettled else None, highlight=False, markup=False, soft_wrap=True)
    return unsettled


def of_the_course(found: list[Submission], oddities: list[str]) -> tuple[list[Submission], list[str]]:
    """The submissions to modules of the course, and a sentence for each other."""
    others = [each for each in found if not course().has(each.module)]
    left = [f"{each.student}/{each.module} is of a module that {FILE.name} leaves out" for each in others]
    if len(others) == len(found):
        raise CourseError("\n".join([*oddities, *left, "there is nothing to grade"]))
    return [each for each in found if each not in others], oddities + left


def those_chosen(found: list[Submission], choice: Choice) -> list[Submission]:
    """The submissions that are chosen; CourseError where a student handed in nothing, or nothing is chosen."""
    students = sorted({each.student for each in found})
    for name in choice.students:
        if name not in students:
            close = ", ".join(difflib.get_close_matches(name, students) or students[:FEW])
            raise CourseError(f"there is no submission of a student {name}; there are: {close}")
    chosen = [each for each in found if choice.takes(each)]
    if not chosen:
        raise CourseError(f"nobody chosen handed in {' or '.join(choice.modules)}")
    return chosen


def worth_a_look(graded: list[Graded], left: list[str], renamed: list[str]) -> str:
    """The last line: how much a person has to see to, and which notebooks were recognised under other names."""
    failed, notes = sum(bool(each.failure) for each in graded), sum(len(each.notes) for each in graded)
    parts = [
        f"{number} {what}"
        for number, what in (
            (failed, "on which the grader failed"),
            (notes, "not judged, or not shown, as a notebook of the lesson"),
            (len(left), "left out, or without a notebook"),
        )
        if number
    ]
    said = [f"Needs a look (listed above, and in report.html): {'; '.join(parts)}."] if parts else ["All is settled."]
    if renamed:
        more = f", and {len(renamed) - FEW} more" if len(renamed) > FEW else ""
        said.append(f"Recognised under another name: {', '.join(renamed[:FEW])}{more}.")
    return " ".join(said)


@contextmanager
def shown_in(console: Console, total: int) -> Iterator["Bar | Lines"]:
    """Progress in a terminal as a bar, elsewhere as lines."""
    if not console.is_terminal:
        with Lines(console, total) as lines:
            yield lines
        return
    columns = [
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=console) as progress:
        yield Bar(progress, progress.add_task("starting", total=total, rate=""))


@dataclass
class Bar:
    """Progress as a bar. What comes from earlier runs is no measure of how fast this one is."""

    progress: Progress
    task: TaskID
    begun: float = 0.0  # when the first notebook was begun
    since: int = 0

    def doing(self, what: str) -> None:
        self.begun, self.since = time.monotonic(), 0
        self.progress.update(self.task, description=what)

    def step(self, name: str) -> None:
        self.since += bool(self.begun)
        seconds = time.monotonic() - self.begun
        rate = f"{60 * self.since / seconds:.0f} a minute" if self.since and seconds > 1 else ""
        self.progress.update(self.task, advance=1, description=name, rate=rate)


class Lines:
    """Progress as lines: every few seconds what is being done, where that has changed, else every half minute."""

    def __init__(self, console: Console, total: int):
        self.console, self.total, self.graded = console, total, 0
        self.start, self.what, self.ended = time.monotonic(), "starting", threading.Event()
        self.thread = threading.Thread(target=self.tell, daemon=True)

    def __enter__(self) -> "Lines":
        self.thread.start()
        return self

    def __exit__(self, *exception) -> None:
        self.ended.set()
        self.thread.join()

    def doing(self, what: str) -> None:
        self.what = what

    def step(self, name: str) -> None:
        self.graded += 1
        self.what = f"last {name}"

    def tell(self) -> None:
        said, at = "", 0.0
        while not self.ended.wait(SECONDS):
            now, line = time.monotonic(), f"{self.graded} of {self.total} graded; {self.what}"
            if line != said or now > at + QUIET_SECONDS:
                self.console.print(f"{timedelta(seconds=int(now - self.start))}  {line}", highlight=False, markup=False)
                said, at = line, now


def class_table(rows: list[Row]) -> Table:
    """One line per submission: points, a symbol per exercise, and the mistakes that were recognised."""
    table = Table(title="The class")
    table.add_column("student")
    table.add_column("module")
    table.add_column("points", justify="right")
    table.add_column("exercises")
    table.add_column("recognised mistakes")
    for student, module, group in by_submission(rows):
        points, most = sum(row.points for row in group), sum(row.max_points for row in group)
        mistakes = "; ".join(f"{row.exercise}: {row.mistake}" for row in group if row.mistake)
        table.add_row(
            escape(student),
            module,
            f"{points:g} / {most:g}",
            " ".join(SYMBOLS[row.status] for row in group),
            escape(mistakes),
        )
    return table
