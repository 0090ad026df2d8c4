"""Make pages of feedback in a process that may be ended: what a student wrote decides how long and how large a page becomes.

A page that takes too long, too much memory, or becomes too large is given up, and nothing else is: the marks are known
before it is begun.
"""

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
from functools import lru_cache
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import nbformat

from autograder.grading.feedback import feedback_page
from autograder.grading.marks import Marks
from autograder.grading.processes import end_with

SECONDS = 30.0  # for one page
LARGEST = 80_000_000  # bytes of a page: pictures that were handed in come along
MEMORY = 4 * 2**30  # bytes of address space


class NoPage(Exception):
    """The page could not be made; the message goes on after "because"."""


class PageMaker:
    """A process that makes one page after another. It is started for the first, and anew after one that it was ended for."""

    def __init__(self, seconds: float = SECONDS):
        self.seconds = seconds
        self.process: subprocess.Popen | None = None
        self.connection: Connection | None = None

    def start(self) -> Connection:
        """The connection to the process, which is started where there is none."""
        if self.process is None or self.connection is None:
            self.connection, theirs = Pipe()
            with theirs:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "autograder.grading.page_maker", str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                    stdin=subprocess.DEVNULL,
                )
        return self.connection

    def page(self, notebook: bytes, module: str, marks: Marks = Marks()) -> bytes:
        """The page of a notebook, given as its file. NoPage where that cannot be."""
        connection = self.start()
        try:
            connection.send((notebook, module, marks))
            if not connection.poll(self.seconds):
                raise NoPage(f"the page took more than {self.seconds:g} s to make")
            made, reason = connection.recv()
        except NoPage:
            self.stop()
            raise
        except (EOFError, OSError):
            self.stop()
            raise NoPage("the process that makes the page ended (out of memory?)") from None
        if reason:
            raise NoPage(reason)
        return made

    def stop(self) -> None:
        if self.process is not None and self.connection is not None:
            self.connection.close()
            self.process.kill()
            self.process.wait()
            self.process = self.connection = None


@lru_cache
def page_maker() -> PageMaker:
    """The one of this process; it ends with it."""
    maker = PageMaker()
    atexit.register(maker.stop)
    return maker


def made(notebook: bytes, module: str, marks: Marks) -> tuple[bytes, str]:
    """(page, "") or (b"", why there is none)."""
    try:
        page = feedback_page(nbformat.reads(notebook.decode(), as_version=4), module, marks).encode(errors="replace")
    except MemoryError:
        return b"", "there is not enough memory for it"
    except Exception as error:
        return b"", f"of an error in making the page ({type(error).__name__})"
    if len(page) > LARGEST:
        return b"", f"the page would have {len(page) / 1e6:.0f} MB"
    return page, ""


def serve(connection: Connection) -> None:
    """What the process does, until nobody is at the other end."""
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(ImportError, ValueError, OSError):  # there is none on Windows, and macOS has no such limit
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send(made(*connection.recv()))


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
