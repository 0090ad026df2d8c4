"""A report on OpenCL on this computer: each device, tested in its own process, and what to do if none works."""

import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tinygrad_cl.opencl.devices import DOCTOR, Device, NoDeviceError, choose

PROBE = (sys.executable, "-m", "tinygrad_cl.opencl.probe")
PATIENCE = 120  # seconds: a driver may need time to set itself up at its first kernel


class ProbeError(Exception):
    """A driver crashed or hung; the message says which of the two."""


def report(
    environ: Mapping[str, str] = os.environ, program: Sequence[str] = PROBE, patience: float = PATIENCE
) -> dict[str, Any]:
    """Test every OpenCL device with a kernel; the results and the chosen device, as plain data.

    devices   a list of dicts: `Device.facts()`, and works (bool), fault (one line), seconds (duration of the test)
    chosen    the position of the device that the course uses, or None
    reason    why this device was chosen, or why there is none
    advice    if no device works, one sentence on what to do on this system; otherwise ""
    """
    devices: list[Device] = []
    faults: dict[Device, str] = {}
    seconds: dict[Device, float] = {}
    position: str | None = None
    try:
        devices = [Device(**facts, handle=None) for facts in run_probe(program, patience)]
        for device in devices:
            start = time.perf_counter()
            faults[device] = _find_fault(device, program, patience)
            seconds[device] = time.perf_counter() - start
        chosen = choose(devices, environ, faults.get)
        position, reason = chosen.position, chosen.reason
    except ProbeError as error:
        reason = f"listing the OpenCL devices {error}"
    except NoDeviceError as error:
        reason = str(error)
    return {
        "devices": [
            device.facts()
            | {"works": not faults[device], "fault": faults[device], "seconds": round(seconds[device], 2)}
            for device in devices
        ],
        "chosen": position,
        "reason": reason,
        "advice": advice() if all(faults.values()) else "",
    }


def run_probe(program: Sequence[str], patience: float, *positions: str) -> Any:
    """The output of the probe; ProbeError if it crashes or hangs."""
    try:
        process = subprocess.run(
            [*program, *positions], capture_output=True, text=True, timeout=patience, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise ProbeError(f"did not end within {patience} s") from None
    if process.returncode:
        raise ProbeError(f"crashed ({_how_it_died(process)})")
    return json.loads(process.stdout)


def _find_fault(device: Device, program: Sequence[str], patience: float) -> str:
    try:
        return run_probe(program, patience, device.position)
    except ProbeError as error:
        return f"the driver {error}"


def _how_it_died(process: subprocess.CompletedProcess[str]) -> str:
    if process.returncode < 0:
        return signal.Signals(-process.returncode).name
    lines = process.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit code {process.returncode}"


def advice(system: str = sys.platform, linux: str | None = None, conda: bool | None = None) -> str:
    """One sentence that says how to get an OpenCL device on this system.

    system   as in sys.platform
    linux    the name of a Linux distribution and of those it is based on, "ubuntu debian"; None: of this system
    conda    whether this Python belongs to a conda environment; None: look it up
    """
    if conda is None:
        conda = Path(sys.prefix, "conda-meta").is_dir()
    return f"No OpenCL device works here: {_remedy(system, _linux() if linux is None else linux, conda)}."


def _remedy(system: str, linux: str, conda: bool) -> str:
    if conda:
        return "run `conda install -c conda-forge pocl`"
    if system == "darwin":
        return "set the course up with `conda env create -f environment.yml`, which brings PoCL"
    if system == "win32":
        return "set the course up with `conda env create -f environment.yml`, or install your graphics card's driver"
    packages = {
        "debian": "apt-get install pocl-opencl-icd",  # and Ubuntu, Mint, …
        "fedora": "dnf install pocl",
        "arch": "pacman -S pocl",
        "suse": "zypper install pocl",
    }
    command = next((command for family, command in packages.items() if family in linux), None)
    if command:
        return f"run `sudo {command}`, or without root `{DOCTOR} --install`"
    return f"install PoCL with your system's package manager, or run `{DOCTOR} --install`"


def _linux() -> str:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return ""
    return f"{release.get('ID', '')} {release.get('ID_LIKE', '')}"
