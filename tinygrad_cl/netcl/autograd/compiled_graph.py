"""A traced chain as one forward and one backward kernel."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tinygrad_cl.netcl.autograd.jit_source import backward_lines, call, forward_lines, name_nodes, needed, words
from tinygrad_cl.netcl.autograd.kept import Rule
from tinygrad_cl.netcl.autograd.steps import STEPS, SingleOperation
from tinygrad_cl.netcl.autograd.trace import REDUCTIONS, TraceNode
from tinygrad_cl.netcl.core.device import Plans
from tinygrad_cl.netcl.core.tensor import Tensor, spec_of
from tinygrad_cl.netcl.ops.elementwise import cast
from tinygrad_cl.netcl.ops.loop_nest import LoopNest, Reduction
from tinygrad_cl.netcl.ops.loop_plan import Plan, nest_plan
from tinygrad_cl.netcl.ops.shapes import axes_to, broadcast_strides
from tinygrad_cl.netcl.tape.node import Node
from tinygrad_cl.netcl.tape.tape import Tape, record

__all__ = ["CompiledGraph"]


@dataclass(frozen=True)
class Kernel:
    """What a kernel computes, from and to what: see `ops.loop_plan.nest_plan`.

    inputs   (TensorSpec, shape) of each, (None, None) for a number; the shape as broadcasting sees it:
             the gradient of a sum has length 1 along the axes that were summed
    """

    nest: LoopNest
    inputs: list
    axes: tuple
    results: list


class CompiledGraph:
    """A chain of elementwise operations of one broadcast shape, perhaps with a reduction at its
    end: one forward kernel and one backward kernel.

    Forward stores the result alone; a maximum or minimum also its input, and the number of ties.
    Backward computes the chain once more, in registers: as measured, that is faster than to store and
    read it. It writes the gradients that are needed. Where inputs were broadcast, it sums their
    gradients, if all were repeated along the same axes; the engine sums the others.

    head     the TraceNode of the result
    leaves   the TraceNodes that it is computed from: inputs, and the heads of other graphs
    body     the elementwise operations, in order
    """

    def __init__(self, head: TraceNode, leaves: list[TraceNode], body: list[TraceNode]) -> None:
        self.head, self.leaves, self.body = head, leaves, body
        self.how = head.op_name if head.op_name in REDUCTIONS else None
        self.end = head.inputs[0] if self.how else head  # the last of the chain
        self.axes = head.attrs["axes"] if self.how else ()
        self.whole = self.end.spec
        self.names = name_nodes(leaves, body)
        self.tensors = [leaf for leaf in leaves if leaf.spec]
        self.records = True in head.needs
        # The gradient of a max or min goes to where it is. What it was chosen from is stored:
        # computed again by another kernel, it need not be the same to the last bit.
        self.chosen = self.how in ("max", "min") and self.records
        self.stored = self.chosen and self.end not in leaves
        self.forward = self.forward_kernel()
        self.backward: Kernel | None = None
        self.saved: list[int] = []
        self.places: list[int | None] = [None] * len(self.tensors)
        if self.records:
            self.make_backward()
        self._plans = Plans()

    # -- running ----------------------------------------------------------------------------------

    def __call__(self, values: Sequence[Any], name: str, tape: Tape | None = None) -> Node:
        """The Node of the result, from a Node, Tensor or number for each leaf."""
        tensors = [x.value if isinstance(x, Node) else x for x in values]
        results = self.plan(self.forward).run(tensors)
        out = results[self.stored]
        if not self.records:
            return Node(out)
        saved = [tensors[number] for number in self.saved] + (results if self.chosen else [])
        parents = tuple(
            [x if isinstance(x, Node) else Node(x, x.requires_grad) for x in values if isinstance(x, (Node, Tensor))]
        )
        return record(Node(out, True, parents, Rule(name, self.differentiate, saved), name, {}), tape)

    def differentiate(self, saved: list[Any], gradient: Tensor) -> list[Tensor | None]:
        """The gradient of each leaf that is a tensor, or None, from that of the result."""
        if self.backward is None:
            return [None] * len(self.tensors)
        if gradient.dtype != self.head.dtype:
            gradient = cast(gradient, self.head.dtype)
        count = [math.prod(self.whole.shape[axis] for axis in self.axes)] * (self.how == "mean")
        results = self.plan(self.backward).run([*saved, gradient, *count])
        return [None if place is None else results[place] for place in self.places]

    def plan(self, kernel: Kernel) -> Plan:
        """The Plan of a Kernel: each thread has its own."""
        plan = self._plans.table.get(id(kernel))
        if plan is None:
            inputs = [(spec, spec and broadcast_strides(shape, self.whole.shape)) for spec, shape in kernel.inputs]
            plan = nest_plan(kernel.nest, self.whole, inputs, kernel.results, kernel.axes)
            self._plans.table[id(kernel)] = plan
        return plan

    # -- making the kernels -----------------------------------------------------------------------

    def forward_kernel(self) -> Kernel:
        names, dtype, result = self.names, self.whole.dtype.name, self.head.spec
        lines, value = forward_lines(self.body, names), names[self.end]
        outputs = [(value, dtype)] * (self.stored or not self.how)
        reductions = [Reduction(value, self.how, dtype)] if self.how else []
        results = [self.whole] * self.stored + [result]
        if self.chosen:
            lines.append("const V ties = (V)(1);")
            reductions.append(Reduction("ties", "ties", dtype))
            results.append(result)
        inputs = tuple(names[leaf] for leaf in self.leaves)
        nest = LoopNest("fused_forward", inputs, tuple(lines), tuple(outputs), tuple(reductions))
        return Kernel(nest, [(leaf.spec, leaf.spec and leaf.shape) for leaf in self.leaves], self.axes, results)

    def make_backward(self) -> None:
        """The backward Kernel; which leaves it reads, `saved`; and where the gradient of each
        tensor is among its results, `places`.
        """
        names, end = self.names, self.names[self.end]
        lines, gradients = backward_lines(self.end, self.body, names, "g")
        wanted = [leaf for leaf in self.tensors if leaf in gradients]
        if not wanted:
            return
        lines = [f"const V g = {self.first_gradient()};", *lines]
        again = [node for node in self.body if node is not self.end or not self.stored]
        forward = needed(forward_lines(again, names), lines)
        remark = ["// The chain once more, as far as its values are needed:"] * bool(forward)
        lines = [*remark, *forward, "// From the last operation to the first:", *lines]
        used = [leaf for leaf in self.leaves if names[leaf] in words(lines)]
        inputs = [(names[leaf], leaf.spec, leaf.spec and leaf.shape) for leaf in used]
        inputs += [(end, self.whole, self.whole.shape)] * self.stored
        kept = tuple(1 if axis in self.axes else n for axis, n in enumerate(self.whole.shape))
        inputs += [(name, self.head.spec, kept) for name in [*["best", "ties"] * self.chosen, "upstream"]]
        inputs += [("count", None, None)] * (self.how == "mean")
        axes, outputs, sums = self.share(wanted)
        results = outputs | sums
        self.saved = [self.leaves.index(leaf) for leaf in used]
        self.places = [list(results).index(leaf) if leaf in results else None for leaf in self.tensors]
        nest = LoopNest(
            "fused_backward",
            tuple(name for name, *_ in inputs),
            tuple(lines),
            tuple((gradients[leaf], spec.dtype.name) for leaf, spec in outputs.items()),
            tuple(Reduction(gradients[leaf], "sum", spec.dtype.name) for leaf, spec in sums.items()),
        )
        self.backward = Kernel(nest, [rest for _, *rest in inputs], axes, list(results.values()))

    def first_gradient(self) -> str:
        """The gradient of the end of the chain, in C, from that of the result, `upstream`."""
        if self.how == "mean":
            return "upstream / count"
        if self.chosen:
            return f"({self.names[self.end]} == best ? upstream / ties : ties != 0 ? (V)(0) : (V)(NAN))"
        return "upstream"

    def share(self, wanted: list[TraceNode]) -> tuple[tuple[int, ...], dict, dict]:
        """(axes, {leaf: TensorSpec of its gradient, written as it is}, {leaf: TensorSpec of its gradient,
        summed over the axes}): over those along which the first leaf was repeated.
        """
        axes, outputs, sums = (), {}, {}
        for leaf in wanted:
            repeated = tuple(axis for axis in axes_to(self.whole.shape, leaf.shape) if self.whole.shape[axis] > 1)
            if not repeated:
                outputs[leaf] = leaf.spec
            elif axes in ((), repeated):
                axes, sums[leaf] = repeated, leaf.spec
            else:
                outputs[leaf] = spec_of(self.whole.device, self.whole.shape, leaf.dtype)
        return axes, outputs, sums

    # -- to look at -------------------------------------------------------------------------------

    @property
    def forward_source(self) -> str:
        """The text of the forward kernel."""
        return self.plan(self.forward).source

    @property
    def backward_source(self) -> str:
        """The text of the backward kernel; "" where no gradient is wanted."""
        return self.plan(self.backward).source if self.backward else ""

    def __str__(self) -> str:
        """What was traced, a line for each input and each operation."""
        lines = [
            f"{self.names[leaf]}: {leaf.dtype} {leaf.shape}" if leaf.spec else f"{self.names[leaf]}: a number"
            for leaf in self.leaves
        ]
        lines += [f"{self.names[node]} = {call(node, self.names)}" for node in self.body]
        if self.how:
            lines.append(call(self.head, self.names))
        return "\n".join(lines)


def split(root):
    """The steps that a trace falls into, (head, leaves, operations) of each, those first that others
    need. A chain of operations ends with a reduction, and before what cannot be fused: that is a
    step of its own, of no operations.
    """
    steps, stack, seen = [], [root], set()
    while stack:
        head = stack.pop()
        if isinstance(head, tuple):  # a step, and all that it needs is there now
            steps.append(head)
        elif head not in seen:
            seen.add(head)
            single = head.op_name in STEPS
            leaves, body = (SingleOperation(head).leaves, []) if single else chain_of(head)
            stack.append((head, leaves, body))
            stack += [leaf for leaf in leaves if leaf.op_name != "input"]
    return steps


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
            if node.primitive is None:
                leaves.append(node)
            else:
                stack += [node, None]
                stack += [x for x in reversed(node.inputs) if not isinstance(x, str)]
    return leaves, body


def content(head, leaves, body):
    """All that a CompiledGraph depends on, as a key: the same for the same chain."""
    numbers = {node: number for number, node in enumerate([*leaves, *body])}
    operations = [
        (node.primitive, node.needs, repr(node.attrs), *[x if isinstance(x, str) else numbers[x] for x in node.inputs])
        for node in body
    ]
    return (*[leaf.spec for leaf in leaves], *operations, head.op_name, head.needs, repr(head.attrs), head.spec)
