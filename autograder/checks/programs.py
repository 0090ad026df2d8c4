"""Programs as inputs: expressions that are drawn, in which a part may be used twice, and lines that print."""

from collections.abc import Callable, Sequence

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
        return leaves[-1 if leaves[-1] == "h" and rng.random() < 0.6 else int(rng.integers(len(leaves)))]
    kind = rng.random()
    if kind < 0.25 and size > 2 and "h" not in leaves:
        return f"(lambda h: {part(size // 2, [*leaves, 'h'])})({part(size - size // 2)})"
    if unary and kind < 0.55:
        return unary[int(rng.integers(len(unary)))].format(part(size - 1))
    left = int(rng.integers(size))
    return binary[int(rng.integers(len(binary)))].format(part(left), part(size - 1 - left))


def scripts(small: Sequence[Sequence[str]], draw: Callable | None = None) -> Source:
    """Programs for `printed`, as lists of lines: each of the small ones, or what draw(rng) gives."""

    def program(lines):
        return Draft({"program": "\n".join(lines)})

    return Source(lambda rng: map(program, small), draw and (lambda rng: program(draw(rng))))


def pick(rng: np.random.Generator, options: Sequence):
    return options[int(rng.integers(len(options)))]


def printed(student, case):
    """The observation of a program: what its lines print, and the error that ends it."""
    import sys

    from tinygrad_cl.tensor import set_grad_enabled

    lines, found = case.program.splitlines(), {}

    def plain(value):
        if isinstance(value, dict):
            return {name: plain(part) for name, part in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(map(plain, value))
        array = value if isinstance(value, (np.ndarray, np.generic, type)) else getattr(value, "data", value)
        return array.copy() if isinstance(array, np.ndarray) else array

    def note(*values):
        label = lines[sys._getframe(1).f_lineno - 1].strip()
        times = sum(known.partition(" #")[0] == label for known in found)
        found[f"{label} #{times + 1}" if times else label] = plain(values[0] if len(values) == 1 else values)

    names = {**student.__dict__["_namespace"], **vars(case), "print": note}
    try:
        with set_grad_enabled(True):  # whatever a program leaves behind ends with it: also a generator in the middle
            try:
                exec(case.program, names)
            finally:
                names.clear()
    except NotImplementedError:  # nothing is written yet
        raise
    except Exception as error:
        found["error"] = error
    return found
