"""Functions as inputs: expressions that are drawn, in which a part may be used twice."""

from collections.abc import Sequence

import numpy as np

from autograder.checks.cases import Draft, Source, Text


def programs(
    name: str,
    small: Sequence[str],
    leaves: Sequence[str],
    unary: Sequence[str],
    binary: Sequence[str],
    ends: str = "{}",
    most: int = 5,
) -> Source:
    """A function of `leaves`, as text: each of the small ones, or one drawn of up to `most` operations.

    unary, binary   operations as templates: "{}.tanh()", "({} * {})"
    ends            what is done with the whole: "{}.sum()"
    """
    head = f"lambda {', '.join(leaves)}: "

    def draw(rng):
        body = expression(rng, list(leaves), unary, binary, int(rng.integers(1, most + 1)))
        return Draft({name: Text(head + ends.format(body))})

    return Source(lambda rng: [Draft({name: Text(head + body)}) for body in small], draw)


def expression(rng: np.random.Generator, leaves: list, unary: Sequence[str], binary: Sequence[str], size: int) -> str:
    """An expression of so many operations; sometimes a part of it is called h and used twice."""

    def part(size, leaves=leaves):
        return expression(rng, leaves, unary, binary, size)

    if size <= 0:
        return leaves[-1 if leaves[-1] == "h" and rng.random() < 0.6 else rng.integers(len(leaves))]
    kind = rng.random()
    if kind < 0.25 and size > 2 and "h" not in leaves:
        return f"(lambda h: {part(size // 2, [*leaves, 'h'])})({part(size - size // 2)})"
    if unary and kind < 0.55:
        return unary[rng.integers(len(unary))].format(part(size - 1))
    left = int(rng.integers(size))
    return binary[rng.integers(len(binary))].format(part(left), part(size - 1 - left))
