"""Files that are written whole or not at all, so that a run can be killed at any moment; files that are generated; folders of others."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file, and the folders above it; text is UTF-8. What was there before may be read-only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(partial, path)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink()  # a disk that is full need not keep it
        raise


def outdated(files: dict[Path, str]) -> dict[Path, str]:
    """Those of the generated files, {path: text}, that are missing or hold another text."""
    return {path: text for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text}


def update(files: dict[Path, str]) -> list[Path]:
    """Write the generated files that are outdated; returns their paths."""
    changed = outdated(files)
    for path, text in changed.items():
        write_atomically(path, text)
    return list(changed)


class DeepFolder(tempfile.TemporaryDirectory):
    """A temporary folder for somebody else's programs: what they put into it may be nested deeper than Python's functions go."""

    def cleanup(self) -> None:
        if shutil.which("rm"):
            subprocess.run(["rm", "-rf", "--", self.name], stderr=subprocess.DEVNULL)
        with contextlib.suppress(RecursionError):
            super().cleanup()
