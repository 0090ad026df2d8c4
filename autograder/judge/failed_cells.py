"""Cells of this notebook that failed when they last ran: a check would judge what an earlier run of theirs defined."""

import re

from autograder.judge.recorded import REFERENCE, recorded

FAILED: dict[str, str] = {}  # name that a cell defines → how its last run ended, "" if well
DEFINES = re.compile(r"^\s*(?:async\s+def|def|class)\s+(\w+)|^(\w+)\s*=(?!=)", re.M)


def watch_cells() -> None:
    """From now on, note how cells end. Nothing outside of a notebook."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None and note_cell not in shell.events.callbacks.get("post_run_cell", []):
        shell.events.register("post_run_cell", note_cell)


def note_cell(result) -> None:
    error = result.error_before_exec or result.error_in_exec
    said = "" if error is None else f"{type(error).__name__}: {error}"
    for function, variable in DEFINES.findall(result.info.raw_cell or ""):
        FAILED[function or variable] = said


def failure_of(check) -> str:
    """How the last run of the exercise's cell failed; "" where it did not."""
    names = recorded(check).get(REFERENCE, {}).get("names", [])
    return next((FAILED[name] for name in names if FAILED.get(name)), "")
