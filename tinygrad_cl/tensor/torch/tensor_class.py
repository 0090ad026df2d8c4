"""A tensor with PyTorch's methods, where the engine's differ from them or there are none."""

import math

import numpy as np

from tinygrad_cl.tensor import engine, random
from tinygrad_cl.tensor.core.function import Function
from tinygrad_cl.tensor.core.tensor import numbers
from tinygrad_cl.tensor.core.variable import Variable, raw
from tinygrad_cl.tensor.elementwise import Where
from tinygrad_cl.tensor.memory import in_place, owner
from tinygrad_cl.tensor.peers import ArrayData
from tinygrad_cl.tensor.tensor_class import Tensor as Engine
from tinygrad_cl.tensor.torch.reductions import Reductions, spelled


def compared_alone(test):
    """A method that asks something of each number: a tensor of True and False, without gradient."""
    return lambda self: self.wrap(np.asarray(test(self.data)))


def product(*dims):
    """A method for the matrix product of operands with these numbers of dimensions."""

    def method(self, other):
        if (self.ndim, other.ndim) != dims:
            raise RuntimeError(
                f"this product takes {dims[0]} and {dims[1]} dimensions, not {self.ndim} and {other.ndim}: see @"
            )
        return self @ other

    return method


def stepwise(function):
    """A method whose result is constant between its steps, so that its gradient is 0."""
    return lambda self: Step.apply(self, function=function)


class Step(Function):
    """A function of each number that is constant between its steps, such as rounding: ∂L/∂x = 0."""

    @staticmethod
    def forward(ctx, x, function):
        return function(x)

    @staticmethod
    def backward(ctx, grad):
        return grad.wrap(np.zeros_like(grad.data))


class Size(int):
    """How many numbers a tensor holds; as a call, x.size(), its shape, as PyTorch has it."""

    def __new__(cls, shape):
        size = super().__new__(cls, math.prod(shape))
        size.shape = shape
        return size

    def __call__(self, dim=None):
        return self.shape if dim is None else self.shape[dim]


class Tensor(ArrayData, Reductions, Engine):
    """The engine's tensor with PyTorch's manners; torch.Tensor([1, 2]) is float32, as there."""

    device = "cpu"

    def __init__(self, data):
        if isinstance(data, int):
            raise TypeError("torch.Tensor(2, 3) is memory that nobody wrote: say torch.zeros(2, 3), or torch.tensor(2)")
        super().__init__(data, dtype=np.float32)

    # -- what it is --------------------------------------------------------------------------------

    @property
    def size(self):
        return Size(self.shape)

    def dim(self):
        return self.ndim

    def numel(self):
        return int(self.size)

    def tolist(self):
        return self.data.tolist()

    def __format__(self, spec):
        return format(self.item(), spec) if not self.ndim else super().__format__(spec)

    isnan = compared_alone(np.isnan)
    isinf = compared_alone(np.isinf)
    isfinite = compared_alone(np.isfinite)

    # -- the operators' names ------------------------------------------------------------------------

    mul = multiply = Engine.__mul__
    div = true_divide = Engine.__truediv__
    pow = Engine.__pow__
    neg = negative = Engine.__neg__
    matmul = Engine.__matmul__
    dot, mv, mm, bmm = (product(*dims) for dims in ((1, 1), (2, 1), (2, 2), (3, 3)))
    eq, ne = Engine.__eq__, Engine.__ne__
    lt, le, gt, ge = Engine.__lt__, Engine.__le__, Engine.__gt__, Engine.__ge__
    mul_ = Engine.__imul__
    div_ = Engine.__itruediv__
    pow_ = Engine.__ipow__

    def add(self, other, *, alpha=1):
        return self + (other if alpha == 1 else other * alpha)

    def sub(self, other, *, alpha=1):
        return self - (other if alpha == 1 else other * alpha)

    def add_(self, other, *, alpha=1):
        return self.__iadd__(other if alpha == 1 else other * alpha)

    def sub_(self, other, *, alpha=1):
        return self.__isub__(other if alpha == 1 else other * alpha)

    def fill_(self, number):
        """Set all numbers to one, in place."""
        return in_place(self, self.wrap(np.full_like(self.data, raw(number))), "fill_")

    def uniform_(self, a=0.0, b=1.0):
        """Draw all numbers anew, evenly from a to b, in place."""
        return in_place(self, self.wrap(random.default_generator().uniform(a, b, self.shape)), "uniform_")

    def normal_(self, mean=0.0, std=1.0):
        """Draw all numbers anew, from a normal distribution, in place."""
        return in_place(self, self.wrap(random.default_generator().normal(mean, std, self.shape)), "normal_")

    # -- functions of each number --------------------------------------------------------------------

    round = stepwise(np.round)
    floor = stepwise(np.floor)
    ceil = stepwise(np.ceil)
    sign = stepwise(np.sign)

    def square(self):
        return self**2

    def reciprocal(self):
        return 1 / self

    def rsqrt(self):
        return 1 / self.sqrt()

    def clamp(self, min=None, max=None):
        """The number next to each one from min to max; ∂L/∂x = grad where it is itself, else 0."""
        if min is max is None or isinstance(min, Variable) or isinstance(max, Variable):
            raise TypeError("clamp takes numbers, at least one: for tensors there are maximum and minimum")
        nearest = np.clip(self.data, min, max)
        return Where.apply(nearest == self.data, self, nearest)

    def masked_fill(self, mask, value):
        """The value where the mask is true, the own number elsewhere."""
        if np.asarray(raw(mask)).dtype != bool:
            raise TypeError("masked_fill takes a mask of truth values, such as x > 0")
        return Where.apply(mask, value, self)

    # -- shape and order -----------------------------------------------------------------------------

    transpose = swapaxes = spelled(Engine.transpose)
    unsqueeze = spelled(Engine.unsqueeze)

    def t(self):
        """A matrix transposed; a vector as it is."""
        if self.ndim > 2:
            raise RuntimeError(f"t() is for matrices, not for {self.ndim} dimensions: see transpose and mT")
        return self.T

    def view(self, *shape):
        """The same memory in another shape."""
        result = self.reshape(*shape)
        if owner(result.data) is not owner(self.data):
            raise RuntimeError("view: these numbers do not lie one after the other; reshape() copies them")
        return result

    def flatten(self, start_dim=0, end_dim=-1):
        shape = self.shape or (1,)
        start, end = start_dim % len(shape), end_dim % len(shape)
        return self.reshape(*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])

    def squeeze(self, dim=None):
        """Without the dimensions of size 1; or without this one, if its size is 1."""
        dims = range(self.ndim) if dim is None else [d % max(self.ndim, 1) for d in numbers((dim,))]
        return self.reshape([n for i, n in enumerate(self.shape) if i not in dims or n != 1])

    def expand(self, *sizes):
        """Broadcast to a larger shape; −1 keeps a size."""
        sizes = numbers(sizes)
        own = (-1,) * (len(sizes) - self.ndim) + self.shape
        return super().expand(tuple(n if size == -1 else size for size, n in zip(sizes, own)))

    def flip(self, *axes, dims=()):
        return super().flip(numbers(axes or dims))

    def contiguous(self):
        return self if self.data.flags.c_contiguous else self.clone()

    # -- types ---------------------------------------------------------------------------------------

    def to(self, *targets, dtype=None, device=None):
        """In another type; there is one device, the processor."""
        for target in (*targets, device):
            if isinstance(target, str):
                only_cpu(target)
            elif target is not None:
                dtype = target.dtype if isinstance(target, Variable) else target
        return self if dtype is None or self.dtype == dtype else self.astype(np.dtype(dtype))

    def cpu(self):
        return self

    def float(self):
        return self.to(np.float32)

    def double(self):
        return self.to(np.float64)

    def int(self):
        return self.to(np.int32)

    def long(self):
        return self.to(np.int64)

    def bool(self):
        return self.to(np.bool_)

    # -- the graph -----------------------------------------------------------------------------------

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Add ∂L/∂x to `grad` of each leaf that this was computed from, or of each of the inputs."""
        if inputs is None:
            return super().backward(gradient, retain_graph, create_graph)
        inputs = [inputs] if isinstance(inputs, Variable) else list(inputs)
        found = engine.grad(self, inputs, gradient, retain_graph, create_graph, allow_unused=True)
        for x, grad in zip(inputs, found):
            if grad is not None:
                x.accumulate_grad(grad)


def only_cpu(device):
    if device not in ("cpu", None):
        raise RuntimeError(f"engine 2 computes on the processor, device 'cpu', not on {device!r}; engine 3 uses OpenCL")
    return "cpu"
