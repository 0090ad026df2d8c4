"""Our engines beside what they were at a commit: its tree, and the page that says what is slower now."""

import compileall
import contextlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from contenders import ROOT
from tables import figure, machine_text, measured, unit_of

PACKAGE = "tinygrad_cl"
ALLOWED = 1.03  # times as long as before


@contextlib.contextmanager
def old_tree(commit):
    """A temporary folder with the package as it is in a commit; compiled, and so is today's."""
    archive = subprocess.run(["git", "archive", "--format=zip", commit, PACKAGE], cwd=ROOT, capture_output=True)
    if archive.returncode:
        sys.exit(f"git has no {PACKAGE} at {commit}: {archive.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(io.BytesIO(archive.stdout)) as files:
            files.extractall(folder)
        for tree in (Path(folder), ROOT):
            compileall.compile_dir(tree / PACKAGE, quiet=2)
        yield Path(folder)


def slower(row):
    """Whether something takes more than 3 % longer than before, and the spread does not reach 1."""
    return row["ratio"] > ALLOWED and row["low"] > 1


def against_page(results, options):
    """The page from {script: results}; the ratio of a row «now» is to «before»."""
    pairs = [pair for result in results.values() for comparison in result["comparisons"] for pair in rows(comparison)]
    late = [pair for pair in pairs if slower(pair[-1])]
    lost = [
        f"- {comparison['title']}: {name} ({reason})"
        for result in results.values()
        for comparison in result["comparisons"]
        for name, reason in comparison["left_out"].items()
    ]
    parts = [
        f"# Our engines now and at {options.against}",
        f"{options.rounds} rounds in turns; fewer where a turn is long.",
        *["A quick run on tiny sizes: its times mean nothing."] * options.quick,
        f"## Slower by more than {ALLOWED - 1:.0%}, outside the spread",
        table(late) if late else "Nothing.",
        *(["## Not measured", "\n".join(lost)] if lost else []),
        "## All",
        "«now / before» is the median of the ratios within a round, and half of the rounds lie in the next column."
        " «fastest» is the ratio of the fastest turns, which says more where others use the machine;"
        " so does «processor time», that of a whole turn on all cores.",
        table(pairs),
        "## Measured on",
        machine_text(next(iter(results.values()))["machine"]),
    ]
    return "\n\n".join(parts) + "\n"


def rows(comparison):
    """(comparison, the row before, the row now) of all that was measured in both trees."""
    of = {(row["mode"], row["part"], row["contender"]): row for row in comparison["rows"]}
    return [
        (comparison, of[mode, part, "before"], row)
        for (mode, part, name), row in of.items()
        if name == "now" and row["ratio"] is not None
    ]


def table(pairs):
    """Markdown, a line for each."""
    lines = [
        "| | | | before | now | now / before | half of the rounds | fastest |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    previous = None
    for comparison, before, now in pairs:
        title = comparison["title"]
        lines.append(
            f"| {'' if title == previous else title} | {measured(now)} | {unit_of(comparison, now)} | {figure(comparison, before)}"
            f" | {figure(comparison, now)} | {now['ratio']:.3f} | {now['low']:.3f} – {now['high']:.3f}"
            f" | {now['fastest'] / before['fastest']:.3f} |"
        )
        previous = title
    return "\n".join(lines)
