"""The modes of a thread, with types. The module itself has none: lessons show its text."""

import contextlib
import threading
from typing import Any, Self

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.tape.tape import Tape

__all__ = [
    "detect_anomaly",
    "enable_grad",
    "is_grad_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]

class State(threading.local):
    tapes: list[Tape]
    enabled: bool
    anomaly: bool
    trace: Any
    leaves: list[Tensor] | None
    def __init__(self) -> None: ...

state: State

def is_grad_enabled() -> bool: ...

class set_grad_enabled:
    mode: bool
    before: bool
    def __init__(self, mode: bool) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

class no_grad(contextlib.ContextDecorator):
    mode: bool
    before: list[bool]
    def __init__(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

class enable_grad(no_grad): ...

class detect_anomaly:
    enable: bool
    before: list[bool]
    def __init__(self, enable: bool = True) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

def set_detect_anomaly(enable: bool) -> None: ...
