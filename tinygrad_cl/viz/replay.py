"""A graph computed again with other inputs: by the function that made it, or by applying each node's op once more."""

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
    """The numbers of the leaves whose numbers can be changed: those with a label, or all where none has one."""
    leaves = [
        i for i, node in enumerate(graph.nodes) if i not in graph.computed and isinstance(read(node, "data"), Number)
    ]
    labelled = [i for i in leaves if read(graph.nodes[i], "label") not in (MISSING, None, "")]
    return (labelled or leaves)[:MOST_INPUTS]


def with_data(leaf, number):
    """A leaf like this one that holds another number, and no gradient."""
    twin = copy.copy(leaf)
    name = "data" if hasattr(leaf, "data") else "value"
    setattr(twin, name, type(read(leaf, "data"))(number))
    if isinstance(read(leaf, "grad"), Number):
        twin.grad = 0.0
    return twin


def recompute(graph, numbers):
    """The results again, with {number of a leaf: its new number}. Raises whatever the student's operators raise.

    ValueError where a node does not tell how it was computed.
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
    """The node's op on its new parents."""
    op = read(node, "op")
    if op == "**" and len(now) == 1:
        return now[0] ** exponent_of(node, before[0])
    if op in OPERATORS and len(now) == 2:
        return OPERATORS[op](*now)
    method = getattr(now[0], str(op), None) if now else None
    if not callable(method):
        raise ValueError(f"a node does not tell how it was computed: its op is {op!r}")
    return method(*now[1:])


def exponent_of(node, base):
    """n of aⁿ, where it is a constant and so no parent: from aⁿ and its slope n · aⁿ⁻¹."""
    local, power, number = read(node, "local"), read(node, "data"), read(base, "data")
    if local is MISSING or len(local) != 1 or not power:
        raise ValueError("the exponent of a power is kept nowhere")
    exponent = local[0] * number / power
    return round(exponent) if abs(exponent - round(exponent)) < 1e-9 else exponent


def can_recompute(graph):
    """Do the ops, applied again to the same inputs, give the same numbers?"""
    try:
        again = recompute(graph, {i: read(graph.nodes[i], "data") for i in changeable(graph)})
        return all(read(new, "data") == read(graph.nodes[i], "data") for new, i in zip(again, sorted(graph.results)))
    except Exception:  # half-finished operators: then nothing can be changed, and all else works
        return False
