"""Check 2 of lesson 08: softmax over what a mask leaves."""

import numpy as np

from autograder.checks.cases import array, choice, filled
from autograder.checks.check import exercise

custom_masked_softmax = exercise("custom.masked_softmax", "Softmax over what a mask leaves.")

SHAPES = ((1,), (2,), (3,), (4,), (1, 2), (2, 2), (2, 3), (3, 2), (2, 4), (2, 1, 3), (2, 2, 3), (2, 3, 2))


def masks(x, rng):
    """Of x's shape, and of shapes that broadcast to it; something is left of each row."""
    shapes = [x.shape, x.shape[-1:], (*x.shape[:-1], 1), (1,)] + [x.shape[:-2] + (1,) + x.shape[-1:]] * (x.ndim > 1)
    found = [rng.random(shape) < 0.6 for shape in shapes]
    for mask in found:
        mask[~mask.any(axis=-1), rng.integers(mask.shape[-1])] = True
    return found


def holes(x, rng):
    """Masks that leave nothing of a row, or of all."""
    mask = rng.random(x.shape) < 0.6
    mask.reshape(-1, x.shape[-1])[rng.integers(x.size // x.shape[-1])] = False
    return [mask, np.zeros(x.shape, bool), np.zeros((1,), bool)]


def arriving(x, rng):
    return filled(x.shape, "decimals", rng)


ROWS = (
    array("x", SHAPES, ("decimals", "whole", "transposed"))
    .where(lambda x: x.ndim > 0)
    .each(mask=masks)
    .add(grad=arriving)
)


@custom_masked_softmax.aspect("y", 1, cases=ROWS)
def forward(student, case):
    x = student.Tensor(case.x, requires_grad=True)
    return {"y": student.MaskedSoftmax.apply(x, case.mask).data, "x afterwards": x.data}


def gradient(student, case):
    x = student.Tensor(case.x, requires_grad=True)
    y = student.MaskedSoftmax.apply(x * case.scale, case.mask)
    yield
    y.backward(case.grad)
    return {"y": y.data, "∂L/∂x": x.grad.data}


custom_masked_softmax.aspect("∂L/∂x", 1, cases=ROWS * choice("scale", 1.0, 0.5, -1.0), device=6)(gradient)
LINES = array("x", SHAPES[1:], ("decimals",)).where(lambda x: x.ndim > 0)
HOLES = (LINES.each(mask=holes) * choice("scale", 1.0, -2.0)).tagged("nothing is left of a row")
LARGE = LINES.each(mask=masks) * choice("scale", 500.0, -900.0, -4e10, 3000.0)
custom_masked_softmax.aspect(
    "large numbers, and rows in which nothing is left", 0.5, corner=True, cases=(HOLES + LARGE).add(grad=arriving)
)(gradient)


@custom_masked_softmax.aspect("the gradient of the gradient", 0.5, corner=True, cases=ROWS.add(v=arriving), few=10)
def second(student, case):
    x, up = student.Tensor(case.x, requires_grad=True), student.Tensor(case.grad, requires_grad=True)
    (first,) = student.grad(student.MaskedSoftmax.apply(x, case.mask), x, up, create_graph=True)
    by_x, by_up = student.grad((first * case.v).sum(), [x, up])
    return {"by x": by_x.data, "by the upstream gradient": by_up.data}


@custom_masked_softmax.on_device
def names(on, reference):
    def softmax(x, mask):
        return on.ag.softmax(on.ag.where(on.ag.cast(mask, np.float32), x, -1e9))

    return {"MaskedSoftmax": on.function(softmax, base=reference["Function"])}


custom_masked_softmax.mistake(
    "the mask comes too late: after an ordinary softmax, so that the rest does not sum to 1",
    swap=[
        ("kept = np.where(mask, x, -np.inf)", "kept = x"),
        ("y = e / np.where(total > 0, total, 1)", "y = mask * e / total"),
    ],
    hint=["What do the entries of a row sum to?", "Mask before the sum: −∞ in place of x, and exp makes 0 of it."],
)
custom_masked_softmax.mistake(
    "masked entries become 0 before exp, and e⁰ is 1",
    swap=("np.where(mask, x, -np.inf)", "np.where(mask, x, 0.0)"),
    hint=["What is exp of 0?", "−∞: `np.where(mask, x, -np.inf)`."],
)
custom_masked_softmax.mistake(
    "the mask is inverted: true counts as out",
    swap=("np.where(mask, x, -np.inf)", "np.where(mask, -np.inf, x)"),
    hint=["True means: it counts.", "`np.where(mask, x, -np.inf)`."],
)
custom_masked_softmax.mistake(
    "nothing is subtracted before exp, so e¹⁰⁰⁰ overflows",
    swap=("np.exp(kept - np.where(largest > -np.inf, largest, 0))", "np.exp(kept)"),
    hint=[
        "The formula is right. Which number does exp meet?",
        "Subtract the largest number of each row, of those that count.",
    ],
)
custom_masked_softmax.mistake(
    "the largest of all is subtracted, the masked ones included: nothing of the others is left",
    swap=("largest = kept.max(", "largest = x.max("),
    hint=["A masked 1000 is the largest. What is exp(1 − 1000)?", "The largest of those that count: mask first."],
)
custom_masked_softmax.mistake(
    "one largest number is taken off the whole array, so that a low row underflows",
    swap=[("largest = kept.max(axis=-1, keepdims=True)", "largest = kept.max()")],
    hint=["One row lies near −1000, another near 1000. What is left of the first?", "`max(axis=-1, keepdims=True)`."],
)
custom_masked_softmax.mistake(
    "a row with nothing left is nan: −∞ − (−∞), or 0/0",
    swap=[("np.where(largest > -np.inf, largest, 0)", "largest"), ("np.where(total > 0, total, 1)", "total")],
    hint=["What is the largest of nothing? What is the sum of nothing?", "There, subtract 0 and divide by 1."],
)
custom_masked_softmax.mistake(
    "−1e9 stands for −∞, so a row with nothing left gets equal shares",
    swap=("-np.inf)\n", "-1e9)\n"),
    hint=["What comes out where all are −1e9?", "The docstring wants 0 there: use −∞, and take care of that row."],
)
custom_masked_softmax.mistake(
    "a large number is taken off what is masked; in a row with nothing left, it cancels",
    swap=("np.where(mask, x, -np.inf)", "x - 1e9 * (1 - mask)"),
    hint=["What comes out where 1e9 is taken off everywhere?", "−∞ in place of x, and take care of that row."],
)
custom_masked_softmax.mistake(
    "the sum goes over the first axis, not the last",
    swap=("e.sum(axis=-1, keepdims=True)", "e.sum(axis=0, keepdims=True)"),
    hint=["What sums to 1, rows or columns?", "`axis=-1`."],
)
custom_masked_softmax.mistake(
    "the sum goes over everything: all rows together sum to 1",
    swap=("e.sum(axis=-1, keepdims=True)", "e.sum()"),
    hint=["Each row is a softmax of its own.", "`axis=-1, keepdims=True`."],
)
custom_masked_softmax.mistake(
    "only y · (1 − y) is passed on: the others in the row are forgotten",
    swap=("y * (grad - (grad * y).sum(axis=-1, keepdims=True))", "grad * y * (1 - y)"),
    hint=["If one entry gets more, the others get less. Where is that in your gradient?", "y · (grad − Σ grad · y)."],
)
custom_masked_softmax.mistake(
    "grad is summed without its weights y",
    swap=("(grad * y).sum(", "grad.sum("),
    hint=["What must come out when grad is the same everywhere?", "Σ grad · y, not Σ grad."],
)
custom_masked_softmax.mistake(
    "the factor y in front is missing",
    swap=("return y * (grad", "return (grad"),
    hint=["What is the gradient of a masked entry?", "y · (grad − Σ grad · y)."],
)
custom_masked_softmax.mistake(
    "grad is ignored: the gradient is that of ones, 0",
    swap=("y * (grad - (grad * y).sum(axis=-1, keepdims=True))", "y * (1 - y.sum(axis=-1, keepdims=True))"),
    hint=["With ones, the gradient of a softmax is 0. With others?", "`grad` stands in the formula twice."],
)
custom_masked_softmax.mistake(
    "the sum in backward goes over all rows",
    swap=("(grad * y).sum(axis=-1, keepdims=True)", "(grad * y).sum()"),
    hint=["Each row is a softmax of its own, in backward, too.", "`axis=-1, keepdims=True`."],
)
custom_masked_softmax.mistake(
    "one gradient comes back for two inputs",
    swap=("keepdims=True)), None", "keepdims=True))"),
    hint=["How many inputs has `apply`?", "Return two: the gradient of x, and None for the mask."],
)
custom_masked_softmax.mistake(
    "the answers are in the wrong order: None for x",
    swap=(
        "return y * (grad - (grad * y).sum(axis=-1, keepdims=True)), None",
        "return None, y * (grad - (grad * y).sum(axis=-1, keepdims=True))",
    ),
    hint=["The first input is x. What does your backward answer for it?", "The gradient first, then None."],
)
custom_masked_softmax.mistake(
    "backward leaves the graph by `.data`: no gradient of the gradient",
    swap=(
        "return y * (grad - (grad * y).sum(axis=-1, keepdims=True)), None",
        "y, g = y.data, grad.data\n        return Tensor(y * (g - (g * y).sum(axis=-1, keepdims=True))), None",
    ),
    hint=[
        "The numbers are right. Do they know where they come from?",
        "Tensors have `*`, `-` and `.sum(axis=…)`: use those, not arrays.",
    ],
)
custom_masked_softmax.mistake(
    "x is changed: −∞ is written into it",
    swap=("kept = np.where(mask, x, -np.inf)", "kept = x\n        kept[~np.broadcast_to(mask, x.shape)] = -np.inf"),
    hint=["`kept = x` is no copy. What is in x afterwards?", "`np.where` makes a new array."],
)
custom_masked_softmax.variant(
    "multiplied by the mask, the largest found by where=",
    source="""
class MaskedSoftmax(Function):
    @staticmethod
    def forward(ctx, x, mask):
        mask = np.broadcast_to(np.asarray(mask, bool), x.shape)
        low = np.min(x, axis=-1, keepdims=True)
        top = np.max(x, axis=-1, keepdims=True, where=mask, initial=-1e300)
        top = np.maximum(top, low)
        e = np.exp(np.minimum(x - top, 0)) * mask
        total = e.sum(-1)[..., None]
        y = np.divide(e, total, out=np.zeros_like(e), where=total != 0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, = ctx.saved_tensors
        weighted = y * grad
        return [weighted - y * weighted.sum(-1, keepdims=True), None]
""",
)
custom_masked_softmax.variant(
    "row by row",
    source="""
class MaskedSoftmax(Function):
    @staticmethod
    def forward(ctx, x, mask):
        mask = np.broadcast_to(mask, x.shape)
        y = np.zeros_like(x)
        for row in np.ndindex(x.shape[:-1]):
            chosen = x[row][mask[row]]
            if chosen.size:
                e = np.exp(chosen - chosen.max())
                y[row][mask[row]] = e / e.sum()
        ctx.save_for_backward(y, mask)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, mask = ctx.saved_tensors
        return y * grad - y * (grad * y).sum(axis=-1, keepdims=True), None
""",
)
custom_masked_softmax.variant(
    "made of the engine's operators, no Function at all",
    source="""
class MaskedSoftmax:
    @staticmethod
    def apply(x, mask):
        kept = np.where(mask, x.data, -np.inf)
        top = kept.max(-1, keepdims=True)
        top = np.where(np.isinf(top), 0, top)
        mask = np.broadcast_to(mask, x.shape)
        e = ((x - top) * mask).exp() * mask
        total = e.sum(-1, keepdims=True)
        return e / (total + (total.data == 0))
""",
)
for other in ("1", "(-1)", "0.5"):
    custom_masked_softmax.variant(
        f"where nothing is left, {other} is subtracted from −∞: any number will do",
        swap=("largest, 0)", f"largest, {other})"),
    )
for other in ("2", "(-1)"):
    custom_masked_softmax.variant(
        f"where nothing is left, 0 is divided by {other}: by any number but 0", swap=("total, 1)", f"total, {other})")
    )
for other in ("1", "0.5"):
    custom_masked_softmax.variant(
        f"a sum is never between 0 and 1, since the largest gives 1: > {other}", swap=("total > 0", f"total > {other}")
    )
for other in ("e", "mask"):
    custom_masked_softmax.variant(f"where {other} is 0, it is 0 divided by 1", swap=("total > 0", f"{other} > 0"))
custom_masked_softmax.variant("from −∞ nothing is subtracted", swap=("largest > -np.inf", "kept > -np.inf"))
