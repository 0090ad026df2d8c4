"""The heart of autograd, `make_vjp`, on engine 2.

autograd traces a function: inside, values are boxes, outside they are arrays and floats. Here the
boxes are Arrays, tensors of engine 2; `Trace.depth` counts how many functions are being traced, and
what leaves the outermost one is turned back into arrays.

Forward mode is reverse mode twice: v ↦ ∂⟨w(g), v⟩/∂g, where w(g) is the gradient that comes of g.
"""

import functools
import itertools

import numpy as np
from verdicts import NotOffered

from tinygrad_cl import tensor as engine


class Trace:
    depth = 0


class Array(engine.Tensor):
    """A tensor of engine 2, with the methods of NumPy that PyTorch's have not."""

    @classmethod
    def wrap(cls, array):
        if array.dtype.kind == "c":
            raise NotOffered("complex numbers")
        return super().wrap(array)

    def ravel(self):
        return self.reshape(-1)

    def squeeze(self, axis=None):
        return self.reshape(np.squeeze(self.data, axis).shape)

    def __mod__(self, other):
        return self - other * np.floor(self.data / getval(other))

    def __rmod__(self, other):
        return other - self * np.floor(getval(other) / self.data)

    def __setitem__(self, key, value):
        raise TypeError("autograd assigns nothing in place")


def isbox(x):
    return isinstance(x, Array)


def getval(x):
    return x.data if isbox(x) else x


# -- values that may be nested in lists, tuples and dicts ------------------------------------------


def nested(function, x, *others):
    """function of each array in x, and of those at the same place in the others; as nested as x."""
    if isinstance(x, dict):
        return {key: nested(function, x[key], *[other[key] for other in others]) for key in x}
    if isinstance(x, (list, tuple)):
        return type(x)([nested(function, *parts) for parts in zip(x, *others)])
    return function(x, *others)


def leaves(x):
    """All arrays in x, in order."""
    found = []
    nested(found.append, x)
    return found


def box(x):
    """A new Array of x to differentiate for: a step in the graph where x is in one already."""
    if isbox(x):
        return x.clone() if x.requires_grad else Array(x, requires_grad=True)
    array = np.asarray(x)
    if array.dtype.kind == "c":
        raise NotOffered("complex numbers")
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise NotOffered(f"{array.dtype} as what to differentiate for")
    return Array(array, requires_grad=True)


def release(x):
    """x as an array or a float, if no function is being traced any more."""
    return nested(lambda y: y.data[()] if isbox(y) and not Trace.depth else y, x)


# -- gradients -------------------------------------------------------------------------------------


def traced(fun, x):
    """(the boxes of x, what fun makes of them)."""
    boxes = nested(box, x)
    Trace.depth += 1
    try:
        return boxes, fun(boxes)
    finally:
        Trace.depth -= 1


def pull_back(outputs, boxes, g):
    """∂⟨outputs, g⟩/∂boxes, as nested as the boxes; zeros where nothing depends on them."""
    pairs = [(y, h) for y, h in zip(leaves(outputs), leaves(g)) if isbox(y) and y.requires_grad]
    inputs = leaves(boxes)
    slopes = [None] * len(inputs)
    if pairs:
        ys, hs = zip(*pairs)
        hs = [h if isbox(h) else Array(np.asarray(h, y.dtype)) for y, h in pairs]
        slopes = engine.grad(ys, inputs, hs, create_graph=True, allow_unused=True)
    found = iter([Array(np.zeros(x.shape, x.dtype)) if slope is None else slope for x, slope in zip(inputs, slopes)])
    return nested(lambda _: next(found), boxes)


def make_vjp(fun, x):
    boxes, y = traced(fun, x)
    return lambda g: release(pull_back(y, boxes, g)), release(y)


def make_jvp(fun, x):
    def jvp(v):
        boxes, y = traced(fun, x)
        g = nested(lambda part: Array(np.zeros_like(getval(part)), requires_grad=True), y)
        return release(y), release(pull_back(pull_back(y, boxes, g), g, v))

    return jvp


# -- operations that somebody defines: Functions of engine 2 ---------------------------------------

rules = primitive_vjps = {}  # {primitive: {number of an argument: its rule}}


def primitive(function):
    """A function of arrays as one operation, whose rule defvjp gives."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if not any(map(isbox, args)):
            return function(*args, **kwargs)
        if call not in rules:
            raise NotImplementedError(f"VJP of {call.__name__} not defined")
        return Custom.apply(*args, function=call, arguments=kwargs)

    call.fun = function
    return call


def notrace_primitive(function):
    return lambda *args, **kwargs: function(*map(getval, args), **kwargs)


def defvjp(function, *vjpmakers, argnums=None):
    rules[function] = dict(zip(argnums or itertools.count(), vjpmakers))


def defvjp_argnum(function, vjpmaker):
    raise NotOffered("rules for all arguments in one")


class Custom(engine.Function):
    """The operation behind a primitive."""

    @staticmethod
    def forward(ctx, *arrays, function, arguments):
        out = np.asarray(function.fun(*arrays, **arguments))
        ctx.function_, ctx.arguments = function, arguments
        ctx.save_for_backward(*arrays, out)
        return out

    @staticmethod
    def backward(ctx, g):
        *args, out = ctx.saved_tensors
        makers = rules[ctx.function_]
        return [
            makers[n](out, *args, **ctx.arguments)(g) if ctx.needs_input_grad[n] else None for n in range(len(args))
        ]


# -- vector spaces ---------------------------------------------------------------------------------


class VSpace:
    """The shapes and dtypes of a nested value, and what can be done with such values."""

    iscomplex = False

    def __init__(self, value):
        for part in leaves(value):
            if np.asarray(getval(part)).dtype.kind == "c":
                raise NotOffered("complex numbers")
        self.form = nested(lambda x: Form(np.shape(getval(x)), np.result_type(getval(x))), value)

    shape = property(lambda self: self.form.shape)
    dtype = property(lambda self: self.form.dtype)

    @property
    def size(self):
        return sum(np.prod(form.shape) for form in leaves(self.form))

    def __eq__(self, other):
        return type(other) is VSpace and self.form == other.form

    def __repr__(self):
        return f"VSpace({self.form})"

    def zeros(self):
        return nested(lambda form: np.zeros(form.shape, form.dtype)[()], self.form)

    def ones(self):
        return nested(lambda form: np.ones(form.shape, form.dtype)[()], self.form)

    def randn(self):
        return nested(lambda form: np.asarray(np.random.randn(*form.shape)).astype(form.dtype)[()], self.form)

    def standard_basis(self):
        for index in np.ndindex(*self.shape):
            vector = np.zeros(self.shape, self.dtype)
            vector[index] = 1
            yield vector

    def add(self, x, y):
        return nested(lambda a, b: a + b, x, y)

    def scalar_mul(self, x, number):
        return nested(lambda a: a * number, x)

    def inner_prod(self, x, y):
        products = nested(lambda a, b: (a * b).sum() if np.ndim(getval(a)) else a * b, x, y)
        return sum(leaves(products))

    def covector(self, x):
        return x


class Form:
    """The shape and dtype of one array."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype

    def __eq__(self, other):
        return self.shape == other.shape and self.dtype == other.dtype

    def __repr__(self):
        return f"{self.dtype}{self.shape}"


def vspace(value):
    return VSpace(value)
