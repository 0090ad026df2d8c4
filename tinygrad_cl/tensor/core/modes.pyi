"""Whether operations are recorded, with types. The module itself has none: lessons show its text."""

import threading

class Switch(threading.local):
    on: bool

switch: Switch
process: dict[str, bool]

def is_grad_enabled() -> bool: ...

class GradMode:
    enabled: bool
    before: list[bool]
    def __init__(self, enabled: bool) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *exception: object) -> None: ...

def enable_autograd(enabled: bool = True) -> None: ...
