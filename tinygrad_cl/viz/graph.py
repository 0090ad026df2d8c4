"""`draw(node)`: the graph behind a node as a picture, with data, gradients and the local derivative on each edge.

Any class will do, a student's half-finished one, too: `NAMES` lists what is read, and what is missing is left out.
"""

from collections.abc import Iterable
from numbers import Number

import numpy as np

from tinygrad_cl.viz.layout import layered
from tinygrad_cl.viz.svg import (BLUE, GREEN, MUTED, ORANGE, PALE, SKY, VERMILLION, Picture, arrow_head, number, path,
                                 rect, text)

NAMES = {  # what we read ← the names it goes by, in micrograd and its relatives
    "data": ("data", "value"),
    "grad": ("grad",),
    "parents": ("parents", "_prev", "prev", "_children", "children"),
    "op": ("op", "_op", "op_name"),
    "label": ("label", "name"),
    "local": ("local_derivatives", "_local_grads", "local_grads"),
}
MOST_NODES = 200
MISSING = object()

COLOURS = {"leaf": ORANGE, "step": SKY, "result": GREEN, "stray": VERMILLION}
CHARACTER, ROW, PADDING, MARGIN, COLUMN_GAP, RUN = 7.3, 18, 10, 20, 104, 56  # pixels


def draw(*nodes):
    """A picture of the graph behind one node (or several results of one graph), left to right.

    Each box has the node's label and op, its data and its gradient; a leaf is round, a result has a thick frame. The
    number where an edge enters a box is the local derivative, ∂(this box)/∂(the box at the edge's start), if the node
    keeps it. A dashed red edge closes a cycle, which no computation has: there a node was made its own ancestor.

    TypeError if there is nothing like a node; ValueError for more than 200 nodes.

    >>> from tinygrad_cl.scalar import Value
    >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    >>> draw((a + b) * b)
    Picture(graph of 4 nodes, 505 × 242)
    """
    for node in nodes or (None,):
        if read(node, "data") is MISSING or isinstance(node, (type, Number, np.ndarray)):
            raise TypeError("draw() needs a node of a graph, an object with `data` and `parents` (or `_prev`), "
                            f"not {shorten(repr(node), 60)}")
    found, edges, back_edges = walk(nodes)
    index = {id(node): i for i, node in enumerate(found)}
    results = {index[id(node)] for node in nodes}
    has_parents = {child for _, child, _ in edges + back_edges}
    boxes = [Box(node, "stray" if read(node, "data") is MISSING else "result" if i in results and i in has_parents
                 else "step" if i in has_parents else "leaf") for i, node in enumerate(found)]
    parents = [[] for _ in found]
    for parent, child, _ in edges:
        parents[child].append(parent)
    layer, y, routes = layered(parents, [box.height for box in boxes])
    place_boxes(boxes, layer, y)
    parts = draw_edges(boxes, edges, routes, layer)
    parts += [part for parent, child, _ in back_edges for part in draw_back_edge(boxes[parent], boxes[child])]
    parts += [part for box in boxes for part in box.parts()]
    notes = legend(boxes, any(slope is not None for *_, slope in edges), back_edges)
    bottom = max(box.y + box.height / 2 for box in boxes)
    parts += [text(MARGIN, bottom + 26 + 17 * i, note, size=11.5, fill=fill) for i, (note, fill) in enumerate(notes)]
    width = max([max(box.x + box.width for box in boxes), *(MARGIN + 6.4 * len(note) for note, _ in notes)]) + MARGIN
    return Picture(parts, width, bottom + 26 + 17 * len(notes), f"graph of {len(found)} node{'s' * (len(found) != 1)}")


# -- reading a node -----------------------------------------------------------------------------------------------------

def read(node, what):
    """A node's attribute under any of its names; MISSING if there is none or if asking for it fails."""
    for name in NAMES[what]:
        try:
            value = getattr(node, name, MISSING)
        except Exception:  # a property that a student has not written yet must not cost the whole picture
            continue
        if value is not MISSING and not callable(value):
            return value
    return MISSING


def parents_of(node):
    """[(parent, local derivative or None), …]. A parent that is no node, such as a plain number, stays what it is."""
    parents = read(node, "parents")
    if parents is MISSING or parents is None:
        return []
    if not isinstance(parents, Iterable):
        parents = [parents]
    parents, local = list(parents), read(node, "local")
    ordered = isinstance(read(node, "parents"), (list, tuple))  # a set has no order to match derivatives with
    if not ordered or not isinstance(local, (list, tuple)) or len(local) != len(parents):
        local = [None] * len(parents)
    return list(zip(parents, local))


def walk(roots):
    """(nodes, edges, back_edges): parents before children; an edge is (parent index, child index, local derivative).

    Depth first with a stack of our own. An edge that returns to a node still on the stack closes a cycle.
    """
    index, nodes, edges, back_edges = {}, [], [], []
    for root in roots:
        if id(root) in index:
            continue
        index[id(root)] = None  # on the stack: seen, but not all of its parents are done
        stack = [(root, parents_of(root), [])]
        while stack:
            node, todo, done = stack[-1]
            if not todo:
                index[id(node)] = len(nodes)
                nodes.append(node)
                stack.pop()
                for parent, slope, closes_cycle in done:
                    (back_edges if closes_cycle else edges).append((parent, node, slope))
                continue
            parent, slope = todo.pop(0)
            done.append((parent, slope, id(parent) in index and index[id(parent)] is None))
            if id(parent) not in index:
                if len(index) >= MOST_NODES:
                    raise ValueError(f"this graph has more than {MOST_NODES} nodes; draw() a smaller one of its kind")
                index[id(parent)] = None
                stack.append((parent, parents_of(parent), []))
    return (nodes, *([(index[id(p)], index[id(c)], s) for p, c, s in es] for es in (edges, back_edges)))


def show(value, digits=4):
    """A number to a few digits with a real minus sign; an array by its entries if it has few, else by its shape.

    >>> show(-0.5), show(1e-9), show(np.zeros((3, 4))), show(np.array([1.0, 2.0])), show(None)
    ('−0.5', '1e−09', 'array 3×4', '[1, 2]', 'None')
    """
    if isinstance(value, np.ndarray) and value.ndim:
        few = value.ndim == 1 and value.size <= 3
        return f"[{', '.join(show(v) for v in value)}]" if few else f"array {'×'.join(map(str, value.shape))}"
    try:
        return f"{value:.{digits}g}".replace("-", "−")
    except (TypeError, ValueError):
        return shorten(str(value), 14)


def shorten(string, most):
    return string if len(string) <= most else string[:most - 1] + "…"


# -- drawing ---------------------------------------------------------------------------------------------------

class Box:
    """One node's box: `rows` of (name, value) under a head with label and op; x is its left side, y its middle."""

    def __init__(self, node, kind):
        self.kind, self.x, self.y = kind, 0.0, 0.0
        label, op = (read(node, what) for what in ("label", "op"))
        self.label = "" if label in (MISSING, None) else shorten(str(label), 16)
        self.op = "" if op in (MISSING, None) else shorten(str(op), 12)
        self.rows = [(what, show(value)) for what in ("data", "grad") if (value := read(node, what)) is not MISSING]
        if kind == "stray":
            self.label, self.rows = "not a node", [("is", show(node))]
        head = len(self.label) + len(self.op) + 3
        self.width = 2 * PADDING + CHARACTER * max([head, *(6 + len(value) for _, value in self.rows), 9])
        self.height = 2 * PADDING + ROW * (len(self.rows) + bool(self.label or self.op)) - 4

    def parts(self):
        left, right, top = self.x + PADDING, self.x + self.width - PADDING, self.y - self.height / 2
        colour = COLOURS[self.kind]
        yield rect(self.x, top, self.width, self.height, PALE[colour], colour, radius=16 if self.kind == "leaf" else 3,
                   stroke_width=3 if self.kind == "result" else 1.5, dash="5 3" if self.kind == "stray" else None)
        line = top + PADDING + 11
        if self.label or self.op:
            yield text(left, line, self.label, bold=True)
            yield text(right, line, self.op, anchor="end", bold=True, mono=True, fill=BLUE)
            line += ROW
        for name, value in self.rows:
            yield text(left, line, name, size=12, fill=MUTED)
            yield text(right, line, value, size=12, anchor="end", mono=True)
            line += ROW


def place_boxes(boxes, layer, y):
    """Columns from left to right, each as wide as its widest box; all boxes of a column have that width."""
    left = float(MARGIN)
    for column in range(max(layer) + 1):
        members = [box for box, where in zip(boxes, layer) if where == column]
        width = max(box.width for box in members)
        for box in members:
            box.x, box.width = left, width
        left += width + COLUMN_GAP
    for box, middle in zip(boxes, y):
        box.y = middle + MARGIN


def draw_edges(boxes, edges, routes, layer):
    """The edges; those that enter one box arrive one below the other, in the order in which they come."""
    columns = {where: (box.x, box.x + box.width) for box, where in zip(boxes, layer)}
    lines, labels = [], []
    for child, box in enumerate(boxes):
        arriving = [(parent, slope) for parent, c, slope in edges if c == child]
        heights = [(routes[parent, child][-1][1] + MARGIN if routes[parent, child] else boxes[parent].y)
                   for parent, _ in arriving]
        for place, i in enumerate(sorted(range(len(arriving)), key=heights.__getitem__)):
            parent, slope = arriving[i]
            y = box.y + (place - (len(arriving) - 1) / 2) * min(22, box.height / len(arriving))
            x = boxes[parent].x + boxes[parent].width
            points = [(x, boxes[parent].y)]
            for column, height in routes[parent, child]:
                points += [(left_or_right, height + MARGIN) for left_or_right in columns[column]]
            # The end is level for the length of a number, which so sits on its own edge and on no other.
            lines.append(path(curve([*points, (box.x - RUN, y)]) + f"H{number(box.x - 6)}"))
            lines.append(arrow_head(box.x - 1, y))
            if slope is not None:
                labels.append(text(box.x - 11, y - 4, show(slope, digits=3), size=12, fill=BLUE, anchor="end",
                                   mono=True, halo=True))
    return lines + labels


def curve(points):
    """An SVG path through the points, horizontal at each of them."""
    d = f"M{number(points[0][0])} {number(points[0][1])}"
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        middle = number((x0 + x1) / 2)
        d += f"C{middle} {number(y0)} {middle} {number(y1)} {number(x1)} {number(y1)}"
    return d


def draw_back_edge(parent, child):
    """The edge that closes a cycle: from the parent's right side back to the child, above all boxes."""
    x0, x1 = parent.x + parent.width, child.x
    start, end, turn, top = parent.y - 8, child.y - 8, 34, MARGIN / 2
    d = (f"M{number(x0)} {number(start)}"
         f"C{number(x0 + turn)} {number(start)} {number(x0 + turn)} {number(top)} {number(x0)} {number(top)}H{number(x1)}"
         f"C{number(x1 - turn)} {number(top)} {number(x1 - turn)} {number(end)} {number(x1 - 6)} {number(end)}")
    return [path(d, stroke=VERMILLION, stroke_width=2, dash="5 3"), arrow_head(x1 - 1, end, fill=VERMILLION)]


def legend(boxes, has_slopes, back_edges):
    """[(sentence, colour), …] that say how to read what is in this picture."""
    kinds = {box.kind for box in boxes}
    shapes = {"leaf": "round: leaf", "step": "square: computed", "result": "thick frame: result"}
    names = [name for kind, name in shapes.items() if kind in kinds]
    notes = [(" · ".join(names), MUTED)] if len(names) > 1 else []
    if has_slopes:
        notes.append(("on an edge: local derivative ∂(its end) / ∂(its start)", BLUE))
    if "stray" in kinds:
        notes.append(("A parent is not a node: no gradient can flow to it.", VERMILLION))
    if back_edges:
        notes.append(("A cycle: the dashed edge makes a node its own ancestor. Was one changed in place?", VERMILLION))
    return notes
