"""Where the course lies: the folders of the checkout, of a students' copy, or of an installed wheel, in one place."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # what holds the packages
TEXTS = ROOT / "autograder" / "texts"  # the lessons in an installed wheel: setup.py puts them there
IS_INSTALLED = TEXTS.exists()
LESSONS = (TEXTS if IS_INSTALLED else ROOT) / "solutions"  # NN_name.py, written solved; NN_name.ipynb, generated
MODULES = (TEXTS if IS_INSTALLED else ROOT) / "modules"  # NN_name/NN_name.ipynb, generated
PROJECTS = (TEXTS if IS_INSTALLED else ROOT) / "projects"  # projects.ipynb, the open tasks; and its text, projects.py
JUPYTER = ROOT / "autograder" / "learner"  # JupyterLab as learners get it: without pop-ups, and menus of teachers
LAB_COMMAND = "tinygrad-cl lab" if IS_INSTALLED else "make lab"


def home() -> Path:
    """The folder of the user's own files: the checkout; with an installed wheel, the one in which they are.

    There, a notebook runs in its own folder, which is one below.
    """
    if not IS_INSTALLED:
        return ROOT
    here = Path.cwd()
    return here.parent if (MODULES / here.name).is_dir() or (here / f"{PROJECTS.name}.ipynb").is_file() else here


WORK = home() if IS_INSTALLED else ROOT / "work"  # the learner's own copies, ignored by git
SEED_FILE = home() / ".course_seed"  # the secret seed, ignored by git


def is_students_copy() -> bool:
    """Whether this is what a class is given (`autograder.bundle`): notebooks without the lessons that they are made from."""
    return not LESSONS.exists()


def module_names() -> list[str]:
    """The modules of the course in order: "00_start", "01_value", …"""
    if is_students_copy():
        return sorted(path.stem for path in MODULES.glob("*/*.ipynb"))
    return sorted(path.stem for path in LESSONS.glob("[0-9][0-9]_*.py"))


def student_notebook(module: str) -> Path:
    return MODULES / module / f"{module}.ipynb"


def work_notebook(module: str) -> Path:
    return WORK / module / f"{module}.ipynb"


def project_notebook() -> Path:
    """The open tasks after the last lesson; a class's copy has none."""
    return PROJECTS / f"{PROJECTS.name}.ipynb"


def work_project_notebook() -> Path:
    return WORK / PROJECTS.name / f"{PROJECTS.name}.ipynb"


def solution_notebook(module: str) -> Path:
    return LESSONS / f"{module}.ipynb"
