"""PyTorch's names for switching recording on and off, as `with` blocks and as decorators."""

from contextlib import ContextDecorator

from tinygrad_cl.tensor.core.modes import GradMode, switch


class Block(GradMode, ContextDecorator):
    """A GradMode that is also a decorator."""

    def _recreate_cm(self):  # a stack for each call of a decorated function: it may run in threads
        return Block(self.enabled)


class set_grad_enabled(Block):
    """Switch recording on or off: from now on, as a call, or inside a `with` block.

    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    >>> is_grad_enabled()
    True
    """

    def __init__(self, enabled):
        super().__init__(bool(enabled))
        self.before_call = switch.on
        switch.on = self.enabled

    def __enter__(self):
        super().__enter__()
        self.before[-1] = self.before_call if len(self.before) == 1 else self.before[-1]

    def __call__(self, function):  # a decorator changes nothing until its function is called
        switch.on = self.before_call
        return super().__call__(function)


def no_grad(function=None):
    """Nothing is recorded in `with no_grad():`, nor in a function under `@no_grad()` or `@no_grad`.

    >>> with no_grad():
    ...     is_grad_enabled()
    False
    """
    return Block(False) if function is None else Block(False)(function)


def enable_grad(function=None):
    """`with enable_grad():` records again, inside `no_grad`; also a decorator.

    >>> with no_grad(), enable_grad():
    ...     is_grad_enabled()
    True
    """
    return Block(True) if function is None else Block(True)(function)
