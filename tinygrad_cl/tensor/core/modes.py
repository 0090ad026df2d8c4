"""Whether operations are recorded: a switch for each thread, and one for the whole process."""

import threading


class Switch(threading.local):
    """`on`: whether this thread records. A new thread starts with the value below."""

    on = True


switch = Switch()
process = {"autograd": True}


def is_grad_enabled():
    """Whether operations of this thread are recorded now."""
    return switch.on and process["autograd"]


class GradMode:
    """Set `switch.on` for a `with` block, and restore the old value at its end.

    enabled    True or False: the value inside the block

    Blocks nest. If an exception ends the block, the old value is restored as well; the exception is
    not suppressed. Creating a GradMode changes nothing yet. One object may be used for several
    blocks, even nested ones.

    >>> off = GradMode(False)
    >>> with off:
    ...     switch.on
    False
    >>> switch.on
    True
    """

    def __init__(self, enabled):
        self.enabled = enabled
        self.before = []

    def __enter__(self):
        self.before.append(switch.on)
        switch.on = self.enabled

    def __exit__(self, *exception):
        switch.on = self.before.pop()


def enable_autograd(enabled=True):
    """Set the switch for the whole process, `process["autograd"]`.

    While it is off, nothing is recorded, in any block. A second call with the same value changes
    nothing.

    >>> enable_autograd(False); is_grad_enabled()
    False
    >>> enable_autograd(); enable_autograd(); is_grad_enabled()
    True
    """
    process["autograd"] = bool(enabled)
