"""Is what happens now recorded? One switch for each thread, and one for the whole process."""

import threading


class Switch(threading.local):
    """`on`, for each thread separately; a new thread starts with the value that stands here."""

    on = True


switch = Switch()
process = {"autograd": True}


def is_grad_enabled():
    """Is an operation that is done now, in this thread, recorded?"""
    return switch.on and process["autograd"]


class GradMode:
    """`switch.on` in a position for the length of a `with` block, then as it was before the block.

    enabled    True or False: the position

    Blocks nest. An error in the block passes on to whoever catches it; the switch is put back all
    the same. Making a GradMode changes nothing yet. One object may be used for several blocks, also
    for one inside the other.

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
    """The switch for the whole process, `process["autograd"]`: on, or off.

    Off, nothing is recorded, in no block. How often it is called plays no role.

    >>> enable_autograd(False); is_grad_enabled()
    False
    >>> enable_autograd(); enable_autograd(); is_grad_enabled()
    True
    """
    process["autograd"] = bool(enabled)
