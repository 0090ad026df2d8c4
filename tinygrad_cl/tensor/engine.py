"""Backward: the chain rule along a graph, whatever the operations are.

Reverse accumulation (Linnainmaa 1970), iterative, so a graph may be as deep as memory allows.
"""

import threading
from collections.abc import Sequence

import numpy as np

from tinygrad_cl.tensor import modes
from tinygrad_cl.tensor.function import Context, freed_error, owner
from tinygrad_cl.tensor.variable import Variable

accumulating = threading.Lock()  # two threads may add to the same leaf


def unbroadcast(grad, shape):
    """Sum a gradient over the axes that broadcasting added or stretched, down to `shape`.

    Broadcasting copies numbers; the gradient of a number is the sum over its copies. grad is an
    array or a tensor. ValueError where `shape` does not broadcast to grad's.

    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    >>> unbroadcast(np.ones((2, 3)), (2, 1))
    array([[3.],
           [3.]])
    """
    if grad.shape == shape:
        return grad
    added = grad.ndim - len(shape)
    if added < 0 or any(n not in (1, m) for n, m in zip(shape, grad.shape[max(added, 0) :])):
        raise ValueError(f"a gradient of shape {grad.shape} does not fit an input of shape {shape}")
    stretched = [added + i for i, n in enumerate(shape) if n == 1]
    return grad.sum(axis=(*range(added), *stretched), keepdims=True).reshape(shape)


def topological_order(roots):
    """Nodes and leaves below the roots, each once, what is computed from comes before.

    Any such order will do. Not recursive: a chain of 100,000 nodes is no problem.
    """
    order, visited, stack = [], set(), list(roots)
    while stack:
        node = stack.pop()
        if node is None:  # the mark above a node whose inputs are all in the order now
            order.append(stack.pop())
        elif node not in visited:
            visited.add(node)
            stack += [node, None]
            if isinstance(node, Context):
                stack += [below for below in node.next_nodes if below is not None]
    return order


def propagate(roots, gradients, targets=None, retain_graph=False, create_graph=False):
    """{node or leaf: its gradient} for the leaves, or the targets, below the roots.

    roots       nodes or leaves, with one gradient each: where it starts
    targets     only what lies on a way to these is computed
    """
    order = topological_order(roots)
    wanted = None if targets is None else on_the_way(order, targets)
    arrived, found = {}, {}
    for root, gradient in zip(roots, gradients):
        arrived[root] = arrived[root] + gradient if root in arrived else gradient
    with modes.set_grad_enabled(create_graph):
        for node in reversed(order):
            grad = arrived.pop(node, None)
            if grad is None or (wanted is not None and node not in wanted):
                continue
            grad = call_hooks(node, grad)
            is_leaf = not isinstance(node, Context)
            if is_leaf if targets is None else node in targets:
                found[node] = grad
            if is_leaf or (wanted is not None and not wanted[node]):
                continue
            if targets is None and node.retained is not None and node.retained() is not None:
                node.retained().accumulate_grad(grad)
            for below, part in zip(node.next_nodes, input_gradients(node, grad)):
                if part is not None:
                    arrived[below] = arrived[below] + part if below in arrived else part
            if not retain_graph:
                node.free()
    return found


def on_the_way(order, targets):
    """{node: does a way to a target lead on below it?} for the nodes from which one is reached."""
    wanted = {}
    for node in order:
        on = isinstance(node, Context) and any(below in wanted for below in node.next_nodes)
        if on or node in targets:
            wanted[node] = on
    return wanted


def input_gradients(node, grad):
    """What a node's rule says, one gradient for each input, each of its input's shape and type."""
    if node.freed:
        raise freed_error(node)
    parts = node.function.backward(node, grad)
    parts = tuple(parts) if isinstance(parts, (tuple, list)) else (parts,)
    if len(parts) != len(node.input_shapes):
        raise RuntimeError(f"{node.name}.backward returned {len(parts)} gradients for {len(node.input_shapes)} inputs")
    return [
        fit(node, i, part) if needed and part is not None else None
        for i, (part, needed) in enumerate(zip(parts, node.needs_input_grad))
    ]


def fit(node, i, part):
    """The gradient for input i: un-broadcast, for every operation, here."""
    if not isinstance(part, Variable):
        part = node.result_type(np.asarray(part))
    try:
        part = unbroadcast(part, node.input_shapes[i])
    except ValueError as error:
        raise ValueError(f"{node.name}.backward: {error}") from None
    return part if part.dtype == node.input_dtypes[i] else part.astype(node.input_dtypes[i])


def call_hooks(node, grad):
    for entry in tuple(node.hooks):
        replaced = entry.hook(grad)
        if replaced is not None:
            if replaced.shape != grad.shape:
                raise ValueError(f"a hook returned shape {replaced.shape} for {grad.shape}")
            grad = replaced if isinstance(replaced, Variable) else grad.wrap(np.asarray(replaced))
    return grad


def start(tensor, gradient):
    """(root, gradient) to start from: the gradient given, or 1 where there is one number."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "backward: this tensor requires no gradient; did anything that it was"
            " computed from, outside of no_grad, have requires_grad=True?"
        )
    if gradient is None:
        if tensor.size != 1:
            raise RuntimeError(
                f"backward of shape {tensor.shape} needs a gradient of that shape:"
                " only for one number is it clear that ∂L/∂L = 1"
            )
        gradient = np.ones(tensor.shape, tensor.dtype)
    if not isinstance(gradient, Variable):
        gradient = tensor.wrap(np.array(gradient, tensor.dtype))
    if gradient.shape != tensor.shape:
        raise ValueError(f"the gradient has shape {gradient.shape}, the tensor {tensor.shape}")
    return tensor.grad_fn or tensor, gradient


def backward(tensor, gradient=None, retain_graph=None, create_graph=False):
    """Add ∂L/∂leaf to the `grad` of each leaf below the tensor, where gradient = ∂L/∂tensor."""
    root, gradient = start(tensor, gradient)
    retain_graph = create_graph if retain_graph is None else retain_graph
    found = propagate([root], [gradient], None, retain_graph, create_graph)
    with accumulating, modes.set_grad_enabled(create_graph):
        for leaf, part in found.items():
            leaf.accumulate_grad(part)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=False):
    """∂(Σ outputs)/∂(each input) as a tuple of tensors; nobody's `grad` is touched.

    outputs, inputs   a tensor, or a sequence of tensors
    grad_outputs      ∂L/∂(each output); may be left out where outputs are single numbers
    create_graph      record the computation, so that its result can be differentiated again
    allow_unused      None for an input that the outputs do not depend on, instead of an error
    """
    outputs = outputs if isinstance(outputs, Sequence) else [outputs]
    inputs = inputs if isinstance(inputs, Sequence) else [inputs]
    grad_outputs = grad_outputs if isinstance(grad_outputs, Sequence) else [grad_outputs]
    if len(grad_outputs) != len(outputs):
        grad_outputs = [*grad_outputs] + [None] * (len(outputs) - len(grad_outputs))
    for x in inputs:
        if not x.requires_grad:
            raise RuntimeError(f"grad: an input of shape {x.shape} requires no gradient")
    targets = [x.grad_fn or x for x in inputs]
    roots, gradients = zip(*[start(y, g) for y, g in zip(outputs, grad_outputs)])
    retain_graph = create_graph if retain_graph is None else retain_graph
    found = propagate(roots, gradients, set(targets), retain_graph, create_graph)
    if not allow_unused and any(target not in found for target in targets):
        raise RuntimeError(
            "grad: the outputs do not depend on one of the inputs; with allow_unused=True its gradient is None"
        )
    return tuple(found.get(target) for target in targets)


def saved_bytes(tensor, without=()):
    """How many bytes the graph below a tensor keeps for its backward, shared memory counted once.

    tensor    a result, or a leaf, below which nothing is kept
    without   tensors that are there anyway, as parameters and data are: their memory is not counted

    A view counts as the memory that it is a view of, the whole of it.

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
