"""Check 7 of lesson 05: picking numbers, and putting gradients back."""

import numpy as np

from autograder.checks.check import check


@check(
    "layers.index",
    points=3,
    device=(
        "x[1:3], x.grad",
        "x[::2, 1:], x.grad",
        "x[2], x.grad",
        "x[:, −1], x.grad",
        "x[[3, 0, 3]], x.grad",
        "embedding of [[3, 1, 3], [0, 3, 1]], table.grad",
    ),
)
def layers_index(student, rng, tools):
    """Slices, rows, pairs, masks; and what was taken twice gets both gradients."""
    x, ups = rng.normal(size=(4, 5)), rng.normal(size=40)
    mask = rng.permutation(20).reshape(4, 5) % 3 == 0
    values = rng.normal(size=(3, 2))

    def value(key):
        return student.Tensor(x, requires_grad=True)[key].data

    def run(key):
        leaf = student.Tensor(x, requires_grad=True)
        out = leaf[key]
        out.backward(ups[: out.size].reshape(out.shape))
        return {"gradient": leaf.grad.data, "after": leaf.data}

    def rows(indices):
        table = student.Tensor(x, requires_grad=True)
        out = student.embedding(indices, table)
        out.backward(ups[: out.size].reshape(out.shape))
        return table.grad.data

    def scatter():
        leaf = student.Tensor(values, requires_grad=True)
        out = student.Scatter.apply(leaf, key=[4, 1, 4], shape=(6, 2))
        out.backward(ups[:12].reshape(6, 2))
        return {"gradient": leaf.grad.data, "after": leaf.data}

    return {
        "input": f"x = {np.round(x, 3).tolist()}; the gradient that arrives begins with {np.round(ups[:6], 4).tolist()}",
        "x[1:3]": lambda: value(slice(1, 3)),
        "x[1:3], x.grad": lambda: run(slice(1, 3))["gradient"],
        "x[::2, 1:], x.grad": lambda: run((slice(None, None, 2), slice(1, None)))["gradient"],
        "x[2], x.grad": lambda: run(2)["gradient"],
        "x[:, −1], x.grad": lambda: run((slice(None), -1))["gradient"],
        "x[mask], x.grad": lambda: run(mask)["gradient"],
        "x[[3, 0, 3]]": lambda: value([3, 0, 3]),
        "x[[3, 0, 3]], x.grad": lambda: run([3, 0, 3])["gradient"],
        "x[[0, 2, 0], [1, 4, 1]], x.grad": lambda: run(([0, 2, 0], [1, 4, 1]))["gradient"],
        "embedding of [[3, 1, 3], [0, 3, 1]], table.grad": lambda: rows([[3, 1, 3], [0, 3, 1]]),
        "Scatter of 3 rows to 4, 1, 4 of shape (6, 2)": lambda: (
            student.Scatter.apply(student.Tensor(values), key=[4, 1, 4], shape=(6, 2)).data
        ),
        "Scatter, gradient": lambda: scatter()["gradient"],
        "x afterwards": lambda: run([3, 0, 3])["after"],
    }


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
