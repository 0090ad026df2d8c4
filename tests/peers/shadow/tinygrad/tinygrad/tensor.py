"""tinygrad's Tensor around a tensor of engine 2 or 3.

Real numbers are on the engine, and every one of them gets a gradient, as in tinygrad. Whole numbers
and truth values, which the engines do not differentiate, are NumPy arrays; computed with, they are
float64 on the engine and whole numbers again afterwards. What no engine function and no composition
below stands for is NotOffered.
"""

import functools
import math
import weakref

import numpy as np
from verdicts import NotOffered

from tinygrad import shapes  # noqa: F401 (fills the table)
from tinygrad.compositions import TABLE
from tinygrad.dtype import dtypes, numpy_dtype
from tinygrad.engines import ENGINE, call

WHOLE = {
    "add",
    "sub",
    "mul",
    "neg",
    "maximum",
    "minimum",
    "max",
    "min",
    "sum",
    "matmul",
    "abs",
    "relu",
    "where",
    "getitem",
    "reshape",
    "permute",
    "expand",
    "cat",
    "flip",
    "cumsum",
}
COMPARED = {"lt", "le", "gt", "ge", "eq", "ne"}
DIRECT = COMPARED | {
    "abs",
    "add",
    "cos",
    "exp",
    "log",
    "matmul",
    "maximum",
    "minimum",
    "mul",
    "neg",
    "pow",
    "relu",
    "sigmoid",
    "sin",
    "sqrt",
    "sub",
    "tanh",
}
made = weakref.WeakSet()  # the Tensors that backward leaves gradients on


def _to_np_dtype(dtype):
    return dtype.np


def shape_of(sizes):
    """The shape in f(2, 3), f((2, 3)) or f([2, 3])."""
    return tuple(sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes)


def run(name, *args, **kwargs):
    """An engine's function on Tensors, as a Tensor."""
    if name == "pow" and not any(isinstance(x, float) or isinstance(x, Tensor) and not x.whole for x in args):
        raise NotOffered("arithmetic of whole numbers")
    arrays = [x.value for x in args if isinstance(x, Tensor) and x.whole]
    on_engine = [x.value for x in args if isinstance(x, Tensor) and not x.whole]
    dtype = np.result_type(*[x.dtype for x in on_engine]) if on_engine else np.float64
    lifted = [
        ENGINE.leaf(np.asarray(x.value, dtype), False)
        if isinstance(x, Tensor) and x.whole
        else x.value
        if isinstance(x, Tensor)
        else x
        for x in args
    ]
    out = call(name, *lifted, **kwargs)
    if name in COMPARED:
        return Tensor(ENGINE.read(out).astype(bool))
    if on_engine:
        return Tensor.around(out)
    number = [type(x) for x in args if type(x) in (float, int)]
    keep = name in WHOLE and float not in number
    kind = np.result_type(*arrays) if keep else np.float32
    if keep and kind == bool and name in ("add", "sum", "neg", "cumsum", "matmul"):
        kind = np.dtype(np.int32)
    with np.errstate(all="ignore"):
        return Tensor(np.asarray(ENGINE.read(out)).astype(kind))


class Names(type):
    """`Tensor.exp` is a function of the engine, or a composition."""

    def __getattr__(cls, name):
        if name in TABLE:
            return TABLE[name]
        if name.startswith("__") or name in ("numpy_dtype",):
            raise AttributeError(name)
        if name in DIRECT:
            return functools.partial(run, name)
        raise NotOffered(name)


class Tensor(metaclass=Names):
    __array_ufunc__ = None

    def __init__(self, data, dtype=None, device=None, requires_grad=None):
        array = data.numpy() if isinstance(data, Tensor) else np.asarray(data)
        if dtype is not None:
            array = array.astype(numpy_dtype(dtype))
        elif not isinstance(data, (np.ndarray, np.generic, Tensor)):
            array = array.astype({"f": np.float32, "i": np.int32, "b": bool}[array.dtype.kind])
        if array.dtype == np.float16:
            raise NotOffered("float16")
        self.whole = array.dtype.kind != "f"
        self.value = array if self.whole else ENGINE.leaf(array, True)
        self.grad = None
        made.add(self)

    @classmethod
    def around(cls, value):
        """A Tensor of what the engine computed."""
        self = cls.__new__(cls)
        self.whole, self.value, self.grad = False, value, None
        return self

    def __getattr__(self, name):
        if name in ("whole", "value", "grad"):
            raise AttributeError(name)
        return functools.partial(getattr(type(self), name), self)

    # -- what it is --------------------------------------------------------------------------------

    shape = property(lambda self: tuple(self.value.shape))
    ndim = property(lambda self: len(self.shape))
    dtype = property(lambda self: dtypes.of(self.value))
    device = property(lambda self: "CPU")
    T = property(lambda self: self.permute(tuple(range(self.ndim))[::-1]))

    def numpy(self):
        return np.array(self.value if self.whole else ENGINE.read(self.value))

    def item(self):
        return self.numpy().item()

    def tolist(self):
        return self.numpy().tolist()

    def numel(self):
        return math.prod(self.shape)

    def __len__(self):
        return self.shape[0]

    def realize(self, *others):
        return self

    contiguous = clone = realize

    def detach(self):
        return Tensor(self.numpy())

    def cast(self, dtype):
        kind = numpy_dtype(dtype)
        if not self.whole and kind.kind == "f" and kind != self.value.dtype:
            raise NotOffered("cast with a gradient")
        return Tensor(self.numpy().astype(kind)) if self.whole or kind.kind != "f" else self

    # -- made of nothing ---------------------------------------------------------------------------

    @staticmethod
    def full(shape, value, dtype=None, **more):
        return Tensor(np.full(shape_of([shape]), Tensor(value).numpy()), dtype)

    @staticmethod
    def zeros(*shape, dtype=None, **more):
        return Tensor.full(shape_of(shape), 0.0, dtype)

    @staticmethod
    def ones(*shape, dtype=None, **more):
        return Tensor.full(shape_of(shape), 1.0, dtype)

    @staticmethod
    def eye(n, m=None, dtype=None, **more):
        if n == 0:
            return Tensor.zeros(n, n if m is None else m)
        return Tensor(np.eye(n, m), dtype or "float32")

    @staticmethod
    def randn(*shape, dtype=None, **more):
        return Tensor(np.random.randn(*shape_of(shape)).astype(np.float32), dtype)

    @staticmethod
    def arange(*bounds, dtype=None, **more):
        if max(map(abs, bounds)) >= 2**31:
            raise NotOffered("arithmetic of whole numbers")
        return Tensor(np.arange(*bounds).tolist(), dtype)

    def full_like(self, value, **more):
        return Tensor(np.full(self.shape, value, self.numpy().dtype))

    def zeros_like(self, **more):
        return self.full_like(0)

    def ones_like(self, **more):
        return self.full_like(1)

    # -- gradients ---------------------------------------------------------------------------------

    def gradient(self, *targets, gradient=None):
        assert gradient is not None or self.numel() == 1, "a gradient is needed"
        if self.whole or any(x.whole for x in targets):
            raise RuntimeError("only real numbers have gradients")
        seed = None if gradient is None else gradient.numpy()
        found = ENGINE.slopes(self.value, [x.value for x in targets], seed)
        return [
            Tensor(np.zeros(x.shape, x.value.dtype)) if slope is None else Tensor.around(slope)
            for x, slope in zip(targets, found)
        ]

    def backward(self):
        """Into the `grad` of every Tensor that was made by hand."""
        for x in made:
            if not x.whole:
                (slope,) = ENGINE.slopes(self.value, [x.value])
                if slope is not None:
                    slope = Tensor.around(slope)
                    x.grad = slope if x.grad is None else x.grad + slope

    # -- operators ---------------------------------------------------------------------------------

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        if any(isinstance(end, Tensor) for part in keys if isinstance(part, slice) for end in (part.start, part.stop)):
            raise TypeError("a slice has whole numbers as bounds")
        keys = tuple([part.numpy() if isinstance(part, Tensor) else part for part in keys])
        keys = keys if isinstance(key, tuple) else keys[0]
        return Tensor(self.value[keys]) if self.whole else run("getitem", self, keys)

    def __pow__(self, other):
        return run("pow", self, other)

    def __rpow__(self, other):
        return run("pow", other, self)

    def __truediv__(self, other):
        return run("div", self, other)

    def __rtruediv__(self, other):
        return run("div", other, self)

    def __invert__(self):
        return Tensor(~self.numpy())

    def whole_numbers(self, other):
        raise NotOffered("arithmetic of whole numbers")

    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = __floordiv__ = __mod__ = whole_numbers
    __rmod__ = __rand__ = __ror__ = __rxor__ = lshift = rshift = mod = fmod = whole_numbers

    def binary(name, swapped=False):
        def operate(self, other):
            return run(name, other, self) if swapped else run(name, self, other)

        return operate

    __add__, __radd__ = binary("add"), binary("add", True)
    __sub__, __rsub__ = binary("sub"), binary("sub", True)
    __mul__, __rmul__ = binary("mul"), binary("mul", True)
    __matmul__, __rmatmul__ = binary("matmul"), binary("matmul", True)
    __lt__, __le__, __gt__, __ge__ = map(binary, ("lt", "le", "gt", "ge"))
    __eq__, __ne__ = map(binary, ("eq", "ne"))
    __hash__ = object.__hash__
    del binary

    def __neg__(self):
        return run("neg", self)
