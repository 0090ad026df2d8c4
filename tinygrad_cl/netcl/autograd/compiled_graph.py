"""A traced chain as one forward and one backward kernel."""

import math
import re
from dataclasses import dataclass
from functools import partial

from tinygrad_cl.netcl.autograd.jit_source import (backward_lines, call, forward_lines,
                                                   name_nodes, needed)
from tinygrad_cl.netcl.autograd.node import Node, caller, record
from tinygrad_cl.netcl.autograd.trace import REDUCTIONS
from tinygrad_cl.netcl.core.device import Plans
from tinygrad_cl.netcl.core.tensor import Tensor, layout_of
from tinygrad_cl.netcl.ops.elementwise import cast
from tinygrad_cl.netcl.ops.fused import fused_plan
from tinygrad_cl.netcl.ops.fused_source import Chain
from tinygrad_cl.netcl.ops.reduction import axes_to


@dataclass(frozen=True)
class Kernel:
    """What a kernel computes, and from and to which Layouts: see ops.fused.fused_plan."""

    chain: Chain
    layouts: list
    shapes: list
    axes: tuple
    results: list


class CompiledGraph:
    """A chain of elementwise operations of one broadcast shape, perhaps with a reduction at its
    end: one forward kernel and one backward kernel.

    Forward stores the result alone; an extreme also what it was chosen from, and how often it is
    there. Backward computes the chain once more, in registers: measured, that is faster than to
    save it and to fetch it. It writes the gradients that are wanted. Where an input was repeated,
    it sums the gradient, if all such inputs were repeated along the same axes; the engine does what
    is left.

    head     the TraceNode of the result
    leaves   the TraceNodes that it is computed from: inputs, and the heads of other graphs
    body     the elementwise operations, in order
    """

    def __init__(self, head, leaves, body):
        self.head, self.leaves, self.body = head, leaves, body
        self.how = head.op_name if head.op_name in REDUCTIONS else None
        self.end = head.inputs[0] if self.how else head  # the last of the chain
        self.axes = head.attrs["axes"] if self.how else ()
        self.whole = self.end.layout
        self.names = name_nodes(self.leaves, self.body)
        self.records = True in head.needs
        # The gradient of an extreme goes to where it is. What was chosen from is stored: computed
        # again by another kernel, it need not be the same to the last bit.
        self.chosen = self.how in ("max", "min") and self.records
        self.stored = self.chosen and self.end not in self.leaves
        self.forward = self.make_forward()
        self.backward, self.saved, self.places = None, [], [None] * len(self.tensors())
        if self.records:
            self.make_backward()
        self._plans = Plans()

    def tensors(self):
        """The leaves that are no numbers."""
        return [leaf for leaf in self.leaves if leaf.layout]

    # -- running ----------------------------------------------------------------------------------

    def __call__(self, values, name, tape=None):
        """The Node of the result, from a Node, Tensor or number for each leaf."""
        tensors = [x.value if isinstance(x, Node) else x for x in values]
        results = self.plan(self.forward).run(tensors)
        out = results[self.stored]
        if not self.records:
            return Node(out)
        saved = [tensors[number] for number in self.saved] + (results if self.chosen else [])
        parents = tuple([x if isinstance(x, Node) else Node(x, x.requires_grad)
                         for x in values if isinstance(x, (Node, Tensor))])
        return record(Node(out, True, parents, partial(self.differentiate, saved), name, {},
                           caller()), tape)

    def differentiate(self, saved, gradient):
        """The gradient of each leaf that is a tensor, or None, from that of the result."""
        if self.backward is None:
            return self.places
        if gradient.dtype != self.head.dtype:
            gradient = cast(gradient, self.head.dtype)
        count = [self.count()] if self.how == "mean" else []
        results = self.plan(self.backward).run([*saved, gradient, *count])
        return [None if place is None else results[place] for place in self.places]

    def plan(self, kernel):
        """The FusedPlan of a Kernel: each thread has its own."""
        table = self._plans.table
        plan = table.get(id(kernel))
        if plan is None:
            plan = table[id(kernel)] = fused_plan(kernel.chain, self.whole, kernel.layouts,
                                                  kernel.shapes, kernel.axes, kernel.results)
        return plan

    def count(self):
        """The numbers that go into each one of the result."""
        return math.prod(self.whole.shape[axis] for axis in self.axes)

    # -- making the kernels -----------------------------------------------------------------------

    def make_forward(self):
        lines = forward_lines(self.body, self.names)
        name, dtype = self.names[self.end], self.whole.dtype.name
        stores = [(name, dtype)] if self.stored or not self.how else []
        totals = [(name, dtype)] if self.how else []
        results = [self.whole] * self.stored + [self.head.layout]
        if self.chosen:
            lines += ["const V ties = (V)(1);"]
            totals += [("ties", dtype)]
            results += [self.head.layout]
        chain = Chain("fused_forward", tuple(self.names[leaf] for leaf in self.leaves), tuple(lines),
                      tuple(stores), tuple(totals), self.how or "sum")
        layouts = [leaf.layout for leaf in self.leaves]
        return Kernel(chain, layouts, [each and each.shape for each in layouts], self.axes, results)

    def make_backward(self):
        """The backward Kernel; which leaves it reads, `saved`, and where the gradient of each
        tensor is among its results, `places`.
        """
        names, end = self.names, self.names[self.end]
        lines, gradients = backward_lines(self.end, self.body, names, "g")
        wanted = [leaf for leaf in self.tensors() if leaf in gradients]
        if not wanted:
            return
        first = "upstream"
        if self.how == "mean":
            first = "upstream / count"
        elif self.chosen:
            first = f"({end} == best ? (V)(1) : (V)(0)) * (upstream / ties)"
        lines = [f"const V g = {first};", *lines]
        again = [node for node in self.body if node is not self.end or not self.stored]
        lines = needed(forward_lines(again, names), " ".join(lines)) + lines
        used = [leaf for leaf in self.leaves if mentions(lines, names[leaf])]
        inputs = [names[leaf] for leaf in used] + [end] * self.stored
        inputs += ["best", "ties"] * self.chosen + ["upstream"] + ["count"] * (self.how == "mean")
        result = self.head.layout
        kept = tuple(1 if axis in self.axes else length for axis, length in enumerate(self.whole.shape))
        layouts = [leaf.layout for leaf in used] + [self.whole] * self.stored
        shapes = [layout and layout.shape for layout in layouts]
        layouts += [result] * (3 if self.chosen else 1) + [None] * (self.how == "mean")
        shapes += [kept] * (3 if self.chosen else 1) + [None] * (self.how == "mean")

        axes, stores, totals = (), [], []  # (gradient, Layout) of each that is written, or summed
        for leaf in wanted:
            repeated = tuple(axis for axis in axes_to(self.whole.shape, leaf.shape)
                             if self.whole.shape[axis] > 1)
            if repeated and axes in ((), repeated):
                axes = repeated
                totals.append((leaf, leaf.layout))
            else:
                stores.append((leaf, leaf.layout if not repeated else
                               layout_of(self.whole.device, self.whole.shape, leaf.dtype)))
        self.saved = [self.leaves.index(leaf) for leaf in used]
        order = [leaf for leaf, _ in (*stores, *totals)]
        self.places = [order.index(leaf) if leaf in order else None for leaf in self.tensors()]
        write, add = [tuple((gradients[leaf], layout.dtype.name) for leaf, layout in each)
                      for each in (stores, totals)]
        chain = Chain("fused_backward", tuple(inputs), tuple(lines), write, add)
        self.backward = Kernel(chain, layouts, shapes, axes,
                               [layout for _, layout in (*stores, *totals)])

    # -- to look at -------------------------------------------------------------------------------

    @property
    def forward_source(self):
        """The text of the forward kernel."""
        return self.plan(self.forward).source

    @property
    def backward_source(self):
        """The text of the backward kernel; "" where no gradient is wanted."""
        return self.plan(self.backward).source if self.backward else ""

    def __str__(self):
        """The traced operations, a line for each."""
        lines = [f"{self.names[leaf]} = {leaf.layout or 'a number'}" for leaf in self.leaves]
        for node in self.body:
            lines.append(f"{self.names[node]} = {call(node, self.names)}")
        if self.how:
            axes = ", ".join(map(str, self.axes))
            lines.append(f"{self.how}({self.names[self.end]}, axes {axes})")
        return "\n".join(lines)


def mentions(lines, name):
    """Whether one of the lines has the name in it."""
    return any(re.search(rf"\b{name}\b", line) for line in lines)


def split(root):
    """The chains that a trace falls into, (head, leaves, operations) of each, those first that
    others need: a reduction ends a chain, and what comes after it begins another one.
    """
    chains, stack, seen = [], [root], set()
    while stack:
        head = stack.pop()
        if isinstance(head, tuple):  # a chain, and all that it needs is there now
            chains.append(head)
        elif head not in seen:
            seen.add(head)
            leaves, body = chain_of(head)
            stack.append((head, leaves, body))
            stack += [leaf for leaf in leaves if leaf.op_name in REDUCTIONS]
    return chains


def chain_of(head):
    """(leaves, operations) from which the end of a chain is computed, each in the order of the
    trace.
    """
    end = head.inputs[0] if head.op_name in REDUCTIONS else head
    leaves, body, stack, seen = [], [], [end], set()
    while stack:
        node = stack.pop()
        if node is None:  # the mark above an operation whose inputs are all there now
            body.append(stack.pop())
        elif node not in seen:
            seen.add(node)
            if node.op_name in ("input", *REDUCTIONS):
                leaves.append(node)
            else:
                stack += [node, None]
                stack += [x for x in reversed(node.inputs) if not isinstance(x, str)]
    return leaves, body


def content(head, leaves, body):
    """All that a CompiledGraph depends on, as a key: the same for the same chain."""
    numbers = {node: number for number, node in enumerate([*leaves, *body])}
    operations = [(node.primitive, node.needs, repr(node.attrs),
                   *[x if isinstance(x, str) else numbers[x] for x in node.inputs]) for node in body]
    return (*[leaf.layout for leaf in leaves], *operations, head.op_name, head.needs,
            repr(head.attrs), head.layout)
