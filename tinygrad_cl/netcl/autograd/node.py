"""Nodes, tapes and backward: reverse-mode automatic differentiation of tensors.

A Node holds a tensor, the nodes that it was computed from, and `grad_fn`, which turns the gradient
of the result into those of the parents. That is the graph; a Tape lists the operations in order.
"""

import sys
import traceback
from functools import partial
from numbers import Real
from pathlib import Path

import numpy as np

from tinygrad_cl.netcl.autograd.modes import state
from tinygrad_cl.netcl.autograd.rules import matmul_rule, primitive_rule
from tinygrad_cl.netcl.autograd.steps import register_step
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops import table  # noqa: F401 (fills the table that operators look into)
from tinygrad_cl.netcl.ops.elementwise import compute
from tinygrad_cl.netcl.ops.indexing import Part
from tinygrad_cl.netcl.ops.matmul import matmul as tensor_matmul
from tinygrad_cl.netcl.ops.matmul import product_layout
from tinygrad_cl.netcl.ops.primitives import get_primitive

OURS = str(Path(__file__).parent.parent)


class Node:
    """A tensor and how it was computed.

    value           the Tensor
    requires_grad   whether backward computes a gradient for it
    parents         the Nodes it was computed from; () for a leaf
    grad_fn         grad_fn(gradient of this) gives one Tensor, or None, per parent; None for a leaf
    op_name, attrs  the operation and its constants; None for a leaf
    made_at         where: a code object and a position in it
    """

    __slots__ = ("value", "requires_grad", "parents", "grad_fn", "op_name", "attrs", "made_at", "stack", "__weakref__")
    __array_ufunc__ = None  # so that np.float64(2) * node is left to Node.__rmul__

    def __init__(self, value, requires_grad=False, parents=(), grad_fn=None, op_name=None, attrs=None, made_at=None):
        self.value = value
        self.requires_grad = requires_grad
        self.parents = parents
        self.grad_fn = grad_fn
        self.op_name = op_name
        self.attrs = attrs
        self.made_at = made_at
        self.stack = None

    @property
    def grad(self):
        """The gradient that backward left: the one of `value`, where optimizers look for it."""
        return self.value.grad

    @grad.setter
    def grad(self, grad):
        self.value.grad = grad

    @property
    def shape(self):
        return self.value.layout.shape

    @property
    def dtype(self):
        return self.value.layout.dtype

    def to_host(self):
        """The numbers as a new NumPy array."""
        return self.value.to_host()

    def kept_arrays(self):
        """The Tensors that stay alive because backward will read them: those `grad_fn` holds."""
        cells = getattr(self.grad_fn, "__closure__", None) or ()
        held = [*getattr(self.grad_fn, "args", ()), *[cell.cell_contents for cell in cells]]
        parts = [x for each in held for x in (each if isinstance(each, (list, tuple)) else [each])]
        return list({id(x): x for x in parts if isinstance(x, Tensor)}.values())

    @property
    def created_at(self):
        """The line that made this node, `file:line in function`; "" for a leaf."""
        if self.made_at is None:
            return ""
        code, position = self.made_at
        line = next((line for begin, end, line in code.co_lines() if begin <= position < end), None)
        return f"{code.co_filename}:{line} in {code.co_name}"

    @property
    def creation_trace(self):
        """The lines that led to this node, as traceback.format_stack gives them: all of them where
        detect_anomaly was on, else the last one."""
        if self.stack is not None or self.made_at is None:
            return self.stack or []
        place, _, name = self.created_at.rpartition(" in ")
        file, _, line = place.rpartition(":")
        return traceback.format_list([traceback.FrameSummary(file, int(line), name)])

    def __repr__(self):
        name = f", op_name={self.op_name!r}" if self.op_name else ""
        return f"Node(shape={self.shape}, dtype={self.dtype}{name}, requires_grad={self.requires_grad})"

    def __add__(self, other):
        return apply_primitive("add", self, other)

    def __radd__(self, other):
        return apply_primitive("add", other, self)

    def __sub__(self, other):
        return apply_primitive("sub", self, other)

    def __rsub__(self, other):
        return apply_primitive("sub", other, self)

    def __mul__(self, other):
        return apply_primitive("mul", self, other)

    def __rmul__(self, other):
        return apply_primitive("mul", other, self)

    def __truediv__(self, other):
        return apply_primitive("div", self, other)

    def __rtruediv__(self, other):
        return apply_primitive("div", other, self)

    def __pow__(self, other):
        return apply_primitive("pow", self, other)

    def __rpow__(self, other):
        return apply_primitive("pow", other, self)

    def __neg__(self):
        return apply_primitive("neg", self)

    def __lt__(self, other):
        return apply_primitive("lt", self, other)

    def __le__(self, other):
        return apply_primitive("le", self, other)

    def __gt__(self, other):
        return apply_primitive("gt", self, other)

    def __ge__(self, other):
        return apply_primitive("ge", self, other)

    def __getitem__(self, key):
        return getitem(self, key)

    def __bool__(self):
        """`if loss < 1:` looks at the number. ValueError where there are several."""
        if self.value.size != 1:
            raise ValueError(f"shape {self.shape} holds several numbers, not one that is true or not")
        return bool(self.to_host())

    def __matmul__(self, other):
        return matmul(self, other)

    def __rmatmul__(self, other):
        return matmul(other, self)


def as_node(x, like):
    """x as a Node, if it is a Node, a Tensor or an array (which goes to the device of the Tensor
    `like`, in its dtype); a number stays one. TypeError for anything else."""
    if isinstance(x, Node):
        return x
    if isinstance(x, Tensor):
        return Node(x, x.requires_grad)
    if isinstance(x, Real):
        return x
    if isinstance(x, (np.ndarray, list, tuple)) and like is not None:
        return Node(Tensor.from_host(like.queue, x, like.dtype))
    raise TypeError(f"an operation takes Nodes, Tensors, arrays and numbers, not {x!r}")


def as_nodes(args):
    """The arguments of an operation, each as a Node or a number."""
    like = next((x.value if isinstance(x, Node) else x for x in args if isinstance(x, (Node, Tensor))), None)
    return [as_node(x, like) for x in args]


def apply_primitive(name, *args, tape=None, **attrs):
    """A primitive of the table on Nodes, Tensors, arrays and numbers, as a Node."""
    if state.trace is not None:
        return state.trace.operation(name, args, attrs)
    primitive = get_primitive(name)
    nodes = args
    for x in args:
        if not isinstance(x, Node):
            nodes = as_nodes(args)
            break
    values, needs = [], []
    for x in nodes:
        is_node = isinstance(x, Node)
        values.append(x.value if is_node else x)
        needs.append(x.requires_grad if is_node else None)
    out = compute(primitive.forward_formula(attrs), values)
    if True not in needs or primitive.backward is None or not state.enabled:
        return Node(out)
    grad_fn = primitive_rule(primitive, attrs, values, out, tuple(needs))
    parents = nodes if nodes is args else tuple([x for x in nodes if isinstance(x, Node)])
    return record(Node(out, True, parents, grad_fn, name, attrs, caller()), tape)


def apply_op(fn, grad_fn, *args, tape=None, op_name=None, attrs=None):
    """One operation of your own, as a Node that backward can go through.

    fn        fn(*values) computes the result, a Tensor, from Tensors and numbers
    grad_fn   grad_fn(gradient of the result) returns a list: one Tensor, or None, for each argument
              that is no number
    tape      where the operation is listed; the innermost open tape by default

    Inside no_grad, and where no argument requires a gradient, grad_fn is dropped.
    """
    name = op_name or getattr(fn, "__name__", "custom")
    if state.trace is not None:
        return state.trace.operation(name, args, attrs or {})
    nodes = as_nodes(args)
    out = fn(*[x.value if isinstance(x, Node) else x for x in nodes])
    if not isinstance(out, Tensor):
        raise TypeError(f"the function of op {name!r} returns a Tensor, not {type(out).__name__}")
    parents = tuple([x for x in nodes if isinstance(x, Node)])
    if not state.enabled or grad_fn is None or not any([x.requires_grad for x in parents]):
        return Node(out)
    return record(Node(out, True, parents, grad_fn, name, attrs or {}, caller()), tape)


def record(node, tape=None):
    """List an operation's Node on a tape, if there is one, and return it."""
    if tape is not None:
        tape.nodes.append(node)
    elif state.tapes:
        state.tapes[-1].nodes.append(node)
    if state.anomaly:
        frames = traceback.extract_stack()
        node.stack = traceback.format_list([frame for frame in frames if not frame.filename.startswith(OURS)])
    return node


def caller():
    """(code, position) of the innermost frame outside this package: cheap, and holds no
    variables.
    """
    frame = sys._getframe(2)
    while frame.f_code.co_filename.startswith(OURS) and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


def matmul(a, b, transpose_a=False, transpose_b=False, tape=None):
    """A · B, batches broadcast; with the last two axes of either swapped on request.

    ∂L/∂A = ∂L/∂C · Bᵀ      ∂L/∂B = Aᵀ · ∂L/∂C
    """
    a, b = as_nodes((a, b))
    if isinstance(a, Real) or isinstance(b, Real):
        raise TypeError("matmul takes matrices and vectors; multiply by a number with *")
    if state.trace is not None:
        return state.trace.operation("matmul", (a, b), {"transpose_a": transpose_a, "transpose_b": transpose_b})
    forward = partial(tensor_matmul, transpose_a=transpose_a, transpose_b=transpose_b)
    needs = (a.requires_grad, b.requires_grad)
    return apply_op(
        forward,
        matmul_rule(a.value, b.value, transpose_a, transpose_b, needs),
        a,
        b,
        tape=tape,
        op_name="matmul",
        attrs={"transpose_a": transpose_a, "transpose_b": transpose_b},
    )


def getitem(x, key, tape=None):
    """x[key], as in NumPy: whole numbers, slices with any step, None, ...; one array of indices.

    The gradient goes to where the numbers were taken from, added up where one was taken twice.
    IndexError and ValueError as ops.indexing.Part says.
    """
    (x,) = as_nodes((x,))
    key = key if isinstance(key, tuple) else (key,)
    part = Part(x.value, tuple(each.value if isinstance(each, Node) else each for each in key))
    return apply_op(part.take, lambda grad: [part.put(grad)], x, tape=tape, op_name="getitem", attrs={"key": key})


register_step("matmul", matmul, product_layout)
