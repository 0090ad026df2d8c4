"""`no_grad` and `enable_grad` as decorators: of functions, not of generators."""

import inspect

from tinygrad_cl.netcl.tape import modes

__all__ = ["enable_grad", "no_grad"]


class no_grad(modes.no_grad):
    __doc__ = modes.no_grad.__doc__

    def __call__(self, function):
        """The function, in this mode. TypeError for a generator function and an async one: their body
        runs after the call, when the mode would be over."""
        kinds = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
        if any(kind(function) for kind in kinds):
            name = type(self).__name__
            raise TypeError(
                f"@{name}() would be over before the body of {function.__name__} runs, a generator or async function: "
                f"write `with {name}():` inside it, around what it computes and around no yield"
            )
        return super().__call__(function)


class enable_grad(no_grad):
    __doc__ = modes.enable_grad.__doc__
    mode = True
