"""Install an OpenCL driver: try one source after the other, test and measure each, and keep the first that is good."""

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
    last_resort   whether it is installed only where nothing else works: a large download
    """

    name: str
    requirements: tuple[str, ...]
    icd: tuple[str, str] | None = None
    last_resort: bool = False

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
    last_resort: bool = False

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
        last_resort=True,
    ),
)


def install(
    say: Callable[[str], object] = print,
    sources: Iterable[Wheels | DebianPackage] = SOURCES,
    report: Callable[[], dict[str, Any]] = report,
) -> dict[str, Any]:
    """Install the first source that gives a good device, unless there is one already; returns the report.

    A good device works, and reaches at least half of NumPy's matrix product. Where only slower ones can be had, the first
    of them stays. What was there before stays in any case.
    """
    found = report()
    if _good(found):
        return found
    slow: list[tuple[Wheels | DebianPackage, list[str]]] = []  # installed here, with its packages
    there = [f"{device['name']} works. {device['slow']}" for device in _working(found).values()]
    say(" ".join(there) or "No OpenCL device works yet.")
    for source in sources:
        obstacle = source.obstacle()
        if obstacle:
            say(f"{source.name}: {obstacle}.")
            continue
        if source.last_resort and _working(found):
            continue
        say(f"{source.name}: installing …")
        before = source.installed()
        try:
            source.add()
            then, found = found, report()
            new = [device for key, device in _working(found).items() if key not in _working(then)]
            added = sorted(source.installed() - before)
            if new and all(device["slow"] for device in new):
                say(f"{source.name}: works. {new[0]['slow']}")
                slow.append((source, added))
                continue
            if new:
                say(f"{source.name}: works.")
                for other, packages in slow:
                    other.remove(packages)
                return report() if slow else found
            if not added and _working(found):
                say(f"{source.name}: nothing new.")
                continue
            say(f"{source.name}: does not work here ({_why(found)}), so it is removed again.")
        except subprocess.CalledProcessError as error:
            say(f"{source.name}: could not be installed: {_last_line(error)}")
        source.remove(sorted(source.installed() - before))
    for other, packages in slow[1:]:
        other.remove(packages)
    return report()


def _good(found: dict[str, Any]) -> bool:
    return any(not device["slow"] for device in _working(found).values())


def _working(found: dict[str, Any]) -> dict[tuple[str, ...], dict[str, Any]]:
    """The devices that work, by what identifies them in another report."""
    return {
        (device["platform"], device["name"], device["driver"]): device for device in found["devices"] if device["works"]
    }


def _run(*command: str) -> str:
    """Run a command without questions to the user; returns its output."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def _why(found: dict[str, Any]) -> str:
    """Why no device was chosen, in a few words."""
    return "; ".join(device["fault"] for device in found["devices"] if device["fault"]) or found["reason"]


def _last_line(error: subprocess.CalledProcessError) -> str:
    return (error.stderr.strip() or error.stdout.strip() or str(error)).splitlines()[-1]
