"""debug_tape, with types. The module itself has none: a lesson shows its text."""

from collections.abc import Callable

import numpy as np

from tinygrad_cl.netcl.tape.tape import Tape

__all__ = ["debug_tape", "describe"]

class debug_tape:
    tape: Tape
    say: Callable[[str], object]
    begin: int
    def __init__(self, tape: Tape | None = None, say: Callable[[str], object] = ...) -> None: ...
    def __enter__(self) -> Tape: ...
    def __exit__(self, *exception: object) -> None: ...

def describe(tape: Tape, begin: int = 0) -> str: ...
def span(array: np.ndarray) -> str: ...
