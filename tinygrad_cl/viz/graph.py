"""`draw(node)`: the graph behind a node as a picture, with data, gradients and the local derivative on each edge."""

from numbers import Number
from typing import Any

from tinygrad_cl.viz.fold import edges_between, op_of, stem, summary
from tinygrad_cl.viz.fold import fold as fold_graph
from tinygrad_cl.viz.nodes import is_node, parents_of, plain, read, read_graph, saved_bytes, show, size_text
from tinygrad_cl.viz.scene import Box, Scene, node_box
from tinygrad_cl.viz.svg import BLUE, MUTED, VERMILLION, Picture

MOST_NODES, MOST_UNFOLDED, MOST_BOXES = 20_000, 200, 60


def draw(*nodes: Any, fold: bool | None = None) -> Picture:
    """A picture of the graph behind one node (or several results of one graph), left to right.

    nodes   of any class with `data`, `parents` and the other names in `viz.nodes.NAMES`; or a tape, an object with
            `nodes`; or the graphs of a compiled function, with `head` and `body`: then each box names its kernel
    fold    True: nodes of the same kind in one layer share a box; False: each has its own; None: fold large graphs only

    Each box shows the node's label and op, its data and gradient, and what it saves for backward. A leaf is round, a
    result has a thick frame. The number where an edge enters a box is the local derivative, ∂(this box)/∂(the box at
    the edge's start), if the node stores it. A dashed red edge closes a cycle: a node was made its own ancestor, which
    no computation can do.

    TypeError if there is no node; ValueError for more than 20,000 nodes, or more than 200 with fold=False.

    >>> from tinygrad_cl.scalar import Value
    >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    >>> draw((a + b) * b)
    Picture(graph of 4 nodes, 505 × 242)
    """
    roots = [end for node in nodes for end in ends(node)]
    graph = read_graph(roots, MOST_UNFOLDED if fold is False else MOST_NODES)
    if fold is None:
        fold = len(graph.nodes) > MOST_BOXES and not graph.back_edges
    scene = folded_scene(graph) if fold else plain_scene(graph, kernels=kernels_of(nodes))
    return scene.picture(f"graph of {len(graph.nodes)} node{'s' * (len(graph.nodes) != 1)}")


def ends(node):
    """The nodes to draw from: the node itself; of a tape, the `nodes` that no other node uses; of a compiled graph, its
    head.
    """
    if is_compiled(node):
        return [node.head]
    listed = getattr(node, "nodes", None)
    if is_node(node) or not isinstance(listed, (list, tuple)) or not listed:
        return [node]
    used = {id(parent) for each in listed for parent, _ in parents_of(each)}
    return [each for each in listed if id(each) not in used]


def is_compiled(thing):
    """Whether this is a graph of a compiled function: a list of operations (`body`) and the result (`head`)."""
    return hasattr(thing, "head") and hasattr(thing, "body")


def kernels_of(graphs):
    """{id of a node: the number of its kernel, from 1}, for the compiled graphs among these."""
    compiled = [each for each in graphs if is_compiled(each)]
    return {id(node): number for number, each in enumerate(compiled, start=1) for node in (*each.body, each.head)}


def plain_scene(graph, names=None, kernels=None, grads=None):
    """A box for each node.

    names     are used where a label is missing
    kernels   {id of a node: number of its kernel}
    grads     texts that are shown for the nodes' own gradients, or None
    """
    computed = graph.computed
    kinds = [
        "leaf" if i not in computed else "result" if i in graph.results else "step" for i in range(len(graph.nodes))
    ]
    rows = [[("kernel", str(kernels[id(node)]))] if kernels and id(node) in kernels else [] for node in graph.nodes]
    columns = graph.nodes, kinds, names or [""] * len(kinds), rows, grads or [None] * len(kinds)
    boxes = [node_box(*each) for each in zip(*columns)]
    edges = [
        (parent, child, None if derivative is None else show(derivative, digits=3))
        for parent, child, derivative in graph.edges
    ]
    return Scene(boxes, edges, graph.back_edges, legend(boxes, edges, graph.back_edges))


def folded_scene(graph):
    """A box for each group of nodes. Each edge shows how many edges of the graph it stands for."""
    groups = fold_graph(graph, MOST_BOXES)
    boxes = [group_box(graph, group) for group in groups]
    edges = [(parent, child, f"{count} ×") for (parent, child), count in edges_between(graph, groups).items()]
    each = " draw(…, fold=False) shows each." if len(graph.nodes) <= MOST_UNFOLDED else ""
    notes = [
        (
            f"{len(graph.nodes)} nodes in {len(boxes)} boxes: nodes of the same kind in one layer share a box.{each}",
            MUTED,
        )
    ]
    return Scene(boxes, edges, (), legend(boxes, (), ()) + notes)


def group_box(graph, group):
    """The Box of a group: the number of nodes, and the ranges of their data and gradients."""
    kind = "leaf" if group[-1] not in graph.computed else "result" if graph.results & set(group) else "step"
    if len(group) == 1:
        return node_box(graph.nodes[group[0]], kind)
    members = [graph.nodes[v] for v in group]
    rows = [(what, span([plain(read(node, what)) for node in members])) for what in ("data", "grad")]
    saved = [kept for node in members if (kept := saved_bytes(node)) is not None]
    if sum(count for count, _ in saved):
        rows.append(("saved", f"{sum(count for count, _ in saved)}, {size_text(sum(size for _, size in saved))}"))
    same = len({op_of(graph, v) for v in group}) == 1
    leaves = f"{len(group)} × {stem(members[0])}" if stem(members[0]) else f"{len(group)} leaves"
    head = leaves if kind == "leaf" else f"{len(group)} ×" if same else ""
    return Box(kind, head, op_of(graph, group[0]) if same else summary(graph, group), [row for row in rows if row[1]])


def span(values):
    """The range of the numbers among the values as text; "" if there are none."""
    numbers = [value for value in values if isinstance(value, Number)]
    if not numbers:
        return ""
    low, high = (show(each, digits=3) for each in (min(numbers), max(numbers)))
    return low if low == high else f"{low} … {high}"


def legend(boxes, edges, back_edges):
    """[(sentence, colour), …] that explain the marks in this picture."""
    kinds = {box.kind for box in boxes}
    shapes = {"leaf": "round: leaf", "step": "square: computed", "result": "thick frame: result"}
    names = [name for kind, name in shapes.items() if kind in kinds]
    if any(name == "saved" for box in boxes for name, _ in box.rows):
        names.append("saved: arrays kept for backward")
    if any(name == "kernel" for box in boxes for name, _ in box.rows):
        names.append("the same kernel: computed by one launch")
    notes = [(" · ".join(names), MUTED)] if len(names) > 1 else []
    if any(note is not None for *_, note in edges):
        notes.append(("on an edge: local derivative ∂(its end) / ∂(its start)", BLUE))
    if "stray" in kinds:
        notes.append(("A parent is not a node: no gradient can flow to it.", VERMILLION))
    if back_edges:
        notes.append(("A cycle: the dashed edge makes a node its own ancestor. Was one changed in place?", VERMILLION))
    return notes
