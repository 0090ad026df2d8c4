"""Check 5 of lesson 05: cross-entropy of logits."""

import numpy as np

from autograder.checks.check import check


@check(
    "layers.cross_entropy",
    points=3,
    needs=("layers.softmax",),
    device=("logits.grad", "logits (2, 3, 4), target (2, 3): gradient"),
)
def layers_cross_entropy(student, rng, tools):
    """Cross-entropy of rows of logits, of a stack of rows, and of very large logits."""
    x, target, up = 2 * rng.normal(size=(4, 5)), [int(k) for k in rng.permutation(5)[:4]], -rng.uniform(1.2, 2.5)
    cube, cube_target = rng.normal(size=(2, 3, 4)), rng.integers(0, 4, (2, 3))
    large = np.array([[1000.0, 0.0, -1000.0], [0.3, -0.4, 0.9], [-800.0, -802.0, -801.0]])
    large_target = np.array([1, 2, 0])

    def value(numbers, classes):
        with np.errstate(all="ignore"):
            return student.cross_entropy(student.Tensor(numbers, requires_grad=True), classes).data

    def run(numbers, classes):
        leaf = student.Tensor(numbers, requires_grad=True)
        with np.errstate(all="ignore"):
            student.cross_entropy(leaf, classes).backward(np.array(up))
        return {"gradient": leaf.grad.data, "after": leaf.data}

    return {
        "input": f"logits = {np.round(x, 4).tolist()}, target = {target}; the gradient that arrives is {up:.4g}",
        "loss": lambda: value(x, target),
        "logits.grad": lambda: run(x, target)["gradient"],
        "loss, the target as an array": lambda: value(x, np.array(target, np.uint8)),
        "logits (2, 3, 4), target (2, 3): loss": lambda: value(cube, cube_target),
        "logits (2, 3, 4), target (2, 3): gradient": lambda: run(cube, cube_target)["gradient"],
        "logits of ±1000: loss": lambda: value(large, large_target),
        "logits of ±1000: gradient": lambda: run(large, large_target)["gradient"],
        "logits afterwards": lambda: run(x, target)["after"],
    }


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
