"""The course as a submission finds it: without the parts that its module asks the student to write."""

import atexit
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from autograder import paths
from autograder.lesson.text import read_lesson

NOTEBOOK = '''"""What a student's notebook imports, while it is graded: checks are run by the grader, not here."""

from autograder.student import add_to_class, predict


def check(name: str) -> None:
    """Nothing: the grader asks by itself."""
'''
HIDDEN = '''raise ImportError("{name} is what module {module} asks you to write, so it is not there while your notebook is graded")
'''


def hidden_parts(module: str) -> set[str]:
    """The modules of tinygrad_cl that hold a solution of this module's exercises."""
    return {symbol.split(":")[0] for cell in read_lesson(module).cells if cell.kind == "exercise" for symbol in cell.pulled}


@lru_cache
def course_for(module: str) -> Path:
    """A folder with tinygrad_cl, less what is hidden, and the `autograder.notebook` that notebooks import.

    It is made once for each process, readable by everybody, and goes with the process.
    """
    folder = kept_folder() / module
    package = folder / "tinygrad_cl"
    shutil.copytree(paths.ROOT / "tinygrad_cl", package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in hidden_parts(module):
        path = folder / Path(*name.split(".")).with_suffix(".py")
        path.write_text(HIDDEN.format(name=name, module=module), encoding="utf-8")
    (folder / "autograder").mkdir()
    (folder / "autograder" / "__init__.py").write_text("")
    shutil.copyfile(paths.ROOT / "autograder" / "student.py", folder / "autograder" / "student.py")
    (folder / "autograder" / "notebook.py").write_text(NOTEBOOK, encoding="utf-8")
    return folder


@lru_cache
def kept_folder() -> Path:
    """A folder that lives as long as the process."""
    made = tempfile.mkdtemp(prefix="course-seen-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    Path(made).chmod(0o755)
    return Path(made)
