"""What was proved before a class is graded, kept in OUT, so that it is proved once: the reference of a module passes here.

With it are kept the OpenCL kernels that the drivers compiled for the module's blank notebook. Both hold for one version of the
course, for these limits, on this machine with these libraries and drivers; where one of them changed, they are proved anew.
"""

import hashlib
import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from functools import lru_cache
from importlib.metadata import distributions
from pathlib import Path

from autograder.files import write_atomically
from autograder.judge.notebook_run import Limits

DEVICES = """
import json
from tinygrad_cl.opencl.devices import find_devices
print(json.dumps([device.key for device in find_devices()]))
"""  # in a process of its own: a driver that is loaded starts threads
CHOSEN_BY = ("TINYGRAD_CL_DEVICE", "PYOPENCL_CTX")
PATIENCE = 60.0


class Proofs:
    """OUT/proved.json, what was proved of each module, and OUT/kernels/MODULE.zip."""

    def __init__(self, out: Path, limits: Limits, sandbox: bool):
        self.file, self.folder = out / "proved.json", out / "kernels"
        self.here = {"limits": asdict(limits), "sandbox": sandbox, **machine()}

    def read(self) -> dict[str, dict]:
        """{module: what held when it was proved}; nothing where the file is not one of ours."""
        try:
            found = json.loads(self.file.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def kernels(self, module: str, course: str) -> bytes | None:
        """The kernels of a module that is proved for this version of the course; None for one that is not."""
        try:
            data = (self.folder / f"{module}.zip").read_bytes()
        except OSError:
            return None
        return data if self.read().get(module) == self.entry(course, data) else None

    def keep(self, module: str, course: str, kernels: bytes) -> None:
        """Note that the module is proved."""
        write_atomically(self.folder / f"{module}.zip", kernels)
        known = self.read() | {module: self.entry(course, kernels)}
        write_atomically(self.file, json.dumps(known, indent=1, sort_keys=True))

    def entry(self, course: str, kernels: bytes) -> dict:
        return {"course": course, "kernels": hashlib.sha256(kernels).hexdigest(), **self.here}


@lru_cache
def machine() -> dict:
    """What a proof depends on besides the course: system, Python, libraries, drivers, and which device is asked for."""
    libraries = sorted({f"{found.name}=={found.version}" for found in distributions()})
    asked = [sys.executable, "-c", DEVICES]
    try:
        found = json.loads(subprocess.run(asked, capture_output=True, timeout=PATIENCE, check=True).stdout)
    except (subprocess.SubprocessError, ValueError):
        found = []
    return {
        "system": platform.platform(),
        "python": sys.version,
        "libraries": hashlib.sha256("\n".join(libraries).encode()).hexdigest(),
        "devices": found,
        "asked for": {name: os.environ[name] for name in CHOSEN_BY if name in os.environ},
    }
