"""How far a learner is: read from the answers that their checks left in the notebooks of work/. Nothing is run."""

import json
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from autograder import paths
from autograder.errors import CourseError
from autograder.judge.report import VERDICT

SYMBOLS = {"ok": ("●", "green"), "partial": ("◐", "yellow"), "untried": ("·", "dim")}
OTHER_SYMBOL = ("✗", "red")


@dataclass(frozen=True)
class Exercise:
    """One exercise as the learner last checked it; its status is a verdict's, or "untried"."""

    module: str
    name: str
    max_points: float
    status: str = "untried"
    points: float = 0.0

    @property
    def done(self) -> bool:
        return self.status == "ok"


def all_exercises() -> list[Exercise]:
    """Every exercise of the course, in order."""
    return [exercise for module in paths.module_names() for exercise in exercises_of(module)]


def exercises_of(module: str) -> list[Exercise]:
    """The exercises of a module: their points from the released notebook, the rest from the learner's copy."""
    answers = answers_in(paths.work_notebook(module))
    return [
        Exercise(module, name, points, **answers.get(name, {}))
        for name, points in checks_in(read_cells(paths.student_notebook(module)))
    ]


def next_exercise(exercises: list[Exercise]) -> Exercise | None:
    """The first one that is not done."""
    return next((exercise for exercise in exercises if not exercise.done), None)


def module_to_open() -> str:
    """The module of the next exercise; the open tasks when all are done; the first module when a notebook cannot be read."""
    try:
        following = next_exercise(all_exercises())
    except CourseError:
        return paths.module_names()[0]
    return following.module if following else after_the_last()


def after_the_last() -> str:
    """What is left when all exercises are done: the open tasks; where there are none, as in a class's copy, the first module."""
    return paths.PROJECTS.name if paths.project_notebook().exists() else paths.module_names()[0]


def answers_in(notebook: Path) -> dict[str, dict]:
    """{exercise: status and points} from the outputs of a notebook's check cells; {} where it is not there yet."""
    if not notebook.exists():
        return {}
    try:
        verdicts = [
            output["data"][VERDICT]
            for cell in read_cells(notebook)
            for output in cell.get("outputs", [])
            if VERDICT in output.get("data", {})
        ]
        return {each["exercise"]: {"status": each["status"], "points": each["points"]} for each in verdicts}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise CourseError(
            f"{notebook} cannot be read as a notebook ({type(error).__name__}: {error}). Move it away, and "
            f"`{paths.LAB_COMMAND}` gives you a new copy."
        ) from None


def checks_in(cells: list[dict]) -> list[tuple[str, float]]:
    """(exercise, points) of each check cell."""
    metadata = [cell["metadata"] for cell in cells]
    return [
        (each["course"]["exercise"], each["nbgrader"]["points"])
        for each in metadata
        if each.get("course", {}).get("kind") == "check"
    ]


def read_cells(notebook: Path) -> list[dict]:
    """A notebook's cells. Read as JSON: nbformat would take seconds to import."""
    return json.loads(notebook.read_text(encoding="utf-8"))["cells"]


def table_of(exercises: list[Exercise]) -> Table:
    """A line for each module, and the sum."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("module")
    table.add_column("exercises")
    table.add_column("done", justify="right")
    table.add_column("points", justify="right")
    modules: dict[str, list[Exercise]] = {exercise.module: [] for exercise in exercises}
    for exercise in exercises:
        modules[exercise.module].append(exercise)
    for module, members in modules.items():
        table.add_row(module, symbols(members), *counts(members))
    table.add_section()
    table.add_row("together", "", *counts(exercises))
    return table


def symbols(exercises: list[Exercise]) -> Text:
    return Text(" ").join(Text(*SYMBOLS.get(exercise.status, OTHER_SYMBOL)) for exercise in exercises)


def counts(exercises: list[Exercise]) -> tuple[str, str]:
    points, most = sum(exercise.points for exercise in exercises), sum(exercise.max_points for exercise in exercises)
    return f"{sum(exercise.done for exercise in exercises)} of {len(exercises)}", f"{points:g} of {most:g}"


def advice(exercises: list[Exercise]) -> str:
    """One sentence: what is next."""
    following = next_exercise(exercises)
    if following is None:
        left = f" What is left is open: `{paths.LAB_COMMAND}` shows {after_the_last()}."
        return "All exercises are done." + (left if paths.project_notebook().exists() else "")
    begun = "" if following.status == "untried" else ", which is not right yet"
    return f"Next: {following.name} in {following.module}{begun}. `{paths.LAB_COMMAND}` opens it."
