"""PyTorch's names for switching recording on and off, as `with` blocks and as decorators."""

import inspect
from collections.abc import Generator
from functools import wraps

from tinygrad_cl.tensor.core.modes import GradMode, switch


class Steps(Generator):
    """A generator, each step of it a block `GradMode(enabled)`; between two, the caller's mode."""

    def __init__(self, generator, enabled):
        self.generator = generator
        self.enabled = enabled

    def send(self, value):
        with GradMode(self.enabled):
            return self.generator.send(value)

    def throw(self, *error):
        with GradMode(self.enabled):
            return self.generator.throw(*error)


def in_mode(function, enabled):
    """A function that does what `function` does; each call of it is a block `GradMode(enabled)`.

    Arguments, keyword arguments, result, errors, name and docstring are those of `function`. Making
    it runs nothing and changes no mode. Calls may overlap: one in another, and in several threads.
    A generator function gives `Steps` of its generator.

    >>> ask = in_mode(is_grad_enabled, False)
    >>> ask(), is_grad_enabled()
    (False, True)
    """
    if inspect.isgeneratorfunction(function):
        return wraps(function)(lambda *args, **kwargs: Steps(function(*args, **kwargs), enabled))

    @wraps(function)
    def call(*args, **kwargs):
        with GradMode(enabled):
            return function(*args, **kwargs)

    return call


class Block(GradMode):
    """A GradMode that is also a decorator, of functions and of generator functions."""

    def __call__(self, function):
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            name = function.__name__
            raise TypeError(f"{name} awaits, and others run: use `with no_grad():` inside it")
        return in_mode(function, self.enabled)


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
