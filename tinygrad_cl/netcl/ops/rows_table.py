"""The operations on rows, each with its gradient below it: the one place where a formula stands.

In a gradient, g is ∂L/∂(the operation's output).
"""

from tinygrad_cl.netcl.ops.rows import RowFormula

# -- softmax --------------------------------------------------------------------------------------

# y = eˣ / Σ eˣ. Dividing both by eᵐ, m the largest x, changes nothing, and nothing overflows. A row
# of −∞ alone has no softmax: 0 / 0, NaN.
SOFTMAX = RowFormula(
    "softmax", ("x",), steps=(("m", "max", "x"), ("e", "keep", "exp(x - m)"), ("s", "sum", "e")), outputs=("e / s",)
)

# ∂yⱼ/∂xᵢ = yⱼ (δᵢⱼ − yᵢ), so ∂L/∂xᵢ = yᵢ (gᵢ − Σ g y)
SOFTMAX_BACKWARD = RowFormula("softmax_backward", ("g", "y"), steps=(("d", "sum", "g * y"),), outputs=("y * (g - d)",))

# z = ln softmax x = x − m − ln Σ eˣ⁻ᵐ: no logarithm of 0 where eˣ⁻ᵐ is too small to be a number
LOG_SOFTMAX = RowFormula(
    "log_softmax", ("x",), steps=(("m", "max", "x"), ("s", "sum", "exp(x - m)")), outputs=("x - m - log(s)",)
)

# ∂L/∂xᵢ = gᵢ − softmax(x)ᵢ Σ g
LOG_SOFTMAX_BACKWARD = RowFormula(
    "log_softmax_backward", ("g", "z"), steps=(("d", "sum", "g"),), outputs=("g - exp(z) * d",)
)

# ln Σ eˣ = m + ln Σ eˣ⁻ᵐ; where m is infinite, ∞ − ∞ is kept out, so that ln Σ e^(−∞) = −∞
LOGSUMEXP = RowFormula(
    "logsumexp",
    ("x",),
    steps=(("m", "max", "x"), ("c", None, "(isinf(m) ? (V)(0) : m)"), ("s", "sum", "exp(x - c)")),
    row_outputs=("c + log(s)",),
)

# ∂L/∂x = g softmax(x)
LOGSUMEXP_BACKWARD = RowFormula("logsumexp_backward", ("g", "x"), steps=SOFTMAX.steps, outputs=("g * e / s",))

# -- layer norm -----------------------------------------------------------------------------------

# y = (x − mean) / √(variance + eps) · gamma + beta. The variance is the mean of squares of centred
# numbers: the mean of squares less the square of the mean would lose all digits far from 0.
LAYER_NORM = RowFormula(
    "layer_norm",
    ("x", "gamma", "beta", "eps"),
    steps=(
        ("mean", "mean", "x"),
        ("variance", "mean", "(x - mean) * (x - mean)"),
        ("rstd", None, "1 / sqrt(variance + eps)"),
    ),
    outputs=("(x - mean) * rstd * gamma + beta",),
    row_outputs=("mean", "rstd"),
)

# With u = (x − mean) · rstd and h = g · gamma: ∂L/∂x = rstd · (h − mean(h) − u · mean(h · u)), for
# moving or stretching a row changes nothing. ∂L/∂gamma = g · u, still to be summed over the rows.
LAYER_NORM_BACKWARD = RowFormula(
    "layer_norm_backward",
    ("g", "x", "gamma", "mean", "rstd"),
    steps=(("a", "mean", "g * gamma"), ("b", "mean", "g * gamma * (x - mean) * rstd")),
    outputs=("rstd * (g * gamma - a - (x - mean) * rstd * b)", "g * (x - mean) * rstd"),
)

# -- cross-entropy --------------------------------------------------------------------------------

# −ln softmax(x) at the place `target`: ln s − (x − m) there. Where no place is the target, s is
# NaN, and with it the loss of this row and, in the gradient, the row.
CROSS_ENTROPY = RowFormula(
    "cross_entropy",
    ("x", "target"),
    steps=(
        ("m", "max", "x"),
        ("all", "sum", "exp(x - m)"),
        ("hit", "sum", "(place == target ? x - m : (V)(0))"),
        ("hits", "sum", "(place == target ? (V)(1) : (V)(0))"),
        ("s", None, "(hits == 1 ? all : (V)(NAN))"),
    ),
    row_outputs=("log(s) - hit", "m", "s"),
    indices=("target",),
)

# ∂L/∂x = g · scale · (softmax(x) − onehot(target)); scale is 1, or 1 / rows for the mean
CROSS_ENTROPY_BACKWARD = RowFormula(
    "cross_entropy_backward",
    ("g", "scale", "x", "m", "s", "target"),
    steps=(),
    outputs=("g * scale * (exp(x - m) / s - (place == target ? (V)(1) : (V)(0)))",),
    indices=("target",),
)

# −Σ p ln softmax(x) for a row p of probabilities. A class of probability 0 counts 0, even where
# x = −∞; `total` is Σ p, 1 as a rule.
SOFT_CROSS_ENTROPY = RowFormula(
    "soft_cross_entropy",
    ("x", "p"),
    steps=(
        ("m", "max", "x"),
        ("s", "sum", "exp(x - m)"),
        ("expected", "sum", "(p == 0 ? (V)(0) : p * (x - m))"),
        ("total", "sum", "p"),
    ),
    row_outputs=("(N == 0 ? (V)(0) : log(s) * total - expected)", "m", "s", "total"),
)

# ∂L/∂x = g · scale · (softmax(x) Σ p − p)        ∂L/∂p = −g · scale · ln softmax(x)
SOFT_CROSS_ENTROPY_BACKWARD = RowFormula(
    "soft_cross_entropy_backward",
    ("g", "scale", "x", "p", "m", "s", "total"),
    steps=(),
    outputs=("g * scale * (exp(x - m) / s * total - p)", "g * scale * (log(s) - (x - m))"),
)
