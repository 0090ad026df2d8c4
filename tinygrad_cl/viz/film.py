"""What happens, step by step, when a graph is computed and back-propagated: told by the engine that the nodes belong to.

`backward` is run, and every assignment to a node's `grad` is noted, with the node whose `grad` was read for it. So the
film shows what the student's code does, mistakes included, and not what it should have done.
"""

import contextlib
import math
from dataclasses import dataclass
from numbers import Number

import numpy as np

from tinygrad_cl.viz.nodes import MISSING, plain, read, show
from tinygrad_cl.viz.replay import OPERATORS, exponent_of


@dataclass(frozen=True)
class Assignment:
    """One assignment to the `grad` of node number `node`, over edge number `edge` from `source`; None if over none."""

    node: int
    before: object
    after: object
    edge: int | None = None
    source: int | None = None
    source_grad: object = None


class Log:
    """The assignments to `grad` while `backward` runs."""

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
                turn = self.taken[target, source] = self.taken.get((target, source), -1) + 1
                grad = raw_grad(self.graph.nodes[source])
                self.assignments.append(
                    Assignment(target, before, after, edges[turn % len(edges)], source, frozen(grad))
                )
                break
        else:
            self.assignments.append(Assignment(target, before, after))
        self.reads = []


def frozen(value):
    """The value as it is now: arrays may be changed in place later."""
    return value.copy() if isinstance(value, np.ndarray) else value


def raw_grad(node):
    """The gradient that a node holds, without a note in the log."""
    return read(node, "grad") if not isinstance(type(node).__dict__.get("grad"), Watched) else type(node).grad_of(node)


class Watched(property):
    """The `grad` of a class that is being watched."""


def watched_class(cls, log):
    """A class like `cls` that tells the log of every use of `grad`."""
    slot = getattr(cls, "grad", None)

    def get(node):
        if hasattr(slot, "__get__"):
            return slot.__get__(node, cls)
        if "grad" in node.__dict__:
            return node.__dict__["grad"]
        if hasattr(cls, "grad"):
            return slot  # a default that the class holds
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
    """(assignments, what stopped it or ""): run the root's `backward`; every `grad` is as before afterwards."""
    backward = getattr(root, "backward", None)
    if not callable(backward):
        return [], "There is no `backward` yet, so the way back is not shown."
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
        return log.assignments, "`backward` is not written yet, so the way back is not shown."
    except Exception as error:  # a student's; what was noted until then is shown
        return log.assignments, f"`backward` stopped here: {type(error).__name__}: {error}"
    finally:
        for node, cls, grad in before:
            with contextlib.suppress(Exception):
                node.__class__ = cls
                if grad is not MISSING:
                    node.grad = grad


# -- the film ---------------------------------------------------------------------------------------------------------


def film_of(graph, root):
    """The steps, a list of dicts for the page, and a note.

    say     the step in words           phase   "forward" or "backward"
    show    ids of what appears         light   ids of what is in play
    set     {id: its text from now on}
    """
    names = [name_of(graph, i) for i in range(len(graph.nodes))]
    computed = graph.computed
    leaves = [i for i in range(len(graph.nodes)) if i not in computed]
    boxes = [f"box{i}" for i in leaves]
    inputs = ", ".join(f"{names[i]} = {data_text(graph, i)}" if label_of(graph, i) else names[i] for i in leaves)
    steps = [step("forward", f"The inputs: {inputs}.", boxes, boxes, {f"data{i}": data_text(graph, i) for i in leaves})]
    for i in range(len(graph.nodes)):
        if i in computed:
            edges = [f"edge{e}" for e, (_, child, _) in enumerate(graph.edges) if child == i]
            steps.append(
                step(
                    "forward",
                    f"{formula(graph, i, names)}.",
                    [f"box{i}", *edges],
                    [f"box{i}", *edges],
                    {f"data{i}": data_text(graph, i)},
                )
            )
    assignments, note = record_backward(graph, root)
    steps += backward_steps(graph, assignments, names)
    if not note and len(steps) == len(computed) + 1:
        note = "`backward` ran, but set no `grad` that could be seen."
    return steps, note


def step(phase, say, show, light, texts):
    return {"phase": phase, "say": say, "show": show, "light": light, "set": texts}


def backward_steps(graph, assignments, names):
    """A step for each assignment that moved a gradient over an edge, or changed it."""
    steps, handed_on = [], set()
    for each in assignments:
        if each.edge is None and (same(each.before, each.after) or not steps and is_zero(each.after)):
            continue  # setting to zero before the way back begins
        target, texts = names[each.node], {f"grad{each.node}": show(each.after)}
        if each.edge is None:
            steps.append(step("backward", f"{target}.grad = {show(each.after)}.", [], [f"box{each.node}"], texts))
            continue
        say, slope = edge_sentence(graph, each, names)
        if each.node in handed_on:
            say += f" Too late: {target} has handed its gradient on before, without this part."
        handed_on.add(each.source)
        texts[f"slope{each.edge}"] = slope
        steps.append(
            step(
                "backward",
                say,
                [f"slope{each.edge}"],
                [f"edge{each.edge}", f"slope{each.edge}", f"box{each.node}"],
                texts,
            )
        )
    return steps


def edge_sentence(graph, each, names):
    """(what moved over an edge, in words; the local derivative as text)."""
    target, source = names[each.node], names[each.source]
    before, after, grad = (plain(value) for value in (each.before, each.after, each.source_grad))
    local = graph.edges[each.edge][2]
    if not all(isinstance(value, Number) for value in (after, grad)):
        return (
            f"{source} hands its gradient on to {target}: {target}.grad is {show(each.after)}.",
            "" if local is None else show(local, 3),
        )
    before = before if isinstance(before, Number) else 0.0
    if local is None:  # closures keep none; what arrived tells it
        local = (after - before) / grad if grad else 0.0
    part = local * grad
    say = f"{target}.grad += ∂{source}/∂{target} · {source}.grad = {show(local)} · {signed(grad)} = {show(part)}"
    if before and same(after, part) and not same(after, before + part):
        return f"{say}. But {show(before)} was there, and is lost: it was replaced, not added to.", show(local, 3)
    if not same(after, before + part):
        return (
            f"{target}.grad goes from {show(before)} to {show(after)}; the chain rule says {show(before + part)}.",
            show(local, 3),
        )
    if before:
        say += f". Another path came here before: {show(before)} + {signed(part)} = {show(after)}"
    return f"{say}.", show(local, 3)


def same(x, y):
    x, y = plain(x), plain(y)
    if isinstance(x, Number) and isinstance(y, Number):
        return math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12)
    with contextlib.suppress(Exception):
        return bool(np.array_equal(x, y))
    return x is y


def is_zero(value):
    value = plain(value)
    return value is None or (isinstance(value, (Number, np.ndarray)) and not np.any(value))


# -- words ------------------------------------------------------------------------------------------------------------


def label_of(graph, i):
    label = read(graph.nodes[i], "label")
    return "" if label in (MISSING, None) else str(label)


def name_of(graph, i):
    """A node in a sentence: its label, else v and its number; a leaf without a label is its number."""
    return label_of(graph, i) or (f"v{i}" if i in graph.computed else data_text(graph, i))


def data_text(graph, i):
    value = read(graph.nodes[i], "data")
    return "" if value is MISSING else show(value)


def signed(value):
    return f"({show(value)})" if value < 0 else show(value)


def formula(graph, i, names):
    """`c = s · b = (−1) · (−3) = 3`, as far as the node tells."""
    parents = [parent for parent, child, _ in graph.edges if child == i]
    op, value = read(graph.nodes[i], "op"), data_text(graph, i)
    words = [names[p] for p in parents]
    if op in (MISSING, None, ""):
        return f"{names[i]} = {value}, from {', '.join(words)}"
    numbers = [
        f"({data_text(graph, p)})" if data_text(graph, p).startswith("−") else data_text(graph, p) for p in parents
    ]
    if op == "**" and len(parents) == 1:
        with contextlib.suppress(ValueError, ArithmeticError, TypeError):
            exponent = show(exponent_of(graph.nodes[i], graph.nodes[parents[0]]))
            words, numbers = [*words, exponent], [*numbers, exponent]
    middle = f" = {applied(op, words)}" if words != numbers else ""
    return f"{names[i]}{middle} = {applied(op, numbers)} = {value}"


def applied(op, words):
    """An op on operands, in words."""
    if str(op) in OPERATORS and len(words) > 1:
        return f" {'·' if op == '*' else op} ".join(words)
    return f"{op}({', '.join(words)})"
