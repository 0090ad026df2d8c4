"""The board: one's own best figures of the open tasks, in a small file beside the notebook. Nobody else sees it."""

import json
import platform
from dataclasses import dataclass
from datetime import date
from html import escape
from pathlib import Path
from typing import Any

from autograder import paths
from autograder.errors import CourseError
from autograder.files import write_atomically
from tinygrad_cl.netcl.core.device import manager

SHOWN = 10  # entries of a board, the best ones
COLUMNS = ("figure", "date", "processor", "driver", "detail")


def file() -> Path:
    """The path of the file."""
    return paths.WORK / paths.PROJECTS.name / "board.json"


def read() -> dict[str, list[dict]]:
    """{task: entries}. CourseError where the file is damaged: figures of earlier days are not thrown away."""
    if not file().exists():
        return {}
    try:
        found = json.loads(file().read_text(encoding="utf-8"))
        if not all({*COLUMNS} <= {*entry} for entries in found.values() for entry in entries):
            raise ValueError("an entry lacks something")
        return found
    except (ValueError, TypeError, AttributeError) as error:
        raise CourseError(f"{file()} cannot be read ({error}): mend it, or move it away to begin a new board") from None


def enter(task: str, figure: float, detail: str, device: Any = None) -> None:
    """Add a figure to the board of a task, with the day, and the processor and the driver that it was reached on."""
    found = (device or manager.default("auto")).found
    entry = {
        "figure": float(figure),
        "date": date.today().isoformat(),
        "processor": found.name.strip() or platform.processor(),
        "driver": f"{found.platform} {found.driver}",
        "detail": detail,
    }
    entries = read()
    entries.setdefault(task, []).append(entry)
    write_atomically(file(), json.dumps(entries, indent=1, ensure_ascii=False) + "\n")


@dataclass(frozen=True)
class Board:
    """The best figures of a task so far. It displays itself in Jupyter and prints as text elsewhere."""

    task: str
    unit: str
    higher: bool

    def entries(self) -> list[dict]:
        """All of them, the best first; of equal ones the earlier."""
        return sorted(read().get(self.task, []), key=lambda each: -each["figure"] if self.higher else each["figure"])

    def rows(self) -> list[tuple[str, ...]]:
        return [
            (str(place), f"{entry['figure']:.3f}", *[entry[column] for column in COLUMNS[1:]])
            for place, entry in enumerate(self.entries()[:SHOWN], 1)
        ]

    def headline(self) -> str:
        better = "higher" if self.higher else "lower"
        return f"{self.task} · your best figures: {self.unit}; {better} is better"

    def __str__(self) -> str:
        rows = [("", *COLUMNS), *self.rows()]
        if len(rows) == 1:
            return f"{self.headline()}\n  nothing yet"
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n  ".join([self.headline(), *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if not self.rows():
            return f"<div><b>{escape(self.headline())}</b><br>nothing yet</div>"
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows())
        head = "".join(f"<th>{name}</th>" for name in ("", *COLUMNS))
        return f"<div><b>{escape(self.headline())}</b><table><tr>{head}</tr>{body}</table></div>"
