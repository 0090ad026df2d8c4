"""Grade in a terminal: progress while it runs, the table of the class at the end."""

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from autograder.errors import CourseError
from autograder.grading.classroom import GradingOptions, grade
from autograder.grading.records import SYMBOLS, Graded, Row, by_submission
from autograder.grading.submissions import find_submissions


def grade_with_progress(submissions: Path, out: Path, options: GradingOptions = GradingOptions()) -> list[str]:
    """Grade; returns a sentence for everything that was not judged, or not as what it should be."""
    console = Console()
    found, oddities = find_submissions(submissions)
    unsettled = list(oddities)
    modules = sorted({submission.module for submission in found})
    columns = [
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("starting", total=len(found), rate="")

        def step(graded: Graded):
            submission = graded.submission
            unsettled.extend(graded.unsettled)
            bar.update(
                task,
                advance=1,
                description=f"{submission.student} {submission.module}",
                rate=f"{60 * bar.tasks[0].speed:.0f} a minute" if bar.tasks[0].speed else "",
            )
            if graded.failure:
                console.print(
                    f"the grader failed on {submission.student}/{submission.module}; tell its makers:\n{graded.failure}",
                    style="red",
                    highlight=False,
                    markup=False,
                )

        try:
            rows = grade(found, out, modules, step, options, oddities)
        except KeyboardInterrupt:
            raise CourseError(
                f"Stopped. What is graded is kept in {out}; the same command goes on from there."
            ) from None
    console.print(class_table(rows))
    console.print("  ".join(f"{symbol} {status}" for status, symbol in SYMBOLS.items()), highlight=False)
    console.print(
        f"report.html, grades.csv, gradebook.db, autograded/ and feedback/ are in {out}", highlight=False, markup=False
    )
    if unsettled:
        console.print("\nNot settled; see to it, and run the same command again:", style="yellow")
        for sentence in unsettled:
            console.print(f"- {sentence}", style="yellow", highlight=False, markup=False)
    return unsettled


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
