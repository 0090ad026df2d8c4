"""What all layers have in common: parameters, which can be named, saved and loaded."""

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

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward: what does it compute?")

    def parameters(self):
        """The Parameters of this module and of those in it, a list; each once, even if shared."""
        return [value for _, value in self.named_parameters()]

    def named_parameters(self):
        """[(name, Parameter)], named by the way there: "layers.0.weight"."""
        return [(name, value) for name, value in members(self) if isinstance(value, Parameter)]

    def modules(self):
        """This module and those in it, a list; each once."""
        return [value for _, value in members(self) if isinstance(value, Module)]

    def zero_grad(self):
        """Forget all gradients."""
        for parameter in self.parameters():
            parameter.grad = None

    def train(self, mode=True):
        """Set `training` here and in all modules inside, and return self."""
        for module in self.modules():
            module.training = bool(mode)
        return self

    def eval(self):
        """The same as `train(False)`."""
        return self.train(False)

    def state_dict(self):
        """Copies of all parameters as NumPy arrays: {"layers.0.weight": …}."""
        return {name: parameter.to_host() for name, parameter in self.named_parameters()}

    def load_state_dict(self, state):
        """Write what `state_dict` gave into the parameters. Nothing is changed if something does
        not fit: KeyError for names, ValueError for shapes.
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
