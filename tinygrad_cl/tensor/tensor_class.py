"""Engine 2's Tensor: that of the ground floor, with more of PyTorch's methods."""

import weakref

import numpy as np

from tinygrad_cl.tensor import engine
from tinygrad_cl.tensor.core import tensor as core
from tinygrad_cl.tensor.core.indexing import GetItem
from tinygrad_cl.tensor.core.modes import is_grad_enabled
from tinygrad_cl.tensor.core.variable import Variable, raw
from tinygrad_cl.tensor.elementwise import ElementwiseMethods
from tinygrad_cl.tensor.hooks import HookHandle
from tinygrad_cl.tensor.memory import Version, in_place, overwrite
from tinygrad_cl.tensor.node import Node
from tinygrad_cl.tensor.reductions import CumSum, LogSoftmax, Max, Norm
from tinygrad_cl.tensor.shapes import Cast, Flip, SetItem


class Tensor(ElementwiseMethods, core.Tensor):
    """A NumPy array that remembers how it was computed.

    data            numbers: nested lists, an array, another tensor; copied
    requires_grad   True: backward computes ∂(…)/∂(this), into `grad`
    dtype           by default float32 for Python's real numbers; arrays keep their type

    >>> x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    Tensor([2., 4., 6.])
    """

    hooks = {}  # {key: hook} of a leaf, a dict of its own as soon as there is one
    _version = None

    def __init__(self, data, requires_grad=False, dtype=None):
        super().__init__(data, requires_grad, dtype)
        if not self.data.flags.c_contiguous:  # reshape is to be a view, also where the data were Fortran's
            self.data = self.data.copy()

    # -- the graph ---------------------------------------------------------------------------------

    @classmethod
    def context(cls, function, needs_input_grad):
        return Node(function, needs_input_grad, cls)

    def backward(self, gradient=None, retain_graph=None, create_graph=False):
        """Add ∂L/∂leaf to the `grad` of each leaf that this was computed from.

        gradient        ∂L/∂(this); may be omitted if this is a single number, L itself
        retain_graph    keep what was saved, so that backward can be called again
        create_graph    record backward itself, so that gradients can be differentiated
        """
        engine.backward(self, gradient, retain_graph, create_graph)

    def detach(self):
        """A tensor with the same memory, outside of the graph: no gradient flows through it."""
        other = self.wrap(self.data)
        other.share_memory_with(self)
        return other

    def retain_grad(self):
        """Let backward store the gradient in `grad`, although this is no leaf."""
        if not self.requires_grad:
            raise RuntimeError("retain_grad: this tensor requires no gradient")
        if self.grad_fn is not None:
            self.grad_fn.retained = weakref.ref(self)  # weak, for the tensor holds the node

    def register_hook(self, hook):
        """Call hook(gradient) when the gradient is complete; what it returns, unless None, replaces it.

        register_hook returns a handle with a method remove().
        """
        if not self.requires_grad:
            raise RuntimeError("register_hook: this tensor requires no gradient")
        owner = self.grad_fn or self
        owner.hooks = owner.hooks or {}
        return HookHandle(owner.hooks, hook)

    # -- memory, and changes in place ----------------------------------------------------------------

    @property
    def version(self):
        """The Version of its memory, which counts the changes in place."""
        if self._version is None:
            self._version = Version()
        return self._version

    def share_memory_with(self, other):
        """Note that the two share memory: changing one in place changes the other."""
        self._version = other.version
        if self.version.sharers is None:
            self.version.sharers = [weakref.ref(other)]
        self.version.add_sharer(self)

    def __copy__(self):
        other = self.wrap(self.data)
        vars(other).update(vars(self))
        other.share_memory_with(self)
        return other

    def __getstate__(self):
        """What pickle and copy.deepcopy take along: numbers, requires_grad, grad; no hooks."""
        if self.grad_fn is not None:
            raise RuntimeError("only a leaf can be copied deeply or pickled: detach() a computed tensor before")
        return {k: v for k, v in vars(self).items() if k not in ("hooks", "_version")} | {"data": self.data.copy()}

    def copy_(self, values):
        """Overwrite the elements in place, as x[...] = values does, and return self; gradients flow to the values.

        The elements of a leaf can be overwritten by values without a gradient, which changes nothing else.
        """
        needed = isinstance(values, Variable) and values.requires_grad
        if is_grad_enabled() and (needed or self.grad_fn is not None):
            return in_place(self, SetItem.apply(self, values, key=...), "copy_")
        overwrite(self, values)
        return self

    def __iadd__(self, other):
        return in_place(self, self + other, "+=")

    def __isub__(self, other):
        return in_place(self, self - other, "-=")

    def __imul__(self, other):
        return in_place(self, self * other, "*=")

    def __itruediv__(self, other):
        return in_place(self, self / other, "/=")

    def __ipow__(self, other):
        return in_place(self, self**other, "**=")

    def __setitem__(self, key, values):
        in_place(self, SetItem.apply(self, values, key=own_key(key)), "x[…] =")

    def zero_(self):
        """Set all elements to 0, in place."""
        return in_place(self, self.wrap(np.zeros_like(self.data)), "zero_")

    # -- as a number, or an array -------------------------------------------------------------------

    def __len__(self):
        if not self.ndim:
            raise TypeError("a tensor of shape () has no length")
        return len(self.data)

    def __bool__(self):
        if self.size != 1:
            raise ValueError(f"is a tensor of shape {self.shape} true? Only one number can say")
        return bool(self.data.item())

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def numpy(self):
        """The array itself. RuntimeError if this requires a gradient, since NumPy's operations are not recorded."""
        if self.requires_grad:
            raise RuntimeError(
                "NumPy records nothing, and this tensor requires a gradient:"
                " say that you mean it with .detach().numpy()"
            )
        return self.data

    def __array__(self, dtype=None, copy=None):
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    # -- more functions ------------------------------------------------------------------------------

    def minimum(self, other):
        return -(-self).maximum(-as_tensor(other))

    def __matmul__(self, other):
        return super().__matmul__(other if hasattr(other, "shape") else as_tensor(other))

    def __rmatmul__(self, other):
        return super().__rmatmul__(other if hasattr(other, "shape") else as_tensor(other))

    def softmax(self, axis=-1):
        return super().softmax(axis) if self.size else self.clone()

    def log_softmax(self, axis=-1):
        return LogSoftmax.apply(self, axis=axis) if self.size else self.clone()

    def astype(self, dtype):
        return Cast.apply(self, dtype=dtype)

    def var(self, axis=None, keepdims=False):
        """The variance, the mean squared distance from the mean."""
        return ((self - self.mean(axis, keepdims=True)) ** 2).mean(axis, keepdims)

    def norm(self):
        """The Euclidean norm √Σx² over all elements."""
        return Norm.apply(self)

    def max(self, axis=None, keepdims=False):
        return Max.apply(self, axis=axis, keepdims=keepdims)

    def min(self, axis=None, keepdims=False):
        return -(-self).max(axis, keepdims)

    def argmax(self, axis=None):
        return self.wrap(np.asarray(self.data.argmax(axis)))

    def cumsum(self, axis):
        return CumSum.apply(self, axis=axis)

    @property
    def T(self):
        """The axes in reverse order."""
        return self.permute(*range(self.ndim)[::-1])

    def permute(self, *axes):
        axes = core.numbers(axes)
        if len(axes) != self.ndim:
            raise ValueError(f"permute needs each axis of the shape {self.shape} once, not {axes}")
        return super().permute(axes)

    def flip(self, axis):
        return Flip.apply(self, axis=axis)

    def flatten(self):
        return self.reshape(-1)

    def __getitem__(self, key):
        return GetItem.apply(self, key=own_key(key))

    def __iter__(self):
        return (self[i] for i in range(len(self)))


def own_key(key):
    """An index of numbers, slices, and arrays that nobody else has: they are kept for backward."""
    if isinstance(key, tuple):
        return tuple([own_key(k) for k in key])
    key = np.array(key, None if key else int) if isinstance(key, list) else raw(key)
    return key.copy() if isinstance(key, np.ndarray) else key


def as_tensor(x):
    """x itself if it is a tensor, else a new tensor."""
    return x if isinstance(x, Variable) else Tensor(x)
