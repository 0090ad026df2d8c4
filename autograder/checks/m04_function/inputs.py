"""Inputs that the checks of lesson 04 draw from: expressions with the notebook's names."""

from collections.abc import Iterable
from itertools import product

import numpy as np

from autograder.checks.cases import Draft, Source, Text, choice, diagonal, filled, literal


def texts(*expressions: str) -> list[Text]:
    return [Text(expression) for expression in expressions]


def lists(name: str, small: Iterable[str], parts: list[str], most: int) -> Source:
    """A list of such parts: the small ones, or a drawn one of 1 to `most` parts."""

    def draw(rng):
        return Draft(
            {name: Text(f"[{', '.join(parts[i] for i in rng.integers(len(parts), size=rng.integers(1, most + 1)))}]")}
        )

    return Source(lambda rng: [Draft({name: Text(f"[{text}]")}) for text in small], draw)


FORMS = {
    "a leaf": "Tensor({}, requires_grad=True)",
    "computed": "-Tensor(-{}, requires_grad=True)",
    "a constant": "Tensor({})",
    "an array": "{}",
    "a number": "",
}
TENSORS = "a leaf", "computed", "a constant"
SAME = [(shape, shape) for shape in ((2,), (), (1,), (2, 3), (2, 2), (1, 3))]


def operands(
    pairs=SAME,
    kinds=("decimals", "whole"),
    left=tuple(FORMS),
    right=(*FORMS, "a itself"),
    numbers=("2.5", "0", "-1.5"),
    shape_of=np.broadcast_shapes,
) -> Source:
    """Two operands a and b in each of these forms, one of which at least needs a gradient. grad arrives at their result;
    c is a leaf for another call.
    """
    forms = [(one, two) for one, two in product(left, right) if {one, two} & {"a leaf", "computed"}]

    def operand(form, shape, kind, rng):
        if form == "a number":
            return (), numbers[rng.integers(len(numbers))]
        return shape, FORMS[form].format(literal(filled(shape, kind, rng)))

    def draft(shapes, kind, one, two, rng):
        first, a = operand(one, shapes[0], kind, rng)
        second, b = (first, "a") if two == "a itself" else operand(two, shapes[1], kind, rng)
        c = "Tensor(np.array([1.5, 2.5, 0.5]), requires_grad=True)"
        inputs = {"a": Text(a), "b": Text(b), "c": Text(c), "grad": filled(shape_of(first, second), "decimals", rng)}
        return Draft(inputs, (f"a is {one}", f"b is {two}"))

    def small(rng):
        for (shapes, kind), (one, two) in diagonal([(pair, kind) for kind in kinds for pair in pairs], forms):
            yield draft(shapes, kind, one, two, rng)

    def draw(rng):
        return draft(
            pairs[rng.integers(len(pairs))], kinds[rng.integers(len(kinds))], *forms[rng.integers(len(forms))], rng
        )

    return Source(small, draw)


def of(*functions: str) -> Source:
    return choice("f", *texts(*(f"lambda a, b: {function}" for function in functions)))
