"""Operations on Nodes: the primitives of the table, the matrix product, indexing; and the operators."""

from functools import partial
from numbers import Real
from typing import Any

from tinygrad_cl.netcl.autograd.kept import apply_op
from tinygrad_cl.netcl.autograd.rules import matmul_rule, primitive_rule
from tinygrad_cl.netcl.autograd.steps import register_step
from tinygrad_cl.netcl.autograd.types import Operand
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops import table  # noqa: F401 (fills the table that primitives are looked up in)
from tinygrad_cl.netcl.ops.elementwise import compute
from tinygrad_cl.netcl.ops.indexing import Part
from tinygrad_cl.netcl.ops.matmul import matmul as tensor_matmul
from tinygrad_cl.netcl.ops.matmul import product_spec
from tinygrad_cl.netcl.ops.primitives import get_primitive
from tinygrad_cl.netcl.tape.modes import state
from tinygrad_cl.netcl.tape.node import Node, as_nodes, define_operators
from tinygrad_cl.netcl.tape.tape import Tape, record

__all__ = ["apply_primitive", "getitem", "matmul"]


def apply_primitive(name: str, *args: Operand, tape: Tape | None = None, **attrs: float) -> Node:
    """Apply a primitive of the table to Nodes, Tensors, arrays and numbers, and return a Node: apply_op
    with the VJP of the primitive's record.

    attrs   its constants, such as alpha=0.5 for "elu"; the others have their defaults

    KeyError for an unknown primitive, TypeError for an unknown constant.
    """
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
    return record(Node(out, True, parents, grad_fn, name, attrs), tape)


def matmul(
    a: Operand, b: Operand, transpose_a: bool = False, transpose_b: bool = False, tape: Tape | None = None
) -> Node:
    """A · B, with batches broadcast.

    transpose_a, transpose_b   use A or B with its last two axes swapped


    ∂L/∂A = ∂L/∂C · Bᵀ      ∂L/∂B = Aᵀ · ∂L/∂C
    """
    a, b = as_nodes((a, b))
    if isinstance(a, Real) or isinstance(b, Real):
        raise TypeError("matmul takes matrices and vectors; multiply by a number with *")
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    if state.trace is not None:
        return state.trace.operation("matmul", (a, b), attrs)
    rule = matmul_rule(a.value, b.value, **attrs, needs=(a.requires_grad, b.requires_grad))
    return apply_op(partial(tensor_matmul, **attrs), rule, a, b, tape=tape, op_name="matmul", attrs=attrs)


def tensor_node(name, x):
    """The one operand of an operation as a Node. TypeError if it is neither a Node nor a Tensor."""
    if not isinstance(x, (Node, Tensor)):
        raise TypeError(f"{name} takes a Node or a Tensor, not {type(x).__name__}: Tensor.from_host makes one")
    return as_nodes((x,))[0]


def getitem(x: Operand, key: Any, tape: Tape | None = None) -> Node:
    """x[key], as in NumPy: whole numbers, slices with any step, None, ...; one array of indices.

    ∂L/∂x is 0, with the upstream gradient added at key: an element that was taken twice gets both.
    IndexError for a key of another kind, ValueError for an index out of range.
    """
    x = tensor_node("getitem", x)
    key = key if isinstance(key, tuple) else (key,)
    part = Part(x.value, tuple(each.value if isinstance(each, Node) else each for each in key))
    indices = part.indices  # a name of its own: backward needs them as they are now

    def back(grad):
        return [part.put(grad, indices)]

    return apply_op(part.take, back, x, tape=tape, op_name="getitem", attrs={"key": key})


define_operators(apply_primitive, matmul, getitem)
register_step("matmul", matmul, product_spec)
