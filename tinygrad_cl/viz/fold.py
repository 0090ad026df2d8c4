"""Large graphs in few boxes: nodes that stand for the same thing become one.

by layer   nodes of the same column, op and kind of label are one; then a chain of the same op, such as a long sum, and
           the leaves that feed it
by band    what is still too much is cut into bands of columns
"""

import re
from collections import Counter

from tinygrad_cl.viz.layout import assign_layers
from tinygrad_cl.viz.nodes import MISSING, read

BANDS = 12


def fold(graph, most):
    """[[numbers of the nodes of one box, …], …], parents before children; at most `most` boxes, or those by band."""
    layer = assign_layers(graph.parents)
    alike = together(graph, layer, lambda v: (layer[v], op_of(graph, v), stem(graph.nodes[v])))
    groups = merge_leaves(graph, merge_chains(graph, alike))
    if len(groups) <= most:
        return groups
    width = -(-(1 + max(layer)) // BANDS)
    return together(graph, layer, lambda v: (layer[v] // width, v in graph.computed))


def op_of(graph, v):
    """What computed node v; "" for a leaf."""
    op = read(graph.nodes[v], "op")
    return str(op) if v in graph.computed and op not in (MISSING, None) else ""


def stem(node):
    """A label without its numbers: w[0], w[1] and w2 are all w.

    >>> from tinygrad_cl.scalar import Value
    >>> stem(Value(1.0, label="layer1.w[0,2]")), stem(Value(1.0))
    ('layer.w', '')
    """
    label = read(node, "label")
    return "" if label in (MISSING, None) else re.sub(r"\[[^]]*\]|[\d_]+", "", str(label))


def together(graph, layer, kind):
    """Groups of nodes of the same kind, in the order of their layers."""
    computed = graph.computed
    groups = {}
    for v in sorted(range(len(graph.nodes)), key=lambda v: (layer[v], v in computed)):
        groups.setdefault((kind(v), v in computed), []).append(v)
    return list(groups.values())


def merge_chains(graph, groups):
    """Groups of the same op that only feed one another are one: the additions of a sum."""
    children = [set() for _ in groups]
    for parent, child in edges_between(graph, groups):
        children[parent].add(child)
    merged = list(groups)
    for i, (group, following) in enumerate(zip(groups, children)):  # in order, so that a chain moves on to its end
        if len(following) == 1:
            (follower,) = following
            if op_of(graph, group[0]) == op_of(graph, groups[follower][0]) != "":
                merged[follower] = merged[i] + merged[follower]
                merged[i] = None
    return [group for group in merged if group]


def merge_leaves(graph, groups):
    """Groups of leaves that only feed the same box, with the same kind of label, are one: the terms of a sum."""
    children = [[] for _ in groups]
    for parent, child in edges_between(graph, groups):
        children[parent].append(child)
    alike = {}
    for i, group in enumerate(groups):
        leaf = group[0] not in graph.computed
        alike.setdefault(
            (stem(graph.nodes[group[0]]), *children[i]) if leaf and len(children[i]) == 1 else i, []
        ).append(group)
    return [sum(same, []) for same in alike.values()]


def edges_between(graph, groups):
    """{(number of a group, number of a later one): how many edges run from the one to the other}."""
    home = {v: i for i, group in enumerate(groups) for v in group}
    return Counter((home[parent], home[child]) for parent, child, _ in graph.edges if home[parent] != home[child])


def summary(graph, group):
    """The ops of a group in words: "12 × +", the most frequent first."""
    counts = Counter(op_of(graph, v) for v in group).most_common()
    return ", ".join(f"{count} × {op}" if op else f"{count} leaves" for op, count in counts)
