"""Files that are written whole or not at all, so that a run can be killed at any moment; files that are generated."""

import contextlib
import os
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
