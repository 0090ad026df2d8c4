"""Whether operations are recorded, and on which tape: for each thread on its own."""

import contextlib
import threading

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]


class State(threading.local):
    """What a thread is doing.

    enabled   whether operations keep what backward needs
    tapes     the tapes that are open, the innermost last
    anomaly   whether backward looks at every gradient for NaN and infinities
    trace     where operations are written down instead of computed (see `trace`), or None
    leaves    a list that gets each tensor on which backward leaves a leaf's gradient; None where
              nobody wants to know, as outside of a recording
    """

    def __init__(self):
        self.enabled = True
        self.tapes = []
        self.anomaly = False
        self.trace = None
        self.leaves = None


state = State()


def is_grad_enabled():
    """Whether operations of this thread are recorded."""
    return state.enabled


class set_grad_enabled:  # a function for its users: netcl's name
    """Record operations of this thread, or not, from now on; in a `with`, until its end.

    Nests, and is put back when an exception leaves the `with`.

    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    >>> is_grad_enabled()
    True
    """

    def __init__(self, mode):
        self.mode = bool(mode)
        self.before = state.enabled
        state.enabled = self.mode

    def __enter__(self):
        state.enabled = self.mode
        return self

    def __exit__(self, *exception):
        state.enabled = self.before


class no_grad(contextlib.ContextDecorator):
    """`with no_grad():` or `@no_grad()`: compute without recording. Results are Nodes as ever, so
    operators work on them, but they have no parents and require no gradient."""

    mode = False

    def __init__(self):
        self.before = []  # a decorated function may call itself

    def __enter__(self):
        self.before.append(state.enabled)
        state.enabled = self.mode
        return self

    def __exit__(self, *exception):
        state.enabled = self.before.pop()


class enable_grad(no_grad):
    """`with enable_grad():` inside `no_grad`: record after all."""

    mode = True
