"""Formulas in which an op f of two Nodes is used, as text, with two leaves and the gradient that arrives."""

import numpy as np

from autograder.checks.cases import Draft, Source, Text, filled, literal
from autograder.checks.programs import expression

SAME = (
    "f(a, b)", "f(a, a)", "f(a, b) * f(b, a)", "f(f(a, b), b)", "f(a, b) - f(b, b)", "f(a, f(b, a))", "f(a, b) + f(a, b)",
)  # fmt: skip
ROWS = "f(a, b)", "f(a, b) * a", "f(f(a, b), b)", "f(a, b) - f(a * a, b)", "f(b, b) * a"  # f's second may be smaller


def leaf(array: np.ndarray, requires_grad: bool = True) -> Text:
    return Text(f"leaf({literal(array)}{'' if requires_grad else ', False'})")


def use(text: str, shapes: tuple, rng: np.random.Generator, needs: tuple = (True, True)) -> Draft:
    """The inputs a, b, grad of the result's shape, and the formula; without one, the op is used once."""
    a, b = (filled(shape, "decimals", rng) for shape in shapes)
    shape = np.shape(eval(text or "a * b", {"a": a, "b": b, "f": np.multiply}))
    given = {"a": leaf(a, needs[0]), "b": leaf(b, needs[1])}
    tags = ["the op is used more than once"] * (text.count("f(") > 1) + ["a leaf is broadcast"] * (len({*shapes}) > 1)
    tags += [f"{name} requires no gradient" for name, needed in zip("ab", needs) if not needed]
    formula = {"formula": Text(f"lambda f, a, b: {text}")} if text else {}
    return Draft(given | formula | {"grad": filled(shape, "decimals", rng)}, tuple(tags))


def uses(broadcast: list) -> Source:
    """Leaves of one shape in drawn formulas, and leaves of each of these pairs of shapes in simple ones."""
    shapes = (2,), (), (2, 3), (1,), (3,), (2, 1)

    def small(rng):
        for k, text in enumerate(SAME):
            yield use(text, (shapes[k % len(shapes)],) * 2, rng)
            yield use(ROWS[k % len(ROWS)], broadcast[k % len(broadcast)], rng)
        yield from (use("f(a, b)", pair, rng) for pair in broadcast)

    def draw(rng):
        if rng.random() < 0.4:
            return use(ROWS[rng.integers(len(ROWS))], broadcast[rng.integers(len(broadcast))], rng)
        text = expression(rng, ["a", "b"], [], ["f({}, {})", "f({}, {})", "({} + {})"], int(rng.integers(1, 4)))
        return use(f"f({text}, b)", (shapes[rng.integers(len(shapes))],) * 2, rng)

    return Source(small, draw)
