"""What a tensor remembers: its array, its gradient, where it comes from, how often it was changed.

`Tensor` (tensor.py) adds the operators. They are apart so that a Function can make tensors, and a
tensor's operators can be Functions, without a circle of imports.
"""

import weakref

import numpy as np


class Version:
    """How often the memory behind a tensor was changed in place. Views share one Version."""

    __slots__ = ("count", "sharers", "room")

    def __init__(self):
        self.count = 0
        self.sharers = None  # weak references to the tensors of this memory, if there are several
        self.room = 8

    def add_sharer(self, tensor):
        """Remember a tensor; the dead ones are thrown out each time the list has doubled."""
        if len(self.sharers) >= self.room:
            self.sharers = [r for r in self.sharers if r() is not None]
            self.room = 2 * len(self.sharers) + 8
        self.sharers.append(weakref.ref(tensor))


class Variable:
    """An array in a graph.

    data            the NumPy array
    requires_grad   is ∂(…)/∂(this) wanted, or needed on the way to one that is?
    grad            the gradient, a tensor of the same shape; None before the first backward
    grad_fn         the node of the graph that computed it; None for a leaf
    version         counts the changes in place
    """

    __array_ufunc__ = None  # so that array * tensor is left to Tensor.__rmul__

    def __init__(self, data, requires_grad=False, dtype=None):
        self.data = as_array(data, dtype)
        self.grad = None
        self.grad_fn = None
        self.version = Version()
        self.hooks = []
        self.requires_grad = False
        if requires_grad:
            self.requires_grad_()

    @classmethod
    def wrap(cls, array):
        """A tensor around this very array, without a copy."""
        self = cls.__new__(cls)
        self.data = array
        self.grad = None
        self.grad_fn = None
        self.version = Version()
        self.hooks = []
        self.requires_grad = False
        return self

    def requires_grad_(self, requires_grad=True):
        """Ask for a gradient (or no longer), and return self."""
        if requires_grad and self.data.dtype.kind != "f":
            raise TypeError(
                f"a gradient needs real numbers, not {self.dtype}: write Tensor([1.0, 2.0]), or x.astype(np.float32)"
            )
        if not requires_grad and self.grad_fn is not None:
            raise RuntimeError("only a leaf can stop requiring a gradient: use .detach()")
        self.requires_grad = bool(requires_grad)
        return self

    # -- what it is --------------------------------------------------------------------------------

    @property
    def shape(self):
        return self.data.shape

    @property
    def ndim(self):
        return self.data.ndim

    @property
    def size(self):
        return self.data.size

    @property
    def dtype(self):
        return self.data.dtype

    @property
    def is_leaf(self):
        """Was it made by hand, not computed from something that requires a gradient?"""
        return self.grad_fn is None

    def __repr__(self):
        text = np.array2string(self.data, precision=4, separator=", ", prefix="Tensor(")
        if self.data.dtype not in (np.float32, np.int64, np.bool_):
            text += f", dtype={self.dtype}"
        if self.grad_fn is not None:
            text += f", grad_fn={self.grad_fn}"
        elif self.requires_grad:
            text += ", requires_grad=True"
        return f"Tensor({text})"

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

    def item(self):
        """The number in a tensor of one number, as a Python number."""
        if self.size != 1:
            raise ValueError(f"item() needs a tensor of one number, not of shape {self.shape}")
        return self.data.item()

    def numpy(self):
        """The array. What is done with it is not recorded, hence the error where it should be."""
        if self.requires_grad:
            raise RuntimeError(
                "NumPy records nothing, and this tensor requires a gradient:"
                " say that you mean it with .detach().numpy()"
            )
        return self.data

    def __array__(self, dtype=None, copy=None):
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def detach(self):
        """The same memory, cut off from the graph: no gradient flows through."""
        other = self.wrap(self.data)
        other.share_memory_with(self)
        return other

    # -- gradients ---------------------------------------------------------------------------------

    def zero_grad(self):
        """Forget the gradient, so that the next backward starts afresh."""
        self.grad = None

    def accumulate_grad(self, grad):
        """Add a gradient that arrived to what is there; a copy, since others may hold the same."""
        self.grad = grad.clone() if self.grad is None else self.grad + grad

    def retain_grad(self):
        """Keep the gradient in `grad`, though this is no leaf."""
        if not self.requires_grad:
            raise RuntimeError("retain_grad: this tensor requires no gradient")
        if self.grad_fn is not None:
            self.grad_fn.retained = weakref.ref(self)  # weak, for the tensor holds the node

    def register_hook(self, hook):
        """Call hook(gradient) once the whole gradient is known; its answer, if any, replaces it.

        register_hook returns a handle with a method remove().
        """
        if not self.requires_grad:
            raise RuntimeError("register_hook: this tensor requires no gradient")
        hooks = self.hooks if self.grad_fn is None else self.grad_fn.hooks
        return HookHandle(hooks, hook)

    # -- memory ------------------------------------------------------------------------------------

    def share_memory_with(self, other):
        """Note that a change of the one changes the other."""
        self.version = other.version
        if self.version.sharers is None:
            self.version.sharers = [weakref.ref(other)]
        self.version.add_sharer(self)

    def has_alias(self):
        """Is there another tensor in the same memory?"""
        return any(r() is not None and r() is not self for r in self.version.sharers or ())

    def copy_(self, values):
        """Overwrite the numbers, and count that. It is not recorded: for use under no_grad."""
        self.data[...] = values.data if isinstance(values, Variable) else values
        self.version.count += 1
        return self


class HookHandle:
    """What register_hook returns: remove() takes the hook away again."""

    def __init__(self, hooks, hook):
        self.hooks = hooks
        self.entry = HookEntry(hook)  # not self: the handle holds the list
        hooks.append(self.entry)

    def remove(self):
        self.hooks[:] = [entry for entry in self.hooks if entry is not self.entry]


class HookEntry:
    """One hook in the list of a tensor or a node; the same function may be there twice."""

    def __init__(self, hook):
        self.hook = hook


def as_array(data, dtype=None):
    """A copy of the data as an array. Python's real numbers become float32; arrays keep their type.

    >>> as_array([1.5, 2.5]).dtype, as_array(np.ones(2)).dtype, as_array([1, 2]).dtype
    (dtype('float32'), dtype('float64'), dtype('int64'))
    """
    if isinstance(data, Variable):
        data = data.data
    array = np.array(data, dtype)
    typed = dtype is not None or isinstance(data, (np.ndarray, np.generic))
    if array.dtype == np.float64 and not typed:
        array = array.astype(np.float32)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"a tensor holds real numbers, not {array.dtype}: {data!r}")
    return array


def raw(x):
    """The array of a tensor; the number in a NumPy scalar; anything else as it is.

    NumPy scalars become Python numbers, so that float32 times np.float64(2) stays float32.
    """
    if isinstance(x, Variable):
        return x.data
    return x.item() if isinstance(x, np.generic) else x
