"""The cases of lesson 14: what each of several processes has."""

import numpy as np

from autograder.checks.cases import Draft, Source, Text, filled

RULES = "x.T @ np.tanh(x @ w - y) / len(x)", "x.T @ (x @ w - y) / len(x)", "np.cos(w) * np.mean(y)"
COUNTS = [2], [1, 2], [2, 2], [3, 1, 2], [1], [2, 5], [4, 1, 1, 2], [5], [3, 7, 4]


def rows(counts: list, options: dict, rng: np.random.Generator) -> Draft:
    """Processes with so many rows each, their weights w, and the rule of a gradient."""
    k = int(rng.integers(1, 4))
    xs = [filled((n, k), "decimals", rng) for n in counts]
    ys = [filled((n,), "decimals", rng) for n in counts]
    rule = Text(f"lambda w, x, y: {RULES[rng.integers(3)]}")
    tags = ["the processes have different numbers of rows"] * (len({*counts}) > 1)
    tags += ["a process has no rows"] * (0 in counts) + ["there is one process"] * (len(counts) == 1)
    return Draft({"gradient_of": rule, "w": filled((k,), "decimals", rng), "xs": xs, "ys": ys} | options, tuple(tags))


def shares(listed: list, least: int, options) -> Source:
    """Processes with rows: of each of these counts, or of drawn ones; options(rng) gives what is still missing."""

    def draw(rng):
        counts = [int(n) for n in rng.integers(least, 7, rng.integers(1, 5))]
        return rows([*counts[:-1], max(counts[-1], 1)], options(rng), rng)

    return Source(lambda rng: [rows(counts, options(rng), rng) for counts in listed], draw)
