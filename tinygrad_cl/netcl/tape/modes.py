"""What a thread is doing: the tapes that are open, and the modes."""

import contextlib
import threading

__all__ = [
    "detect_anomaly",
    "enable_grad",
    "is_grad_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]


class State(threading.local):
    """What a thread is doing: each has its own.

    tapes     the tapes that are open, the innermost last
    enabled   whether operations are recorded
    anomaly   whether backward looks at every gradient for NaN and Inf

    And two hooks, None while nobody uses them:

    trace     takes over operations: trace.operation(op_name, args, attrs) returns the Node
    leaves    a list to which backward appends each Tensor that it stores a gradient on
    """

    def __init__(self):
        self.tapes, self.enabled, self.anomaly = [], True, False
        self.trace = self.leaves = None


state = State()


def is_grad_enabled():
    """Whether operations of this thread are recorded."""
    return state.enabled


class set_grad_enabled:  # a function for its users: netcl's name
    """Record operations of this thread, or not, from now on; in a `with`, until its end.

    It nests, and the old mode is restored also when an exception ends the `with`.

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
    """`with no_grad():` or `@no_grad()`: compute without recording. Results are Nodes as usual, so
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
    """`with enable_grad():` inside `no_grad`: operations are recorded again."""

    mode = True


class detect_anomaly:
    """`with detect_anomaly():` around a backward: a gradient with NaN or Inf is a RuntimeError that
    names the operation and the line that called it. Slow: every gradient is copied to the host.

    If it is on during the forward pass, too, the error shows all lines that led to the operation.
    """

    def __init__(self, enable=True):
        self.enable = enable
        self.before = []

    def __enter__(self):
        self.before.append(state.anomaly)
        state.anomaly = self.enable
        return self

    def __exit__(self, *exception):
        state.anomaly = self.before.pop()


def set_detect_anomaly(enable):
    """Switch detect_anomaly on or off for this thread, without a block."""
    state.anomaly = bool(enable)
