"""Open JupyterLab on a learner's own copies of the notebooks."""

import os
import shutil
import subprocess
import sys

from autograder import paths
from autograder.errors import CourseError


def open_lab(module: str | None, browser: bool, port: int) -> None:
    """Open a module; None for the first that has something left to do. Returns when JupyterLab has ended."""
    copy_notebooks()
    if module is None:
        from autograder.learner.progress import module_to_open

        module = module_to_open()
    from jupyterlab.labapp import LabApp

    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(
        filter(None, [str(paths.JUPYTER), os.environ.get("JUPYTER_CONFIG_PATH")])
    )
    LabApp.launch_instance(
        argv=[
            f"--ServerApp.root_dir={paths.WORK}",
            f"--ServerApp.port={port}",
            f"--ServerApp.open_browser={browser}",
            f"--ServerApp.allow_root={is_root()}",
            f"--LabApp.default_url=/lab/tree/{module}/{module}.ipynb",
            "--Application.log_level=ERROR",  # the address is printed all the same
        ]
    )


def begin_in_an_empty_folder() -> None:
    """With an installed wheel, no `make` came before: a new course begins with a device, and among nobody's other files."""
    if any(paths.work_notebook(name).parent.exists() for name in paths.module_names()):
        return
    if any(not path.name.startswith(".") for path in paths.WORK.iterdir()):
        raise CourseError(
            f"{paths.WORK} holds other files, and the course wants a folder of its own: "
            f"mkdir course && cd course && {paths.LAB_COMMAND}"
        )
    subprocess.run([sys.executable, "-m", "tinygrad_cl", "doctor", "--install"])


def copy_notebooks() -> None:
    """Give the learner a copy of each student notebook in work/; one that is there stays as it is."""
    if paths.IS_INSTALLED:
        begin_in_an_empty_folder()
    for name in paths.module_names():
        copy = paths.work_notebook(name)
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(paths.student_notebook(name), copy)
    if paths.project_notebook().exists() and not paths.work_project_notebook().exists():
        paths.work_project_notebook().parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(paths.project_notebook(), paths.work_project_notebook())


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
