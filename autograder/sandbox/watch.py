"""What the processes of one sandbox use together.

The system limits each process by itself. So a look now and then adds up what they use: memory, processes, files.
"""

import os

import psutil

from autograder.sandbox.bubblewrap import Limits


def overuse(pid: int, folder: str, limits: Limits = Limits()) -> str:
    """What the sandbox whose first process is `pid` uses too much of, in words; "" if nothing."""
    try:
        processes = psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return ""
    if len(processes) > limits.together:
        return f"it started more than {limits.together} processes"
    if memory_of(processes, limits.memory) > limits.memory:
        return f"it used more than {limits.memory / 2**30:g} GiB of memory"
    if is_full(folder, limits):
        return f"it wrote more than {limits.scratch / 2**20:g} MiB, or {limits.files} files, into its folder"
    return ""


def left_behind(pid: int) -> list[str]:
    """The names of programs that a notebook started and that still run, when the sandbox is about to end."""
    try:
        processes = psutil.Process(pid).children(recursive=True)
        return [
            name for name in (process.name() for process in processes[2:]) if name
        ]  # bubblewrap and the kernel come first
    except psutil.Error:
        return []


def memory_of(processes: list, enough: int) -> int:
    """Bytes. What several share is counted once, where the quick count, which takes it for each, is too high."""
    quick = sum(each_memory(process, "memory_info", "rss") for process in processes)
    return quick if quick <= enough else sum(each_memory(process, "memory_full_info", "pss") for process in processes)


def each_memory(process, method: str, kind: str) -> int:
    try:
        return getattr(getattr(process, method)(), kind)
    except psutil.Error:  # it has ended, or is not ours to read
        return 0


def is_full(folder: str, limits: Limits) -> bool:
    """Does the folder hold too much? Counting stops there, so a million files take no longer than the limit."""
    size = count = 0
    for place, _, names in os.walk(folder):
        count += 1
        for name in names:
            count += 1
            try:
                size += os.lstat(os.path.join(place, name)).st_blocks * 512  # blocks, since a file may have holes
            except OSError:
                continue
            if size > limits.scratch or count > limits.files:
                return True
    return count > limits.files
