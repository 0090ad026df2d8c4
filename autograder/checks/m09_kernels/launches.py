"""The cases of lesson 09: float32 numbers, in groups that fit and that do not."""

from collections.abc import Callable

import numpy as np

from autograder.checks.cases import Draft, Source, Text


def numbers(size: int, rng: np.random.Generator, scale: float = 2.0) -> Text:
    """An expression for that many float32 numbers of both signs."""
    return Text(f"np.random.default_rng({int(rng.integers(10**6))}).normal(0, {scale}, {size}).astype(np.float32)")


def launches(configurations: list, case: Callable, tag: Callable = lambda *parts: ()) -> Source:
    """A case for each configuration, and drawn ones: case(rng, *configuration) gives its inputs.

    A configuration may hold pairs (least, most) of which a number is drawn; a case gets a `fill` for what is not written.
    """

    def of(configuration, rng):
        parts = [
            int(rng.integers(part.start, part.stop)) if isinstance(part, range) else part for part in configuration
        ]
        return Draft(case(rng, *parts) | {"fill": int(rng.integers(10**6))}, tuple(tag(*parts)))

    def draw(rng):
        return of(configurations[rng.integers(len(configurations))], rng)

    return Source(lambda rng: (of(configuration, rng) for configuration in configurations), draw)
