"""Every operation of engine 3 as a row: how it is written with Nodes, what NumPy says, which inputs
it takes. Where engine 2 has the same, the row has the name that it has in `tensor_ops`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from netcl_devices import numbers, put
from tensor_ops import CLASSES, MASK, ONE, ROWS, SOME, TWO, np_cross_entropy, softmax

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES

WIDE = [*ONE, ((2, 19),)]  # more than a vector, and a rest
FEW = [((2, 19), (2, 19)), ((), ()), ((2, 1, 3), (4, 1)), ((0, 3), (1, 3))]
MANY = [*TWO, *FEW, ((19,), (3, 1))]  # each way to broadcast is another kernel: for some will do
EVERYWHERE = (-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Operation:
    """f on Nodes, reference on arrays, and the shapes of the inputs that it is tried with.

    export     the name in `ag`
    domain     of each input
    slopes     whether it has a gradient
    moves      whether it only moves numbers, or leaves them out, as does its gradient
    odd        whether the reference knows what becomes of NaN and infinities
    """

    name: str
    export: str
    f: Callable
    reference: Callable
    shapes: list = field(default_factory=lambda: WIDE)
    domain: tuple = EVERYWHERE
    slopes: bool = True
    moves: bool = False
    odd: bool = True

    def inputs(self, shapes, seed=1):
        """Random arrays, float64, but exact in float32."""
        rng = np.random.default_rng([seed, *map(ord, self.name)])
        return [numbers(rng, shape, self.domain, np.float32).astype(np.float64) for shape in shapes]

    def case(self):
        """The first shapes without an axis of length 0 or 1, for tests that need one good case."""
        good = [each for each in self.shapes if all(shape and min(shape) > 1 for shape in each)]
        return (good or self.shapes)[0]


def elementwise(primitive):
    """The row of a primitive."""
    return Operation(
        primitive.name,
        primitive.name,
        getattr(ag, primitive.name),
        partial(primitive.reference, **primitive.attrs),
        WIDE if primitive.arity == 1 else MANY if primitive.name in "sub div" else FEW,
        primitive.domain,
        slopes=primitive.backward is not None,
    )


def moving(name, export, f, reference, shapes):
    """The row of an operation that only moves numbers."""
    return Operation(name, export, f, reference, shapes, moves=True)


def turned(x):
    return np.swapaxes(x, -1, -2)


def logsumexp(x, axis=-1, keepdims=False):
    return np.logaddexp.reduce(x, axis, keepdims=keepdims)


def log_softmax(x, axis=-1):
    return x - logsumexp(x, axis, keepdims=True)


def layer_norm(x, gamma=1.0, beta=0.0, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * gamma + beta


def log_loss(p, t):
    return -t * np.log(p) - (1 - t) * np.log(1 - p)


def logistic_loss(x, t):
    return np.logaddexp(x, 0) - x * t


PAIRS = [((2, 3), (2, 3)), ((), ()), ((2, 19), (2, 19))]
T = np.array([0.0, 1.0, 0.25])
PRODUCTS = [
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
    ((13, 5), (5, 19)),
]

OPERATIONS = [
    *[elementwise(primitive) for primitive in PRIMITIVES.values() if primitive.name != "where"],
    Operation(
        "where",
        "where",
        partial(ag.where, MASK),
        partial(np.where, MASK),
        [((2, 3), (2, 3)), ((3,), (2, 1)), ((), (2, 3)), ((1, 3), ()), ((4, 2, 1), (3,))],
    ),
    Operation(
        "clamp from both sides", "clamp", partial(ag.clamp, min_val=-1.0, max_val=0.5), lambda x: np.clip(x, -1, 0.5)
    ),
    Operation(
        "leaky_relu, steep",
        "leaky_relu",
        partial(ag.leaky_relu, negative_slope=3.0),
        lambda x: np.where(x > 0, x, 3 * x),
    ),
    Operation(
        "elu, alpha 2", "elu", partial(ag.elu, alpha=2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(np.minimum(x, 0)))
    ),
    Operation("number ** x", "pow", lambda x: 0.3**x, lambda x: 0.3**x),
    Operation("number − x", "sub", lambda x: 2 - x, lambda x: 2 - x),
    Operation("number / x", "div", lambda x: 2 / x, lambda x: 2 / x),
    Operation("cube", "pow", lambda x: x**3.0, lambda x: x**3),
    Operation("one input twice", "mul", lambda x: x * x + x, lambda x: x * x + x),
    # reductions
    Operation("sum", "sum", ag.sum, np.sum),
    Operation("sum, last axis", "sum", partial(ag.sum, axis=-1), partial(np.sum, axis=-1), SOME),
    Operation(
        "sum, axis 0 kept",
        "sum",
        partial(ag.sum, axis=0, keepdims=True),
        partial(np.sum, axis=0, keepdims=True),
        [*SOME, ((0, 3),)],
    ),
    Operation(
        "sum, two axes",
        "sum",
        partial(ag.sum, axis=(0, -1)),
        partial(np.sum, axis=(0, -1)),
        [((3, 2, 4),), ((2, 0, 3),)],
    ),
    Operation("mean", "mean", ag.mean, np.mean, ONE[:5]),
    Operation("mean, axis 0", "mean", partial(ag.mean, axis=0), partial(np.mean, axis=0), [*SOME, ((2, 0, 3),)]),
    Operation(
        "mean, two axes kept",
        "mean",
        partial(ag.mean, axis=(1, 0), keepdims=True),
        partial(np.mean, axis=(1, 0), keepdims=True),
        SOME,
    ),
    Operation("max", "max", ag.max, np.max, ONE[:5]),
    Operation("max, last axis", "max", partial(ag.max, axis=-1), partial(np.max, axis=-1), [*SOME, ((0, 3),)]),
    Operation(
        "max, two axes kept",
        "max",
        partial(ag.max, axis=(0, 1), keepdims=True),
        partial(np.max, axis=(0, 1), keepdims=True),
        SOME,
    ),
    Operation("min, axis 0", "min", partial(ag.min, axis=0), partial(np.min, axis=0), SOME),
    Operation("cumsum, axis 0", "cumsum", partial(ag.cumsum, axis=0), partial(np.cumsum, axis=0), [*SOME, ((0, 3),)]),
    Operation("cumsum", "cumsum", partial(ag.cumsum, axis=-1), partial(np.cumsum, axis=-1), [*SOME, ((37,),)]),
    # rows
    Operation("softmax", "softmax", ag.softmax, lambda x: softmax(x, -1), [*SOME, ((2, 19),)]),
    Operation("softmax, axis 0", "softmax", partial(ag.softmax, axis=0), lambda x: softmax(x, 0), [*SOME, ((3,),)]),
    Operation("log softmax", "log_softmax", ag.log_softmax, log_softmax, [*SOME, ((2, 19),)], odd=False),
    Operation(
        "log softmax, axis 1",
        "log_softmax",
        partial(ag.log_softmax, axis=1),
        partial(log_softmax, axis=1),
        SOME,
        odd=False,
    ),
    Operation("logsumexp", "logsumexp", ag.logsumexp, logsumexp, [*SOME, ((2, 19),), ((3,),)]),
    Operation(
        "logsumexp, axis 0 kept",
        "logsumexp",
        partial(ag.logsumexp, axis=0, keepdims=True),
        partial(logsumexp, axis=0, keepdims=True),
        SOME,
    ),
    Operation(
        "layer norm",
        "layer_norm",
        ag.layer_norm,
        layer_norm,
        [
            ((2, 3), (3,), (3,)),
            ((3, 2, 4), (4,), (4,)),
            ((5,), (5,), (5,)),
            ((2, 19), (19,), (19,)),
            ((0, 3), (3,), (3,)),
        ],
    ),
    Operation("layer norm, plain", "layer_norm", partial(ag.layer_norm, eps=0.1), partial(layer_norm, eps=0.1), SOME),
    # losses
    Operation("mse", "mse_loss", ag.mse_loss, lambda x, y: np.mean((x - y) ** 2), PAIRS),
    Operation(
        "mse, sum",
        "mse_loss",
        partial(ag.mse_loss, reduction="sum"),
        lambda x, y: np.sum((x - y) ** 2),
        [*PAIRS, ((0, 3), (0, 3))],
    ),
    Operation("mse, none", "mse_loss", partial(ag.mse_loss, reduction="none"), lambda x, y: (x - y) ** 2, PAIRS),
    Operation("l1", "l1_loss", ag.l1_loss, lambda x, y: np.mean(np.abs(x - y)), PAIRS),
    Operation(
        "bce",
        "binary_cross_entropy",
        lambda x: ag.binary_cross_entropy(x, T),
        lambda p: np.mean(log_loss(p, T)),
        [((3,),)],
        (0, 1),
        odd=False,
    ),
    Operation(
        "bce with targets",
        "binary_cross_entropy",
        ag.binary_cross_entropy,
        lambda p, t: np.mean(log_loss(p, t)),
        PAIRS,
        (0, 1),
        odd=False,
    ),
    Operation(
        "bce with logits",
        "binary_cross_entropy_with_logits",
        lambda x: ag.binary_cross_entropy_with_logits(x, T),
        lambda x: np.mean(logistic_loss(x, T)),
        [((3,),)],
    ),
    Operation(
        "bce with logits and targets",
        "bce_with_logits",
        partial(ag.bce_with_logits, reduction="sum"),
        lambda x, t: np.sum(logistic_loss(x, t)),
        PAIRS,
    ),
    Operation(
        "cross entropy",
        "cross_entropy",
        lambda x: ag.cross_entropy(x, CLASSES),
        lambda x: np_cross_entropy(x, CLASSES),
        [((4, 3),), ((4, 19),)],
    ),
    Operation(
        "cross entropy, stacked",
        "cross_entropy",
        lambda x: ag.cross_entropy(x, ROWS),
        lambda x: np_cross_entropy(x, ROWS),
        [((3, 2, 4),)],
    ),
    Operation(
        "cross entropy, none",
        "cross_entropy",
        lambda x: ag.cross_entropy(x, CLASSES, reduction="none"),
        lambda x: -log_softmax(x)[np.arange(4), CLASSES],
        [((4, 3),)],
        odd=False,
    ),
    Operation(
        "cross entropy of probabilities",
        "cross_entropy",
        partial(ag.cross_entropy, reduction="sum"),
        lambda x, p: -np.sum(p * log_softmax(x)),
        [((2, 3), (2, 3)), ((3, 2, 4), (3, 2, 4)), ((5,), (5,)), ((2, 19), (2, 19))],
        odd=False,
    ),
    # matrix products
    Operation("matmul", "matmul", ag.matmul, np.matmul, PRODUCTS),
    Operation(
        "matmul, Aᵀ",
        "matmul",
        partial(ag.matmul, transpose_a=True),
        lambda a, b: turned(a) @ b,
        [((3, 2), (3, 4)), ((5, 3, 2), (3, 4)), ((13, 20), (13, 17))],
    ),
    Operation(
        "matmul, Bᵀ",
        "matmul",
        partial(ag.matmul, transpose_b=True),
        lambda a, b: a @ turned(b),
        [((2, 3), (4, 3)), ((3, 4), (2, 2, 4)), ((13, 5), (19, 5))],
    ),
    Operation(
        "matmul, both turned",
        "matmul",
        partial(ag.matmul, transpose_a=True, transpose_b=True),
        lambda a, b: turned(a) @ turned(b),
        [((3, 2), (4, 3)), ((2, 3, 2), (2, 4, 3))],
    ),
    Operation(
        "linear",
        "linear",
        ag.linear,
        lambda x, w, b: x @ w + b,
        [
            ((2, 3), (3, 4), (4,)),
            ((5, 2, 3), (3, 1), (1,)),
            ((3,), (3, 4), (4,)),
            ((0, 3), (3, 2), (2,)),
            ((13, 5), (5, 19), (19,)),
        ],
    ),
    Operation("linear, no bias", "linear", ag.linear, np.matmul, [((2, 3), (3, 4))]),
    Operation(
        "linear, tanh",
        "linear",
        partial(ag.linear, activation="tanh"),
        lambda x, w, b: np.tanh(x @ w + b),
        [((2, 3), (3, 4), (4,))],
    ),
    Operation(
        "linear, softplus",
        "linear",
        partial(ag.linear, activation="softplus"),
        lambda x, w, b: np.logaddexp(x @ w + b, 0),
        [((2, 3), (3, 4), (4,))],
    ),
    # shapes
    moving(
        "reshape", "reshape", lambda x: ag.reshape(x, (-1, 2)), lambda x: x.reshape(-1, 2), [((2, 3),), ((3, 2, 4),)]
    ),
    moving("flatten", "reshape", lambda x: ag.reshape(x, (-1,)), np.ravel, ONE[:5]),
    moving("squeeze", "squeeze", partial(ag.squeeze, axis=1), partial(np.squeeze, axis=1), [((2, 1, 3),), ((0, 1),)]),
    moving("squeeze all", "squeeze", ag.squeeze, np.squeeze, WIDE),
    moving("unsqueeze", "unsqueeze", partial(ag.unsqueeze, axis=-1), lambda x: x[..., None], WIDE),
    moving("T", "transpose", ag.transpose, np.transpose, WIDE),
    moving(
        "permute",
        "transpose",
        partial(ag.transpose, axes=(1, 2, 0)),
        partial(np.transpose, axes=(1, 2, 0)),
        [((3, 2, 4),), ((2, 0, 3),)],
    ),
    moving("cast", "cast", partial(ag.cast, dtype="float32"), lambda x: x, WIDE),
    Operation(
        "expand",
        "broadcast_to",
        partial(ag.broadcast_to, shape=(4, 2, 3)),
        lambda x: np.broadcast_to(x, (4, 2, 3)),
        [((),), ((3,),), ((2, 1),), ((2, 3),), ((1, 2, 3),)],
    ),
    Operation(
        "expand to nothing",
        "broadcast_to",
        partial(ag.broadcast_to, shape=(0, 3)),
        lambda x: np.broadcast_to(x, (0, 3)),
        [((3,),), ((1, 1),)],
    ),
    # picked, joined, masked
    moving("x[1]", "getitem", lambda x: x[1], lambda x: x[1], [((2, 3),), ((3,),), ((2, 1, 3),), ((2, 0, 3),)]),
    moving("x[…, ::-2]", "getitem", lambda x: x[..., ::-2], lambda x: x[..., ::-2], ONE[1:]),
    moving("x[None, 1:]", "getitem", lambda x: x[None, 1:], lambda x: x[None, 1:], ONE[1:]),
    moving("x[rows], repeated", "getitem", lambda x: x[ROWS], lambda x: x[ROWS], [((3,),), ((3, 2),)]),
    moving(
        "x[:, indices, 1:]",
        "getitem",
        lambda x: x[:, [1, 0, 1, -1], 1:],
        lambda x: x[:, [1, 0, 1, -1], 1:],
        [((3, 2, 4),), ((0, 2, 4),)],
    ),
    moving(
        "narrow", "narrow", partial(ag.narrow, axis=1, start=1, length=2), lambda x: x[:, 1:3], [((2, 3),), ((2, 19),)]
    ),
    moving("split", "split", lambda x: ag.split(x, [1, 2], axis=-1)[1], lambda x: x[..., 1:], [((2, 3),), ((3,),)]),
    moving("chunk", "chunk", lambda x: ag.chunk(x, 2)[0], lambda x: x[: -(-len(x) // 2)], SOME),
    moving(
        "cat",
        "cat",
        lambda *x: ag.cat(x),
        lambda *x: np.concatenate(x),
        [((2, 3), (4, 3)), ((2, 3), (0, 3), (1, 3)), ((2,), (3,))],
    ),
    moving(
        "cat, last axis", "cat", lambda *x: ag.cat(x, -1), lambda *x: np.concatenate(x, -1), [((2, 3), (2, 1), (2, 2))]
    ),
    moving(
        "stack", "stack", lambda *x: ag.stack(x, 1), lambda *x: np.stack(x, 1), [((2, 3), (2, 3)), ((3,), (3,), (3,))]
    ),
    moving(
        "embedding", "embedding", lambda x: ag.embedding(x, ROWS), lambda x: x[ROWS], [((3, 2),), ((4, 1),), ((3, 19),)]
    ),
    moving(
        "index_select",
        "index_select",
        lambda x: ag.index_select(x, -1, [1, 1, 0]),
        lambda x: x[..., [1, 1, 0]],
        [((2, 3),), ((3, 2, 4),), ((3,),), ((0, 2),)],
    ),
    Operation(
        "masked_fill",
        "masked_fill",
        lambda x: ag.masked_fill(x, MASK, 7.0),
        lambda x: np.where(MASK, 7, x),
        [((2, 3),), ((4, 2, 3),)],
        moves=True,
    ),
]

HELPERS = {  # functions that `ag` exports, and that are no operations on Nodes
    "apply_op",
    "apply_primitive",
    "arange",
    "causal_mask",
    "describe",
    "is_grad_enabled",
    "jit_compile",
    "primitive",
    "register_primitive",
    "set_detect_anomaly",
    "tensor",
}


def leaves_of(device, arrays):
    """The arrays as leaves that require a gradient, on a device."""
    return [ag.tensor(put(device, array), requires_grad=True) for array in arrays]


def results(operation, device, arrays, upstream):
    """(value, [∂L/∂inputs]) of an operation on a device, as arrays."""
    leaves = leaves_of(device, map(np.asarray, arrays))
    out = operation.f(*leaves)
    if not operation.slopes:
        return out.to_host(), []
    ag.Tape().backward(out, put(device, np.asarray(upstream)))
    return out.to_host(), [leaf.grad.to_host() for leaf in leaves]
