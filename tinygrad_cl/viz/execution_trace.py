"""The execution trace of a graph: its forward and backward pass as a list of steps, one edge at a time.

The forward pass is read from the nodes. The backward pass is recorded while the node's own `backward` runs.
"""

import contextlib
import math
from html import escape
from numbers import Number

import numpy as np

from tinygrad_cl.viz.backward_log import record_backward
from tinygrad_cl.viz.graph import plain_scene
from tinygrad_cl.viz.nodes import MISSING, plain, read, read_graph, show
from tinygrad_cl.viz.replay import OPERATORS, can_recompute, changeable, exponent_of, recompute, with_data
from tinygrad_cl.viz.svg import image

MOST_NODES = 60


class ExecutionTrace:
    """The steps of one graph.

    steps    a list of dicts, see `trace_steps`
    note     a sentence on what could not be shown, or ""
    inputs   [(name, number), …] that can be changed
    """

    def __init__(self, graph, compute, inputs):
        self.graph, self.compute, self.inputs = graph, compute, inputs
        names = [name_of(graph, i) if i in graph.computed else "" for i in range(len(graph.nodes))]
        self.steps, self.note = trace_steps(graph, graph.nodes[min(graph.results)])
        texts = {name: text for each in self.steps for name, text in each["set"].items()}
        self.scene = plain_scene(graph, names, grads=[texts.get(f"grad{i}") for i in range(len(graph.nodes))])

    @classmethod
    def of(cls, node):
        """The trace of a node. Its inputs can be changed if its ops can be applied again."""
        graph = read_graph([node], MOST_NODES)
        numbers = changeable(graph) if can_recompute(graph) else []

        def compute(values):
            return cls.of(recompute(graph, dict(zip(numbers, values)))[0])

        return cls(graph, compute, [(name_of(graph, i), read(graph.nodes[i], "data")) for i in numbers])

    @classmethod
    def of_function(cls, function, leaves):
        """The trace of what a function computes from leaves."""
        graph = read_graph([function(*leaves)], MOST_NODES)
        names = [str(read(leaf, "label")) or f"input {i}" for i, leaf in enumerate(leaves)]

        def compute(values):
            return cls.of_function(function, [with_data(leaf, value) for leaf, value in zip(leaves, values)])

        return cls(graph, compute, [(name, read(leaf, "data")) for name, leaf in zip(names, leaves)])

    def svg(self):
        """The graph after the last step. Its parts have the ids that the steps use."""
        return self.scene.picture("steps").svg

    def html(self):
        """For paper and for pages without widgets: the graph after the last step, and below it the steps in words."""
        words = "".join(f"<li>{escape(each['say'])}</li>" for each in self.steps)
        return (
            f'{image(self.svg(), "the graph after the last step")}<ol start="0">{words}</ol><p>{escape(self.note)}</p>'
        )


# -- steps -----------------------------------------------------------------------------------------------------------


def trace_steps(graph, root):
    """(steps, note): a list of dicts for the page, and a sentence on what could not be shown or "".

    say     the step in words           phase   "forward" or "backward"
    show    ids of parts to reveal      light   ids of parts to highlight
    set     {id: its new text}
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
        note = "`backward` ran, but no assignment to `grad` was seen."
    return steps, note


def step(phase, say, show, light, texts):
    return {"phase": phase, "say": say, "show": show, "light": light, "set": texts}


def backward_steps(graph, assignments, names):
    """A step for each assignment that brought a gradient along an edge, or changed one."""
    steps, propagated = [], set()
    for each in assignments:
        if each.edge is None and (same(each.before, each.after) or not steps and is_zero(each.after)):
            continue  # grad is set to zero before the backward pass begins
        target, texts = names[each.node], {f"grad{each.node}": show(each.after)}
        if each.edge is None:
            steps.append(step("backward", f"{target}.grad = {show(each.after)}.", [], [f"box{each.node}"], texts))
            continue
        say, derivative = edge_sentence(graph, each, names)
        if each.node in propagated:
            say += f" Too late: {target} has passed its gradient on already, without this part."
        propagated.add(each.source)
        texts[f"derivative{each.edge}"] = derivative
        steps.append(
            step(
                "backward",
                say,
                [f"derivative{each.edge}"],
                [f"edge{each.edge}", f"derivative{each.edge}", f"box{each.node}"],
                texts,
            )
        )
    return steps


def edge_sentence(graph, each, names):
    """(what came along an edge, in words; the local derivative as text)."""
    target, source = names[each.node], names[each.source]
    before, after, grad = (plain(value) for value in (each.before, each.after, each.source_grad))
    local = graph.edges[each.edge][2]
    if not all(isinstance(value, Number) for value in (after, grad)):
        return (
            f"{source} passes its gradient to {target}: {target}.grad is {show(each.after)}.",
            "" if local is None else show(local, 3),
        )
    before = before if isinstance(before, Number) else 0.0
    if local is None:  # closures do not store it: infer it from what arrived
        local = (after - before) / grad if grad else 0.0
    part = local * grad
    say = f"{target}.grad += ∂{source}/∂{target} · {source}.grad = {show(local)} · {signed(grad)} = {show(part)}"
    if before and same(after, part) and not same(after, before + part):
        return f"{say}. But the {show(before)} that was there is lost: it was replaced, not added to.", show(local, 3)
    if not same(after, before + part):
        return (
            f"{target}.grad goes from {show(before)} to {show(after)}; the chain rule says {show(before + part)}.",
            show(local, 3),
        )
    if before:
        say += f". Another path arrived here before: {show(before)} + {signed(part)} = {show(after)}"
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
    """How sentences name a node: its label, or v and its index; a leaf without a label is named by its value."""
    return label_of(graph, i) or (f"v{i}" if i in graph.computed else data_text(graph, i))


def data_text(graph, i):
    value = read(graph.nodes[i], "data")
    return "" if value is MISSING else show(value)


def signed(value):
    return f"({show(value)})" if value < 0 else show(value)


def formula(graph, i, names):
    """`c = s · b = (−1) · (−3) = 3`, as far as the node stores its parts."""
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
    """An op applied to operands, as text."""
    if str(op) in OPERATORS and len(words) > 1:
        return f" {'·' if op == '*' else op} ".join(words)
    return f"{op}({', '.join(words)})"
