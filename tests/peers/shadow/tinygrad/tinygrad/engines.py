"""Engines 2 and 3 for the adapter of tinygrad: the same few words for both.

leaf(array, requires_grad)   a tensor of the engine
read(x)                      its array
slopes(out, inputs, grad)    ∂⟨out, grad⟩/∂inputs, a list; None where out does not depend on one
optimizer(name, xs, options) one of the engine's for these leaves
put(x, grad)                 make this the gradient that the optimizer finds
functions                    {name: function of the engine's tensors}
"""

import os

import numpy as np
from verdicts import NotOffered


def mean_only(loss):
    """Engine 2 has losses as means over all."""

    def compute(x, y, reduction):
        if reduction != "mean":
            raise NotOffered(f"losses with reduction {reduction!r}")
        return loss(x, y)

    return compute


class Engine2:
    """tinygrad_cl.tensor"""

    def __init__(self):
        from tinygrad_cl import tensor

        self.engine, Tensor = tensor, tensor.Tensor
        self.functions = {
            name: getattr(Tensor, name)
            for name in [
                "exp",
                "log",
                "sqrt",
                "sin",
                "cos",
                "tanh",
                "abs",
                "relu",
                "sigmoid",
                "softmax",
                "log_softmax",
                "maximum",
                "minimum",
                "sum",
                "mean",
                "max",
                "min",
                "cumsum",
                "reshape",
                "permute",
                "flip",
            ]
        }
        self.functions |= {
            "add": lambda x, y: x + y,
            "sub": lambda x, y: x - y,
            "mul": lambda x, y: x * y,
            "div": lambda x, y: x / y,
            "pow": lambda x, y: x**y,
            "neg": lambda x: -x,
            "matmul": lambda x, y: x @ y,
            "getitem": lambda x, key: x[key],
            "where": tensor.where,
            "expand": Tensor.expand,
            "cat": lambda *xs, axis: tensor.cat(xs, axis),
            "gelu tanh": Tensor.gelu,
            "cross_entropy": mean_only(tensor.cross_entropy),
            "bce": mean_only(tensor.binary_cross_entropy),
            "bce_logits": mean_only(tensor.binary_cross_entropy_with_logits),
            "lt": lambda x, y: x < y,
            "le": lambda x, y: x <= y,
            "gt": lambda x, y: x > y,
            "ge": lambda x, y: x >= y,
            "eq": lambda x, y: x == y,
            "ne": lambda x, y: x != y,
        }

    def leaf(self, array, requires_grad):
        return self.engine.Tensor(array, requires_grad=requires_grad)

    def read(self, x):
        return x.data

    def slopes(self, out, inputs, grad=None):
        if not out.requires_grad:
            return [None] * len(inputs)
        grad = None if grad is None else self.engine.Tensor(grad)
        return self.engine.grad(out, inputs, grad, create_graph=True, allow_unused=True)

    def optimizer(self, name, xs, options):
        return getattr(self.engine, name)(xs, **options)

    def put(self, x, grad):
        x.grad = grad


class Engine3:
    """tinygrad_cl.netcl"""

    def __init__(self):
        import tinygrad_cl.netcl.autograd as ag
        from tinygrad_cl.netcl.core.device import manager
        from tinygrad_cl.netcl.core.tensor import Tensor

        self.ag, self.Tensor, self.queue = ag, Tensor, manager.default("auto").queue
        self.functions = {
            name: getattr(ag, name)
            for name in [
                "exp",
                "log",
                "sqrt",
                "sin",
                "cos",
                "tanh",
                "abs",
                "relu",
                "sigmoid",
                "softmax",
                "log_softmax",
                "maximum",
                "minimum",
                "sum",
                "mean",
                "max",
                "min",
                "reshape",
                "add",
                "sub",
                "mul",
                "div",
                "pow",
                "neg",
                "matmul",
                "getitem",
                "where",
                "lt",
                "le",
                "gt",
                "ge",
                "eq",
                "ne",
                "cross_entropy",
            ]
        }
        self.functions |= {
            "permute": lambda x, axes: ag.transpose(x, axes),
            "expand": ag.broadcast_to,
            "cat": lambda *xs, axis: ag.cat(xs, axis),
            "gelu none": ag.gelu,
            "bce": ag.binary_cross_entropy,
            "bce_logits": ag.binary_cross_entropy_with_logits,
        }

    def leaf(self, array, requires_grad):
        return self.ag.tensor(self.Tensor.from_host(self.queue, array, array.dtype), requires_grad)

    def read(self, x):
        return x.to_host()

    def slopes(self, out, inputs, grad=None):
        if not out.requires_grad:
            return [None] * len(inputs)
        before = [x.grad for x in inputs]
        for x in inputs:
            x.grad = None
        self.ag.Tape().backward(out, grad)
        found = [x.grad and self.ag.tensor(x.grad) for x in inputs]
        for x, old in zip(inputs, before):
            x.grad = old
        return found

    def optimizer(self, name, xs, options):
        from tinygrad_cl.netcl import optim

        for x in xs:
            x.value.requires_grad = True
        return getattr(optim, name)([x.value for x in xs], **options)

    def put(self, x, grad):
        x.value.grad = grad.value


ENGINE = {"2": Engine2, "3": Engine3}[os.environ.get("PEERS_ENGINE", "2")]()


class Refused(ValueError, RuntimeError, IndexError, TypeError):
    """An engine's error, as whichever of these a test expects."""


def call(name, *args, **kwargs):
    """A function of the engine. NotOffered where it has none of that name."""
    function = ENGINE.functions.get(name)
    if function is None:
        raise NotOffered(name)
    try:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)
    except (ValueError, IndexError, TypeError) as error:
        if "index array" in str(error) or "array of indices" in str(error):
            raise NotOffered("several index arrays, or one in a list") from error
        if "target gets no gradient" in str(error):
            raise NotOffered("gradients of targets") from error
        if "needs whole numbers of shape" in str(error):
            raise NotOffered("probabilities as targets") from error
        raise Refused(str(error)) from error
