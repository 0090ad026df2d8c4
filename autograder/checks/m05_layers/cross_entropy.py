"""Check 5 of lesson 05: cross-entropy of logits."""

import numpy as np

from autograder.checks.cases import array, choice
from autograder.checks.check import exercise
from autograder.checks.m05_layers.rules import gradient, one_number, programs, value

layers_cross_entropy = exercise(
    "layers.cross_entropy",
    "Cross-entropy of rows of logits, of a stack of rows, and of very large logits.",
    needs=("layers.softmax",),
)


def of_rows(x, rng):
    one, two = (rng.integers(x.shape[-1], size=x.shape[:-1]).tolist() for _ in range(2))
    first = f"cross_entropy(x, {one})"
    return programs(
        first,
        f"cross_entropy(2 * x, np.array({two}))",
        f"{first} - 3 * cross_entropy(-x, np.array({two}, np.uint8))",
        f"{first} * {first}",
    )


LARGE = np.array([[1000.0, 0.0, -1000.0], [0.3, -0.4, 0.9], [-800.0, -802.0, -801.0]])
SHAPES = (1, 2), (2, 3), (3, 2), (1, 3), (4, 3), (3,), (2, 1, 3), (2, 3, 2), (2, 2), (2, 1), (2, 2, 1, 3)
LOGITS = array("x", SHAPES, ("decimals", "whole", "transposed")).each(f=of_rows).add(grad=one_number)
FAR_APART = choice("x", LARGE, LARGE[::-1], LARGE.T).each(f=of_rows).add(grad=one_number)

layers_cross_entropy.aspect("the gradient", 1.5, cases=LOGITS, device=4, few=30)(gradient)
layers_cross_entropy.aspect("the loss", 0.5, cases=LOGITS, few=14)(value)
layers_cross_entropy.aspect("logits of ±1000: the gradient", 0.5, cases=FAR_APART, few=8)(gradient)
layers_cross_entropy.aspect("logits of ±1000: the loss", 0.5, cases=FAR_APART, few=8)(value)


@layers_cross_entropy.on_device
def names(on, reference):
    def cross_entropy(logits, target):
        return on.operation(on.ag.cross_entropy)(logits, target=np.array(target, np.int32))

    return {"Tensor": on.MeasuredTensor, "cross_entropy": cross_entropy}


layers_cross_entropy.mistake(
    "the maximum is that of the whole array: in other rows ln 0 is −inf",
    swap=("x.max(-1, keepdims=True)", "x.max()"),
    hint=[
        "A row around −800 beside a 1000: what is left of its exponentials?",
        "`x.max(-1, keepdims=True)`: each row has its own.",
    ],
)
layers_cross_entropy.mistake(
    "nothing is subtracted before exp: e¹⁰⁰⁰ is inf",
    swap=("shifted = x - x.max(-1, keepdims=True)", "shifted = x"),
    hint=["What is np.exp(1000)?", "Subtract the row's maximum first."],
)
layers_cross_entropy.mistake(
    "softmax first, then its logarithm: for the probability 0 that is inf",
    swap=(
        "np.mean(log_sum - shifted[ctx.onehot].reshape(target.shape))",
        "-np.mean(np.log((np.exp(shifted) / np.exp(log_sum)[..., None])[ctx.onehot]))",
    ),
    hint=[
        "The right class has a logit 1000 below the largest. What is its probability, as a float?",
        "x − max − ln Σ e^(x − max): no logarithm of a probability.",
    ],
)
layers_cross_entropy.mistake(
    "the loss is a sum over the rows, not their mean",
    swap=("np.mean(log_sum", "np.sum(log_sum"),
    hint=["Twice as many rows, the same mistakes: what should become of the loss?", "`np.mean`."],
)
layers_cross_entropy.mistake(
    "the loss is negative: ln softmax, without the minus",
    swap=("log_sum - shifted[ctx.onehot].reshape(target.shape)", "shifted[ctx.onehot].reshape(target.shape) - log_sum"),
    hint=["A logarithm of a probability is negative. And a loss?", "ln Σ e^… minus the score of the target."],
)
layers_cross_entropy.mistake(
    "1/N is missing in backward",
    swap=(" * (1 / rows)", ""),
    hint=["Forward is a mean over the rows.", "Divide by the number of rows."],
)
layers_cross_entropy.mistake(
    "N counts all numbers, not rows",
    swap=("rows = ctx.onehot.size // ctx.onehot.shape[-1]", "rows = ctx.onehot.size"),
    hint=["Over how many numbers does forward take its mean?", "One loss per row: divide by the size of the target."],
)
layers_cross_entropy.mistake(
    "N is the length of the first axis alone",
    swap=("rows = ctx.onehot.size // ctx.onehot.shape[-1]", "rows = len(ctx.onehot)"),
    hint=["How many rows of logits are in shape (2, 3, 4)?", "2 · 3 of them: the size of the target."],
)
layers_cross_entropy.mistake(
    "the one-hot table is missing in backward: softmax alone",
    swap=("(x.softmax(-1) - ctx.onehot)", "x.softmax(-1)"),
    hint=[
        "A gradient that is positive everywhere lowers the right class, too.",
        "softmax − 1 at the target, softmax elsewhere.",
    ],
)
layers_cross_entropy.mistake(
    "the gradient has the wrong sign: onehot − softmax",
    swap=("(x.softmax(-1) - ctx.onehot)", "(ctx.onehot - x.softmax(-1))"),
    hint=[
        "Should the score of the right class have a positive or a negative gradient?",
        "softmax − onehot: negative there, as it should go up.",
    ],
)
layers_cross_entropy.mistake(
    "the gradient that arrives is forgotten",
    swap=("return grad * (x.softmax", "return (x.softmax"),
    hint=["A loss may be one part of a sum, with a weight. Where does the weight arrive?", "grad · (…) / N."],
)
layers_cross_entropy.mistake(
    "softmax goes along the first axis in backward",
    swap=("x.softmax(-1)", "x.softmax(0)"),
    hint=["What do the gradients of one row add up to?", "Along the last axis: the classes."],
)
layers_cross_entropy.mistake(
    "one gradient comes back for two inputs",
    swap=(" * (1 / rows), None", " * (1 / rows)"),
    hint=["How many inputs did `apply` get?", "`return …, None`: the target gets no gradient."],
)
layers_cross_entropy.mistake(
    "rows are picked by np.arange(len(target)), which knows logits of two axes only",
    swap=("shifted[ctx.onehot].reshape(target.shape)", "shifted[np.arange(len(target)), target]"),
    hint=[
        "Which shape may logits have, says the docstring?",
        "The one-hot table, or np.take_along_axis, work for (…, classes).",
    ],
)

layers_cross_entropy.mistake(
    "both directions divide by all numbers: the mean goes over the zeros of the one-hot table, too",
    swap=[
        (
            "return np.mean(log_sum - shifted[ctx.onehot].reshape(target.shape))",
            "return np.mean(log_sum - shifted[ctx.onehot].reshape(target.shape)) / x.shape[-1]",
        ),
        ("rows = ctx.onehot.size // ctx.onehot.shape[-1]", "rows = ctx.onehot.size"),
    ],
    hint=["Ten classes, all scores equal: your loss should be ln 10.", "N is the number of rows."],
)

layers_cross_entropy.variant(
    "the probabilities are kept, and take_along_axis",
    source="""
class CrossEntropyLoss(Function):
    @staticmethod
    def forward(ctx, x, target):
        ctx.where = np.asarray(target).astype(int)[..., None]
        z = x - x.max(axis=-1, keepdims=True)
        z = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
        ctx.p = np.exp(z)
        return -np.take_along_axis(z, ctx.where, -1).mean()

    @staticmethod
    def backward(ctx, grad):
        g = ctx.p.copy()
        np.put_along_axis(g, ctx.where, np.take_along_axis(g, ctx.where, -1) - 1, -1)
        return grad.data * g / ctx.where.size, None
""",
)
layers_cross_entropy.variant(
    "row after row",
    source="""
class CrossEntropyLoss(Function):
    @staticmethod
    def forward(ctx, x, target):
        ctx.shape = x.shape
        ctx.rows = x.reshape(-1, x.shape[-1])
        ctx.classes = np.asarray(target).reshape(-1)
        loss = 0.0
        for row, k in zip(ctx.rows, ctx.classes):
            loss += np.log(np.sum(np.exp(row - max(row)))) + max(row) - row[k]
        return loss / len(ctx.rows)

    @staticmethod
    def backward(ctx, grad):
        g = []
        for row, k in zip(ctx.rows, ctx.classes):
            e = np.exp(row - max(row))
            p = e / e.sum()
            p[k] -= 1
            g.append(p * grad.item() / len(ctx.rows))
        return np.array(g).reshape(ctx.shape), None
""",
)
layers_cross_entropy.variant(
    "a sum for each row has the target's shape", swap=("reshape(target.shape)", "reshape(log_sum.shape)")
)
layers_cross_entropy.variant(
    "the number of rows as a float",
    swap=("ctx.onehot.size // ctx.onehot.shape[-1]", "ctx.onehot.size / ctx.onehot.shape[-1]"),
)
