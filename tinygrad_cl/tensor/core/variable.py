"""What a tensor remembers: its array, its gradient, and where it comes from.

`Tensor` (tensor.py) adds the operators. The two are separate modules, so that a Function can
make tensors and a tensor's operators can be Functions, without an import cycle.
"""

import numpy as np


class Variable:
    """An array in a graph.

    data            the NumPy array
    requires_grad   whether ∂L/∂(this) is computed: for itself, or on the way to a leaf
    grad            ∂L/∂(this), a tensor of the same shape; None before the first backward
    grad_fn         the node of the graph that computed it; None for a leaf
    """

    __array_ufunc__ = None  # so that array * tensor is left to Tensor.__rmul__
    requires_grad = False
    grad = None
    grad_fn = None

    def __init__(self, data, requires_grad=False, dtype=None):
        self.data = as_array(data, dtype)
        if requires_grad:
            self.requires_grad_()

    @classmethod
    def wrap(cls, array):
        """A tensor that holds this array itself, without a copy."""
        tensor = cls.__new__(cls)
        tensor.data = array
        return tensor

    def requires_grad_(self, requires_grad=True):
        """Ask for a gradient (or no longer), and return self."""
        if requires_grad and self.data.dtype.kind != "f":
            advice = "write Tensor([1.0, 2.0]), or x.astype(np.float32)"
            raise TypeError(f"a gradient needs real numbers, not {self.dtype}: {advice}")
        if not requires_grad and self.grad_fn is not None:
            raise RuntimeError("only a leaf can stop requiring a gradient: use .detach()")
        self.requires_grad = bool(requires_grad)
        return self

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
        """Whether no recorded operation computed this tensor."""
        return self.grad_fn is None

    def item(self):
        """The element of a tensor of one element, as a Python number."""
        if self.size != 1:
            raise ValueError(f"item() needs a tensor of one number, not of shape {self.shape}")
        return self.data.item()

    def copy_(self, values):
        """Overwrite the elements in place. The change is not recorded."""
        self.data[...] = raw(values)
        return self

    def __repr__(self):
        text = np.array2string(self.data, precision=4, separator=", ", prefix="Tensor(")
        if self.data.dtype not in (np.float32, np.int64, np.bool_):
            text += f", dtype={self.dtype}"
        if self.grad_fn is not None:
            text += f", grad_fn={self.grad_fn}"
        elif self.requires_grad:
            text += ", requires_grad=True"
        return f"Tensor({text})"


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
