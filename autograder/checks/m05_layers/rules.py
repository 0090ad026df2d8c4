"""How the rules of lesson 05 are observed: y = f(x) of a tensor x, and the gradient that arrives at y.

f is a program: the function alone, of an input that was computed, or twice in one graph, so that two calls are alive at once.
"""

import numpy as np

from autograder.checks.cases import Text, array, choice, filled

SHAPES = ((2,), (1,), (2, 3), (3, 2), (1, 2), (2, 1), (3,), (2, 2), (2, 1, 3), (3, 2, 2))
KINDS = ("decimals", "whole", "transposed")


def value(student, case):
    return case.f(student.Tensor(case.x)).data


def gradient(student, case):
    x, grad = student.Tensor(case.x, requires_grad=True), student.Tensor(case.grad)
    y = case.f(x)
    yield
    y.backward(grad)
    return {"x.grad": x.grad.data, "x": x.data, "grad": grad.data}


def arriving(x, f, rng):
    """What arrives at f(x), where f is NumPy's, too."""
    return filled(np.shape(f(x)), ("decimals", "decimals", "whole")[rng.integers(3)], rng)


def like(x, rng):
    """What arrives at a result of x's shape."""
    return arriving(x, np.copy, rng)


def one_number(rng):
    """What arrives at a loss."""
    return arriving(0, float, rng)


def programs(*bodies):
    return [Text(f"lambda x: {body}") for body in bodies]


def elementwise(op, *special):
    """Programs with `op`, such as "{}.relu()"; special: more arrays."""
    f = op.format
    bodies = f("x"), f("(2 * x)"), f"{f('x')} - {f('(1 - x)')}", f"{f('x')} * x"
    xs = array("x", SHAPES, KINDS)
    xs = xs + choice("x", *special) if special else xs
    return xs.each(f=lambda: programs(*bodies)).add(grad=like)
