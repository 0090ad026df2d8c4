"""What was measured on this computer, kept beside the kernel cache: written by the doctor, read by every process.

One JSON file, {key: value}. TINYGRAD_CL_MEASURED names another file. What was not measured is not there, and a file
that cannot be read or written is as good as none.
"""

import contextlib
import json
import os
from pathlib import Path
from typing import Any

VARIABLE = "TINYGRAD_CL_MEASURED"


def file() -> Path:
    """The path of the file."""
    return Path(os.environ.get(VARIABLE) or Path.home() / ".cache" / "tinygrad_cl" / "measured.json")


def read() -> dict[str, Any]:
    """All that was measured; {} if nothing was, or if the file is damaged."""
    try:
        found = json.loads(file().read_text("utf-8"))
    except (OSError, ValueError, RuntimeError):  # RuntimeError: there is no home directory
        return {}
    return found if isinstance(found, dict) else {}


def keep(measured: dict[str, Any]) -> None:
    """Add to what was measured before. Another process may read at the same moment."""
    with contextlib.suppress(OSError, RuntimeError):
        path = file()
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        partial.write_text(json.dumps(read() | measured, indent=1, sort_keys=True), "utf-8")
        os.replace(partial, path)
