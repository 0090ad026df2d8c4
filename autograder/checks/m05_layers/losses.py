"""Check 4 of lesson 05: the mean squared error, and binary cross-entropy of logits."""

import numpy as np

from autograder.checks.cases import array, choice, filled, literal
from autograder.checks.check import exercise
from autograder.checks.m05_layers.rules import KINDS, SHAPES, gradient, one_number, programs, value

layers_losses = exercise(
    "layers.losses",
    "Two losses, their gradients under any gradient from above, and logits of ±1000.",
    needs=("layers.activations",),
)


def squares(x, rng):
    t = f"Tensor({literal(filled(x.shape, 'decimals', rng))})"
    first, second = f"mse_loss(x, {t})", f"mse_loss({t}, x)"
    return programs(
        first,
        second,
        f"mse_loss(2 * x, {t})",
        f"{first} - 3 * mse_loss(-x, x * x)",
        f"{second} * {first}",
        "mse_loss(x, x)",
    )


def entropies(x, rng):
    of = "binary_cross_entropy_with_logits({}, {})".format
    yes, chances = (rng.integers(2, size=x.shape) * 1.0).tolist(), literal(rng.integers(11, size=x.shape) / 10)
    first = of("x", f"Tensor({chances})")
    return programs(
        of("x", yes), first, of("2 * x", f"Tensor({chances})"), of("x", chances), f"{first} - 3 * {of('-x', yes)}"
    )


FAR = np.array([1000.0, -1000.0, 40.0, -40.0, 0.0]), np.array([[33.0, -33.0], [31.0, 0.5]])
SQUARES = array("x", SHAPES, KINDS).each(f=squares).add(grad=one_number)
ENTROPIES = (array("x", SHAPES, KINDS) + choice("x", *FAR)).each(f=entropies).add(grad=one_number)

layers_losses.aspect("MSE: the gradients", 1, cases=SQUARES, device=4, few=22)(gradient)
layers_losses.aspect("MSE: the loss", 0.5, cases=SQUARES, few=8)(value)
layers_losses.aspect("BCE: the gradient", 1, cases=ENTROPIES, device=4, few=22)(gradient)
layers_losses.aspect("BCE: the loss", 0.5, cases=ENTROPIES, few=8)(value)


@layers_losses.on_device
def names(on, reference):
    return {
        "Tensor": on.MeasuredTensor,
        "mse_loss": on.operation(on.ag.mse_loss),
        "binary_cross_entropy_with_logits": on.operation(on.ag.binary_cross_entropy_with_logits),
    }


layers_losses.mistake(
    "MSE is a sum: forward does not divide by N",
    swap=("np.mean((prediction - target) ** 2)", "np.sum((prediction - target) ** 2)"),
    hint=["What is the M in MSE?", "`np.mean`."],
)
layers_losses.mistake(
    "MSE's 2 is missing in backward",
    swap=("(2 / prediction.size)", "(1 / prediction.size)"),
    hint=["The derivative of a square?", "2 · (prediction − target) / N."],
)
layers_losses.mistake(
    "MSE's 1/N is missing in backward",
    swap=("* (2 / prediction.size)", "* 2"),
    hint=["Forward is a mean: each number counts 1/N.", "2 · (prediction − target) / N."],
)
layers_losses.mistake(
    "MSE's 1/N is there twice in backward",
    swap=("(2 / prediction.size)", "(2 / prediction.size ** 2)"),
    hint=["How often does the mean divide?", "Once."],
)
layers_losses.mistake(
    "MSE's N is the number of rows, not of numbers",
    swap=("prediction.size", "len(prediction)"),
    hint=["Over how many numbers does np.mean go, for shape (2, 3)?", "`prediction.size`."],
)
layers_losses.mistake(
    "half the MSE, in both directions: another loss",
    swap=[
        ("np.mean((prediction - target) ** 2)", "np.mean((prediction - target) ** 2) / 2"),
        ("(2 / prediction.size)", "(1 / prediction.size)"),
    ],
    hint=["Some books put ½ in front, so that the 2 cancels. The docstring?", "Σ (prediction − target)² / N."],
)
layers_losses.mistake(
    "the absolute error, not the square",
    swap=("np.mean((prediction - target) ** 2)", "np.mean(np.abs(prediction - target))"),
    hint=["What is the S in MSE?", "(prediction − target)²."],
)
layers_losses.mistake(
    "MSE forgets the gradient that arrives",
    swap=("slope = grad * (prediction", "slope = (prediction"),
    hint=[
        "A loss may be one part of a sum, with a weight. Where does the weight arrive?",
        "grad · 2 · (prediction − target) / N.",
    ],
)
layers_losses.mistake(
    "MSE's target gets the prediction's gradient, without the minus",
    swap=("return slope, -slope", "return slope, slope"),
    hint=["Both go up by the same: what becomes of the distance?", "The target's gradient is the negative one."],
)
layers_losses.mistake(
    "MSE's target gets none, though it may be a prediction of another network",
    swap=("return slope, -slope", "return slope, None"),
    hint=["(p − t)² moves with t, too.", "Return slope and −slope."],
)
layers_losses.mistake(
    "MSE's prediction and target are swapped in backward",
    swap=("return slope, -slope", "return -slope, slope"),
    hint=["The prediction is too large. Which sign has its gradient?", "2 · (prediction − target)."],
)
layers_losses.mistake(
    "MSE.backward returns one gradient for two inputs",
    swap=("return slope, -slope", "return slope"),
    hint=[
        "How many inputs did `apply` get?",
        "One gradient each, for the prediction and for the target; the docstring has both.",
    ],
)
layers_losses.mistake(
    "BCE's gradient has the wrong sign: t − p",
    swap=("x.sigmoid() - t", "t - x.sigmoid()"),
    hint=["The logit is too high, p > t. Which sign has the gradient?", "sigmoid(x) − t."],
)
layers_losses.mistake(
    "the sigmoid's slope is multiplied in once more: it has cancelled already",
    swap=("(x.sigmoid() - t)", "(x.sigmoid() - t) * x.sigmoid() * (1 - x.sigmoid())"),
    hint=[
        "Sure and wrong, at a logit of 1000: how large should the gradient be? Yours?",
        "Only sigmoid(x) − t, over N.",
    ],
)
layers_losses.mistake(
    "BCE in pieces: ln(1 − p) with p = 1 is −inf, and 0 · inf is nan",
    swap=(
        "np.mean(np.maximum(x, 0) - x * t + np.log1p(np.exp(-np.abs(x))))",
        "-np.mean(t * np.log(1 / (1 + np.exp(-x))) + np.subtract(1, t) * np.log(1 - 1 / (1 + np.exp(-x))))",
    ),
    hint=[
        "What is 1 − sigmoid(1000) in floating point?",
        "The formula in the docstring has neither p nor ln of a small number.",
    ],
)
layers_losses.mistake(
    "BCE asks for e¹⁰⁰⁰: ln(1 + eˣ) overflows",
    swap=("np.maximum(x, 0) - x * t + np.log1p(np.exp(-np.abs(x)))", "np.log(1 + np.exp(x)) - x * t"),
    hint=["The formula is right. Which exponent does it meet?", "max(x, 0) + ln(1 + e⁻|x|) is the same, and small."],
)
layers_losses.mistake(
    "the absolute value is missing: e⁻ˣ grows left of 0",
    swap=("np.exp(-np.abs(x))", "np.exp(-x)"),
    hint=["What is e⁻ˣ at x = −1000?", "e⁻|x|."],
)
layers_losses.mistake(
    "BCE's 1/N is missing in backward", swap=("* (1 / x.size)", ""), hint=["Forward is a mean.", "Divide by x.size."]
)
layers_losses.mistake(
    "BCE's N is the number of rows, not of numbers",
    swap=("x.size", "len(x)"),
    hint=["Over how many numbers does np.mean go, for shape (2, 3)?", "`x.size`."],
)
layers_losses.mistake(
    "BCE forgets the gradient that arrives",
    swap=("return grad * (x.sigmoid()", "return (x.sigmoid()"),
    hint=[
        "A loss may be one part of a sum, with a weight. Where does the weight arrive?",
        "grad · (sigmoid(x) − t) / N.",
    ],
)

layers_losses.mistake(
    "BCE.backward returns one gradient for two inputs",
    swap=("* (1 / x.size), None", "* (1 / x.size)"),
    hint=["How many inputs did `apply` get?", "Two: the target's is None."],
)

layers_losses.variant(
    "all with arrays",
    source="""
class MSELoss(Function):
    @staticmethod
    def forward(ctx, prediction, target):
        ctx.difference = prediction - target
        return np.square(ctx.difference).sum() / ctx.difference.size

    @staticmethod
    def backward(ctx, grad):
        slope = 2 * ctx.difference / ctx.difference.size * float(grad.data)
        return [slope, -slope]


class BCEWithLogitsLoss(Function):
    @staticmethod
    def forward(ctx, x, t):
        ctx.x, ctx.t = x, np.asarray(t)
        return (np.logaddexp(0, x) - x * t).mean()

    @staticmethod
    def backward(ctx, grad):
        p = np.exp(-np.logaddexp(0, -ctx.x))
        return grad.data * (p - ctx.t) / ctx.t.size, -grad.data * ctx.x / ctx.t.size
""",
)
layers_losses.variant(
    "two cases by the sign",
    source="""
class MSELoss(Function):
    @staticmethod
    def forward(ctx, prediction, target):
        ctx.save_for_backward(prediction - target)
        return float(np.average((prediction - target) ** 2))

    @staticmethod
    def backward(ctx, grad):
        (difference,) = ctx.saved_tensors
        n = math.prod(difference.shape)
        return grad * 2 / n * difference, grad * -2 / n * difference


class BCEWithLogitsLoss(Function):
    @staticmethod
    def forward(ctx, x, t):
        t = np.asarray(t)
        ctx.save_for_backward(x, t)
        right = (1 - t) * x + np.log1p(np.exp(-np.abs(x)))
        left = -t * x + np.log1p(np.exp(-np.abs(x)))
        return np.mean(np.where(x > 0, right, left))

    @staticmethod
    def backward(ctx, grad):
        x, t = ctx.saved_tensors
        return (x.sigmoid() - t) * grad / x.size, None
""",
)
layers_losses.variant("a square has no sign", swap=("(prediction - target) ** 2", "(target - prediction) ** 2"))
layers_losses.variant("prediction and target have the same size", swap=("(2 / prediction.size)", "(2 / target.size)"))
layers_losses.variant("logits and targets have the same size", swap=("(1 / x.size)", "(1 / np.size(t))"))
