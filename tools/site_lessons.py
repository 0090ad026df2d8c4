"""Run the solved lessons for the site, and keep what they showed: `make site` calls it before Sphinx.

    python tools/site_lessons.py [MODULE ...]

A run is kept in .site-cache/ under a key made of the notebook's text and of the version of the course that the lesson
uses (autograder.grading.version), so only what has changed runs again. One at a time: lessons show times that they measure.
"""

import hashlib
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from autograder import paths
from autograder.grading.version import course_digest

CACHE = paths.ROOT / ".site-cache"
SECONDS = 300  # that a cell may take


def kept(module: str) -> Path:
    """Where the run of a lesson is kept, once there is one."""
    key = hashlib.sha256(course_digest(module).encode() + paths.solution_notebook(module).read_bytes()).hexdigest()
    return CACHE / f"{module}-{key[:16]}.ipynb"


def run(module: str) -> None:
    """Run a lesson, keep it, and throw away its earlier runs. A cell that fails is nbclient's CellExecutionError."""
    notebook = nbformat.read(paths.solution_notebook(module), as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook, timeout=SECONDS, extra_arguments=["--log-level=ERROR"], resources={"metadata": {"path": folder}}
        ).execute()
    CACHE.mkdir(exist_ok=True)
    earlier = list(CACHE.glob(f"{module}-*.ipynb"))
    nbformat.write(notebook, kept(module))
    for path in earlier:
        path.unlink()


def main(modules: list[str]) -> None:
    missing = [module for module in modules if not kept(module).exists()]
    print(f"{len(modules) - len(missing)} of {len(modules)} lessons are as in their last run", flush=True)
    for number, module in enumerate(missing, 1):
        print(f"  {number} of {len(missing)}  {module} …", end="", flush=True)
        began = time.monotonic()
        run(module)
        print(f" {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or paths.module_names())
