"""A kernel cache for each process, warm from earlier runs.

PoCL writes every compiled kernel to a directory, and two processes that share it can crash each other
(pocl issues 430 and 1480). A temporary directory per process would be safe, but would compile everything again each
time. So directories are reused: a process locks the first free one until it ends. The operating system releases the
lock, also after a crash.
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

MAX_BYTES = 256 * 2**20  # a larger directory is emptied
MAX_DIRECTORIES = 64


@contextlib.contextmanager
def private_kernel_cache() -> Iterator[None]:
    """Point POCL_CACHE_DIR at a cache that no other process uses. PoCL reads the variable when it lists its devices.

    If the user has set POCL_CACHE_DIR to an existing directory, it is used. Otherwise the variable is set inside the
    `with` only, since a child process would inherit it and then share the cache.
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
    """Lock and return the first free directory under `root`; a temporary one if `root` is not writable."""
    root = Path(root or Path.home() / ".cache" / "tinygrad_cl" / "kernels")
    try:
        root.mkdir(parents=True, exist_ok=True)
        directory = next(root / str(number) for number in range(MAX_DIRECTORIES) if _lock(root / f"{number}.lock"))
        if _size(directory) > MAX_BYTES:
            shutil.rmtree(directory)
        directory.mkdir(exist_ok=True)
    except (
        OSError,
        RuntimeError,
        StopIteration,
    ):  # the home directory is read-only, missing or without locks, or all are taken
        directory = Path(tempfile.mkdtemp(prefix="tinygrad_cl-kernels-"))
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def _lock(path: Path) -> bool:
    """Lock the file until this process ends; False if another process holds the lock."""
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
