"""Backward with hooks, recorded on request, and gradients with respect to any tensor."""

import threading

from tinygrad_cl.tensor.core.engine import propagate, start, topological_order
from tinygrad_cl.tensor.core.function import Context
from tinygrad_cl.tensor.core.modes import GradMode
from tinygrad_cl.tensor.core.variable import Variable
from tinygrad_cl.tensor.hooks import call_hooks
from tinygrad_cl.tensor.memory import owner
from tinygrad_cl.tensor.node import Node

accumulating = threading.Lock()  # two threads may add to the same leaf


def tensors_in(name, tensors):
    """The tensors of a list, or one alone, as a list."""
    tensors = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
    for x in tensors:
        if not isinstance(x, Variable):
            raise TypeError(f"{name} takes a tensor, or a list of tensors, not {x!r}")
    return tensors


class Top(Node):
    """A node above several tensors, where backward starts: its rule hands on the gradients of each."""

    def __init__(self, tensors, gradients):
        tensors = tensors_in("backward", tensors)
        several = isinstance(gradients, (list, tuple))
        gradients = gradients if several else [None] * len(tensors) if gradients is None else [gradients]
        if not len(tensors) == len(gradients) > 0:
            counts = f"{len(gradients)} for {len(tensors)} tensors"
            raise ValueError(f"backward starts at one tensor or more, with a gradient for each, not with {counts}")
        self.next_nodes, self.gradients = zip(*map(start, tensors, gradients))

    def input_gradients(self, grad):
        return grad


def backward(tensors, gradients=None, retain_graph=None, create_graph=False):
    """Add ∂L/∂leaf to the `grad` of each leaf below the tensors, where gradients = ∂L/∂tensors.

    tensors     a tensor, or a list of tensors, whose gradients are added
    gradients   one for each; None where the tensor is a single number, L itself
    """
    if isinstance(tensors, Variable):
        root, gradient = start(tensors, gradients)
    else:
        root = Top(tensors, gradients)
        gradient = root.gradients
    retain_graph = create_graph if retain_graph is None else retain_graph
    with GradMode(create_graph):
        found = hooked(propagate(root, gradient, retain_graph, ask_and_retain))
        with accumulating:
            for leaf, part in found.items():
                if leaf.requires_grad:  # it may have been frozen since the forward
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
    inputs = tensors_in("grad", inputs)
    for x in inputs:
        if not x.requires_grad:
            raise RuntimeError(f"grad: an input of shape {x.shape} requires no gradient")
    targets = [x.grad_fn or x for x in inputs]
    top = Top(outputs, grad_outputs)
    retain_graph = create_graph if retain_graph is None else retain_graph
    with GradMode(create_graph):
        found = gradients_of(set(targets), top, retain_graph)
        if not allow_unused and any(target not in found for target in targets):
            raise RuntimeError(
                "grad: the outputs do not depend on one of the inputs; with allow_unused=True its gradient is None"
            )
        return tuple([found[target].clone() if target in found else None for target in targets])  # one's own, each


def gradients_of(targets, top, retain_graph):
    """{target: its gradient} for nodes and leaves. Only gradients on a path to a target are computed."""
    wanted = on_the_way(topological_order([top]), targets)
    found = {}

    def ask(node, grad):
        grad = call_hooks(node.hooks, grad)
        if node in targets:
            found[node] = grad
        if not wanted.get(node):
            return ()
        parts = node.input_gradients(grad)
        if not retain_graph:
            node.free()
        return [part if below in wanted else None for below, part in zip(node.next_nodes, parts)]

    return found | hooked(propagate(top, top.gradients, True, ask))


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
