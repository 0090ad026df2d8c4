"""torch.nn: as many layers as a first program needs. Engine 3 has more: tinygrad_cl.netcl.nn."""

import math

from tinygrad_cl.tensor.core.variable import raw
from tinygrad_cl.tensor.torch.creation import as_tensor, rand
from tinygrad_cl.tensor.torch.nn import functional, utils
from tinygrad_cl.tensor.torch.tensor_class import Tensor

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "Dropout",
    "GELU",
    "Linear",
    "MSELoss",
    "Module",
    "Parameter",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
    "utils",
]


class Parameter(Tensor):
    """A tensor that a Module lists among its parameters; what is computed from it is a Tensor."""

    @classmethod
    def wrap(cls, array):
        return Tensor.wrap(array)

    @classmethod
    def context(cls, function, needs_input_grad):
        return Tensor.context(function, needs_input_grad)

    def __init__(self, data, requires_grad=True):
        self.data = raw(as_tensor(data))
        self.requires_grad_(requires_grad)


class Module:
    """Parameters and other modules as attributes, and `forward`, which a subclass writes."""

    training = True

    def __call__(self, *inputs):
        return self.forward(*inputs)

    def forward(self, *inputs):
        raise NotImplementedError(f"{type(self).__name__} needs a method forward")

    def children(self):
        return [x for x in self.__dict__.values() if isinstance(x, Module)]

    def named_parameters(self, prefix=""):
        """(name, parameter), the own ones before those of the modules inside, each parameter once."""
        seen = set()
        for name, parameter in self.all_parameters(prefix):
            if parameter not in seen:
                seen.add(parameter)
                yield name, parameter

    def all_parameters(self, prefix):
        for kind in (Parameter, Module):
            for name, x in self.__dict__.items():
                if isinstance(x, kind):
                    yield from [(prefix + name, x)] if kind is Parameter else x.all_parameters(f"{prefix}{name}.")

    def parameters(self):
        return (parameter for _, parameter in self.named_parameters())

    def zero_grad(self):
        for parameter in self.parameters():
            parameter.grad = None

    def train(self, mode=True):
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)


class Linear(Module):
    """x Wᵀ + b, both evenly from −1/√inputs to 1/√inputs at first."""

    def __init__(self, in_features, out_features, bias=True):
        bound = 1 / math.sqrt(in_features)
        self.weight = Parameter(rand(out_features, in_features) * (2 * bound) - bound)
        self.bias = Parameter(rand(out_features) * (2 * bound) - bound) if bias else None

    def forward(self, x):
        return functional.linear(x, self.weight, self.bias)


class Sequential(Module):
    """One module after the other."""

    def __init__(self, *modules):
        self.__dict__.update((str(i), module) for i, module in enumerate(modules))

    def forward(self, x):
        for module in self.children():
            x = module(x)
        return x


def layer(function, name, *, place=(), keywords=()):
    """A module that is a function with settings, which PyTorch takes by place or by keyword alone."""

    class Layer(Module):
        def __init__(self, *values, **options):
            if len(values) > len(place) or not options.keys() <= {*place[len(values) :], *keywords}:
                raise TypeError(f"{name} has the settings {(*place, *keywords)}, by keyword; got {values} {options}")
            self.options = dict(zip(place, values)) | options

        def forward(self, *inputs):
            return function(*inputs, **self.options)

    Layer.__name__ = Layer.__qualname__ = name
    return Layer


ReLU = layer(functional.relu, "ReLU")
Sigmoid = layer(functional.sigmoid, "Sigmoid")
Tanh = layer(functional.tanh, "Tanh")
GELU = layer(functional.gelu, "GELU", place=["approximate"])
Softmax = layer(functional.softmax, "Softmax", place=["dim"])
MSELoss = layer(functional.mse_loss, "MSELoss", keywords=["reduction"])
BCELoss = layer(functional.binary_cross_entropy, "BCELoss", keywords=["reduction"])
BCEWithLogitsLoss = layer(functional.binary_cross_entropy_with_logits, "BCEWithLogitsLoss", keywords=["reduction"])
CrossEntropyLoss = layer(functional.cross_entropy, "CrossEntropyLoss", keywords=["reduction"])


class Dropout(Module):
    """Each number 0 with probability p while training."""

    def __init__(self, p=0.5):
        self.p = p

    def forward(self, x):
        return functional.dropout(x, self.p, self.training)
