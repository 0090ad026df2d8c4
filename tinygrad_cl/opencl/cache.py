"""One kernel cache for each process, warm from earlier runs.

PoCL writes every compiled kernel to a directory, and two processes that share it can crash each other
(pocl issues 430 and 1480). A directory per process that is thrown away would be safe, but would compile everything
anew each time. So directories are reused one after the other: a process locks the first free one for as long
as it lives, and the operating system drops the lock when the process ends, however it ends.
"""

import atexit
import contextlib
import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

MAX_BYTES = 256 * 2**20  # a directory that grew beyond it starts afresh
MAX_DIRECTORIES = 64


@contextlib.contextmanager
def private_kernel_cache() -> Iterator[None]:
    """Let PoCL, which reads the variable when it lists its devices, find a cache that no other process uses.

    A POCL_CACHE_DIR that exists is the user's wish and is left alone. Otherwise the variable is set inside the `with`
    only: a child process would inherit it, and then share the cache.
    """
    wish = os.environ.get("POCL_CACHE_DIR")
    if wish and os.path.isdir(wish):
        yield
        return
    os.environ["POCL_CACHE_DIR"] = str(_directory_of_this_process())
    try:
        yield
    finally:
        if wish is None:
            del os.environ["POCL_CACHE_DIR"]
        else:
            os.environ["POCL_CACHE_DIR"] = wish


@functools.cache
def _directory_of_this_process() -> Path:
    return take_directory()


def take_directory(root: Path | str | None = None) -> Path:
    """The first directory under `root` that no living process holds; a temporary one where `root` cannot be written."""
    root = Path(root or Path.home() / ".cache" / "tinygrad_cl" / "kernels")
    try:
        root.mkdir(parents=True, exist_ok=True)
        directory = next(root / str(number) for number in range(MAX_DIRECTORIES) if _lock(root / f"{number}.lock"))
        if _size(directory) > MAX_BYTES:
            shutil.rmtree(directory)
        directory.mkdir(exist_ok=True)
    except (OSError, RuntimeError, StopIteration):  # a read-only home, none at all, or one without locks
        directory = Path(tempfile.mkdtemp(prefix="tinygrad_cl-kernels-"))
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def _lock(path: Path) -> bool:
    """Lock the file for the rest of this process; False where another one holds it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)  # stays open: closing it would release the lock
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return False
    return True


def _size(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
