"""Every operation of engine 2 as a row: how it is written with tensors, what NumPy says, which inputs it takes."""

import math
from dataclasses import dataclass, field

import numpy as np
from netcl_devices import numbers

from tinygrad_cl.netcl.ops import table  # noqa: F401 (fills PRIMITIVES)
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES
from tinygrad_cl.tensor import (
    Tensor,
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cat,
    cross_entropy,
    embedding,
    mse_loss,
    stack,
    where,
)
from tinygrad_cl.tensor import elementwise as e
from tinygrad_cl.tensor import functional as f
from tinygrad_cl.tensor import reductions as r
from tinygrad_cl.tensor import shapes as s
from tinygrad_cl.tensor.core import activations as a
from tinygrad_cl.tensor.core import arithmetic as ar
from tinygrad_cl.tensor.core import indexing as i
from tinygrad_cl.tensor.core import losses as lo
from tinygrad_cl.tensor.core import matmul as m
from tinygrad_cl.tensor.core import reductions as cr
from tinygrad_cl.tensor.core import shapes as cs

ONE = [((),), ((1,),), ((3,),), ((2, 3),), ((2, 1, 3),), ((0,),), ((2, 0, 3),)]
TWO = [
    ((), ()),
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 1), (1, 3)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((1,), (1, 2)),
    ((2, 1, 3), (4, 1)),
    ((0, 3), (1, 3)),
    ((1, 3), (0, 3)),
    ((2, 3), (1, 1, 1)),
]
SOME = [((2, 3),), ((3, 2, 4),), ((1, 3),)]


@dataclass
class Op:
    """f on tensors, reference on arrays, and the shapes of the inputs that it is tried with."""

    name: str
    function: type  # the Function that carries the rule
    f: object
    reference: object
    shapes: list = field(default_factory=lambda: ONE)
    domain: object = "real"  # "real", away from 0; "positive"; "probability"; or (low, high), as in a record
    double: bool = True  # is its second derivative something other than 0 everywhere?

    def inputs(self, shapes, dtype, rng):
        return [draw(shape, self.domain, rng).astype(dtype) for shape in shapes]

    def case(self):
        """The first shapes that have no axis of size 0 or 1, for tests that need one good case."""
        good = [s for s in self.shapes if all(len(x) and min(x) > 1 for x in s)]
        return (good or self.shapes)[0]


def draw(shape, domain, rng):
    """Random numbers away from kinks, poles and each other."""
    if domain == "probability":
        return rng.uniform(0.1, 0.9, shape)
    if isinstance(domain, tuple):
        return numbers(rng, shape, domain)
    size = rng.uniform(0.3, 1.8, shape)
    return size if domain == "positive" else size * rng.choice([-1.0, 1.0], shape)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def np_gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def np_cross_entropy(x, target):
    return -np.mean(np.log(np.take_along_axis(softmax(x, -1), target[..., None], -1)))


def np_bce(p, t):
    return -np.mean(t * np.log(p) + (1 - t) * np.log(1 - p))


# What engine 3 has a record of, and engine 2 a method: but for abs, which has two names, and GELU, of another formula.
METHODS = [
    record
    for record in PRIMITIVES.values()
    if record.arity == 1 and not record.attrs and hasattr(Tensor, record.name) and record.name not in ("abs", "gelu")
]


def elementwise_method(record):
    """The row of a method of Tensor with the reference and the domain of engine 3's record of that name."""

    def f(x):
        return getattr(x, record.name)()

    rule = f(Tensor([0.5], requires_grad=True)).grad_fn.function
    return Op(record.name, rule, f, record.reference, domain=record.domain)


MASK = np.array([[True, False, True], [False, True, False]])
ROWS = np.array([[2, 0], [2, 2], [1, 0]])
CLASSES = np.array([2, 0, 1, 2])
T = np.array([0.0, 1.0, 0.25], np.float32)
rng_of = np.random.default_rng

OPS = [
    Op("add", ar.Add, lambda x, y: x + y, np.add, TWO),
    Op("sub", ar.Sub, lambda x, y: x - y, np.subtract, TWO),
    Op("mul", ar.Mul, lambda x, y: x * y, np.multiply, TWO),
    Op("div", ar.Div, lambda x, y: x / y, np.divide, TWO),
    Op("pow", e.Pow, lambda x, y: x**y, np.power, TWO, "positive"),
    Op("square", e.Pow, lambda x: x**2, np.square),
    Op("cube", e.Pow, lambda x: x**3.0, lambda x: x**3),
    Op("power of 0", e.Pow, lambda x: x**0, np.ones_like),
    Op("fractional power", e.Pow, lambda x: x**0.3, lambda x: x**0.3, ONE, "positive"),
    Op("inverse", e.Pow, lambda x: x**-1, np.reciprocal),
    Op("number ** x", e.Pow, lambda x: 0.3**x, lambda x: 0.3**x),
    Op("number − x", ar.Sub, lambda x: 2 - x, lambda x: 2 - x),
    Op("number / x", ar.Div, lambda x: 2 / x, lambda x: 2 / x),
    Op("neg", ar.Neg, lambda x: -x, np.negative),
    Op("abs", e.Abs, lambda x: abs(x), np.abs),
    *map(elementwise_method, METHODS),
    Op(
        "where",
        e.Where,
        lambda x, y: where(MASK, x, y),
        lambda x, y: np.where(MASK, x, y),
        [((2, 3), (2, 3)), ((3,), (2, 1)), ((), (2, 3)), ((1, 3), ())],
    ),
    Op("maximum", e.Maximum, lambda x, y: x.maximum(y), np.maximum, TWO),
    Op("minimum", e.Maximum, lambda x, y: x.minimum(y), np.minimum, TWO),
    Op("clone", cs.Clone, lambda x: x.clone(), np.copy),
    Op("cast", s.Cast, lambda x: x.astype(np.float64), lambda x: x.astype(np.float64)),
    Op("gelu", a.GELU, lambda x: x.gelu(), np_gelu),
    Op("softmax", a.Softmax, lambda x: x.softmax(), lambda x: softmax(x, -1), SOME),
    Op("softmax, axis 0", a.Softmax, lambda x: x.softmax(0), lambda x: softmax(x, 0), SOME),
    Op("log softmax", r.LogSoftmax, lambda x: x.log_softmax(), lambda x: np.log(softmax(x, -1)), SOME),
    Op(
        "dropout",
        f.Dropout,
        lambda x: f.Dropout.apply(x, p=0.4, rng=rng_of(3)),
        lambda x: x * (rng_of(3).random(x.shape) >= 0.4) / 0.6,
        ONE,
    ),
    Op("sum", cr.Sum, lambda x: x.sum(), np.sum),
    Op("sum, last axis", cr.Sum, lambda x: x.sum(-1), lambda x: x.sum(-1), SOME),
    Op("sum, axis 0 kept", cr.Sum, lambda x: x.sum(0, keepdims=True), lambda x: x.sum(0, keepdims=True), SOME),
    Op("sum, two axes", cr.Sum, lambda x: x.sum((0, -1)), lambda x: x.sum((0, -1)), [((3, 2, 4),), ((2, 0, 3),)]),
    Op("mean", cr.Mean, lambda x: x.mean(), np.mean, ONE[:5]),
    Op("mean, axis 0", cr.Mean, lambda x: x.mean(0), lambda x: x.mean(0), [*SOME, ((2, 0, 3),)]),
    Op(
        "mean, two axes kept",
        cr.Mean,
        lambda x: x.mean((1, 0), keepdims=True),
        lambda x: x.mean((1, 0), keepdims=True),
        SOME,
    ),
    Op("var", cr.Mean, lambda x: x.var(0), lambda x: x.var(0), SOME[:2]),
    Op("norm", r.Norm, lambda x: x.norm(), lambda x: np.sqrt((x * x).sum()), ONE[:5]),
    Op("max", r.Max, lambda x: x.max(), np.max, ONE[:5]),
    Op("max, last axis", r.Max, lambda x: x.max(-1), lambda x: x.max(-1), [*SOME, ((0, 3),)]),
    Op(
        "max, two axes kept",
        r.Max,
        lambda x: x.max((0, 1), keepdims=True),
        lambda x: x.max((0, 1), keepdims=True),
        SOME,
    ),
    Op("min, axis 0", r.Max, lambda x: x.min(0), lambda x: x.min(0), SOME),
    Op("cumsum", r.CumSum, lambda x: x.cumsum(-1), lambda x: x.cumsum(-1), [*SOME, ((3,),), ((0,),)]),
    Op("reshape", cs.Reshape, lambda x: x.reshape(-1, 2), lambda x: x.reshape(-1, 2), [((2, 3),), ((3, 2, 4),)]),
    Op("flatten", cs.Reshape, lambda x: x.flatten(), np.ravel),
    Op("squeeze", cs.Reshape, lambda x: x.squeeze(1), lambda x: x.squeeze(1), [((2, 1, 3),), ((0, 1),)]),
    Op("unsqueeze", cs.Reshape, lambda x: x.unsqueeze(-1), lambda x: x[..., None]),
    Op(
        "permute",
        cs.Permute,
        lambda x: x.permute(1, 2, 0),
        lambda x: x.transpose(1, 2, 0),
        [((3, 2, 4),), ((2, 0, 3),)],
    ),
    Op(
        "permute from the end",
        cs.Permute,
        lambda x: x.permute((-1, 0, 1)),
        lambda x: x.transpose(-1, 0, 1),
        [((3, 2, 4),)],
    ),
    Op("T", cs.Permute, lambda x: x.T, np.transpose),
    Op("transpose", cs.Transpose, lambda x: x.transpose(0, 1), lambda x: x.swapaxes(0, 1), [*SOME, ((2, 0, 3),)]),
    Op("mT", cs.Transpose, lambda x: x.mT, lambda x: x.swapaxes(-1, -2), SOME),
    Op(
        "expand",
        cs.Expand,
        lambda x: x.expand(4, 2, 3),
        lambda x: np.broadcast_to(x, (4, 2, 3)),
        [((),), ((3,),), ((2, 1),), ((2, 3),), ((1, 2, 3),)],
    ),
    Op(
        "expand to nothing",
        cs.Expand,
        lambda x: x.expand(0, 3),
        lambda x: np.broadcast_to(x, (0, 3)),
        [((3,),), ((1, 1),)],
    ),
    Op("flip", s.Flip, lambda x: x.flip(-1), lambda x: np.flip(x, -1), [*SOME, ((0,),)]),
    Op(
        "cat",
        s.Cat,
        lambda *x: cat(x, 0),
        lambda *x: np.concatenate(x, 0),
        [((2, 3), (4, 3)), ((2, 3), (0, 3), (1, 3)), ((2,), (3,))],
    ),
    Op("cat, last axis", s.Cat, lambda *x: cat(x, -1), lambda *x: np.concatenate(x, -1), [((2, 3), (2, 1), (2, 2))]),
    Op("stack", s.Cat, lambda *x: stack(x, 1), lambda *x: np.stack(x, 1), [((2, 3), (2, 3)), ((3,), (3,), (3,))]),
    Op("x[1]", i.GetItem, lambda x: x[1], lambda x: x[1], [((2, 3),), ((3,),), ((2, 1, 3),), ((2, 0, 3),)]),
    Op("x[…, ::-2]", i.GetItem, lambda x: x[..., ::-2], lambda x: x[..., ::-2], ONE[1:]),
    Op("x[rows], repeated", i.GetItem, lambda x: x[ROWS], lambda x: x[ROWS], [((3,),), ((3, 2),)]),
    Op("x[mask]", i.GetItem, lambda x: x[MASK], lambda x: x[MASK], [((2, 3),)]),
    Op("x[None, 1:]", i.GetItem, lambda x: x[None, 1:], lambda x: x[None, 1:], ONE[1:]),
    Op(
        "x[rows, columns]", i.GetItem, lambda x: x[[0, 1, 0], [2, 0, 2]], lambda x: x[[0, 1, 0], [2, 0, 2]], [((2, 3),)]
    ),
    Op(
        "scatter",
        i.Scatter,
        lambda x: i.Scatter.apply(x, key=np.array([1, 1, 3]), shape=(5, 2)),
        lambda x: np.array([np.zeros(2), x[0] + x[1], np.zeros(2), x[2], np.zeros(2)]),
        [((3, 2),)],
    ),
    Op(
        "set item",
        s.SetItem,
        lambda x, y: set_item(x, y),
        lambda x, y: np_set_item(x, y),
        [((2, 3), (2,)), ((2, 3), ())],
    ),
    Op("embedding", i.Embedding, lambda x: embedding(ROWS, x), lambda x: x[ROWS], [((3, 2),), ((4, 1),)]),
    Op(
        "matmul",
        m.MatMul,
        lambda x, y: x @ y,
        np.matmul,
        [
            ((2, 3), (3, 4)),
            ((1, 3), (3, 1)),
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 4)),
            ((5, 2, 3), (5, 3, 4)),
            ((5, 2, 3), (3, 4)),
            ((2, 3), (5, 3, 4)),
            ((5, 2, 3), (3,)),
            ((3,), (5, 3, 4)),
            ((4, 1, 2, 3), (5, 3, 2)),
            ((1, 2, 3), (5, 3, 2)),
            ((0, 3), (3, 2)),
            ((2, 0), (0, 3)),
            ((0, 2, 3), (3, 2)),
        ],
    ),
    Op("mse", lo.MSELoss, mse_loss, lambda x, y: np.mean((x - y) ** 2), [((2, 3), (2, 3)), ((), ()), ((3,), (3,))]),
    Op("bce", f.BCELoss, lambda x: binary_cross_entropy(x, T), lambda x: np_bce(x, T), [((3,),)], "probability"),
    Op(
        "bce with logits",
        lo.BCEWithLogitsLoss,
        lambda x: binary_cross_entropy_with_logits(x, T),
        lambda x: np_bce(PRIMITIVES["sigmoid"].reference(x), T),
        [((3,),)],
    ),
    Op(
        "cross entropy",
        lo.CrossEntropyLoss,
        lambda x: cross_entropy(x, CLASSES),
        lambda x: np_cross_entropy(x, CLASSES),
        [((4, 3),)],
    ),
    Op(
        "cross entropy, stacked",
        lo.CrossEntropyLoss,
        lambda x: cross_entropy(x, ROWS),
        lambda x: np_cross_entropy(x, ROWS),
        [((3, 2, 4),)],
    ),
]


def set_item(x, y):
    x = x.clone()
    x[:, 1] = y
    return x


def np_set_item(x, y):
    x = x.copy()
    x[:, 1] = y
    return x


def gradients(f, inputs, upstream):
    """(value, ∂L/∂inputs) of engine 2, as arrays."""
    leaves = [Tensor(x, requires_grad=True) for x in inputs]
    out = f(*leaves)
    out.backward(upstream)
    return out.data, [None if leaf.grad is None else leaf.grad.data for leaf in leaves]
