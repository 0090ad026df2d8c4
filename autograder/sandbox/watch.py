"""The resources that all processes of one sandbox use together, and the programs that are left running at its end.

The operating system limits each process separately. So these functions add up the memory, processes and files of all.
"""

import os
import subprocess
import threading
from collections.abc import Callable

import psutil

from autograder.sandbox.bubblewrap import SCRATCH, Limits

ENDING = 1.0  # seconds that a program gets to end by itself
LOOK_SECONDS = 0.5  # between two looks at what a sandbox uses


class Watch(threading.Thread):
    """Looks at a sandbox for as long as it lives, also while nobody waits for it, and kills it where it uses too much.

    tell(sentence) is called with the reason.
    """

    def __init__(self, process: subprocess.Popen, root: str, tell: Callable[[str], None]):
        """process: what was started for the sandbox; root: as for `overuse`."""
        super().__init__(daemon=True)
        self.process, self.root, self.tell = process, root, tell
        self.over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.over.wait(LOOK_SECONDS):
            if reason := overuse(self.process.pid, self.root):
                self.tell(f"was stopped: {reason}")
                self.process.kill()
                return

    def stop(self) -> None:
        self.over.set()
        self.join()


def overuse(pid: int, root: str, limits: Limits = Limits()) -> str:
    """One sentence on the limit that a sandbox exceeds; "" if none.

    pid   the process that was started for it
    root  the folder under which its files are seen from outside (`bubblewrap.root_of`)
    """
    try:
        processes = psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return ""
    if len(processes) > limits.together:
        return f"it started more than {limits.together} processes"
    if memory_of(processes, limits.memory) > limits.memory:
        return f"it used more than {limits.memory / 2**30:g} GiB of memory"
    for place in SCRATCH:
        if is_full(root + place, limits):
            return f"it wrote {limits.scratch / 2**20:g} MiB, or more than {limits.files} files, into {place}"
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


def is_full(place: str, limits: Limits) -> bool:
    """Whether a place in memory is full, or holds too many files. Files that have lost their names, or lie deep, count as well."""
    try:
        found = os.statvfs(place)
    except OSError:  # the sandbox has ended
        return False
    return found.f_bfree * found.f_bsize < 2**20 or found.f_files - found.f_ffree > limits.files
