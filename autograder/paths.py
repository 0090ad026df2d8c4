"""Where the course lies: the folders of the checkout, or of a students' copy, in one place."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LESSONS = ROOT / "solutions"  # NN_name.py, written solved; NN_name.ipynb, generated
MODULES = ROOT / "modules"  # NN_name/NN_name.ipynb, generated
WORK = ROOT / "work"  # the learner's own copies, ignored by git
JUPYTER = (
    ROOT / "autograder" / "learner"
)  # its folder labconfig: JupyterLab as learners get it, without a pop-up in the first minute
SEED_FILE = ROOT / ".course_seed"  # the secret seed, ignored by git


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


def solution_notebook(module: str) -> Path:
    return LESSONS / f"{module}.ipynb"
