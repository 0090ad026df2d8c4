"""A second opinion on the gradients of arrays: from the OpenCL device, and without any derivative rule.

A function is written with the operations of engine 3 (`ag.matmul`, `ag.softmax`, …) and run on the device, in float64
where it has it. Its gradients are central differences of what the device computes, as in `gradcheck`.
"""

import numpy as np

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.gradcheck import numerical_gradient
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor


def value(f, *arrays, **options):
    """f(*arrays), a float64 array, computed on the default device.

    f         takes Nodes (an array of integers comes as an int32 one) and returns a Node, or a sequence of them, of which the sum
              of all is meant
    options   are passed on as they are
    """
    device = manager.default("auto")
    real = real_type(device)
    nodes = []
    for array in map(np.asarray, arrays):
        dtype = np.int32 if array.dtype.kind in "iub" else real
        nodes.append(ag.tensor(Tensor.from_host(device.queue, array.astype(dtype), dtype)))
    with ag.no_grad():
        out = f(*nodes, **options)
    return out.to_host().astype(np.float64)


def gradients(f, upstream, *arrays, **options):
    """∂L/∂array for each of the arrays, given upstream = ∂L/∂f(*arrays): a list of float64 arrays, None for integers.

    Two evaluations on the device for each number in the arrays: keep them small.
    """
    arrays = [np.asarray(array) for array in arrays]
    real = real_type(manager.default("auto"))
    moved = [array.astype(real) for array in arrays if array.dtype.kind == "f"]

    def f_of_moved(*floats):
        floats = iter(floats)
        return value(f, *[next(floats) if array.dtype.kind == "f" else array for array in arrays], **options).astype(real)

    measured = iter(numerical_gradient(f_of_moved, moved, upstream))
    return [next(measured) if array.dtype.kind == "f" else None for array in arrays]


def function(f, base):
    """A subclass of `base` (a `Function` with forward(ctx, …) and backward(ctx, grad)) whose values and gradients come from f on
    the device.
    """
    class Measured(base):
        any_dtype = True

        @staticmethod
        def forward(ctx, *arrays, **options):
            ctx.inputs = [np.array(array_of(x)) for x in arrays]
            ctx.options = options
            return value(f, *ctx.inputs, **options)

        @staticmethod
        def backward(ctx, grad):
            found = gradients(f, array_of(grad), *ctx.inputs, **ctx.options)
            found = [None if x is None else x if isinstance(grad, np.ndarray) else type(grad)(x) for x in found]
            return found[0] if len(found) == 1 else tuple(found)

    return Measured


def array_of(x):
    """The array in a tensor, or x itself as an array."""
    return np.asarray(x if isinstance(x, (np.ndarray, np.generic)) else getattr(x, "data", x))


def real_type(device):
    return np.dtype(np.float64 if device.has(np.dtype(np.float64)) else np.float32)
