"""The tape: operations are computed and recorded; backward goes through them in reverse."""

import threading

import numpy as np

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import cast, compute
from tinygrad_cl.netcl.ops.primitives import get_primitive
from tinygrad_cl.netcl.ops.reduction import sum_to
from tinygrad_cl.netcl.tape.modes import is_grad_enabled, state
from tinygrad_cl.netcl.tape.node import Node, as_nodes

__all__ = ["Tape", "apply_op"]


class Tape:
    """`with Tape() as tape:` lists the operations inside, and `tape.backward(loss)` differentiates.

    nodes          the Nodes of operations, in the order they were computed; empty at first
    retain_grads   whether backward stores gradients on intermediate nodes, too; kept as it is

    Tapes nest: `state.tapes` holds the open ones, the innermost last. When a block ends, the tape
    around it continues, also if an exception ended the block; the exception is not suppressed. A
    tape that is opened again keeps its nodes and appends to them.

    >>> with Tape() as outer:
    ...     with Tape() as inner:
    ...         current_tape() is inner
    ...     current_tape() is outer
    True
    True
    """

    def __init__(self, retain_grads=False):
        self.nodes = []
        self.retain_grads = retain_grads

    def __enter__(self):
        state.tapes.append(self)
        return self

    def __exit__(self, *exception):
        state.tapes.pop()

    def record(self, node):
        """Append a Node to this tape and return it: netcl's name for record(node, tape)."""
        return record(node, self)

    def backward(self, loss, grad=None):
        """Add ∂L/∂leaf to `grad` of every leaf that requires one, where ∂L/∂loss is `grad`.

        loss   a Node; it need not be on this tape
        grad   a Tensor, or an array, of the shape of loss; 1 by default, if loss is one number:
               seed_gradient(loss, grad) is a Tensor in any case

        parts_of(node, gradient) is called once for each node, when its gradient is complete, and
        gives a part for each parent. The parent's gradient is the sum of unbroadcast(part, parent).
        A part may be None; a parent that requires no gradient gets none. The gradient of a leaf
        goes to leave(leaf, gradient, held), where `held` is a set that starts with the id of the
        seed's buffer. A second call adds the same gradients again.

        Intermediate nodes are all nodes with a grad_fn, so usually the loss, too. They get no grad,
        unless self.retain_grads is set: then each gets a copy of its gradient, which replaces the
        one before.

        >>> x = tensor(Tensor.from_host(queue, 3.0), requires_grad=True)
        >>> square = apply_op(lambda v: v * v, lambda grad: [grad * x.value * 2], x)
        >>> Tape().backward(square)
        >>> x.grad.to_host().item()
        6.0
        """
        seed = seed_gradient(loss, grad)
        gradients, ours, held = {loss: seed}, set(), {id(seed.buffer)}
        for node in reversed(topological_order(loss)):
            gradient = gradients.pop(node, None)
            if gradient is None:
                continue
            if node.grad_fn is None:
                leave(node, gradient, held)
                continue
            if self.retain_grads:
                node.grad = gradient.copy()
            for parent, part in zip(node.parents, parts_of(node, gradient)):
                if part is not None and parent.requires_grad:
                    accumulate(gradients, ours, parent, unbroadcast(part, parent))


def current_tape():
    """The innermost open tape of this thread; None if there is none.

    >>> current_tape() is None
    True
    """
    tapes = state.tapes
    return tapes[-1] if tapes else None


def record(node, tape=None):
    """Append a Node to a tape, by default to current_tape(), and return the Node. If both are None,
    nothing is appended.
    """
    tape = current_tape() if tape is None else tape
    if tape is not None:
        tape.nodes.append(node)
    return node


def apply_op(fn, grad_fn, *args, tape=None, op_name=None, attrs=None):
    """One operation: compute its result and keep its backward function. Returns a Node.

    fn        fn(*values) returns the result, a Tensor; it gets the `value` of each Node, and
              numbers as they are. If it returns anything else: a TypeError that names the op
              and the type
    grad_fn   is kept, not called here; None if there is no gradient
    args      Nodes and numbers; as_nodes(args) makes Nodes of Tensors and arrays
    tape      a Node that is recorded goes to record(node, tape), also if tape is None
    op_name   a name for the Node; attrs, its constants: both are kept as they are

    It is recorded if is_grad_enabled(), if there is a grad_fn, and if at least one Node among the
    arguments requires a gradient. Then the result requires one, too; its parents are all Nodes in
    as_nodes(args), a tuple in their order. Else the result is Node(out), where
    out is the Tensor that fn returned.

    Before all that comes a hook for lesson 12: if state.trace is not None, nothing is computed, and
    the result is state.trace.operation(op_name, args, attrs or {}).

    >>> x = tensor(Tensor.from_host(queue, [1.0, 2.0]), requires_grad=True)
    >>> y = apply_op(lambda v, k: v * k, lambda grad: [grad * 3], x, 3, op_name="triple")
    >>> y.to_host().tolist(), y.parents == (x,), y.op_name
    ([3.0, 6.0], True, 'triple')
    """
    if state.trace is not None:
        return state.trace.operation(op_name, args, attrs or {})
    nodes = as_nodes(args)
    out = fn(*[x.value if isinstance(x, Node) else x for x in nodes])
    if not isinstance(out, Tensor):
        raise TypeError(
            f"the function of op {op_name!r} returns a Tensor, not {type(out).__name__}"
        )
    parents = tuple([x for x in nodes if isinstance(x, Node)])
    if grad_fn is None or not is_grad_enabled() or not any([x.requires_grad for x in parents]):
        return Node(out)
    return record(Node(out, True, parents, grad_fn, op_name, attrs), tape)


def topological_order(root):
    """root and all nodes below it that require a gradient, parents before children.

    Graphs may have any depth, and each node is visited once, however many paths lead to it.
    """
    order, visited, stack = [], set(), [root]  # a list of our own: Python's call stack is too short
    while stack:
        node = stack.pop()
        if node is None:  # the mark above a node whose parents are all in the order now
            order.append(stack.pop())
        elif node not in visited:
            visited.add(node)
            stack.append(node)
            stack.append(None)
            for parent in node.parents:
                if parent.requires_grad:
                    stack.append(parent)
    return order


def add_into(target, x):
    """target += x, in the memory of `target`: one launch, no new buffer."""
    compute(get_primitive("add").forward_formula(), (target, x), into=target)


def accumulate(gradients, ours, node, part):
    """Add a gradient that arrives at a node to what has arrived there before, in `gradients`.

    gradients   {node: Tensor}: what has arrived so far
    ours        a set: the nodes whose Tensor in `gradients` is a sum that was made here
    part        a Tensor of the node's shape; others may hold it, so it is never changed

    The first part is stored as it is. The second makes a new Tensor, the sum, and the node is added
    to `ours`. Every later one is added to that sum in place, by add_into.

    >>> gradients, ours, g = {}, set(), Tensor.from_host(queue, [1.0, -2.0])
    >>> for _ in range(3):
    ...     accumulate(gradients, ours, "x", g)
    >>> gradients["x"].to_host().tolist(), ours, g.to_host().tolist()
    ([3.0, -6.0], {'x'}, [1.0, -2.0])
    """
    if node not in gradients:
        gradients[node] = part
    elif node in ours:
        add_into(gradients[node], part)
    else:
        gradients[node] = gradients[node] + part
        ours.add(node)


def seed_gradient(loss, grad):
    """∂L/∂loss as a Tensor. ValueError if it is missing, or has another shape than loss."""
    if not isinstance(loss, Node):
        kind = type(loss).__name__
        raise TypeError(f"backward starts from a Node, which an operation gave, not from a {kind}")
    if not loss.requires_grad:
        raise ValueError(
            f"{loss!r} requires no gradient: no leaf it was computed from does, "
            "or it was computed inside no_grad"
        )
    value = loss.value
    if grad is None:
        if value.size != 1:
            raise ValueError(
                f"backward from shape {value.shape} needs the gradient of each number: "
                "pass grad, or sum first"
            )
        return Tensor.full(value.queue, value.shape, 1, value.dtype)
    grad = grad.value if isinstance(grad, Node) else grad
    if not isinstance(grad, Tensor):
        grad = Tensor.from_host(value.queue, np.asarray(grad), value.dtype)
    if grad.shape != value.shape:
        raise ValueError(f"the loss has shape {value.shape}, its gradient {grad.shape}")
    return grad


def unbroadcast(part, parent):
    """A gradient in the shape and dtype of its parent: summed over what broadcasting repeated."""
    spec = parent.value.spec
    if part.spec is spec:
        return part
    if part.shape != spec.shape:
        part = sum_to(part, spec.shape)
    return part if part.dtype == spec.dtype else cast(part, spec.dtype)


def parts_of(node, gradient):
    """The gradients of the node's parents, from its grad_fn: a Tensor or None for each."""
    parts = node.grad_fn(gradient)
    parts = [parts] if isinstance(parts, Tensor) else parts
    if len(parts) != len(node.parents):
        raise ValueError(
            f"grad_fn of op {node.op_name!r} returns {len(parts)} gradients for "
            f"{len(node.parents)} parents; the op was created at {node.created_at}"
        )
    if state.anomaly:
        look_for_anomaly(node, parts)
    return parts


accumulating = threading.Lock()  # threads may share a leaf


def leave(leaf, gradient, held):
    """Add the gradient to the leaf's `grad`, which is then a Tensor that nobody else holds.

    held   ids of the buffers that others can reach after backward: the gradient of the loss, which
           is the caller's, and those of other leaves. A gradient in one of them is copied.

    If the leaf had a grad, the sum is a new Tensor: the old one is not changed.
    """
    with accumulating:
        if leaf.grad is not None:
            gradient = leaf.grad + gradient
        elif id(gradient.buffer) in held:
            gradient = gradient.copy()
        held.add(id(gradient.buffer))
        leaf.grad = gradient
    if state.leaves is not None:  # a hook: a recording wants to know
        state.leaves.append(leaf.value)


def look_for_anomaly(node, parts):
    """RuntimeError if an element of a gradient that a grad_fn returned is NaN or infinite.

    node    the Node whose grad_fn was called
    parts   for each of its parents, numbered from 0, a Tensor or None

    The message is about the first bad one. It begins with this line, where k is the parent's number
    ("w.r.t." means "with respect to"):
    Gradient w.r.t. parent k of op 'name' contains NaN or Inf
    After it come the lines of node.creation_trace, a list of texts. If all is well, nothing
    happens.

    >>> x = tensor(Tensor.from_host(queue, [0.0, 1.0]), requires_grad=True)
    >>> y = apply_op(lambda v: v * 2, lambda grad: [grad * 2], x, op_name="double")
    >>> try:
    ...     look_for_anomaly(y, [Tensor.from_host(queue, [float("inf"), 1.0])])
    ... except RuntimeError as error:
    ...     print(str(error).splitlines()[0])
    Gradient w.r.t. parent 0 of op 'double' contains NaN or Inf
    """
    for number, part in enumerate(parts):
        if part is not None and not np.isfinite(part.to_host()).all():
            raise RuntimeError(
                f"Gradient w.r.t. parent {number} of op {node.op_name!r} contains NaN or Inf"
                f"\nThe op was created at:\n{''.join(node.creation_trace)}"
            )
