"""The built-in elementwise operations, registered as you would register one of your own.

In each lambda, `a` holds the C names of the inputs, `g` is the upstream gradient, `k` the
constants, `out` the result.
"""

import math

import numpy as np

from tinygrad_cl.netcl.ops.primitives import c_number, register_primitive

POSITIVE = (0.0, math.inf)


def one(name, forward, backward, reference, formula, **more):
    """Register an operation of one input: forward(x, k) and backward(x, g, out, k) return one expression."""
    register_primitive(
        name,
        lambda a, k: forward(a[0], k),
        lambda a, g, k, out: [backward(a[0], g, out, k)],
        arity=1,
        reference=reference,
        formula=formula,
        **more,
    )


def two(name, forward, backward, reference, formula, **more):
    """Register an operation of two inputs: forward(x, y) returns one expression, backward(x, y, g, out) two."""
    register_primitive(
        name,
        lambda a, k: forward(*a),
        backward and (lambda a, g, k, out: backward(*a, g, out)),
        arity=2,
        reference=reference,
        formula=formula,
        **more,
    )


def comparison(name, sign, reference):
    """Register a comparison: 1 where it holds, else 0. It is piecewise constant, so it has no gradient."""
    two(
        name,
        lambda x, y: f"({x} {sign} {y} ? (V)(1) : (V)(0))",
        None,
        lambda x, y: reference(x, y).astype(np.result_type(x, y)),
        f"1 if x {sign} y else 0",
    )


def shared(x, less, y, g):
    """The gradients of a choice between x and y: 0 for what is left out, half for each of two equal ones;
    a NaN leaves nothing out.
    """
    return [f"({a} {less} {b} ? (V)(0) : ({a} == {b} ? {g} / 2 : {g}))" for a, b in ((x, y), (y, x))]


# -- arithmetic -----------------------------------------------------------------------------------

two("add", lambda x, y: f"ADD({x}, {y})", lambda x, y, g, out: [g, g], np.add, "x + y")
two("sub", lambda x, y: f"SUB({x}, {y})", lambda x, y, g, out: [g, f"(-{g})"], np.subtract, "x − y")
two("mul", lambda x, y: f"MUL({x}, {y})", lambda x, y, g, out: [f"({g} * {y})", f"({g} * {x})"], np.multiply, "x · y")
two(
    "div",
    lambda x, y: f"DIV({x}, {y})",
    lambda x, y, g, out: [f"({g} / {y})", f"(-{g} * {out} / {y})"],
    np.divide,
    "x / y",
)
two(
    "pow",
    lambda x, y: f"pow({x}, {y})",
    lambda x, y, g, out: [  # no 0 · ∞ at y = 0 or x = 0
        f"({y} == 0 ? (V)(0) : {g} * {y} * pow({x}, {y} - 1))",
        f"({g} * (({x} == 0) & ({y} >= 0) ? (V)(0) : {out} * log({x})))",
    ],
    np.power,
    "xʸ",
    domain=POSITIVE,
)
two(
    "maximum",
    lambda x, y: f"MAX({x}, {y})",
    lambda x, y, g, out: shared(x, "<", y, g),
    np.maximum,
    "max(x, y); ties share the gradient",
)
two(
    "minimum",
    lambda x, y: f"MIN({x}, {y})",
    lambda x, y, g, out: shared(x, ">", y, g),
    np.minimum,
    "min(x, y); ties share the gradient",
)
one("neg", lambda x, k: f"(-{x})", lambda x, g, out, k: f"(-{g})", np.negative, "−x")
one("abs", lambda x, k: f"fabs({x})", lambda x, g, out, k: f"({g} * sign({x}))", np.abs, "|x|")
one("square", lambda x, k: f"({x} * {x})", lambda x, g, out, k: f"(2 * {g} * {x})", np.square, "x²")
one("reciprocal", lambda x, k: f"(1 / {x})", lambda x, g, out, k: f"(-{g} * {out} * {out})", np.reciprocal, "1 / x")

# -- functions ------------------------------------------------------------------------------------

one("exp", lambda x, k: f"exp({x})", lambda x, g, out, k: f"({g} * {out})", np.exp, "eˣ")
one("log", lambda x, k: f"log({x})", lambda x, g, out, k: f"({g} / {x})", np.log, "ln x", domain=POSITIVE)
one(
    "log1p",
    lambda x, k: f"log1p({x})",
    lambda x, g, out, k: f"({g} / (1 + {x}))",
    np.log1p,
    "ln(1 + x)",
    domain=(-1.0, math.inf),
)
one("sqrt", lambda x, k: f"sqrt({x})", lambda x, g, out, k: f"({g} / (2 * {out}))", np.sqrt, "√x", domain=POSITIVE)
one(
    "rsqrt",
    lambda x, k: f"(1 / sqrt({x}))",
    lambda x, g, out, k: f"(-{g} * {out} / (2 * {x}))",
    lambda x: 1 / np.sqrt(x),
    "1 / √x",
    domain=POSITIVE,
)
one("sin", lambda x, k: f"SIN({x})", lambda x, g, out, k: f"({g} * COS({x}))", np.sin, "sin x")
one("cos", lambda x, k: f"COS({x})", lambda x, g, out, k: f"(-{g} * SIN({x}))", np.cos, "cos x")
one(
    "tanh",
    lambda x, k: f"TANH({x})",
    lambda x, g, out, k: f"({g} * (1 - {out} * {out}))",
    np.tanh,
    "tanh x",
    layers=("Tanh",),
)
one(
    "sigmoid",
    lambda x, k: f"(1 / (1 + exp(-{x})))",
    lambda x, g, out, k: f"({g} * {out} * (1 - {out}))",
    lambda x: 0.5 * (1 + np.tanh(x / 2)),
    "σ(x) = 1 / (1 + e⁻ˣ)",
    layers=("Sigmoid",),
)

# -- activations ----------------------------------------------------------------------------------

erf = np.vectorize(math.erf, otypes=[np.float64])

one(
    "relu",
    lambda x, k: f"MAX({x}, (V)(0))",
    lambda x, g, out, k: f"({out} <= 0 ? (V)(0) : {g})",  # a NaN is not left out
    lambda x: np.maximum(x, 0),
    "max(x, 0); the derivative at 0 is 0",
    layers=("ReLU",),
)
one(
    "leaky_relu",
    lambda x, k: f"({x} > 0 ? {x} : {c_number(k['negative_slope'])} * {x})",
    lambda x, g, out, k: f"({x} > 0 ? {g} : {c_number(k['negative_slope'])} * {g})",
    lambda x, negative_slope: np.where(x > 0, x, negative_slope * x),
    "x if x > 0 else negative_slope · x",
    attrs={"negative_slope": 0.01},
    layers=("LeakyReLU",),
)
one(
    "elu",
    lambda x, k: f"({x} > 0 ? {x} : {c_number(k['alpha'])} * expm1({x}))",
    lambda x, g, out, k: f"({x} > 0 ? {g} : {g} * {c_number(k['alpha'])} * exp({x}))",
    lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))),
    "x if x > 0 else alpha · (eˣ − 1)",
    attrs={"alpha": 1.0},
    layers=("ELU",),
)
one(
    "softplus",
    lambda x, k: f"(fmax({x}, (V)(0)) + log1p(exp(-fabs({x}))))",
    lambda x, g, out, k: f"({g} / (1 + exp(-{x})))",
    lambda x: np.logaddexp(x, 0),
    "ln(1 + eˣ)",
    layers=("Softplus",),
)
one(
    "swish",
    lambda x, k: f"({x} / (1 + exp(-{x})))",
    lambda x, g, out, k: f"({g} * (1 + {x} - {out}) / (1 + exp(-{x})))",
    lambda x: x * 0.5 * (1 + np.tanh(x / 2)),
    "x · σ(x); the derivative is σ(x) · (1 + x − x · σ(x))",
    aliases=("silu",),
    layers=("SiLU", "Swish"),
)
one(
    "gelu",
    lambda x, k: f"({x} * (1 + erf({x} * {c_number(math.sqrt(0.5))})) / 2)",
    lambda x, g, out, k: (
        f"({g} * ((1 + erf({x} * {c_number(math.sqrt(0.5))})) / 2"
        f" + {x} * {c_number(1 / math.sqrt(2 * math.pi))} * exp(-{x} * {x} / 2)))"
    ),
    lambda x: x * (1 + erf(x * math.sqrt(0.5))) / 2,
    "x · Φ(x); the derivative is Φ(x) + x · φ(x)",
    layers=("GELU",),
)
one(
    "clamp",
    lambda x, k: f"MIN(MAX({x}, {c_number(k['min_val'])}), {c_number(k['max_val'])})",
    lambda x, g, out, k: f"(({x} >= {c_number(k['min_val'])}) & ({x} <= {c_number(k['max_val'])}) ? {g} : (V)(0))",
    lambda x, min_val, max_val: np.clip(x, min_val, max_val),
    "min(max(x, min_val), max_val)",
    attrs={"min_val": -math.inf, "max_val": math.inf},
)

# -- comparisons and selection --------------------------------------------------------------------

comparison("lt", "<", np.less)
comparison("le", "<=", np.less_equal)
comparison("gt", ">", np.greater)
comparison("ge", ">=", np.greater_equal)
comparison("eq", "==", np.equal)
comparison("ne", "!=", np.not_equal)
register_primitive(
    "where",
    lambda a, k: f"({a[0]} != 0 ? {a[1]} : {a[2]})",
    lambda a, g, k, out: [None, f"({a[0]} != 0 ? {g} : (V)(0))", f"({a[0]} != 0 ? (V)(0) : {g})"],
    arity=3,
    reference=lambda c, x, y: np.where(c != 0, x, y),
    formula="x if c ≠ 0 else y",
    inputs=("c", "x", "y"),
)

# -- losses, of a prediction x and a target y ------------------------------------------------------


def log_of(x, complement=False):
    """ln x, or ln(1 − x), clamped to at least −100: finite for probabilities 0 and 1."""
    return f"MAX({f'log1p(-{x})' if complement else f'log({x})'}, (V)(-100))"


def log_loss(x, y):
    """The NumPy reference of log_loss."""
    return -(y * np.maximum(np.log(x), -100) + (1 - y) * np.maximum(np.log1p(-x), -100))


two(
    "squared_error",
    lambda x, y: f"(({x} - {y}) * ({x} - {y}))",
    lambda x, y, g, out: [f"(2 * {g} * ({x} - {y}))", f"(2 * {g} * ({y} - {x}))"],
    lambda x, y: (x - y) ** 2,
    "(x − y)²",
)
two(
    "absolute_error",
    lambda x, y: f"fabs({x} - {y})",
    lambda x, y, g, out: [  # g · (x − y) is 0 where they are equal, and NaN where one is NaN
        f"({x} > {y} ? {g} : ({x} < {y} ? -{g} : {g} * ({x} - {y})))",
        f"({x} > {y} ? -{g} : ({x} < {y} ? {g} : {g} * ({x} - {y})))",
    ],
    lambda x, y: np.abs(x - y),
    "|x − y|; the derivative at 0 is 0",
)
two(
    "log_loss",
    lambda x, y: f"(-({y} * {log_of(x)} + (1 - {y}) * {log_of(x, True)}))",
    lambda x, y, g, out: [
        f"({g} * ({x} - {y}) / MAX({x} * (1 - {x}), (V)(1e-12)))",
        f"({g} * ({log_of(x, True)} - {log_of(x)}))",
    ],
    log_loss,
    "−y ln x − (1 − y) ln(1 − x)",
    domain=(0.0, 1.0),
)
two(
    "logistic_loss",
    lambda x, y: f"(MAX({x}, (V)(0)) - {x} * {y} + log1p(exp(-fabs({x}))))",
    lambda x, y, g, out: [f"({g} * (1 / (1 + exp(-{x})) - {y}))", f"(-{g} * {x})"],
    lambda x, y: np.logaddexp(x, 0) - x * y,
    "ln(1 + eˣ) − x y",
)
