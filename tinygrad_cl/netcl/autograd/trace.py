"""Tracing: a function is called with Nodes that hold no elements yet, and every operation on them is
written down instead of computed.
"""

from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
import pyopencl as cl

from tinygrad_cl.netcl.autograd.steps import STEPS
from tinygrad_cl.netcl.core.device import INT32
from tinygrad_cl.netcl.core.tensor import Tensor, refuse_indices, spec_of
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES, Primitive, c_number
from tinygrad_cl.netcl.ops.shapes import joint_spec, normal_axes
from tinygrad_cl.netcl.tape.modes import state
from tinygrad_cl.netcl.tape.node import Node, as_nodes

__all__ = ["TraceNode"]

REDUCTIONS = ("sum", "mean", "max", "min")


class Untraceable(Exception):
    """The function cannot be traced; the message says why."""


class NoNumbers(Untraceable):
    """Something read the elements of a result that is not computed yet."""


class TraceNode:
    """A result that is not computed yet, in place of the Tensor of a Node.

    op_name     "input", the name of a primitive, "sum", "mean", "max", "min", or that of a step
    spec      device, shape and dtype; None for a number that is an input
    inputs      what it is computed from: TraceNodes, and constants: as C text, of a step as they are
    needs       for each of the inputs whether its gradient is wanted
    attrs       the constants of the operation, or the axes and keepdims of a reduction, a dict
    primitive   its record, if it can be fused; else None: inputs, reductions, steps
    """

    __slots__ = ("op_name", "spec", "inputs", "needs", "attrs", "primitive")

    def __init__(
        self,
        op_name: str,
        spec: Any,
        inputs: tuple[Any, ...] = (),
        needs: tuple[bool, ...] = (),
        attrs: dict[str, Any] | None = None,
        primitive: Primitive | None = None,
    ) -> None:
        self.op_name, self.spec, self.inputs = op_name, spec, inputs
        self.needs, self.attrs, self.primitive = needs, attrs or {}, primitive

    @property
    def shape(self) -> tuple[int, ...]:
        return self.spec.shape

    @property
    def dtype(self) -> np.dtype:
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        return len(self.spec.shape)

    @property
    def size(self) -> int:
        return self.spec.size

    @property
    def queue(self) -> cl.CommandQueue:
        return self.spec.device.queue

    def __getattr__(self, name):
        raise NoNumbers(name)

    def __repr__(self):
        inputs = ", ".join(x.op_name if isinstance(x, TraceNode) else str(x) for x in self.inputs)
        return f"TraceNode({self.op_name}({inputs}), {self.spec})"


class Trace:
    """What a function does while it is traced.

    known   {id of a Node, Tensor or number: its TraceNode}, for those that the caller can name
    found   the other Nodes that the function used, each with its TraceNode: they may be others in
            the next call
    """

    def __init__(self, known):
        self.known, self.found = known, []
        self._nodes = {}

    @contextmanager
    def recording(self):
        """`with trace.recording():` — operations of this thread are written down here."""
        before, state.trace = state.trace, self
        try:
            yield
        finally:
            state.trace = before

    def operation(self, name, args, attrs):
        """The Node of an operation: a primitive of the table, a reduction, or a step. Untraceable
        for others.
        """
        if name in REDUCTIONS and len(args) == 1:
            return self.reduction(name, *args, **attrs)
        if name in STEPS:
            return self.step(name, args, attrs)
        primitive = PRIMITIVES.get(name)
        if primitive is None:
            raise Untraceable(f"{name} has no record: it is no primitive of the table, and no step")
        if not primitive.fusible:
            raise Untraceable(f"{name} was registered with fusible=False")
        operands, needs = self.operands(args)
        specs = [x.spec if isinstance(x, TraceNode) else None for x in operands]
        refuse_indices(name, [spec for spec in specs if spec is not None])
        spec = joint_spec(name, primitive.arity, specs)
        if primitive.backward is None:
            needs = [False] * len(needs)
        return self.node(name, spec, operands, needs, primitive.constants(attrs), primitive)

    def reduction(self, name, x, axis=None, keepdims=False):
        """The Node of a sum, mean, maximum or minimum over axes."""
        (operand,), needs = self.operands((x,))
        if operand.dtype == INT32:
            raise Untraceable(f"{name} of int32")
        axes = normal_axes(axis, operand.shape)
        shape = [
            1 if each in axes else length for each, length in enumerate(operand.shape) if keepdims or each not in axes
        ]
        spec = spec_of(operand.spec.device, shape, operand.dtype)
        return self.node(name, spec, [operand], needs, {"axes": axes, "keepdims": keepdims})

    def step(self, name, args, attrs):
        """The Node of an operation that is a step of its own; only tensors and numbers are inputs."""
        operands, needs = [], []
        for x in args:
            if isinstance(x, (Node, Tensor)):
                operands.append(self.operand(x))
                needs.append(state.enabled and x.requires_grad)
            elif x is None or isinstance(x, Real):
                operands.append(self.known.get(id(x), x))
                needs.append(False)
            else:
                raise Untraceable(f"{name} gets a {type(x).__name__} from the host")
        specs = [x.spec if isinstance(x, TraceNode) else None for x in operands]
        return self.node(name, STEPS[name].spec(*specs, **attrs), operands, needs, attrs)

    def node(self, name, spec, inputs, needs, attrs, primitive=None):
        """A Node of a TraceNode; the same operation on the same inputs is the same TraceNode."""
        key = (name, *inputs, *needs, repr(attrs))
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = TraceNode(name, spec, tuple(inputs), tuple(needs), attrs, primitive)
        return Node(found, True in needs)

    def operands(self, args):
        """([TraceNode or C text of a number for each argument], [whether it wants a gradient])"""
        if not all(isinstance(x, (Node, Tensor, Real)) for x in args):
            args = as_nodes(args)
        operands, needs = [], []
        for x in args:
            operands.append(self.operand(x))
            needs.append(state.enabled and not isinstance(x, Real) and x.requires_grad)
        return operands, needs

    def operand(self, x):
        """The TraceNode of a Node, Tensor or number, or the C text of a number."""
        if isinstance(x, Node) and isinstance(x.value, TraceNode):
            return x.value
        known = self.known.get(id(x))
        if known is None:
            if isinstance(x, Real):
                return c_number(x)
            value = x.value if isinstance(x, Node) else x
            known = self.known[id(x)] = TraceNode("input", value.spec)
            self.found.append((x, known))  # kept, so that its id is no other's
        return known
