"""Functions that lesson 08 takes derivatives of: of arrays, and of tensors."""

import numpy as np

from autograder.checks.cases import Draft, Source, Text, array, filled, literal
from autograder.checks.programs import programs

SHAPES = ((2,), (), (3,), (1,), (2, 3), (3, 2), (2, 2), (2, 1, 2))


def like(x, rng):
    return filled(x.shape, ("decimals", "decimals", "whole")[rng.integers(3)], rng)


POINTS = array("x", SHAPES, ("decimals", "whole", "transposed"))
OF_ARRAYS = programs(
    "f",
    (
        "np.sum(x**3)",
        "np.sum(np.sin(x) * x)",
        "np.sum(x) ** 2",
        "np.sum(x * x)",
        "np.sum(3.0 * x) + 5.0",
        "x.flat[0] * np.sum(x)",
    ),
    ("x",),
    ("np.sin({})", "np.tanh({})", "({}**2)"),
    ("({} * {})", "({} + {})", "({} - {})"),
    ends="np.sum({})",
)
ALONG = (POINTS * OF_ARRAYS).add(v=like, gradient=like)  # the gradient is anything: somebody says so

UNARY = ("{}.tanh()", "({} * 0.5).exp()", "({} ** 2)", "{}.sigmoid()")
BINARY = ("({} * {})", "({} + {})", "({} - {})")
OF_TENSORS = programs(
    "f",
    (
        "(x * x * x).sum()",
        "(x * x).sum() ** 2",
        "x.exp().sum()",
        "(x.sum() * 0.5).tanh()",
        "(x.tanh() * x).sum() + (x.sum() * 0.3).exp()",
        "((lambda h: h * h + h)(x.sigmoid()) * x).sum() ** 2",
    ),
    ("x",),
    UNARY,
    BINARY,
    ends="(({} + x * x) * x).mean() ** 2",
)


def parabola(n, rng):
    """f(x) = (x − bottom) · A (x − bottom) / 2, as text; A is symmetric, and no curvature is small. Some lead up."""
    turn, _ = np.linalg.qr(rng.normal(size=(n, n)))
    a = turn @ np.diag(rng.uniform(1.0, 4.0, n) * rng.choice([1, 1, -1], n)) @ turn.T
    a, bottom = ((a + a.T) / 2).round(2) + 0.0, filled((n,), "decimals", rng)
    return Text(f"lambda x: (({literal(a)} @ (x - {literal(bottom)})) * (x - {literal(bottom)})).sum() * 0.5")


def parabolas(rng):
    """Of one to four dimensions; the matrix is first a multiple of 1, then diagonal."""
    for c, n in ((1.0, 1), (2.0, 2), (-1.5, 3)):
        yield Draft({"f": Text(f"lambda x: {c} * ((x - 3.0) ** 2).sum()"), "x": filled((n,), "decimals", rng)})
    yield Draft({"f": Text("lambda x: ((x - 3.0) ** 2).sum()"), "x": np.array([3.0, 3.0])}, ("x is the bottom",))
    for curvature in ([1.0, 50.0], [2.0, -1.0, 0.5]):
        f = Text(f"lambda x: ((x - 3.0) ** 2 * np.array({curvature})).sum()")
        yield Draft({"f": f, "x": filled((len(curvature),), "whole", rng)})
    for n in (1, 2, 2, 3, 4, 2, 3, 5):
        yield Draft({"f": parabola(n, rng), "x": filled((n,), "decimals", rng)})


def drawn_parabola(rng):
    n = int(rng.integers(1, 6))
    return Draft({"f": parabola(n, rng), "x": filled((n,), "decimals", rng)})


PARABOLAS = Source(parabolas, drawn_parabola)
VALLEYS = array("x", ((1,), (2,), (3,), (4,)), ("decimals", "whole")).where(lambda x: x.ndim == 1) * programs(
    "f",
    (
        "x.exp().sum() + (x * x).sum()",
        "((x * x).sum() + 1.0) ** 2",
        "(x * x * x * x + x * x).sum()",
        "(x - 2.0).exp().sum() + (x.sum() - 1.0) ** 2 + (x * x).sum()",
    ),
    ("x",),
    ("{}.tanh()", "({} * 0.3).exp()", "{}.sigmoid()"),
    BINARY,
    ends="({}).mean() + 3.0 * (x * x).sum() + (x.sum() - 1.0) ** 2",
    most=3,
)
