"""Compiling OpenCL C.

PoCL, as pip and Debian install it, parses its header opencl-c.h before each program: 17,000 lines that declare 15,000
functions, a tenth of a second. Here a program is compiled with those declarations only whose names it contains. They
stand before it, with all their overloads, and the header's own include guard, `_OPENCL_H_`, keeps the header out.
"""

import contextlib
import functools
import importlib.metadata
import importlib.util
import os
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyopencl as cl

PACKAGE = "pocl_binary_distribution"  # PoCL from pip
DEBIAN = Path("/usr/share/pocl/include/opencl-c.h")
INCLUDE_GUARD = "_OPENCL_H_"

_building = threading.Lock()  # warning filters and stderr belong to the whole process


def build(context: cl.Context, source: str, options: Sequence[str] = ()) -> cl.Program:
    """Compile OpenCL C into a `cl.Program`, without output on stderr, which nbgrader would treat as a failure.

    pyopencl.RuntimeError with the compiler's messages if the source has an error.
    """
    with _building, warnings.catch_warnings(), silent_stderr():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        if header := header_of(context.devices[0]):
            text = f"{declarations(header, source)}\n#line 1\n{source}"
            try:
                return cl.Program(context, text).build([*options, f"-D{INCLUDE_GUARD}"])
            except cl.RuntimeError:
                pass  # a wrong program, or one that puts a name together: the compiler shall speak of the source alone
        return cl.Program(context, source).build(list(options))


def header_of(device: cl.Device) -> Path | None:
    """The header that the driver parses before each program, if this is PoCL from pip or from Debian; else None."""
    if device.platform.name != "Portable Computing Language":
        return None
    if "+debian" in device.driver_version:
        header = DEBIAN
    elif (package := importlib.util.find_spec(PACKAGE)) and device.driver_version.startswith(
        importlib.metadata.version(PACKAGE)
    ):
        header = Path(package.origin or "").parent / ".libs/share/pocl/include/opencl-c.h"
    else:
        return None
    return header if header.exists() else None


def declarations(header: Path, source: str) -> str:
    """What `source` needs of the header: each function whose name it contains, and every line of the preprocessor."""
    lines = lines_of(header)
    words = set(re.findall(r"[A-Za-z_]\w*", source))
    return "\n".join(text for name, text in lines if not name or name in words)


@functools.cache
def lines_of(header: Path) -> list[tuple[str, str]]:
    """The header as (name, declaration) of functions, and ("", line) of the rest. Its include guard has another name."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", header.read_text("utf-8"), flags=re.DOTALL)
    text = text.replace("\\\n", " ").replace(INCLUDE_GUARD, "_DECLARED_").replace('#include "opencl-c-base.h"', "")
    found, declaration = [], ""
    for line in filter(str.strip, text.splitlines()):
        if line.lstrip().startswith("#"):
            found.append(("", line))
            continue
        declaration += line + "\n"
        if ";" in line:
            name = re.search(r"(\w+)\s*\([^()]*\)[^()]*;", declaration)
            found.append((name[1] if name else "", declaration))
            declaration = ""
    return found


@contextlib.contextmanager
def silent_stderr() -> Iterator[None]:
    """Discard what drivers and compilers write directly to stderr (file descriptor 2)."""
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
