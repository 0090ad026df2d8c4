"""Is what happens now recorded? One switch for each thread, and one for the whole process.

Modes nest, are restored when a block ends by an exception, and serve as decorators, too.
"""

import threading
from contextlib import ContextDecorator


class ThreadState(threading.local):
    """What every thread has for itself; a new thread starts with these values."""

    grad_enabled = True
    recorder = None  # a list to which each new node of the graph is appended (checkpoint.py)


state = ThreadState()
process = {"autograd": True}


class GradMode(ContextDecorator):
    """Recording on or off for the length of a block or of a function, then as it was before."""

    def __init__(self, enabled):
        self.enabled = enabled
        self.before = []  # a stack, so that one object may be entered twice

    def __enter__(self):
        self.before.append(state.grad_enabled)
        state.grad_enabled = self.enabled
        return self

    def __exit__(self, *exception):
        state.grad_enabled = self.before.pop()

    def _recreate_cm(self):  # a stack for each call of a decorated function: it may run in threads
        return GradMode(self.enabled)


class set_grad_enabled(GradMode):
    """Switch recording on or off: at once, as a call, or for the length of a `with` block.

    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    >>> is_grad_enabled()
    True
    """

    def __init__(self, enabled):
        super().__init__(bool(enabled))
        self.before_call = state.grad_enabled
        state.grad_enabled = self.enabled

    def __enter__(self):
        super().__enter__()
        self.before[-1] = self.before_call if len(self.before) == 1 else self.before[-1]
        return self

    def __call__(self, function):  # a decorator changes nothing until its function is called
        state.grad_enabled = self.before_call
        return super().__call__(function)


def no_grad(function=None):
    """Nothing is recorded in `with no_grad():`, nor in a function under `@no_grad()` or `@no_grad`.

    >>> with no_grad():
    ...     is_grad_enabled()
    False
    """
    mode = GradMode(False)
    return mode if function is None else mode(function)


def enable_grad(function=None):
    """Recording again, in the middle of `no_grad`.

    >>> with no_grad(), enable_grad():
    ...     is_grad_enabled()
    True
    """
    mode = GradMode(True)
    return mode if function is None else mode(function)


def is_grad_enabled():
    """Is an operation that is done now, in this thread, recorded?"""
    return state.grad_enabled and process["autograd"]


def enable_autograd(enabled=True):
    """The switch for the whole process: off, a Tensor is no more than an array; on, it is recorded.

    It is on from the start. Calling it twice does no more than calling it once.

    >>> enable_autograd(False); is_grad_enabled()
    False
    >>> enable_autograd(); enable_autograd(); is_grad_enabled()
    True
    """
    process["autograd"] = bool(enabled)
