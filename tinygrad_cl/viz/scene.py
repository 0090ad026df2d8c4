"""Boxes and edges at their positions: `draw` makes a picture of them, `steps` an animation."""

from tinygrad_cl.viz.layout import layered
from tinygrad_cl.viz.nodes import MISSING, is_node, read, saved_bytes, shape_text, shorten, show, size_text
from tinygrad_cl.viz.svg import (
    BLUE,
    GREEN,
    MUTED,
    ORANGE,
    PALE,
    SKY,
    VERMILLION,
    Picture,
    arrow_head,
    element,
    number,
    path,
    rect,
    text,
)

COLOURS = {"leaf": ORANGE, "step": SKY, "result": GREEN, "stray": VERMILLION}
CHARACTER, ROW, PADDING, MARGIN, COLUMN_GAP, RUN = 7.3, 18, 10, 20, 104, 56  # pixels


class Box:
    """A box with a head, `label` to the left and `op` to the right, and rows of (name, value).

    kind    leaf, step, result or stray
    x, y    its left side and its vertical middle
    """

    def __init__(self, kind, label, op, rows):
        self.kind, self.label, self.op, self.rows = kind, label, op, rows
        self.x = self.y = 0.0
        head = len(label) + len(op) + 3
        self.width = 2 * PADDING + CHARACTER * max([head, *(len(name) + 2 + len(value) for name, value in rows), 9])
        self.height = 2 * PADDING + ROW * (len(rows) + bool(label or op)) - 4

    def svg(self, number):
        """The box as an SVG group; its parts have ids, so that `steps` can change them."""
        left, right, top = self.x + PADDING, self.x + self.width - PADDING, self.y - self.height / 2
        colour = COLOURS[self.kind]
        parts = [
            rect(
                self.x,
                top,
                self.width,
                self.height,
                PALE[colour],
                colour,
                radius=16 if self.kind == "leaf" else 3,
                stroke_width=3 if self.kind == "result" else 1.5,
                dash="5 3" if self.kind == "stray" else None,
            )
        ]
        line = top + PADDING + 11
        if self.label or self.op:
            parts.append(text(left, line, self.label, bold=True))
            parts.append(text(right, line, self.op, anchor="end", bold=True, mono=True, fill=BLUE))
            line += ROW
        for name, value in self.rows:
            parts.append(text(left, line, name, size=12, fill=MUTED))
            parts.append(text(right, line, value, size=12, anchor="end", mono=True, name=f"{name}{number}"))
            line += ROW
        return element("g", "".join(parts), id=f"box{number}")


def node_box(node, kind, name="", more=(), grad=None):
    """The Box of one node; `name` is used if it has no label; `more` are further rows; `grad` is shown for the node's own."""
    if not is_node(node):
        return Box("stray", "not a node", "", [("is", show(node))])
    label, op = (read(node, what) for what in ("label", "op"))
    if op is MISSING and hasattr(node, "grad_fn"):  # a tensor: the op belongs to its grad_fn
        op = read(node.grad_fn, "label")
    rows = [(what, show(value)) for what in ("data", "grad") if (value := read(node, what)) is not MISSING]
    rows = [(what, grad if what == "grad" and grad else value) for what, value in rows]
    shape, saved = read(node, "shape"), saved_bytes(node)
    if not rows and isinstance(shape, tuple):
        rows.append(("shape", shape_text(shape).removeprefix("array ") if shape else "a number"))
    if saved is not None and saved[0]:
        rows.append(("saved", f"{saved[0]}, {size_text(saved[1])}"))
    label, op = ("" if each in (MISSING, None) else str(each) for each in (label, op))
    return Box(kind, shorten(label or name, 16), shorten(op, 16), [*rows, *more])


class Scene:
    """Boxes at their positions.

    boxes        with x and y set
    edges        (parent, child, text at its end or None); parent and child are indices of boxes
    back_edges   edges that close a cycle
    notes        [(sentence, colour), …] below the boxes
    """

    def __init__(self, boxes, edges, back_edges=(), notes=()):
        self.boxes, self.edges, self.back_edges, self.notes = boxes, edges, back_edges, notes
        parents = [[] for _ in boxes]
        for parent, child, _ in edges:
            parents[child].append(parent)
        self.layer, y, self.routes = layered(parents, [box.height for box in boxes])
        place_boxes(boxes, self.layer, y)
        self.bottom = max(box.y + box.height / 2 for box in boxes)
        right = max([max(box.x + box.width for box in boxes), *(MARGIN + 6.4 * len(note) for note, _ in notes)])
        self.width, self.height = right + MARGIN, self.bottom + 26 + 17 * len(notes)

    def parts(self):
        """The drawing, back to front."""
        parts = draw_edges(self.boxes, self.edges, self.routes, self.layer)
        parts += [
            part
            for parent, child, _ in self.back_edges
            for part in draw_back_edge(self.boxes[parent], self.boxes[child])
        ]
        parts += [box.svg(number) for number, box in enumerate(self.boxes)]
        return parts + [
            text(MARGIN, self.bottom + 26 + 17 * i, note, size=11.5, fill=fill)
            for i, (note, fill) in enumerate(self.notes)
        ]

    def picture(self, title):
        return Picture(self.parts(), self.width, self.height, title)


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
    """The edges. Those that enter the same box end one below the other, sorted by the heights that they come from."""
    columns = {where: (box.x, box.x + box.width) for box, where in zip(boxes, layer)}
    lines, labels = [], []
    for child, box in enumerate(boxes):
        arriving = [(i, parent, note) for i, (parent, c, note) in enumerate(edges) if c == child]
        heights = [
            (routes[parent, child][-1][1] + MARGIN if routes[parent, child] else boxes[parent].y)
            for _, parent, _ in arriving
        ]
        for place, at in enumerate(sorted(range(len(arriving)), key=heights.__getitem__)):
            i, parent, note = arriving[at]
            y = box.y + (place - (len(arriving) - 1) / 2) * min(22, box.height / len(arriving))
            x = boxes[parent].x + boxes[parent].width
            points = [(x, boxes[parent].y)]
            for column, height in routes[parent, child]:
                points += [(left_or_right, height + MARGIN) for left_or_right in columns[column]]
            # The end is level for the length of a number, so that each number lies on its own edge.
            line = path(curve([*points, (box.x - RUN, y)]) + f"H{number(box.x - 6)}")
            lines.append(element("g", line + arrow_head(box.x - 1, y), id=f"edge{i}"))
            if note is not None:
                labels.append(
                    text(
                        box.x - 11,
                        y - 4,
                        note,
                        size=12,
                        fill=BLUE,
                        anchor="end",
                        mono=True,
                        halo=True,
                        name=f"derivative{i}",
                    )
                )
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
    d = (
        f"M{number(x0)} {number(start)}"
        f"C{number(x0 + turn)} {number(start)} {number(x0 + turn)} {number(top)} {number(x0)} {number(top)}H{number(x1)}"
        f"C{number(x1 - turn)} {number(top)} {number(x1 - turn)} {number(end)} {number(x1 - 6)} {number(end)}"
    )
    return [path(d, stroke=VERMILLION, stroke_width=2, dash="5 3"), arrow_head(x1 - 1, end, fill=VERMILLION)]
