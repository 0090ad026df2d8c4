"""The table of exercises, docs/exercises.md: which are pulled from the package, and why the others are not."""

from autograder import paths
from autograder.lesson.symbols import parse
from autograder.lesson.text import Cell, Lesson, read_lesson

FILE = paths.ROOT / "docs" / "exercises.md"
HEAD = """# Exercises

What you build is what you import: {pulled} of {all} exercises are pulled from `tinygrad_cl`, so the solved notebook holds the package's own
text, and the stub is that text without its bodies. In the sandbox and in a class's copy the package runs on the student's in its place. The
others have a text of their own; the reason stands beside them, and how the package's text differs where it has one.

This page is built from the lessons (`python -m autograder build`): `source=` and `own=` in the marker of an exercise's cell.
"""
TABLE = """
## {module}: {pulled} of {all}

| exercise | pulled from | or a text of its own: why, and how the package's differs |
|---|---|---|
"""


def table() -> str:
    """The text of docs/exercises.md."""
    lessons = [read_lesson(module) for module in paths.module_names()]
    found = [cell for lesson in lessons for cell in exercises(lesson)]
    return counted(HEAD, found) + "".join(section(lesson) for lesson in lessons)


def section(lesson: Lesson) -> str:
    found = exercises(lesson)
    rows = [f"| `{cell.name}` | {pulled_from(cell.pulled)} | {reason(cell)} |\n" for cell in found]
    return counted(TABLE, found, module=lesson.module) + "".join(rows)


def exercises(lesson: Lesson) -> list[Cell]:
    return [cell for cell in lesson.cells if cell.kind == "exercise"]


def counted(text: str, found: list[Cell], **names: str) -> str:
    return text.format(pulled=sum(bool(cell.pulled) for cell in found), all=len(found), **names)


def pulled_from(symbols: tuple[str, ...]) -> str:
    """The symbols, by the file in which a reader finds them."""
    files: dict[str, list[str]] = {}
    for symbol in symbols:
        match = parse(symbol)
        file = match["module"].removeprefix("tinygrad_cl.").replace(".", "/") + ".py"
        files.setdefault(file, []).append(match["name"] + (f".{match['method']}" if match["method"] else ""))
    return "; ".join(f"{file}: " + ", ".join(f"`{name}`" for name in names) for file, names in files.items())


def reason(cell: Cell) -> str:
    """Why it is not pulled, and what it takes the place of all the same."""
    return cell.own + (f"; in a copy it stands for {pulled_from(cell.hides)}" if cell.hides else "")
