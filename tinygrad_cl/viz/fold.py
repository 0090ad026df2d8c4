"""Fold a large graph into few boxes: nodes of the same kind share one box.

by layer   nodes with the same column, op and label stem share a box; then chains of the same op are merged, such as a
           long sum, and so are the leaves that feed it
by band    if that is still too many boxes, the columns are grouped into bands
"""

import re
from collections import Counter

from tinygrad_cl.viz.layout import assign_layers
from tinygrad_cl.viz.nodes import MISSING, read

BANDS = 12


def fold(graph, most):
    """[[indices of the nodes in one box, …], …], parents before children. By band if by layer gives more than `most`."""
    layer = assign_layers(graph.parents)
    alike = together(graph, layer, lambda v: (layer[v], op_of(graph, v), stem(graph.nodes[v])))
    groups = merge_leaves(graph, merge_chains(graph, alike))
    if len(groups) <= most:
        return groups
    width = -(-(1 + max(layer)) // BANDS)
    return together(graph, layer, lambda v: (layer[v] // width, v in graph.computed))


def op_of(graph, v):
    """The op that computed node v; "" for a leaf."""
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
    """Group nodes by kind, ordered by layer."""
    computed = graph.computed
    groups = {}
    for v in sorted(range(len(graph.nodes)), key=lambda v: (layer[v], v in computed)):
        groups.setdefault((kind(v), v in computed), []).append(v)
    return list(groups.values())


def merge_chains(graph, groups):
    """Merge groups of the same op where one only feeds the next, such as the additions of a sum."""
    children = [set() for _ in groups]
    for parent, child in edges_between(graph, groups):
        children[parent].add(child)
    merged = list(groups)
    for i, (group, following) in enumerate(
        zip(groups, children)
    ):  # in order, so that a whole chain ends up in its last group
        if len(following) == 1:
            (follower,) = following
            if op_of(graph, group[0]) == op_of(graph, groups[follower][0]) != "":
                merged[follower] = merged[i] + merged[follower]
                merged[i] = None
    return [group for group in merged if group]


def merge_leaves(graph, groups):
    """Merge groups of leaves with the same label stem that only feed the same box, such as the terms of a sum."""
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
    """{(index of a group, index of a later group): number of edges between them}."""
    home = {v: i for i, group in enumerate(groups) for v in group}
    return Counter((home[parent], home[child]) for parent, child, _ in graph.edges if home[parent] != home[child])


def summary(graph, group):
    """The ops of a group in words: "12 × +", the most frequent first."""
    counts = Counter(op_of(graph, v) for v in group).most_common()
    return ", ".join(f"{count} × {op}" if op else f"{count} leaves" for op, count in counts)
