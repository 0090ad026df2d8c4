"""Temporary folders of the grader, which go with it also where it is killed.

Each process has one, and holds a lock on it while it lives. Whoever comes next removes those that nobody holds: a lock
ends with its process, however that ends.
"""

import atexit
import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment] # there is no such module

PREFIX = "course-of-"


@lru_cache
def kept_folder() -> Path:
    """The folder of this process, which others may look into; it goes with the process."""
    remove_abandoned(tempfile.gettempdir())
    while True:
        made = Path(tempfile.mkdtemp(prefix=PREFIX))
        if is_held(made):
            break
    atexit.register(remove, made)
    made.chmod(0o755)
    return made


def new_folder(prefix: str) -> Path:
    """A new folder in that of this process."""
    return Path(tempfile.mkdtemp(prefix=prefix, dir=kept_folder()))


@contextlib.contextmanager
def temporary_files_kept() -> Iterator[None]:
    """In the block, what libraries put among the temporary files goes into the folder of this process."""
    before, tempfile.tempdir = tempfile.tempdir, str(new_folder("of-libraries-"))
    try:
        yield
    finally:
        tempfile.tempdir = before


def remove_abandoned(among: str | Path = "") -> None:
    """Remove the folders of processes that have ended without doing so; `among`: where this one's folder is."""
    if fcntl is None:
        return
    for folder in Path(among or kept_folder().parent).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.stat(follow_symlinks=False).st_uid == os.geteuid() and (handle := locked(folder)) is not None:
                remove(folder)
                os.close(handle)


def is_held(folder: Path) -> bool:
    """Hold a new folder for as long as this process lives; False where somebody took it for abandoned in the meantime."""
    try:
        return fcntl is None or locked(folder) is not None and folder.exists()
    except OSError:
        return False


def locked(folder: Path) -> int | None:
    """The handle of a folder, with a lock on it; None where another process has that."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return handle
    except OSError:
        os.close(handle)
        return None


def remove(folder: Path) -> None:
    """Remove a folder. What a notebook put into it without a sandbox may be nested deeper than Python's functions go."""
    if shutil.which("rm"):
        subprocess.run(["rm", "-rf", "--", str(folder)], stderr=subprocess.DEVNULL)
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
