"""Check gradients of array functions by finite differences on the OpenCL device, without any derivative rule.

A function is written with the operations of engine 3 (`ag.matmul`, `ag.softmax`, …) and runs on the device, in float64
if the device supports it. Its gradients are central differences of these results, as in `gradcheck`.
"""

import operator

import numpy as np

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.gradcheck import numerical_gradient
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor


def value(f, *arrays, **options):
    """f(*arrays), a float64 array, computed on the default device.

    f         takes Nodes (an array of integers as an int32 Node) and returns a Node
    options   passed to f unchanged
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

    Costs two evaluations on the device for each element of the arrays: keep them small.
    """
    arrays = [np.asarray(array) for array in arrays]
    real = real_type(manager.default("auto"))
    moved = [array.astype(real) for array in arrays if array.dtype.kind == "f"]

    def f_of_moved(*floats):
        floats = iter(floats)
        return value(f, *[next(floats) if array.dtype.kind == "f" else array for array in arrays], **options).astype(
            real
        )

    measured = iter(numerical_gradient(f_of_moved, moved, upstream))
    return [next(measured) if array.dtype.kind == "f" else None for array in arrays]


def function(f, base):
    """A subclass of `base` (a `Function` with forward(ctx, …) and backward(ctx, grad)) that gets its values and gradients
    from f on the device.
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


def on_tape(f):
    """f as an operation of engine 3: it takes Nodes and returns a Node on the tape. The values and gradients are
    measured on f(*Nodes).
    """

    def measured(*nodes):
        arrays = [node.to_host() for node in nodes]
        queue = nodes[0].value.queue

        def forward(*values):
            return Tensor.from_host(queue, value(f, *arrays))

        def differentiate(grad):
            return [None if x is None else Tensor.from_host(queue, x) for x in gradients(f, grad.to_host(), *arrays)]

        return ag.apply_op(forward, differentiate, *nodes, op_name="measured")

    return measured


def array_of(x):
    """The array in a tensor, or x itself as an array."""
    return np.asarray(x if isinstance(x, (np.ndarray, np.generic)) else getattr(x, "data", x))


def real_type(device):
    return np.dtype(np.float64 if device.has(np.dtype(np.float64)) else np.float32)


def operation(f):
    """f, a function of Nodes, as a function of MeasuredTensors; options are passed to f unchanged."""

    def apply(*inputs, **options):
        return MeasuredTensor(None, how=lambda *nodes: f(*nodes, **options), inputs=inputs)

    return apply


def reflected(f):
    """The operator f with the tensor as its right operand."""
    return operation(lambda x, y: f(y, x))


class MeasuredTensor:
    """A tensor with engine 2's methods that records how it was computed. Its backward measures the gradients of the
    whole computation from the leaves.

    It is a leaf with an array; or the result of how(*inputs) on the device, where inputs are MeasuredTensors, arrays or
    numbers. Backward runs the whole computation twice for each element of the leaves that require a gradient: keep them
    small.
    """

    freed = True  # nothing is saved for backward
    __array_ufunc__ = None  # so that array * tensor calls the tensor's operator

    def __init__(self, data, requires_grad=False, how=None, inputs=()):
        self.how, self.inputs = how, inputs
        self.requires_grad, self.grad = requires_grad, None
        self.data = (
            np.array(data.data if isinstance(data, MeasuredTensor) else data) if how is None else self.computed()
        )

    def leaves(self):
        """The leaves of this tensor's computation, each once."""
        if self.how is None:
            return [self]
        below = [leaf for x in self.inputs if isinstance(x, MeasuredTensor) for leaf in x.leaves()]
        return list(dict.fromkeys(below))

    def replay(self, known):
        """Recompute this tensor as a Node, given the Nodes of its leaves: {tensor: Node}."""
        if self not in known:
            known[self] = self.how(*[x.replay(known) if isinstance(x, MeasuredTensor) else x for x in self.inputs])
        return known[self]

    def computed(self):
        leaves = self.leaves()
        return value(lambda *nodes: self.replay(dict(zip(leaves, nodes))), *[leaf.data for leaf in leaves])

    def backward(self, gradient=None, **_):
        """Add ∂L/∂leaf to the `grad` of each leaf that requires a gradient, given ∂L/∂self."""
        asking = [leaf for leaf in self.leaves() if leaf.requires_grad]
        constants = {leaf: leaf.data for leaf in self.leaves() if not leaf.requires_grad}
        upstream = np.ones(self.shape) if gradient is None else array_of(gradient)
        found = gradients(
            lambda *nodes: self.replay(constants | dict(zip(asking, nodes))), upstream, *[leaf.data for leaf in asking]
        )
        for leaf, part in zip(asking, found):
            leaf.grad = MeasuredTensor(part if leaf.grad is None else leaf.grad.data + part)

    @property
    def grad_fn(self):
        """The tensor itself, since there are no separate nodes; None for a leaf."""
        return None if self.how is None else self

    @property
    def shape(self):
        return self.data.shape

    @property
    def ndim(self):
        return self.data.ndim

    @property
    def size(self):
        return self.data.size

    def item(self):
        return self.data.item()

    def become(self, other):
        """Take over the value and origin of `other`; earlier results that used this tensor keep their values."""
        self.how, self.inputs, self.data = other.how, other.inputs, other.data

    def copy(self):
        """A new tensor with the same computation, or a new leaf with the same elements."""
        return MeasuredTensor(self.data, self.requires_grad, self.how, self.inputs)

    def reshape(self, *shape):
        return operation(ag.reshape)(self, shape=self.data.reshape(*shape).shape)

    def permute(self, *axes):
        return operation(ag.transpose)(self, axes=[axis % self.ndim for axis in axes])

    def transpose(self, axis1, axis2):
        axes = list(range(self.ndim))
        axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
        return self.permute(*axes)

    def __getitem__(self, key):
        return operation(lambda x: x[key])(self)

    __neg__ = operation(operator.neg)
    __add__, __radd__ = operation(operator.add), reflected(operator.add)
    __sub__, __rsub__ = operation(operator.sub), reflected(operator.sub)
    __mul__, __rmul__ = operation(operator.mul), reflected(operator.mul)
    __truediv__, __rtruediv__ = operation(operator.truediv), reflected(operator.truediv)
    __pow__, __rpow__ = operation(operator.pow), reflected(operator.pow)
    __matmul__, __rmatmul__ = operation(operator.matmul), reflected(operator.matmul)

    abs, sqrt, exp, log = operation(ag.abs), operation(ag.sqrt), operation(ag.exp), operation(ag.log)
    sin, cos, tanh = operation(ag.sin), operation(ag.cos), operation(ag.tanh)
    relu, sigmoid, gelu, softmax = operation(ag.relu), operation(ag.sigmoid), operation(ag.gelu), operation(ag.softmax)
    sum, mean, max = operation(ag.sum), operation(ag.mean), operation(ag.max)
