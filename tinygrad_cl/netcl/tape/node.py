"""A Node: a tensor, and how it was computed."""

import copy
import sys
import traceback
from numbers import Real
from pathlib import Path
from types import CellType

import numpy as np

from tinygrad_cl.netcl.core.device import INT32
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.tape.modes import state

__all__ = ["Node", "tensor"]

OURS = str(Path(__file__).parent.parent)
OUTERMOST = "<module", "<cell"  # names of a program's code, and of a notebook's cell


def undefined(*operands):
    """The operators before define_operators is called: Python raises a TypeError."""
    return NotImplemented


elementwise = matmul = getitem = undefined


def define_operators(*functions):
    """A hook: define what the operators of Nodes do.

    elementwise(name, *operands)   "add", "sub", "mul", "div", "pow", "neg", "lt", "le", "gt", "ge"
    matmul(a, b), getitem(x, key)  a @ b, x[key]
    """
    global elementwise, matmul, getitem
    elementwise, matmul, getitem = functions


def operator(name):
    """Two methods, for a Node on the left and one on the right of an elementwise operator."""

    def left(self, other):
        return elementwise(name, self, other)

    def right(self, other):
        return elementwise(name, other, self)

    return left, right


class Node:
    """A Tensor, and how it was computed.

    value           the Tensor
    requires_grad   does backward compute a gradient for it?
    parents         the Nodes it was computed from; () for a leaf
    grad_fn         grad_fn(gradient of this) gives a list: for each parent a Tensor, or None;
                    None for a leaf
    op_name, attrs  the operation, and its constants; None for a leaf
    made_at         where the operation was called, as `place` returns it; () for a leaf
    grad            the gradient from backward, a Tensor: it is stored on `value`, where optimizers
                    read it
    """

    __slots__ = "value requires_grad parents grad_fn op_name attrs made_at __weakref__".split()
    __array_ufunc__ = None  # so that np.float64(2) * node is left to Node.__rmul__

    def __init__(
        self, value, requires_grad=False, parents=(), grad_fn=None, op_name=None, attrs=None
    ):
        self.value, self.requires_grad = value, requires_grad
        self.parents, self.grad_fn = parents, grad_fn
        self.op_name, self.attrs = op_name, attrs
        self.made_at = () if grad_fn is None else place()

    @property
    def grad(self):
        return self.value.grad

    @grad.setter
    def grad(self, grad):
        self.value.grad = grad

    @property
    def shape(self):
        return self.value.shape

    @property
    def dtype(self):
        return self.value.dtype

    def to_host(self):
        """The elements as a new NumPy array."""
        return self.value.to_host()

    @property
    def created_at(self):
        """The line that called the operation, `file:line in function`; "" for a leaf."""
        lines = lines_of(self.made_at)[:1]
        return "".join([f"{file}:{line} in {name}" for file, line, name in lines])

    @property
    def creation_trace(self):
        """The lines that led to this node, formatted by traceback.format_list: the last one, or all
        of them if detect_anomaly was on.
        """
        lines = reversed(lines_of(self.made_at))
        return traceback.format_list([traceback.FrameSummary(*line) for line in lines])

    def kept_arrays(self):
        """The Tensors that stay alive because backward will read them: those `grad_fn` holds."""
        return held_by(self.grad_fn)

    def __repr__(self):
        name = f", op_name={self.op_name!r}" if self.op_name else ""
        described = f"shape={self.shape}, dtype={self.dtype}{name}"
        return f"Node({described}, requires_grad={self.requires_grad})"

    __add__, __radd__ = operator("add")
    __sub__, __rsub__ = operator("sub")
    __mul__, __rmul__ = operator("mul")
    __truediv__, __rtruediv__ = operator("div")
    __pow__, __rpow__ = operator("pow")
    __lt__, __gt__ = operator("lt")[0], operator("gt")[0]
    __le__, __ge__ = operator("le")[0], operator("ge")[0]

    def __neg__(self):
        return elementwise("neg", self)

    def __matmul__(self, other):
        return matmul(self, other)

    def __rmatmul__(self, other):
        return matmul(other, self)

    def __getitem__(self, key):
        return getitem(self, key)

    def __iter__(self):
        """Its parts along the first axis. TypeError for a single number, as in NumPy."""
        if not self.shape:
            raise TypeError("a single number has no rows to go through")
        return (self[row] for row in range(self.shape[0]))

    def __deepcopy__(self, memo):
        """A leaf around a copy of the Tensor. TypeError for a result, which belongs to its graph."""
        if self.grad_fn is not None:
            raise TypeError(
                f"{self!r} belongs to its graph: copy.deepcopy(node.value) copies numbers"
            )
        return Node(copy.deepcopy(self.value, memo), self.requires_grad)

    def __bool__(self):
        """`if loss < 1:` looks at the number. ValueError where there are several."""
        if self.value.size != 1:
            raise ValueError(
                f"shape {self.shape} holds several numbers, not one that is true or not"
            )
        return bool(self.to_host())


def held_by(rule):
    """The Tensors that a function holds on to, a list: in the variables that it uses from around it,
    or as arguments that `partial` gave it; alone, as a Node's, or in lists and functions there.
    """
    found, parts, seen = {}, [rule], set()
    for x in parts:  # it grows
        x = x.value if isinstance(x, Node) else x
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, Tensor):
            found[id(x)] = x
        elif isinstance(x, (list, tuple)):
            parts += x
        elif callable(x):
            parts += [
                getattr(x, "func", None),
                *getattr(x, "args", ()),
                *getattr(x, "keywords", {}).values(),
            ]
            cells = getattr(x, "__closure__", None) or ()
            parts += [cell.cell_contents for cell in cells if cell != CellType()]  # it may be empty
    return list(found.values())


def place():
    """Where an operation was called: (code, position in it) of the innermost frame outside of the
    engine; under detect_anomaly followed by those of all frames around it.

    It holds code, not frames: a frame would keep its variables alive.
    """
    frame = sys._getframe(2)
    while frame.f_code.co_filename.startswith(OURS) and frame.f_back is not None:
        frame = frame.f_back
    found = frame.f_code, frame.f_lasti
    while state.anomaly and frame.f_back and not frame.f_code.co_name.startswith(OUTERMOST):
        frame = frame.f_back
        if not frame.f_code.co_filename.startswith(OURS):
            found += frame.f_code, frame.f_lasti
    return found


def lines_of(made_at):
    """[(file, line, name of the function)] of what `place` found, the innermost first."""
    lines = []
    for code, position in zip(made_at[::2], made_at[1::2]):
        line = next((line for begin, end, line in code.co_lines() if begin <= position < end), None)
        lines.append((code.co_filename, line, code.co_name))
    return lines


def tensor(x, requires_grad=None):
    """A leaf that holds the Tensor x itself, not a copy. If requires_grad is not given, it is that
    of the Tensor x: False, unless it was set there. TypeError if x is no Tensor, or if a gradient
    of int32 is asked for.
    """
    if not isinstance(x, Tensor):
        kind = type(x).__name__
        raise TypeError(f"ag.tensor wraps a Tensor, not {kind}: Tensor.from_host makes one")
    if requires_grad and x.dtype == INT32:
        raise TypeError("an int32 tensor holds indices, and indices have no gradient")
    return Node(x, x.requires_grad if requires_grad is None else bool(requires_grad))


def as_nodes(args):
    """The arguments of an operation: Nodes and numbers as they are, a Tensor as a leaf; an array
    becomes a leaf on the device of the first tensor among them, with that tensor's dtype. TypeError
    for anything else.
    """
    tensors = [x.value if isinstance(x, Node) else x for x in args if isinstance(x, (Node, Tensor))]
    return [as_node(x, *tensors[:1]) for x in args]


def as_node(x, like=None):
    """One argument as a Node or a number; arrays become Tensors like `like`."""
    if isinstance(x, Node):
        return x
    if isinstance(x, Tensor):
        return Node(x, x.requires_grad)
    if isinstance(x, Real):
        return x
    if isinstance(x, (np.ndarray, list, tuple)) and like is not None:
        return Node(Tensor.from_host(like.queue, x, like.dtype))
    raise TypeError(f"an operation takes Nodes, Tensors, arrays and numbers, not {x!r}")
