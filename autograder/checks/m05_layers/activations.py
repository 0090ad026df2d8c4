"""Check 1 of lesson 05: ReLU, sigmoid and tanh of arrays."""

import numpy as np

from autograder.checks.check import exercise
from autograder.checks.m05_layers.rules import elementwise, gradient, value

layers_activations = exercise("layers.activations", "ReLU, sigmoid and tanh of arrays.")
FAR = np.array([-1000.0, -30.0, 0.0, 30.0, 1000.0])

for name in "relu", "sigmoid", "tanh":
    cases = elementwise(f"{{}}.{name}()", FAR, FAR[:3])
    layers_activations.aspect(f"{name}: the gradient", 0.75, cases=cases, device=2, few=14)(gradient)
    layers_activations.aspect(f"{name}: the value", 0.25, cases=cases, few=6)(value)


@layers_activations.on_device
def names(on, reference):
    return {"Tensor": on.MeasuredTensor}


layers_activations.mistake(
    "ReLU forgets the gradient that arrives: it returns its mask",
    swap=("return grad * (y > 0)", "return (y > 0) + 0 * y"),
    hint=["The chain rule multiplies. By what, here?", "grad · (y > 0): one factor is what arrives."],
)
layers_activations.mistake(
    "ReLU lets every gradient through: y ≥ 0 is true everywhere, as y is never negative",
    swap=("y > 0", "y >= 0"),
    hint=["Which y are negative?", "`y > 0`: where x was negative, y is 0, and 0 > 0 is False."],
)
layers_activations.mistake(
    "at 0 ReLU lets all through: x ≥ 0, where the agreement is 0",
    swap=[
        (
            "ctx.save_for_backward(y)  # y, not x: the next layer saves y anyway, so this costs nothing",
            "ctx.save_for_backward(x)",
        ),
        ("y > 0", "y >= 0"),
    ],
    hint=["At the kink a slope is chosen. Which one says the docstring?", "x > 0, without the equals sign."],
)
layers_activations.mistake(
    "ReLU asks the sign of the gradient, not of x",
    swap=("grad * (y > 0)", "grad * (grad > 0)"),
    hint=["Who decides whether the gate is open: what goes in, or what comes back?", "(y > 0), with the saved y."],
)
layers_activations.mistake(
    "ReLU's slope is y itself, not 1",
    swap=("grad * (y > 0)", "grad * y"),
    hint=["Right of 0, y = x. How steep is that?", "y > 0 is 1 or 0; y is any number."],
)
layers_activations.mistake(
    "ReLU writes its zeros into x",
    swap=("y = np.maximum(x, 0)", "y = np.maximum(x, 0, out=x)"),
    hint=["What is in x afterwards?", "x belongs to somebody else: make a new array."],
)
layers_activations.mistake(
    "the sigmoid asks for e¹⁰⁰⁰: inf / inf is nan",
    swap=[
        (
            "small = np.exp(-np.abs(x))  # never the exponential of a large number, so nothing overflows",
            "big = np.exp(x)",
        ),
        ("s = np.where(x >= 0, 1, small) / (1 + small)", "s = big / (1 + big)"),
    ],
    hint=[
        "What is np.exp(1000), and what is inf divided by inf?",
        "Use e⁻|x| alone, which is never above 1: 1 / (1 + small) right of 0, small / (1 + small) left.",
    ],
)
layers_activations.mistake(
    "the sigmoid falls: its branches are swapped",
    swap=("np.where(x >= 0, 1, small)", "np.where(x >= 0, small, 1)"),
    hint=["What is your sigmoid of 1000?", "Right of 0 the numerator is 1."],
)
layers_activations.mistake(
    "left of 0 the sigmoid is mirrored: e⁻|x| alone, without the branches",
    swap=("np.where(x >= 0, 1, small)", "1"),
    hint=["What is your sigmoid of −30? It should be near 0.", "Left of 0 the numerator is small, not 1."],
)
layers_activations.mistake(
    "the sigmoid's slope is s alone: 1 − s is missing",
    swap=("return grad * s * (1 - s)", "return grad * s"),
    hint=["How steep is the sigmoid far to the right?", "s · (1 − s)."],
)
layers_activations.mistake(
    "the sigmoid's rule is for its result s, but x was saved",
    swap=("ctx.save_for_backward(s)", "ctx.save_for_backward(x)"),
    hint=["A slope of the sigmoid is never above ¼. Is yours?", "Save s: the rule says s · (1 − s)."],
)
layers_activations.mistake(
    "the sigmoid forgets the gradient that arrives",
    swap=("return grad * s * (1 - s)", "return s * (1 - s)"),
    hint=["The chain rule multiplies. By what, here?", "grad · s · (1 − s)."],
)
layers_activations.mistake(
    "tanh is made of eˣ and e⁻ˣ, and e¹⁰⁰⁰ is inf: inf / inf is nan",
    swap=("t = np.tanh(x)", "t = (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))"),
    hint=["What is np.exp(1000), and what is inf divided by inf?", "`np.tanh(x)`."],
)
layers_activations.mistake(
    "tanh's slope is 1 − t: the square is missing",
    swap=("(1 - t * t)", "(1 - t)"),
    hint=["tanh is as steep at −x as at x. Is yours?", "1 − t²."],
)
layers_activations.mistake(
    "tanh's rule is for its result t, but x was saved",
    swap=("ctx.save_for_backward(t)", "ctx.save_for_backward(x)"),
    hint=["Far out tanh is flat. What is 1 − x² there?", "Save t."],
)
layers_activations.mistake(
    "tanh is applied twice: to the result as well",
    swap=("return grad * (1 - t * t)", "return grad * (1 - t.tanh() * t.tanh())"),
    hint=["What is in `ctx.saved_tensors`: x, or tanh x?", "t is tanh x already."],
)
layers_activations.mistake(
    "tanh forgets the gradient that arrives",
    swap=("return grad * (1 - t * t)", "return 1 - t * t"),
    hint=["The chain rule multiplies. By what, here?", "grad · (1 − t²)."],
)

layers_activations.mistake(
    "parentheses are missing around 1 − t²: grad · 1 comes first",
    swap=("return grad * (1 - t * t)", "return grad * 1 - t * t"),
    hint=["Which part does Python multiply with grad?", "grad * (1 - t * t)."],
)

layers_activations.variant(
    "masks and arrays",
    source="""
class ReLU(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mask = x > 0
        return x * ctx.mask

    @staticmethod
    def backward(ctx, grad):
        return np.where(ctx.mask, grad.data, 0.0)


class Sigmoid(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.s = (1 + np.tanh(x / 2)) / 2
        return ctx.s

    @staticmethod
    def backward(ctx, grad):
        return [grad.data * ctx.s * (1 - ctx.s)]


class Tanh(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.t = np.tanh(x)
        return ctx.t.copy()

    @staticmethod
    def backward(ctx, grad):
        return grad * ((1 + ctx.t) * (1 - ctx.t))
""",
)
layers_activations.variant(
    "x is saved, and everything is computed again",
    source="""
class ReLU(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = x.copy()
        y[y < 0] = 0
        return y

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x > 0)


class Sigmoid(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + np.exp(-x))

    @staticmethod
    def backward(ctx, grad):
        s = ctx.saved_tensors[0].sigmoid()
        return grad * (s - s * s)


class Tanh(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 2 / (1 + np.exp(-2 * x)) - 1

    @staticmethod
    def backward(ctx, grad):
        t = ctx.saved_tensors[0].tanh()
        return grad * (1 - t ** 2)
""",
)
layers_activations.variant("at 0 both branches of the sigmoid give ½", swap=("x >= 0", "x > 0"))
layers_activations.variant("where y > 0, x is y", swap=("ctx.save_for_backward(y)", "ctx.save_for_backward(x)"))
