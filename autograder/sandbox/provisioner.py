"""The kernel provisioner of submissions: jupyter_client starts a kernel through it, inside the sandbox."""

import os
from pathlib import Path

from jupyter_client.provisioning import LocalProvisioner
from traitlets import Int, Unicode

from autograder.sandbox.bubblewrap import COURSE, HOME, Limits, box, kept_environment, python_binds
from tinygrad_cl import measurements

MEASURED = "/measured.json"  # where it finds what was measured on this computer: it computes on the same device
NAME = "course-sandbox"  # of the entry point in pyproject.toml
CONNECTION = "connection.json"  # the file with the kernel's addresses
COMPILED = f"{HOME}/kernels"  # the folder inside where drivers keep what they have compiled
SOCKET = "/tmp/course-socket"  # how the names of the kernel's sockets begin
GIVEN, GIVEN_KERNELS = "/connection.json", "/kernels"  # what is copied to HOME when it starts
BEGIN = f'mkdir {COMPILED}; cp {GIVEN} {HOME}/{CONNECTION}; [ -d {GIVEN_KERNELS} ] && cp -r {GIVEN_KERNELS} {HOME}; exec "$@"'


class SandboxProvisioner(LocalProvisioner):
    """Starts a kernel in a sandbox. Its settings come from the kernel's specification.

    course   what it may import of the course
    cache    a folder of kernels that a driver compiled before, copied for this submission alone; "" for none
    user     the number of the user that it runs as, if root starts it
    """

    course = Unicode(config=True)
    cache = Unicode(config=True)
    user = Int(config=True)

    async def pre_launch(self, **kwargs):
        kwargs = await super().pre_launch(**kwargs)
        connection = self.parent.connection_file
        if os.geteuid() == 0:
            os.chown(connection, self.user, self.user)
        binds = [
            *python_binds(),
            "--ro-bind",
            self.course,
            COURSE,
            "--ro-bind",
            connection,
            GIVEN,
            *(["--ro-bind-try", self.cache, GIVEN_KERNELS] if self.cache else []),
            "--ro-bind-try",
            str(measurements.file()),
            MEASURED,
        ]
        environment = kept_environment() | {
            "PATH": os.pathsep.join((str(Path(kwargs["cmd"][0]).parent), "/usr/bin", "/bin")),
            "HOME": HOME,
            "PYTHONPATH": COURSE,
            "PYTHONDONTWRITEBYTECODE": "1",
            "POCL_CACHE_DIR": COMPILED,
            "XDG_CACHE_HOME": COMPILED,
            measurements.VARIABLE: MEASURED,
            "IPYTHONDIR": f"{HOME}/.ipython",
            "MPLCONFIGDIR": f"{HOME}/.matplotlib",
        }
        inside = [f"{HOME}/{CONNECTION}" if word == connection else word for word in kwargs["cmd"]]
        kwargs["cmd"] = box(["sh", "-c", BEGIN, "sh", *inside], Limits(), binds, environment, self.user)
        # bubblewrap itself is process 1 inside, and its environment can be read there where no root started it.
        kwargs["env"] = {"PATH": os.environ.get("PATH", os.defpath)}
        return kwargs
