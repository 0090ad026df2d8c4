"""What all layers have in common: parameters, which can be named, saved and loaded."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.state import load_arrays

__all__ = ["Module"]


class Module:
    """A part of a model. A subclass keeps Parameters and other Modules as attributes, also in
    lists, tuples and dicts, and says in `forward` what it computes; `model(x)` calls that.

    training   whether `train()` or `eval()` was called last; only Dropout behaves differently

    >>> class Twice(Module):
    ...     def __init__(self, inner):
    ...         self.inner = inner
    ...     def forward(self, x):
    ...         return self.inner(self.inner(x))
    """

    training = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward: what does it compute?")

    def parameters(self) -> list[Parameter]:
        """The Parameters of this module and of those in it, a list; each once, even if shared."""
        return [value for _, value in self.named_parameters()]

    def named_parameters(self) -> list[tuple[str, Parameter]]:
        """[(name, Parameter)]; a name is the path of attributes to it: "layers.0.weight"."""
        return [(name, value) for name, value in members(self) if isinstance(value, Parameter)]

    def modules(self) -> list["Module"]:
        """This module and those in it, a list; each once."""
        return [value for _, value in members(self) if isinstance(value, Module)]

    def zero_grad(self) -> None:
        """Set all gradients to None."""
        for parameter in self.parameters():
            parameter.grad = None

    def train(self, mode: bool = True) -> Self:
        """Set `training` here and in all modules inside, and return self."""
        for module in self.modules():
            module.training = bool(mode)
        return self

    def eval(self) -> Self:
        """The same as `train(False)`."""
        return self.train(False)

    def state_dict(self) -> dict[str, np.ndarray]:
        """Copies of all parameters as NumPy arrays: {"layers.0.weight": …}."""
        return {name: parameter.to_host() for name, parameter in self.named_parameters()}

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Write what `state_dict` returned into the parameters. KeyError if names differ, ValueError if
        shapes differ; then nothing is changed.
        """
        load_arrays(dict(self.named_parameters()), state)

    def __repr__(self):
        return f"{type(self).__name__}()"


def members(module):
    """(name, value) for this module and all Parameters and Modules in it, in the order in which
    they were set.
    """
    seen, stack = set(), [("", module)]
    while stack:
        name, value = stack.pop()
        if id(value) in seen or not isinstance(value, (Parameter, Module, dict, list, tuple)):
            continue
        seen.add(id(value))
        if isinstance(value, (Parameter, Module)):
            yield name, value
        if isinstance(value, Parameter):
            continue
        inner = vars(value) if isinstance(value, Module) else value
        inner = inner.items() if isinstance(inner, dict) else enumerate(inner)
        stack += [(f"{name}.{key}" if name else str(key), part) for key, part in inner][::-1]
