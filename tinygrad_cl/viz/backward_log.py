"""What a student's `backward` assigns to `grad`, in order.

`backward` runs on the real nodes. While it runs, every assignment to a node's `grad` is recorded, with the node whose
`grad` was read for it. So the recording shows what the student's code does, mistakes included, and not what it should
have done.
"""

import contextlib
from dataclasses import dataclass

import numpy as np

from tinygrad_cl.viz.nodes import MISSING, read


@dataclass(frozen=True)
class Assignment:
    """One assignment to the `grad` of node number `node`.

    edge, source   the number of the edge that the gradient came along, and of the node at its other end; both None if
                   it came along no edge
    """

    node: int
    before: object
    after: object
    edge: int | None = None
    source: int | None = None
    source_grad: object = None


class Log:
    """Collects the assignments to `grad` while `backward` runs."""

    def __init__(self, graph):
        self.graph = graph
        self.number = {id(node): i for i, node in enumerate(graph.nodes)}
        self.assignments, self.reads, self.source, self.taken = [], [], None, {}

    def was_read(self, node):
        self.reads.append(self.number[id(node)])

    def was_written(self, node, before, after):
        target = self.number[id(node)]
        recent = [each for each in reversed(self.reads) if each != target]
        for source in (*recent, self.source):
            edges = [i for i, (parent, child, _) in enumerate(self.graph.edges) if (parent, child) == (target, source)]
            if edges:
                self.source = source
                visit = self.taken[target, source] = self.taken.get((target, source), -1) + 1
                grad = raw_grad(self.graph.nodes[source])
                self.assignments.append(
                    Assignment(target, before, after, edges[visit % len(edges)], source, frozen(grad))
                )
                break
        else:
            self.assignments.append(Assignment(target, before, after))
        self.reads = []


def frozen(value):
    """A copy of the value as it is now, since arrays may be changed in place later."""
    return value.copy() if isinstance(value, np.ndarray) else value


def raw_grad(node):
    """A node's gradient, read without an entry in the log."""
    return read(node, "grad") if not isinstance(type(node).__dict__.get("grad"), Watched) else type(node).grad_of(node)


class Watched(property):
    """The property `grad` of a watched class: it reports each read and each write."""


def watched_class(cls, log):
    """A subclass of `cls` that reports every read and write of `grad` to the log."""
    slot = getattr(cls, "grad", None)

    def get(node):
        if hasattr(slot, "__get__"):
            return slot.__get__(node, cls)
        if "grad" in node.__dict__:
            return node.__dict__["grad"]
        if hasattr(cls, "grad"):
            return slot  # a default value on the class
        raise AttributeError(f"{cls.__name__!r} object has no attribute 'grad'")

    def put(node, value):
        if hasattr(slot, "__set__"):
            slot.__set__(node, value)
        else:
            node.__dict__["grad"] = value

    def read_it(node):
        log.was_read(node)
        return get(node)

    def write_it(node, value):
        before = None
        with contextlib.suppress(AttributeError):
            before = frozen(get(node))
        put(node, value)
        log.was_written(node, before, frozen(value))

    return type(
        cls.__name__, (cls,), {"__slots__": (), "grad": Watched(read_it, write_it), "grad_of": staticmethod(get)}
    )


def record_backward(graph, root):
    """Run the root's `backward`: (assignments, the reason why it stopped or ""). Every `grad` is restored afterwards."""
    backward = getattr(root, "backward", None)
    if not callable(backward):
        return [], "There is no `backward` yet, so the backward pass is not shown."
    log = Log(graph)
    before = [(node, type(node), read(node, "grad")) for node in graph.nodes]
    classes = {}
    try:
        for node, cls, grad in before:
            if grad is not MISSING and grad is not None:
                node.grad = grad * 0
        for node, cls, _ in before:
            if cls not in classes:
                classes[cls] = watched_class(cls, log)
            node.__class__ = classes[cls]
        root.backward()
        return log.assignments, ""
    except NotImplementedError:
        return log.assignments, "`backward` is not written yet, so the backward pass is not shown."
    except Exception as error:  # the student's; what was recorded until then is shown
        return log.assignments, f"`backward` stopped here: {type(error).__name__}: {error}"
    finally:
        for node, cls, grad in before:
            with contextlib.suppress(Exception):
                node.__class__ = cls
                if grad is not MISSING:
                    node.grad = grad
