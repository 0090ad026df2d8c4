"""Grade in a terminal: progress while it runs, the table of the class at the end."""

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from autograder.grading.classroom import find_submissions, grade
from autograder.grading.records import SIGNS, Graded, Row, by_submission


def grade_with_progress(submissions: Path, out: Path, sandbox: bool = True) -> list[Row]:
    console = Console()
    found, oddities = find_submissions(submissions)
    for sentence in oddities:
        console.print(sentence, style="yellow", highlight=False)
    modules = sorted({submission.module for submission in found})
    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("grading", total=len(found))

        def step(graded: Graded):
            submission = graded.submission
            bar.update(task, advance=1, description=f"{submission.student} {submission.module}")
            if graded.failure:
                console.print(f"the grader failed on {submission.student}/{submission.module}; tell its makers:\n{graded.failure}",
                              style="red", highlight=False, markup=False)

        rows = grade(found, out, modules, step, sandbox)
    console.print(class_table(rows))
    console.print("  ".join(f"{sign} {status}" for status, sign in SIGNS.items()), highlight=False)
    console.print(f"report.html, grades.csv, gradebook.db, autograded/ and feedback/ are in {out}", highlight=False)
    return rows


def class_table(rows: list[Row]) -> Table:
    """One line per submission: points, a sign per exercise, and the mistakes that were recognised."""
    table = Table(title="The class")
    table.add_column("student")
    table.add_column("module")
    table.add_column("points", justify="right")
    table.add_column("exercises")
    table.add_column("recognised mistakes")
    for student, module, group in by_submission(rows):
        points, most = sum(row.points for row in group), sum(row.max_points for row in group)
        mistakes = "; ".join(f"{row.exercise}: {row.mistake}" for row in group if row.mistake)
        table.add_row(student, module, f"{points:g} / {most:g}", " ".join(SIGNS[row.status] for row in group), mistakes)
    return table
