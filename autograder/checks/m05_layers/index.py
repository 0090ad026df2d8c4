"""Check 7 of lesson 05: picking numbers, and putting gradients back."""

import numpy as np

from autograder.checks.cases import array, filled
from autograder.checks.check import exercise
from autograder.checks.m05_layers.rules import arriving, gradient, programs, value

layers_index = exercise("layers.index", "Slices, rows, pairs, masks; and what was taken twice gets both gradients.")

KEYS = ["1:3", "1", "::2", "[2, 0, 2]", "-1", "None", "::-1", "x > 0", "...", "[[2, 1, 2], [0, 2, 1]]", "3:"]
PAIRS = ["::2, 1:", ":, -1", "[0, 2, 0], [1, 0, 1]", "1, 0", ":, [1, 1]", "..., None", "[2, 0], 1:"]
PROGRAMS = ["(2 * x)[[1, 0, 1]][::2]", "x[[0, 0]] - 3 * x[1:3]", "x[[2, 2]] * x[[0, 2]]"]
ROWS = [[[3, 1, 3], [0, 3, 1]], [1, 1], [0]]


def parts(x):
    keys = KEYS if x.ndim == 1 else PAIRS[:3] + KEYS + PAIRS[3:]
    return programs(*(f"x[{key}]" for key in keys), *PROGRAMS)


def enough(x):
    return len(x) > 2 and x.shape[1:2] != (1,)


def put(key, shape):
    return programs(f"Scatter.apply(x, key={key}, shape={shape})", f"Scatter.apply(2 * x, key={key}, shape={shape})")


TAKEN = array("x", ((3,), (3, 2), (4, 2), (3, 3), (3, 2, 2)), ("decimals", "whole", "transposed"))
TAKEN = TAKEN.where(enough).each(f=parts).add(grad=arriving)
LOOKED_UP = array("x", ((4, 2), (4, 1), (5, 3)), ("decimals", "whole")).where(lambda x: x.ndim == 2 and len(x) > 3)
LOOKED_UP = LOOKED_UP.each(indices=lambda: ROWS).add(
    f=lambda indices: programs(f"embedding({indices}, x)")[0],
    grad=lambda x, indices, rng: arriving(x[indices], abs, rng),
)
PUT = array("x", ((3,), (3, 2), (3, 1)), ("decimals", "whole", "transposed")).where(lambda x: len(x) == 3)
PUT = PUT.each(key=lambda: [[4, 1, 4], slice(1, 4), [0, 0, 0], [2, 0, 1], slice(None, None, 2)])
PUT = PUT.add(shape=lambda x, key: (5 + (key != slice(1, 4)), *x.shape[1:])).each(f=put)
PUT = PUT.add(grad=lambda shape, rng: filled(shape, "decimals", rng))

layers_index.aspect("x[key]: the gradient", 1.5, cases=TAKEN + LOOKED_UP, device=5, few=35, rtol=1e-12)(gradient)
layers_index.aspect("x[key]: the value", 0.5, cases=TAKEN, few=8)(value)
layers_index.aspect("Scatter: the gradient", 0.5, cases=PUT, few=8)(gradient)
layers_index.aspect("Scatter: the value", 0.5, cases=PUT, few=8, rtol=1e-12)(value)


@layers_index.on_device
def names(on, reference):
    def embedding(indices, table):
        return on.operation(on.ag.embedding)(table, idx=np.array(indices))

    return {"Tensor": on.MeasuredTensor, "embedding": embedding}


layers_index.mistake(
    "`y[key] += x` (or `=`) counts a repeated index once",
    swap=("np.add.at(y, key, x)", "y[key] += x"),
    hint=[
        "Look at a row that is taken twice: which of its gradients is left?",
        "`np.add.at(y, key, x)` adds one after the other.",
    ],
)
layers_index.mistake(
    "GetItem hands grad on as it is, in the shape of the part",
    swap=("return Scatter.apply(grad, key=ctx.key, shape=ctx.input_shape)", "return grad"),
    hint=[
        "Which shape has x, and which grad?",
        "`Scatter.apply(grad, key=…, shape=…)` puts it back into zeros of x's shape.",
    ],
)
layers_index.mistake(
    "a single number comes as an array of one number",
    swap=("return x[key]", "return np.atleast_1d(x[key])"),
    hint=["Which shape has np.array([1.0, 2.0])[1]?", "`x[key]` as NumPy gives it: shape () is a shape."],
)
layers_index.mistake(
    "Scatter's zeros have the shape of the part, not the shape that was asked for",
    swap=("np.zeros(shape, x.dtype)", "np.zeros(x.shape, x.dtype)"),
    hint=["Scatter of 3 rows into 6: how many rows come out?", "`np.zeros(shape, …)`."],
)
layers_index.mistake(
    "where a number was taken its gradient is 1, or how often: grad is forgotten",
    swap=("return Scatter.apply(grad, key=ctx.key", "return Scatter.apply(grad * 0 + 1, key=ctx.key"),
    hint=["The chain rule: what arrives at y goes to the place where y came from.", "Scatter grad itself."],
)
layers_index.mistake(
    "Scatter's backward hands on all of grad",
    swap=("return grad[ctx.key]", "return grad"),
    hint=["x is smaller than the result: which part of grad belongs to it?", "grad[key]."],
)
layers_index.mistake(
    "Scatter starts from ones",
    swap=("np.zeros(shape, x.dtype)", "np.ones(shape, x.dtype)"),
    hint=["What is the gradient of a number that was not taken?", "Zeros."],
)
layers_index.mistake(
    "what was taken twice gets the mean of its gradients, not their sum",
    swap=(
        "np.add.at(y, key, x)  # y[key] += x would count a repeated index once",
        "count = np.zeros(shape)\n        np.add.at(y, key, x)\n        np.add.at(count, key, 1)\n        y = y / np.maximum(count, 1)",
    ),
    hint=["One number, two paths to the loss. What do we do over paths?", "Add."],
)
layers_index.mistake(
    "the gradient goes to the first rows, wherever the key pointed",
    swap=(
        "return Scatter.apply(grad, key=ctx.key, shape=ctx.input_shape)",
        "y = np.zeros(ctx.input_shape)\n        y.ravel()[:grad.size] = grad.data.ravel()\n        return y",
    ),
    hint=["Where in x did the numbers come from?", "The key says where: keep it on ctx."],
)

layers_index.variant(
    "counted over flat places",
    source="""
class Scatter(Function):
    @staticmethod
    def forward(ctx, x, key, shape):
        ctx.key = key
        size = int(np.prod(shape))
        places = np.arange(size).reshape(shape)[key]
        weights = np.broadcast_to(x, places.shape).ravel()
        return np.bincount(places.ravel(), weights=weights, minlength=size).reshape(shape)

    @staticmethod
    def backward(ctx, grad):
        return grad.data[ctx.key]


class GetItem(Function):
    @staticmethod
    def forward(ctx, x, key):
        ctx.where = {"key": key, "shape": np.shape(x)}
        return np.array(x[key])

    @staticmethod
    def backward(ctx, grad):
        return Scatter.apply(grad, **ctx.where)
""",
)
layers_index.variant(
    "number after number",
    source="""
class Scatter(Function):
    @staticmethod
    def forward(ctx, x, key, shape):
        ctx.save_for_backward(np.arange(math.prod(shape)).reshape(shape)[key])
        y = np.zeros(math.prod(shape))
        for place, number in zip(np.ravel(np.arange(math.prod(shape)).reshape(shape)[key]), np.ravel(x)):
            y[place] += number
        return y.reshape(shape)

    @staticmethod
    def backward(ctx, grad):
        return np.ravel(grad.data)[ctx.saved_tensors[0].data]


class GetItem(Function):
    @staticmethod
    def forward(ctx, x, key):
        ctx.key, ctx.x = key, x
        return x[key].copy()

    @staticmethod
    def backward(ctx, grad):
        y = np.zeros_like(ctx.x)
        np.add.at(y, ctx.key, grad.data)
        return y
""",
)
layers_index.variant(
    "zeros of float64: for float32 inputs the engine makes float32 of the result again",
    swap=("np.zeros(shape, x.dtype)", "np.zeros(shape)"),
)
