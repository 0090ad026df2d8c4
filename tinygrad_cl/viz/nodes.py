"""Read a graph from nodes of any class, even a half-finished one of a student.

`NAMES` lists the attributes that are read. An attribute that is missing, or raises an error, is left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Number

import numpy as np

NAMES = {  # attribute: its names in this course, micrograd and similar libraries
    "data": ("data", "value"),
    "grad": ("grad",),
    "parents": ("parents", "_prev", "prev", "_children", "children", "next_nodes", "inputs"),
    "op": ("op", "_op", "op_name"),
    "label": ("label", "name"),
    "local": ("local_derivatives", "_local_grads", "local_grads"),
    "shape": ("result_shape", "shape"),  # a Function may add a shape of its own to its node
    "saved": ("saved", "kept", "saved_tensors"),
}
MISSING = object()


@dataclass(frozen=True)
class Graph:
    """The graph behind some nodes.

    nodes        each once, parents before children
    edges        (index of the parent, index of the child, local derivative or None)
    back_edges   edges that close a cycle
    results      the indices of the nodes that were asked for
    """

    nodes: list
    edges: list
    back_edges: list
    results: set

    @cached_property
    def parents(self):
        """For each node the indices of its parents, one for each edge."""
        found = [[] for _ in self.nodes]
        for parent, child, _ in self.edges:
            found[child].append(parent)
        return found

    @cached_property
    def computed(self):
        """The indices of the nodes that have parents."""
        return {child for _, child, _ in self.edges + self.back_edges}


def read(node, what):
    """A node's attribute under any of its names; MISSING if there is none or if reading it fails."""
    for name in NAMES[what]:
        try:
            value = getattr(node, name, MISSING)
        except Exception:  # a property that a student has not written yet must not break the whole picture
            continue
        if value is not MISSING and not callable(value):
            return value
    return MISSING


def is_node(thing):
    """Whether it has data or parents. Numbers, arrays and classes are never nodes, whatever their attributes."""
    if isinstance(thing, (type, Number, np.ndarray, np.generic)):
        return False
    return read(thing, "data") is not MISSING or read(thing, "parents") is not MISSING


def history(node):
    """The object that stores the node's parents: the node itself, or its `grad_fn`, as for PyTorch's tensors."""
    if read(node, "parents") is MISSING:
        grad_fn = getattr(node, "grad_fn", None)
        if read(grad_fn, "parents") is not MISSING:
            return grad_fn
    return node


def parents_of(node):
    """[(parent, local derivative or None), …]. A parent that is not a node, such as a plain number, is kept."""
    keeper = history(node)
    found = read(keeper, "parents")
    if found is MISSING or found is None:
        return []
    if not isinstance(found, Iterable):
        found = [found]
    # None: the parent needs no gradient. A string: a constant of a traced operation, as written in the kernel.
    parents, local = (
        [parent for parent in found if parent is not None and not isinstance(parent, str)],
        read(keeper, "local"),
    )
    ordered = isinstance(found, (list, tuple))  # a set has no order, so derivatives cannot be matched
    if not ordered or not isinstance(local, (list, tuple)) or len(local) != len(parents):
        local = [None] * len(parents)
    return list(zip(parents, local))


def read_graph(roots, most):
    """The Graph behind the roots. ValueError for more than `most` nodes; TypeError if a root is not a node.

    Depth-first search with an explicit stack. An edge to a node that is still on the stack closes a cycle.
    """
    for root in roots or (None,):
        if not is_node(root):
            raise TypeError(
                "a picture needs a node of a graph, an object with `data` and `parents` (or `_prev`), "
                f"not {shorten(repr(root), 60)}"
            )
    index, nodes, edges, back_edges = {}, [], [], []
    for root in roots:
        if key(root) in index:
            nodes[index[key(root)]] = root  # a tensor shows more than the node behind it
            continue
        index[key(root)] = None  # on the stack: seen, but not all of its parents are done
        stack = [(root, parents_of(root), [])]
        while stack:
            node, todo, done = stack[-1]
            if not todo:
                index[key(node)] = len(nodes)
                nodes.append(node)
                stack.pop()
                for parent, derivative, closes_cycle in done:
                    (back_edges if closes_cycle else edges).append((key(parent), key(node), derivative))
                continue
            parent, derivative = todo.pop(0)
            done.append((parent, derivative, key(parent) in index and index[key(parent)] is None))
            if key(parent) not in index:
                if len(index) >= most:
                    raise ValueError(f"this graph has more than {most:,} nodes; take a smaller one of its kind")
                index[key(parent)] = None
                stack.append((parent, parents_of(parent), []))
    edges, back_edges = ([(index[p], index[c], s) for p, c, s in each] for each in (edges, back_edges))
    return Graph(nodes, edges, back_edges, {index[key(root)] for root in roots})


def key(node):
    return id(history(node))


def saved_bytes(node):
    """(number of arrays that a node saves for backward, their bytes); None if the node does not say."""
    keeper = history(node)
    try:
        kept = keeper.kept_arrays() if hasattr(keeper, "kept_arrays") else read(keeper, "saved")
        return None if kept is MISSING or kept is None else (len(kept), sum(each.nbytes for each in kept))
    except Exception:  # half-finished, or freed
        return None


def show(value, digits=4):
    """A number to a few digits with a real minus sign; an array by its elements if it has few, else by its shape.

    >>> show(-0.5), show(1e-9), show(np.zeros((3, 4))), show(np.array([1.0, 2.0])), show(None)
    ('−0.5', '1e−09', 'array 3×4', '[1, 2]', 'None')
    """
    value = plain(value)
    if isinstance(value, np.ndarray) and value.ndim:
        few = value.ndim == 1 and value.size <= 3
        return f"[{', '.join(show(v) for v in value)}]" if few else shape_text(value.shape)
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and shape:
        return shape_text(shape)
    try:
        return f"{value:.{digits}g}".replace("-", "−")
    except (TypeError, ValueError):
        return shorten(str(value), 14)


def plain(value):
    """The number or array in a node or tensor. From a device only a single number is read, since that is cheap."""
    inner = read(value, "data") if not isinstance(value, (Number, np.ndarray, np.generic)) else MISSING
    value = value if inner is MISSING or isinstance(inner, memoryview) else inner
    if callable(getattr(value, "to_host", None)) and getattr(value, "size", 0) == 1:
        return value.to_host().item()
    return value


def shape_text(shape):
    return f"array {'×'.join(map(str, shape))}"


def size_text(number):
    """Bytes in a readable unit.

    >>> size_text(512), size_text(2048)
    ('512 B', '2 KiB')
    """
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.3g} {unit}"
        number /= 1024
    return f"{number:.3g} GiB"


def shorten(string, most):
    return string if len(string) <= most else string[: most - 1] + "…"
