"""The kernel provisioner of submissions: jupyter_client starts a kernel through it, inside the sandbox."""

import os
import shutil
from pathlib import Path

from jupyter_client.provisioning import LocalProvisioner
from traitlets import Int, Unicode

from autograder.sandbox.bubblewrap import COURSE, Limits, box, kept_environment, python_binds, way_to
from tinygrad_cl import measurements

MEASURED = "/measured.json"  # where it finds what was measured on this computer: it computes on the same device
NAME = "course-sandbox"  # of the entry point in pyproject.toml
COMPILED = "kernels"  # the folder, in the submission's own, where drivers keep what they have compiled


class SandboxProvisioner(LocalProvisioner):
    """Starts a kernel in a sandbox. Its settings come from the kernel's specification.

    folder   where the submission may write, and where the sockets are
    course   what it may import of the course
    cache    kernels that a driver compiled before, copied for this submission alone; "" for none
    user     the number of the user that it runs as, if root starts it
    """

    folder = Unicode(config=True)
    course = Unicode(config=True)
    cache = Unicode(config=True)
    user = Int(config=True)

    async def pre_launch(self, **kwargs):
        kwargs = await super().pre_launch(**kwargs)
        folder, own = Path(self.folder), Path(self.folder) / COMPILED
        if self.cache and Path(self.cache).is_dir() and not own.exists():
            shutil.copytree(self.cache, own)
        own.mkdir(exist_ok=True)
        if os.geteuid() == 0:
            hand_over(folder, self.user)
        binds = [
            *python_binds(),
            "--ro-bind",
            self.course,
            COURSE,
            *way_to(str(folder)),
            "--bind",
            str(folder),
            str(folder),
            "--chdir",
            str(folder),
            "--ro-bind-try",
            str(measurements.file()),
            MEASURED,
        ]
        environment = kept_environment() | {
            "PATH": os.pathsep.join((str(Path(kwargs["cmd"][0]).parent), "/usr/bin", "/bin")),
            "HOME": str(folder),
            "PYTHONPATH": COURSE,
            "PYTHONDONTWRITEBYTECODE": "1",
            "POCL_CACHE_DIR": str(own),
            "XDG_CACHE_HOME": str(own),
            measurements.VARIABLE: MEASURED,
            "IPYTHONDIR": str(folder / ".ipython"),
            "MPLCONFIGDIR": str(folder / ".matplotlib"),
        }
        kwargs["cmd"] = box(kwargs["cmd"], Limits(), binds, environment, self.user)
        # bubblewrap itself is process 1 inside, and its environment can be read there where no root started it.
        kwargs["env"] = {"PATH": os.environ.get("PATH", os.defpath)}
        return kwargs


def hand_over(folder: Path, user: int) -> None:
    """Make a folder, and all in it, somebody else's."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)
