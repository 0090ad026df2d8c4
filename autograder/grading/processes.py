"""Processes of the grader that end with the one that started them."""

import os
import signal
import time


def end_with(parent: int) -> None:
    """End this process when the one that started it has ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)
