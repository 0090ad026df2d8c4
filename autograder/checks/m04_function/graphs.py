"""Small programs of leaves x and w: shared nodes, leaves that are used twice, constants."""

import numpy as np

from autograder.checks.cases import Draft, Source, Text, diagonal, filled

PROGRAMS = (
    "x * w", "x + w", "x", "x * w + x", "x + x", "x * x", "w * 2.0", "[s := x * x, s * w + s][-1]", "x + w + x", "-x * x + w",
    "[s := x + w, t := s * x, s + t * t][-1]", "[s := x + w, t := s * x, t * t + s][-1]", "[s := x * w, s + s][-1]", "x * 3.0 + 2.0 * x",
    "[s := -w, t := s + s, t * s + t][-1]", "[s := x * w, t := s + x, u := t * s, u + t + s][-1]",
)  # fmt: skip
SHAPES = ((2,), (2,)), ((), ()), ((2, 3), (3,)), ((2, 1), (1, 3)), ((1,), (1,)), ((2, 2), (2, 2)), ((2,), ())


def program(rng) -> str:
    """Two to six steps; each uses what is there, the last ones most."""
    names, steps = ["x", "w"], []
    for step in range(rng.integers(2, 7)):
        one, two = (names[-1 - min(int(rng.geometric(0.5)) - 1, len(names) - 1)] for _ in range(2))
        text = ("{0} + {1}", "{0} * {1}", "-{0}", "{0} * 0.5", "{1} + {0}", "{0} * {0}")[rng.integers(6)].format(
            one, two
        )
        names.append("stuvyz"[step])
        steps.append(f"{names[-1]} := {text}")
    return f"[{', '.join(steps)}][-1]"


def draft(text: str, shapes, rng) -> Draft:
    f, (x, w) = f"lambda x, w: {text}", (filled(shape, "decimals", rng) for shape in shapes)
    shape = np.shape(eval(f)(x, w))
    return Draft({"f": Text(f), "x": x, "w": w, "grad": filled(shape, "decimals", rng)})


def draw(rng) -> Draft:
    return draft(program(rng), SHAPES[rng.integers(len(SHAPES))], rng)


GRAPHS = Source(lambda rng: (draft(*both, rng) for both in diagonal(list(PROGRAMS), list(SHAPES))), draw)
