"""Open JupyterLab on a learner's own copies of the notebooks."""

import os
import shutil

from autograder import paths


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


def copy_notebooks() -> None:
    """Give the learner a copy of each student notebook in work/; one that is there stays as it is."""
    for name in paths.module_names():
        copy = paths.work_notebook(name)
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(paths.student_notebook(name), copy)


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
