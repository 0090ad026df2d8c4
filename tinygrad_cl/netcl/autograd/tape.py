"""The tape: a list of operations, and the way back through them."""

import numpy as np

from tinygrad_cl.netcl.autograd.modes import state
from tinygrad_cl.netcl.autograd.node import Node
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import cast, compute, compute_into
from tinygrad_cl.netcl.ops.primitives import get_primitive
from tinygrad_cl.netcl.ops.reduction import sum_to

__all__ = ["Tape"]


class Tape:
    """`with Tape() as tape:` lists the operations inside, and `tape.backward(loss)` differentiates.

    nodes          the Nodes of operations that need a gradient, in the order they were computed
    retain_grads   whether backward leaves its gradient on every node, not on the leaves alone

    Tapes nest: the innermost one lists. The graph itself is in the nodes, so any tape can go back
    through any of them.
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
        """List an operation's Node."""
        self.nodes.append(node)
        return node

    def backward(self, loss, grad=None):
        """Add ∂L/∂leaf to `grad` of every leaf that requires one, where ∂L/∂loss is `grad`.

        grad   a Tensor or an array of the shape of `loss`; 1 by default, if that is one number

        Leaves accumulate over calls, until somebody sets their `grad` to None; nodes between belong
        to one call. ValueError if `loss` has several numbers and there is no `grad`, or one of
        another shape, and if `loss` requires no gradient.
        """
        seed = seed_gradient(loss, grad)
        gradients = {loss: seed}
        ours = set()  # nodes whose gradient is a sum made here, so that nobody else has its buffer
        kept = {id(seed.buffer)}  # buffers that somebody can see when this is over
        for node in reversed(topological_order(loss)):
            gradient = gradients.pop(node, None)
            if gradient is None:
                continue
            if node.grad_fn is None:
                old = node.value.grad
                keep(node, gradient if old is None else add(old, gradient), kept)
                if state.leaves is not None:
                    state.leaves.append(node.value)
                continue
            if self.retain_grads:
                keep(node, gradient, kept)
            for parent, part in zip(node.parents, parents_gradients(node, gradient)):
                if part is None or not parent.requires_grad:
                    continue
                part = fitted(part, parent)
                known = gradients.get(parent)
                if known is None:
                    gradients[parent] = part
                elif parent in ours:
                    compute_into(known, get_primitive("add").forward_formula(), (known, part))
                else:  # an op may give one buffer to two parents: only a sum of our own is safe
                    gradients[parent] = add(known, part)
                    ours.add(parent)


def topological_order(root):
    """root and all nodes that it was computed from and that need a gradient, parents before
    children.

    A graph of any depth will do, and a node costs one visit, however many paths lead there.
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


def seed_gradient(loss, grad):
    """∂L/∂loss as a Tensor."""
    if not loss.requires_grad:
        raise ValueError(
            f"{loss!r} requires no gradient: no leaf it was computed from does, or it was computed inside no_grad"
        )
    value = loss.value
    if grad is None:
        if value.size != 1:
            raise ValueError(
                f"backward from shape {value.shape} needs the gradient of each number: pass grad, or sum first"
            )
        return Tensor.full(value.queue, value.shape, 1, value.dtype)
    grad = grad.value if isinstance(grad, Node) else grad
    if not isinstance(grad, Tensor):
        grad = Tensor.from_host(value.queue, np.asarray(grad), value.dtype)
    if grad.shape != value.shape:
        raise ValueError(f"the loss has shape {value.shape}, its gradient {grad.shape}")
    return grad


def parents_gradients(node, gradient):
    """What the node's rule gives, checked: a list, one for each parent."""
    parts = node.grad_fn(gradient)
    parts = [parts] if isinstance(parts, Tensor) else parts
    if len(parts) != len(node.parents):
        raise ValueError(
            f"grad_fn of op {node.op_name!r} returns {len(parts)} gradients for "
            f"{len(node.parents)} parents; the op was created at {node.created_at}"
        )
    if state.anomaly:
        for number, part in enumerate(parts):
            if part is not None and not np.all(np.isfinite(part.to_host())):
                raise RuntimeError(
                    f"Gradient w.r.t. parent {number} of op {node.op_name!r} contains NaN or Inf."
                    f"\nThe op was created at:\n{''.join(node.creation_trace)}"
                )
    return parts


def fitted(part, parent):
    """A gradient in the shape and dtype of its parent: what broadcasting repeated is summed up."""
    layout = parent.value.layout
    if part.layout is layout:
        return part
    if part.shape != layout.shape:
        part = sum_to(part, layout.shape)
    return part if part.dtype == layout.dtype else cast(part, layout.dtype)


def add(x, y):
    """x + y in memory of its own."""
    return compute(get_primitive("add").forward_formula(), (x, y))


def keep(node, gradient, kept):
    """Leave the gradient on the node's tensor, in a buffer that no other gradient is in."""
    if id(gradient.buffer) in kept:
        gradient = gradient.copy()
    kept.add(id(gradient.buffer))
    node.value.grad = gradient
