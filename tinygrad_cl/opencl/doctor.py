"""A report on OpenCL on this computer: each device, tested and measured in its own process, and what to do if none works."""

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

from tinygrad_cl import measurements
from tinygrad_cl.opencl.devices import DOCTOR, Device, NoDeviceError, choose
from tinygrad_cl.opencl.speed import numpy_gflops

PROBE = (sys.executable, "-m", "tinygrad_cl.opencl.probe")
PATIENCE = 120  # seconds: a driver may need time to set itself up at its first kernel


class ProbeError(Exception):
    """A driver crashed or hung; the message says which of the two."""


def report(
    environ: Mapping[str, str] = os.environ, program: Sequence[str] = PROBE, patience: float = PATIENCE
) -> dict[str, Any]:
    """Test and measure every OpenCL device; the results and the chosen device, as plain data. What was measured is kept.

    devices   a list of dicts: `Device.facts()`, and works (bool), fault (one line), seconds (duration of the test),
              speed (a dict, see `Speed`; None if it was not measured), slow (a sentence if it wastes the processor, or "")
    numpy     what NumPy's matrix product reaches on this computer, in 10⁹ operations per second
    chosen    the position of the device that the course uses, or None
    reason    why this device was chosen, or why there is none
    advice    if no device works, or only slow ones, one sentence on what to do on this system; otherwise ""
    """
    devices: list[Device] = []
    faults: dict[Device, str] = {}
    seconds: dict[Device, float] = {}
    speeds: dict[Device, dict[str, float] | None] = {}
    position: str | None = None
    numpy = numpy_gflops()
    try:
        devices = [Device(**facts, handle=None) for facts in run_probe(program, patience)]
        for device in devices:
            start = time.perf_counter()
            faults[device] = _find_fault(device, program, patience)
            seconds[device] = time.perf_counter() - start
            speeds[device] = None if faults[device] else _measure(device, program, patience)
        gflops = {device.key: (speeds[device] or {}).get("gflops", 0.0) for device in devices}
        if devices:
            measurements.keep({"gflops": measurements.read().get("gflops", {}) | gflops})
        chosen = choose(devices, environ, faults.get, gflops)
        position, reason = chosen.position, chosen.reason
    except ProbeError as error:
        reason = f"listing the OpenCL devices {error}"
    except NoDeviceError as error:
        reason = str(error)
    results = [
        device.facts()
        | {"works": not faults[device], "fault": faults[device], "seconds": round(seconds[device], 2)}
        | {"speed": speeds[device], "slow": _slow(device, speeds[device], numpy)}
        for device in devices
    ]
    good = any(result["works"] and not result["slow"] for result in results)
    return {
        "devices": results,
        "numpy": numpy,
        "chosen": position,
        "reason": reason,
        "advice": "" if good else advice(works=any(result["works"] for result in results)),
    }


def _slow(device: Device, speed: Mapping[str, float] | None, numpy: float) -> str:
    """A sentence on a device that reaches less than half of NumPy's product; "" for any other, or if it was not measured."""
    if device.is_interpreter:
        return "It is an interpreter, a hundred times slower than a compiler."
    if speed is None or speed["gflops"] >= numpy / 2:
        return ""
    part = speed["gflops"] / numpy
    return f"It reaches {part:.2f} of NumPy's matrix product on this computer ({speed['gflops']:.0f} of {numpy:.0f} GFLOP/s)."


def run_probe(program: Sequence[str], patience: float, *arguments: str) -> Any:
    """The output of the probe; ProbeError if it crashes or hangs."""
    try:
        process = subprocess.run(
            [*program, *arguments], capture_output=True, text=True, timeout=patience, stdin=subprocess.DEVNULL
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


def _measure(device: Device, program: Sequence[str], patience: float) -> dict[str, float] | None:
    """What a device that works reaches; None for an interpreter, and where the measurement fails."""
    if device.is_interpreter:
        return None
    try:
        return run_probe(program, patience, device.position, "speed")
    except ProbeError:
        return None


def _how_it_died(process: subprocess.CompletedProcess[str]) -> str:
    if process.returncode < 0:
        return signal.Signals(-process.returncode).name
    lines = process.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit code {process.returncode}"


def advice(system: str = sys.platform, linux: str | None = None, conda: bool | None = None, works: bool = False) -> str:
    """One sentence that says how to get an OpenCL device on this system, or a faster one.

    system   as in sys.platform
    works    whether there is one that works
    linux    the name of a Linux distribution and of those it is based on, "ubuntu debian"; None: of this system
    conda    whether this Python belongs to a conda environment; None: look it up
    """
    if conda is None:
        conda = Path(sys.prefix, "conda-meta").is_dir()
    remedy = _remedy(system, _linux() if linux is None else linux, conda, "" if works else f"`{DOCTOR} --install`")
    return f"For a faster device, {remedy}." if works else f"No OpenCL device works here: {remedy}."


def _remedy(system: str, linux: str, conda: bool, otherwise: str) -> str:
    """otherwise: what may be tried without root on Linux, "" for nothing"""
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
        return f"run `sudo {command}`" + (f", or without root {otherwise}" if otherwise else "")
    return "install PoCL with your system's package manager" + (f", or run {otherwise}" if otherwise else "")


def _linux() -> str:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return ""
    return f"{release.get('ID', '')} {release.get('ID_LIKE', '')}"
