"""What was proved before a class is graded, kept in ~/.cache/tinygrad_cl/proved, so that it is proved once: the reference of a
module passes here.

With it are kept the OpenCL kernels that the drivers compiled for the module's blank notebook. Both hold for one version of the
course, for these limits, on this machine with these libraries and drivers; where one of them changed, they are proved anew.
"""

import contextlib
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
SIZE = hashlib.sha256().digest_size
KEPT = 8  # proofs of a module: of other versions of the course, with other limits


class Proofs:
    """Files MODULE-DIGEST: the digest is that of all that the proof depends on; in it, kernels behind their own digest."""

    def __init__(self, limits: Limits, sandbox: bool):
        self.here = {"limits": asdict(limits), "sandbox": sandbox, **machine()}

    def file(self, module: str, course: str) -> Path:
        said = json.dumps({"course": course, **self.here}, sort_keys=True)
        folder = Path.home() / ".cache" / "tinygrad_cl" / "proved"
        return folder / f"{module}-{hashlib.sha256(said.encode()).hexdigest()[:16]}"

    def kernels(self, module: str, course: str) -> bytes | None:
        """The kernels of a module that is proved for this version of the course; None for one that is not."""
        try:
            data = self.file(module, course).read_bytes()
        except (OSError, RuntimeError):  # RuntimeError: there is no home directory
            return None
        digest, kernels = data[:SIZE], data[SIZE:]
        return kernels if hashlib.sha256(kernels).digest() == digest else None

    def keep(self, module: str, course: str, kernels: bytes) -> None:
        """Note that the module is proved; where nothing can be written, it is proved again the next time."""
        with contextlib.suppress(OSError, RuntimeError):
            file = self.file(module, course)
            write_atomically(file, hashlib.sha256(kernels).digest() + kernels)
            others = sorted(file.parent.glob(f"{module}-*"), key=lambda path: path.stat().st_mtime)
            for old in others[:-KEPT]:
                old.unlink()


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
