"""Recompute a graph with other inputs by applying each node's op again."""

import copy
import operator
from numbers import Number

from tinygrad_cl.viz.nodes import MISSING, read

OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "@": operator.matmul,
}
MOST_INPUTS = 8


def changeable(graph):
    """The indices of the leaves that can be changed: those with a label, or all numeric leaves if none has a label."""
    leaves = [
        i for i, node in enumerate(graph.nodes) if i not in graph.computed and isinstance(read(node, "data"), Number)
    ]
    labelled = [i for i in leaves if read(graph.nodes[i], "label") not in (MISSING, None, "")]
    return (labelled or leaves)[:MOST_INPUTS]


def with_data(leaf, number):
    """A copy of this leaf that holds another number and no gradient."""
    clone = copy.copy(leaf)
    name = "data" if hasattr(leaf, "data") else "value"
    setattr(clone, name, type(read(leaf, "data"))(number))
    if isinstance(read(leaf, "grad"), Number):
        clone.grad = 0.0
    return clone


def recompute(graph, numbers):
    """The new results, given {index of a leaf: its new number}. Errors of the student's operators pass through.

    ValueError if a node does not say how it was computed.
    """
    made = []
    parents = graph.parents
    for i, node in enumerate(graph.nodes):
        if i not in graph.computed:
            made.append(with_data(node, numbers[i]) if i in numbers else node)
            continue
        new = applied(node, [graph.nodes[p] for p in parents[i]], [made[p] for p in parents[i]])
        label = read(node, "label")
        if isinstance(label, str) and label:
            new.label = label
        made.append(new)
    return [made[i] for i in sorted(graph.results)]


def applied(node, before, now):
    """The node's op applied to its new parents."""
    op = read(node, "op")
    if op == "**" and len(now) == 1:
        return now[0] ** exponent_of(node, before[0])
    if op in OPERATORS and len(now) == 2:
        return OPERATORS[op](*now)
    method = getattr(now[0], str(op), None) if now else None
    if not callable(method):
        raise ValueError(f"a node does not say how it was computed: its op is {op!r}")
    return method(*now[1:])


def exponent_of(node, base):
    """n of aⁿ when n is a constant and so not a parent, from aⁿ and its derivative n · aⁿ⁻¹."""
    local, power, number = read(node, "local"), read(node, "data"), read(base, "data")
    if local is MISSING or len(local) != 1 or not power:
        raise ValueError("the exponent of a power is not stored")
    exponent = local[0] * number / power
    return round(exponent) if abs(exponent - round(exponent)) < 1e-9 else exponent


def can_recompute(graph):
    """Whether the ops, applied again to the same inputs, give the same numbers."""
    try:
        again = recompute(graph, {i: read(graph.nodes[i], "data") for i in changeable(graph)})
        return all(read(new, "data") == read(graph.nodes[i], "data") for new, i in zip(again, sorted(graph.results)))
    except Exception:  # half-finished operators: the inputs cannot be changed, all else works
        return False
