"""Backward with hooks, recorded on request, and gradients with respect to any tensor."""

import threading
from collections.abc import Sequence

from tinygrad_cl.tensor.core.engine import propagate, start, topological_order
from tinygrad_cl.tensor.core.function import Context
from tinygrad_cl.tensor.core.modes import GradMode
from tinygrad_cl.tensor.hooks import call_hooks
from tinygrad_cl.tensor.memory import owner

accumulating = threading.Lock()  # two threads may add to the same leaf


def backward(tensor, gradient=None, retain_graph=None, create_graph=False):
    """Add ∂L/∂leaf to the `grad` of each leaf below the tensor, where gradient = ∂L/∂tensor."""
    root, gradient = start(tensor, gradient)
    retain_graph = create_graph if retain_graph is None else retain_graph
    with GradMode(create_graph):
        found = hooked(propagate(root, gradient, retain_graph, ask_and_retain))
        with accumulating:
            for leaf, part in found.items():
                leaf.accumulate_grad(part)


def hooked(found):
    """{leaf: its gradient}, after the hooks of the leaves; a hook may call backward itself."""
    return {leaf: call_hooks(leaf.hooks, part) for leaf, part in found.items()}


def ask_and_retain(node, grad):
    """The gradients of a node's inputs, after its hooks. Also stores `grad` where retain_grad asked for it."""
    grad = call_hooks(node.hooks, grad)
    if node.retained is not None and node.retained() is not None:
        node.retained().accumulate_grad(grad)
    return node.input_gradients(grad)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=False):
    """∂(Σ outputs)/∂(each input) as a tuple of tensors; no tensor's `grad` is changed.

    outputs, inputs   a tensor, or a sequence of tensors
    grad_outputs      ∂L/∂(each output); may be omitted if the outputs are single numbers
    create_graph      record the computation, so that its result can be differentiated again
    allow_unused      None for an input that the outputs do not depend on, instead of an error
    """
    outputs, inputs, grad_outputs = [x if isinstance(x, Sequence) else [x] for x in (outputs, inputs, grad_outputs)]
    if len(grad_outputs) != len(outputs):
        grad_outputs = [*grad_outputs] + [None] * (len(outputs) - len(grad_outputs))
    for x in inputs:
        if not x.requires_grad:
            raise RuntimeError(f"grad: an input of shape {x.shape} requires no gradient")
    targets = [x.grad_fn or x for x in inputs]
    roots, gradients = zip(*[start(y, g) for y, g in zip(outputs, grad_outputs)])
    retain_graph = create_graph if retain_graph is None else retain_graph
    found = gradients_of(set(targets), roots, gradients, retain_graph, create_graph)
    if not allow_unused and any(target not in found for target in targets):
        raise RuntimeError(
            "grad: the outputs do not depend on one of the inputs; with allow_unused=True its gradient is None"
        )
    return tuple(found.get(target) for target in targets)


def gradients_of(targets, roots, gradients, retain_graph, create_graph):
    """{target: its gradient} for nodes and leaves. Only gradients on a path to a target are computed."""
    top = Context(None, (), None)  # a node above the roots, whose rule hands on the gradients
    top.next_nodes = roots
    wanted = on_the_way(topological_order([top]), targets)
    found = {}

    def ask(node, grad):
        parts = grad
        if node is not top:
            grad = call_hooks(node.hooks, grad)
            if node in targets:
                found[node] = grad
            if not wanted[node]:
                return ()
            parts = node.input_gradients(grad)
            if not retain_graph:
                node.free()
        return [part if below in wanted else None for below, part in zip(node.next_nodes, parts)]

    with GradMode(create_graph):
        return found | hooked(propagate(top, gradients, True, ask))


def on_the_way(order, targets):
    """{node: whether a target lies below it}, for the targets and all nodes above them."""
    wanted = {}
    for node in order:
        on = isinstance(node, Context) and any(below in wanted for below in node.next_nodes)
        if on or node in targets:
            wanted[node] = on
    return wanted


def saved_bytes(tensor, without=()):
    """How many bytes the graph below a tensor keeps for its backward, shared memory counted once.

    tensor    a result, or a leaf, below which nothing is kept
    without   tensors that exist anyway, such as parameters and data: their memory is not counted

    A view counts as the whole array that it is a view of.

    >>> w = Tensor(np.ones((3, 5), np.float32), requires_grad=True)
    >>> saved_bytes(w.exp() * w), saved_bytes(w.exp() * w, without=[w])
    (120, 60)
    """
    known = {id(owner(x.data)) for x in without}
    arrays = {}
    for node in topological_order([tensor.grad_fn or tensor]):
        for array in map(owner, node.kept_arrays() if isinstance(node, Context) else []):
            if id(array) not in known:
                arrays[id(array)] = array
    return sum(array.nbytes for array in arrays.values())
