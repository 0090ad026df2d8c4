"""Check 3 of lesson 05: softmax along an axis."""

import numpy as np

from autograder.checks.cases import array, choice
from autograder.checks.check import exercise
from autograder.checks.m05_layers.rules import KINDS, SHAPES, gradient, like, programs, value

layers_softmax = exercise(
    "layers.softmax", "Softmax along any axis, with large scores, and with a gradient that is not the same everywhere."
)


def along(x):
    axes = [*range(x.ndim), *range(-x.ndim, 0)]
    bodies = [f"x.softmax(axis={axis})" for axis in axes]
    mixed = [f"(2 * {one}) - {two} * x" for one, two in zip(bodies, bodies[1:] + bodies[:1])]
    return programs(*bodies, "x.softmax()", "(2 * x).softmax(axis=0)", *mixed)


LARGE = [[1000.0, 0.0, -1000.0, 999.0], [0.5, -0.5, 1.5, 0.1], [-900.0, -901.0, -903.0, -902.0]]
SCORES = array("x", SHAPES, KINDS).each(f=along).add(grad=like)
FAR_APART = choice("x", np.array(LARGE), np.array(LARGE).T, -np.array(LARGE)).each(f=along).add(grad=like)

layers_softmax.aspect("the gradient", 1.5, cases=SCORES, device=4, few=29)(gradient)
layers_softmax.aspect("the value", 0.5, cases=SCORES, few=14)(value)
layers_softmax.aspect("scores of ±1000: the gradient", 0.5, cases=FAR_APART, few=8)(gradient)
layers_softmax.aspect("scores of ±1000: the value", 0.5, cases=FAR_APART, few=8)(value)


@layers_softmax.on_device
def names(on, reference):
    return {"Tensor": on.MeasuredTensor}


layers_softmax.mistake(
    "the maximum is that of the whole array, not of each row",
    swap=("x.max(axis, keepdims=True)", "x.max()"),
    hint=[
        "A row of small scores beside a row of 1000: what is e to the score less 1000?",
        "`x.max(axis, keepdims=True)`: each row has its own.",
    ],
)
layers_softmax.mistake(
    "nothing is subtracted before exp: inf / inf is nan",
    swap=("np.exp(x - x.max(axis, keepdims=True))", "np.exp(x)"),
    hint=["What is np.exp(1000)?", "Subtract the maximum along the axis first; the shift cancels."],
)
layers_softmax.mistake(
    "the sum is that of the whole array",
    swap=("e.sum(axis, keepdims=True)", "e.sum()"),
    hint=["What do the probabilities of one row add up to?", "`e.sum(axis, keepdims=True)`."],
)
layers_softmax.mistake(
    "backward knows only the diagonal, y · (1 − y): a score moves the other probabilities as well",
    swap=("y * (grad - (grad * y).sum(ctx.axis, keepdims=True))", "grad * y * (1 - y)"),
    hint=["If one probability of a row goes up, what do the others do?", "y · (grad − Σ grad · y)."],
)
layers_softmax.mistake(
    "Σ grad · y goes over the whole array",
    swap=("(grad * y).sum(ctx.axis, keepdims=True)", "(grad * y).sum()"),
    hint=["Does one row know of the other?", "The sum goes along the axis, with keepdims=True."],
)
layers_softmax.mistake(
    "Σ grad in place of Σ grad · y",
    swap=("(grad * y).sum(", "grad.sum("),
    hint=["Do the gradients of a row add up to 0?", "Each grad counts by its probability: (grad * y).sum(…)."],
)
layers_softmax.mistake(
    "that is the rule for the logarithm of softmax",
    swap=("y * (grad - (grad * y).sum(ctx.axis, keepdims=True))", "grad - y * grad.sum(ctx.axis, keepdims=True)"),
    hint=["grad − y · Σ grad belongs to ln softmax.", "y · (grad − Σ grad · y)."],
)
layers_softmax.mistake(
    "the axis is lost in backward's sum: keepdims is missing",
    swap=("(grad * y).sum(ctx.axis, keepdims=True)", "(grad * y).sum(ctx.axis)"),
    hint=["Which shape has the sum, and how does it line up with grad?", "`keepdims=True` leaves an axis of size 1."],
)
layers_softmax.mistake(
    "axis is not used: it is always the last one",
    swap=("ctx.axis = axis", "ctx.axis = axis = -1"),
    hint=["What do the columns add up to, for axis=0?", "Give axis to max and sum, and keep it for backward."],
)
layers_softmax.mistake(
    "the axis is right in forward, and always the last one in backward",
    swap=("ctx.axis = axis", "ctx.axis = -1"),
    hint=[
        "Along which axis do your gradients add up to 0?",
        "Let the axis hang on ctx, and take it from there in backward.",
    ],
)
layers_softmax.mistake(
    "the exponentials are saved, not the probabilities",
    swap=("ctx.save_for_backward(y)", "ctx.save_for_backward(e)"),
    hint=["The rule needs y. What comes out of `saved_tensors`?", "Save what forward returns."],
)
layers_softmax.mistake(
    "the sum is added, not subtracted",
    swap=("(grad - (", "(grad + ("),
    hint=["Raise all scores of a row by the same: what changes?", "y · (grad − Σ grad · y): then a row adds up to 0."],
)
layers_softmax.mistake(
    "the factor y is missing in front",
    swap=("return y * (grad - ", "return (grad - "),
    hint=["A probability of nearly 0 hardly moves. Do its gradients say so?", "y · (…)."],
)
layers_softmax.mistake(
    "x is changed: the maximum is subtracted in place",
    swap=("e = np.exp(x - x.max(axis, keepdims=True))", "x -= x.max(axis, keepdims=True)\n        e = np.exp(x)"),
    hint=["What is in x afterwards?", "`x - …` makes a new array, `x -= …` changes that of somebody else."],
)

layers_softmax.variant(
    "the whole table of derivatives",
    source="""
class Softmax(Function):
    @staticmethod
    def forward(ctx, x, axis):
        ctx.axis = axis
        x = np.moveaxis(x, axis, -1)
        e = np.exp(x - x.max(-1)[..., None])
        ctx.y = e / e.sum(-1)[..., None]
        return np.moveaxis(ctx.y, -1, axis)

    @staticmethod
    def backward(ctx, grad):
        y = ctx.y
        table = y[..., :, None] * np.eye(y.shape[-1]) - y[..., :, None] * y[..., None, :]
        g = np.moveaxis(grad.data, ctx.axis, -1)
        return np.moveaxis(np.einsum("...i,...ij->...j", g, table), -1, ctx.axis)
""",
)
layers_softmax.variant(
    "through the logarithm, and by operators of tensors",
    source="""
class Softmax(Function):
    @staticmethod
    def forward(ctx, x, axis):
        shifted = x - np.max(x, axis=axis, keepdims=True)
        y = np.exp(shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True)))
        ctx.save_for_backward(y)
        ctx.options = {"axis": axis, "keepdims": True}
        return y

    @staticmethod
    def backward(ctx, grad):
        y = ctx.saved_tensors[0]
        weighted = grad * y
        return weighted - y * weighted.sum(**ctx.options)
""",
)
