"""Check 8 of lesson 05: the maximum, and ties."""

import numpy as np

from autograder.checks.cases import array, axes_of, choice
from autograder.checks.check import exercise
from autograder.checks.m05_layers.rules import KINDS, SHAPES, arriving, gradient, programs, value

layers_max = exercise("layers.max", "The maximum of all, along one axis, along several; winners share where they tie.")


def along(x):
    options = [f"axis={axis}, keepdims={kept}" for axis in axes_of(x.ndim)[:-1] for kept in (False, True)]
    bodies = [f"x.max({each})" for each in options]
    twice = [f"x.max({each}) - (-x).max({each})" for each in options]
    return programs("x.max()", *bodies, "x.max(axis=0).sum() - (2 * x).max(axis=-1).sum()", *twice)


NEAR = np.array([1.0, 1.0005, -3.0]), np.array([[2.0, 1.999999], [-7.0, -7.0]]), np.full((2, 3), -0.7)
NUMBERS = (array("x", SHAPES, KINDS) + choice("x", *NEAR)).each(f=along).add(grad=arriving)

layers_max.aspect("the gradient", 1.5, cases=NUMBERS, device=2, few=40)(gradient)
layers_max.aspect("the value", 0.5, cases=NUMBERS, few=20)(value)


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
