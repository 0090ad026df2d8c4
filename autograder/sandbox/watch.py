"""The resources that all processes of one sandbox use together, and the programs that are left running at its end.

The operating system limits each process separately. So these functions add up the memory, processes and files of all.
"""

import os

import psutil

from autograder.sandbox.bubblewrap import Limits

ENDING = 1.0  # seconds that a program gets to end by itself


def overuse(pid: int, folder: str, limits: Limits = Limits()) -> str:
    """One sentence on the limit that a sandbox exceeds, `pid` being its first process; "" if none."""
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


def left_behind(pid: int, sandboxed: bool) -> list[str]:
    """The names of programs that a notebook started and that still run when its kernel is about to end.

    pid   the process that was started for the kernel: the kernel itself, or bubblewrap, whose child starts it

    Harmless programs are left out: those that end within ENDING seconds, and the workers and helpers of Python's
    `multiprocessing`, which end with the kernel.
    """
    try:
        first = psutil.Process(pid)
        family = [
            first,
            *sorted(first.children(recursive=True), key=lambda process: (process.create_time(), process.pid)),
        ]
        own = 3 if sandboxed else 1  # two of bubblewrap and the kernel, in the order in which they were started
        kernel = family[:own][-1]
        started = [process for process in family[own:] if not ends_with(kernel, process)]
    except psutil.Error:  # one of them ended while this was looking
        return []
    _, left = psutil.wait_procs(started, timeout=ENDING)
    return sorted({name_of(process) for process in left if not ends_with(kernel, process)} - {""})


def ends_with(kernel: psutil.Process, process: psutil.Process) -> bool:
    """Whether a process has ended already, or is one of `multiprocessing`: a fork of the kernel, or a helper by its name."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:  # its parent has not asked how it ended
            return True
        command = process.cmdline()
        return any("multiprocessing" in word for word in command) or (
            process.ppid() == kernel.pid and command == kernel.cmdline()
        )
    except psutil.Error:
        return True


def name_of(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return ""


def memory_of(processes: list, enough: int) -> int:
    """Bytes of memory. If the quick sum exceeds `enough`, shared pages are counted only once, which takes longer."""
    quick = sum(each_memory(process, "memory_info", "rss") for process in processes)
    return quick if quick <= enough else sum(each_memory(process, "memory_full_info", "pss") for process in processes)


def each_memory(process, method: str, kind: str) -> int:
    try:
        return getattr(getattr(process, method)(), kind)
    except psutil.Error:  # it has ended, or is not ours to read
        return 0


def is_full(folder: str, limits: Limits) -> bool:
    """Whether the folder exceeds a limit. Counting stops there, so a million files take no longer than the limit."""
    size = count = 0
    waiting = [folder]  # not os.walk, which calls itself for each level
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:  # blocks, since a file may have holes
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if size > limits.scratch or count > limits.files:
                        return True
        except OSError:  # it is gone already
            continue
    return False
