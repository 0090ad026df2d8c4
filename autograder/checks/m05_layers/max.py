"""Check 8 of lesson 05: the maximum, and ties."""

import numpy as np

from autograder.checks.check import check


@check(
    "layers.max",
    points=2,
    device=(
        "x.max(), x.grad",
        "x.max(axis=1), x.grad",
        "x.max(axis=−1, keepdims=True), x.grad",
        "x.max(axis=(0, 2)), x.grad",
    ),
)
def layers_max(student, rng, tools):
    """The maximum of all, along one axis, along two; winners share where they tie."""
    x, ups = rng.permutation(60).reshape(3, 4, 5) / 7 - 4.1, rng.normal(size=60)
    tie = np.array([[3.0, 1.0, 3.0, -2.0, 3.0], [-4.0, -1.5, -6.0, -1.5, -2.0]])
    flat = np.full((2, 3), -0.7)

    def value(numbers, **options):
        return student.Tensor(numbers, requires_grad=True).max(**options).data

    def run(numbers, **options):
        leaf = student.Tensor(numbers, requires_grad=True)
        out = leaf.max(**options)
        with np.errstate(all="ignore"):
            out.backward(ups[: out.size].reshape(out.shape))
        return {"gradient": leaf.grad.data, "after": leaf.data}

    return {
        "input": f"x of shape (3, 4, 5) without ties; t = {tie.tolist()}; the gradient that arrives begins with "
        f"{np.round(ups[:4], 4).tolist()}",
        "x.max()": lambda: value(x),
        "x.max(), x.grad": lambda: run(x)["gradient"],
        "x.max(axis=1)": lambda: value(x, axis=1),
        "x.max(axis=1), x.grad": lambda: run(x, axis=1)["gradient"],
        "x.max(axis=−1, keepdims=True)": lambda: value(x, axis=-1, keepdims=True),
        "x.max(axis=−1, keepdims=True), x.grad": lambda: run(x, axis=-1, keepdims=True)["gradient"],
        "x.max(axis=(0, 2))": lambda: value(x, axis=(0, 2)),
        "x.max(axis=(0, 2)), x.grad": lambda: run(x, axis=(0, 2))["gradient"],
        "t.max(axis=1), t.grad": lambda: run(tie, axis=1)["gradient"],
        "t.max(), t.grad": lambda: run(tie)["gradient"],
        "all equal, max(axis=0), gradient": lambda: run(flat, axis=0)["gradient"],
        "x afterwards": lambda: run(x, axis=1)["after"],
    }


@layers_max.on_device
def names(on, reference):
    return {"Tensor": on.MeasuredTensor}


SHARE = "share = grad.reshape(kept_shape(hit.shape, ctx.axis)) / hit.sum(ctx.axis, keepdims=True)"
layers_max.mistake(
    "in a tie each winner gets all of the gradient",
    swap=(" / hit.sum(ctx.axis, keepdims=True)", ""),
    hint=[
        "If all three winners go up by a bit, the maximum goes up by that bit. What do your gradients say?",
        "Divide by the number of winners.",
    ],
)
layers_max.mistake(
    "in a tie the first winner gets all",
    swap=(
        "ctx.save_for_backward((x == largest) | (x != x))  # nan is equal to nothing, but counts",
        "axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)\n"
        "        axes = [a % x.ndim for a in axes]\n"
        "        rest = [a for a in range(x.ndim) if a not in axes]\n"
        "        moved = np.transpose(x, rest + axes).reshape([x.shape[a] for a in rest] + [-1])\n"
        "        first = np.arange(moved.shape[-1]) == moved.argmax(-1)[..., None]\n"
        "        back = np.argsort(rest + axes)\n"
        "        hit = first.reshape([x.shape[a] for a in rest + axes]).transpose(back)\n"
        "        ctx.save_for_backward(hit)",
    ),
    hint=["argmax knows one winner. The docstring?", "Each of k winners gets grad / k: a mask, x == largest."],
)
layers_max.mistake(
    "the winners are counted over the whole array",
    swap=("hit.sum(ctx.axis, keepdims=True)", "hit.sum()"),
    hint=["Each row has a maximum of its own.", "hit.sum(axis, keepdims=True)."],
)
layers_max.mistake(
    "the mask asks for the largest of the whole array",
    swap=("(x == largest) | (x != x)", "x == x.max()"),
    hint=["How many winners are there along axis 1?", "Compare with `x.max(axis, keepdims=True)`."],
)
layers_max.mistake(
    "the axis is lost: grad does not line up with x",
    swap=("grad.reshape(kept_shape(hit.shape, ctx.axis))", "grad"),
    hint=[
        "grad has shape (3, 5), x has (3, 4, 5). Where does NumPy put the missing axis?",
        "Reshape grad to `kept_shape(x.shape, axis)` first.",
    ],
)
layers_max.mistake(
    "the gradient that arrives is forgotten: the mask alone",
    swap=("return hit * share", "return hit / hit.sum(ctx.axis, keepdims=True)"),
    hint=["The chain rule multiplies. By what, here?", "grad / k where the mask is True."],
)
layers_max.mistake(
    "everybody gets grad / N, as in a mean",
    swap=("return hit * share", "return hit * 0 + share / (hit.size / hit.sum(ctx.axis, keepdims=True).size)"),
    hint=["Raise a number that is not the largest: does the maximum move?", "0 for all but the winners."],
)
layers_max.mistake(
    "the gradient is multiplied by the number itself",
    swap=[
        ("ctx.save_for_backward((x == largest) | (x != x))", "ctx.save_for_backward(x * (x == largest))"),
        ("hit.sum(ctx.axis, keepdims=True)", "(hit != 0).sum(ctx.axis, keepdims=True)"),
    ],
    hint=[
        "The largest goes up by a bit. By how many bits does the maximum go up?",
        "The mask is True or False, without x.",
    ],
)
layers_max.mistake(
    "keepdims is not used: the axis is always dropped",
    swap=("return largest if keepdims else largest", "return largest"),
    hint=["Which shape is asked for with keepdims=True?", "largest as it is, if keepdims."],
)
layers_max.mistake(
    "keepdims is not used: the axis always stays",
    swap=("return largest if keepdims else largest.reshape(dropped_shape(x.shape, axis))", "return largest"),
    hint=["Which shape has x.max(axis=1)?", "`x.max(axis, keepdims=keepdims)`."],
)
layers_max.mistake(
    "axis is not used: the maximum of all",
    swap=("ctx.axis = axis", "axis = ctx.axis = None"),
    hint=["Which shape has x.max(axis=1)?", "Give axis to `x.max(…)`, and keep it for backward."],
)

layers_max.variant(
    "NumPy's own keepdims, and arrays",
    source="""
class Max(Function):
    @staticmethod
    def forward(ctx, x, axis=None, keepdims=False):
        ctx.kept = np.max(x, axis=axis, keepdims=True).shape
        mask = np.equal(x, np.max(x, axis=axis, keepdims=True))
        ctx.weights = mask / mask.sum(axis=axis, keepdims=True)
        return np.max(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def backward(ctx, grad):
        return ctx.weights * grad.data.reshape(ctx.kept)
""",
)
layers_max.variant(
    "x is kept and compared in backward",
    source="""
class Max(Function):
    @staticmethod
    def forward(ctx, x, axis=None, keepdims=False):
        ctx.x, ctx.axis, ctx.keepdims = x.copy(), axis, keepdims
        return x.max(axis=axis, keepdims=keepdims)

    @staticmethod
    def backward(ctx, grad):
        g = grad.data
        if ctx.axis is not None and not ctx.keepdims:
            g = np.expand_dims(g, ctx.axis)
        winners = ctx.x >= ctx.x.max(axis=ctx.axis, keepdims=True)
        return np.where(winners, g, 0.0) / winners.sum(axis=ctx.axis, keepdims=True)
""",
)
layers_max.variant("nan is a matter of its own, and not asked for", swap=("(x == largest) | (x != x)", "x == largest"))
layers_max.variant(
    "with its axes of size 1, the maximum has as many axes as x",
    swap=("dropped_shape(x.shape, axis)", "dropped_shape(largest.shape, axis)"),
)
