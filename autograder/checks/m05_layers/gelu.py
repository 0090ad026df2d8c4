"""Check 2 of lesson 05: GELU."""

import numpy as np

from autograder.checks.check import exercise
from autograder.checks.m05_layers.rules import elementwise, gradient, value

layers_gelu = exercise(
    "layers.gelu", "GELU by its formula with tanh, and the slope of just that formula.", needs=("layers.activations",)
)
GELU = elementwise("Tensor.gelu({})", np.array([-20.0, -5.0, 0.0, 5.0, 20.0]), np.array([1000.0, -1000.0]))

layers_gelu.aspect("the gradient", 1.5, cases=GELU, device=6)(gradient)
layers_gelu.aspect("the value", 0.5, cases=GELU, few=20)(value)


@layers_gelu.on_device
def names(on, reference):
    class Tensor(on.MeasuredTensor):
        def gelu(self):  # the device's own is the one with erf
            return 0.5 * self * (1 + (0.7978845608028654 * (self + 0.044715 * self * self * self)).tanh())

    return {"Tensor": Tensor}


layers_gelu.mistake(
    "backward has the gate alone: x times the slope of the gate is missing",
    swap=("(1 + t + x * (1 - t * t) * slope)", "(1 + t)"),
    hint=[
        "x occurs twice in x · gate(x). Which of the two did you differentiate?",
        "The product rule: gate + x · gate′. The second part is x · (1 − t²) · u′ / 2.",
    ],
)
layers_gelu.mistake(
    "the chain stops at t: u′ is missing",
    swap=("(1 - t * t) * slope", "(1 - t * t)"),
    hint=["gate ← t ← u ← x. How many links has your product?", "Times u′ = √(2/π) · (1 + 3 · 0.044715 x²)."],
)
layers_gelu.mistake(
    "the 3 of (x³)′ = 3x² is missing",
    swap=("1 + 3 * 0.044715 * x * x", "1 + 0.044715 * x * x"),
    hint=["What is the derivative of 0.044715 · x³?", "3 · 0.044715 · x²."],
)
layers_gelu.mistake(
    "√(2/π) is missing in u′",
    swap=("slope = scale * (1 +", "slope = (1 +"),
    hint=["u is a constant times a parenthesis. What becomes of the constant?", "u′ = √(2/π) · (…)."],
)
layers_gelu.mistake(
    "tanh's slope is 1 − t: the square is missing",
    swap=("1 - t * t", "1 - t"),
    hint=["The derivative of tanh?", "1 − t²."],
)
layers_gelu.mistake(
    "the constant is √2 / π, not √(2/π)",
    swap=("math.sqrt(2 / math.pi)", "math.sqrt(2) / math.pi"),
    hint=["What stands below the root?", "math.sqrt(2 / math.pi)."],
)
layers_gelu.mistake(
    "x² in place of x³",
    swap=("0.044715 * x * x * x", "0.044715 * x * x"),
    hint=["u should change its sign with x. Does yours?", "0.044715 · x³."],
)
layers_gelu.mistake(
    "the gradient that arrives is forgotten",
    swap=("return grad * 0.5 *", "return 0.5 *"),
    hint=["The chain rule multiplies. By what comes from above.", "grad · (…)."],
)
layers_gelu.mistake(
    "forward is another approximation, x · sigmoid(1.702 x), than the one that backward differentiates",
    swap=("return 0.5 * x * (1 + np.tanh(scale * (x + 0.044715 * x * x * x)))", "return x / (1 + np.exp(-1.702 * x))"),
    hint=["Both are called GELU. Which one says the docstring?", "The one with tanh, in both directions."],
)
layers_gelu.mistake(
    "the exact gate, with erf: forward is another function than backward's",
    swap=(
        "return 0.5 * x * (1 + np.tanh(scale * (x + 0.044715 * x * x * x)))",
        "return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))",
    ),
    hint=["The exact GELU differs in the fourth digit. Which one says the docstring?", "The one with tanh."],
)
layers_gelu.mistake(
    "the half is missing: the gate goes up to 2", swap=("0.5 * ", ""), hint=["What is your gelu of 20?", "(1 + t) / 2."]
)
layers_gelu.mistake(
    "forward is the gate, without x",
    swap=("return 0.5 * x *", "return 0.5 *"),
    hint=["What is gelu of 20: 1, or 20?", "x · (1 + t) / 2."],
)

layers_gelu.mistake(
    "in the second part of the product rule x is missing",
    swap=("+ x * (1 - t * t) * slope", "+ (1 - t * t) * slope"),
    hint=["(x · gate)′ = gate + … · gate′. What belongs in the gap?", "x · (1 − t²) · u′ / 2."],
)

layers_gelu.variant(
    "(1 + tanh u) / 2 is sigmoid(2u)",
    source="""
class GELU(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        u = math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)
        return x / (1 + np.exp(-2 * u))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        gate = (2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)).sigmoid()
        du = math.sqrt(2 / math.pi) * (1 + 0.134145 * x ** 2)
        return grad * (gate + x * gate * (1 - gate) * 2 * du)
""",
)
layers_gelu.variant(
    "the slope is computed in forward, with arrays",
    source="""
class GELU(Function):
    @staticmethod
    def forward(ctx, x):
        c = np.sqrt(2 / np.pi)
        t = np.tanh(c * (x + 0.044715 * np.power(x, 3)))
        ctx.slope = (1 + t) / 2 + x * (1 - t ** 2) * c * (1 + 3 * 0.044715 * np.square(x)) / 2
        return x * (1 + t) / 2

    @staticmethod
    def backward(ctx, grad):
        return grad.data * ctx.slope
""",
)
