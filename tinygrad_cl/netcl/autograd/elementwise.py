"""The elementwise operations as functions of Nodes, Tensors, arrays and numbers.

Generated from the records in netcl/ops/table.py by `make notebooks`: edit those.
"""

import math

from tinygrad_cl.netcl.autograd.node import apply_primitive

__all__ = [
    "abs",
    "absolute_error",
    "add",
    "clamp",
    "cos",
    "div",
    "elu",
    "eq",
    "exp",
    "ge",
    "gelu",
    "gt",
    "le",
    "leaky_relu",
    "log",
    "log_loss",
    "logistic_loss",
    "lt",
    "maximum",
    "minimum",
    "mul",
    "ne",
    "neg",
    "pow",
    "reciprocal",
    "relu",
    "rsqrt",
    "sigmoid",
    "sin",
    "softplus",
    "sqrt",
    "square",
    "squared_error",
    "sub",
    "swish",
    "tanh",
    "where",
]


def abs(x, tape=None):
    """|x|"""
    return apply_primitive("abs", x, tape=tape)


def absolute_error(x, y, tape=None):
    """|x − y|; the slope at 0 is 0"""
    return apply_primitive("absolute_error", x, y, tape=tape)


def add(x, y, tape=None):
    """x + y"""
    return apply_primitive("add", x, y, tape=tape)


def clamp(x, min_val=-math.inf, max_val=math.inf, tape=None):
    """min(max(x, min_val), max_val)"""
    return apply_primitive("clamp", x, tape=tape, min_val=min_val, max_val=max_val)


def cos(x, tape=None):
    """cos x"""
    return apply_primitive("cos", x, tape=tape)


def div(x, y, tape=None):
    """x / y"""
    return apply_primitive("div", x, y, tape=tape)


def elu(x, alpha=1.0, tape=None):
    """x if x > 0 else alpha · (eˣ − 1)"""
    return apply_primitive("elu", x, tape=tape, alpha=alpha)


def eq(x, y, tape=None):
    """1 if x == y else 0"""
    return apply_primitive("eq", x, y, tape=tape)


def exp(x, tape=None):
    """eˣ"""
    return apply_primitive("exp", x, tape=tape)


def ge(x, y, tape=None):
    """1 if x >= y else 0"""
    return apply_primitive("ge", x, y, tape=tape)


def gelu(x, tape=None):
    """x · Φ(x); the slope is Φ(x) + x · φ(x)"""
    return apply_primitive("gelu", x, tape=tape)


def gt(x, y, tape=None):
    """1 if x > y else 0"""
    return apply_primitive("gt", x, y, tape=tape)


def le(x, y, tape=None):
    """1 if x <= y else 0"""
    return apply_primitive("le", x, y, tape=tape)


def leaky_relu(x, negative_slope=0.01, tape=None):
    """x if x > 0 else negative_slope · x"""
    return apply_primitive("leaky_relu", x, tape=tape, negative_slope=negative_slope)


def log(x, tape=None):
    """ln x"""
    return apply_primitive("log", x, tape=tape)


def log_loss(x, y, tape=None):
    """−y ln x − (1 − y) ln(1 − x)"""
    return apply_primitive("log_loss", x, y, tape=tape)


def logistic_loss(x, y, tape=None):
    """ln(1 + eˣ) − x y"""
    return apply_primitive("logistic_loss", x, y, tape=tape)


def lt(x, y, tape=None):
    """1 if x < y else 0"""
    return apply_primitive("lt", x, y, tape=tape)


def maximum(x, y, tape=None):
    """max(x, y); equal ones share the gradient"""
    return apply_primitive("maximum", x, y, tape=tape)


def minimum(x, y, tape=None):
    """min(x, y); equal ones share the gradient"""
    return apply_primitive("minimum", x, y, tape=tape)


def mul(x, y, tape=None):
    """x · y"""
    return apply_primitive("mul", x, y, tape=tape)


def ne(x, y, tape=None):
    """1 if x != y else 0"""
    return apply_primitive("ne", x, y, tape=tape)


def neg(x, tape=None):
    """−x"""
    return apply_primitive("neg", x, tape=tape)


def pow(x, y, tape=None):
    """xʸ"""
    return apply_primitive("pow", x, y, tape=tape)


def reciprocal(x, tape=None):
    """1 / x"""
    return apply_primitive("reciprocal", x, tape=tape)


def relu(x, tape=None):
    """max(x, 0); the slope at 0 is 0"""
    return apply_primitive("relu", x, tape=tape)


def rsqrt(x, tape=None):
    """1 / √x"""
    return apply_primitive("rsqrt", x, tape=tape)


def sigmoid(x, tape=None):
    """σ(x) = 1 / (1 + e⁻ˣ)"""
    return apply_primitive("sigmoid", x, tape=tape)


def sin(x, tape=None):
    """sin x"""
    return apply_primitive("sin", x, tape=tape)


def softplus(x, tape=None):
    """ln(1 + eˣ)"""
    return apply_primitive("softplus", x, tape=tape)


def sqrt(x, tape=None):
    """√x"""
    return apply_primitive("sqrt", x, tape=tape)


def square(x, tape=None):
    """x²"""
    return apply_primitive("square", x, tape=tape)


def squared_error(x, y, tape=None):
    """(x − y)²"""
    return apply_primitive("squared_error", x, y, tape=tape)


def sub(x, y, tape=None):
    """x − y"""
    return apply_primitive("sub", x, y, tape=tape)


def swish(x, tape=None):
    """x · σ(x); the slope is σ(x) · (1 + x − x · σ(x))"""
    return apply_primitive("swish", x, tape=tape)


def tanh(x, tape=None):
    """tanh x"""
    return apply_primitive("tanh", x, tape=tape)


def where(c, x, y, tape=None):
    """x if c ≠ 0 else y"""
    return apply_primitive("where", c, x, y, tape=tape)
