"""Backward: the chain rule along a graph, whatever the operations are.

Reverse accumulation (Linnainmaa 1970), iterative, so a graph may be as deep as memory allows.
"""

import numpy as np

from tinygrad_cl.tensor.core.function import Context
from tinygrad_cl.tensor.core.variable import Variable


def broadcast_shape(a, b):
    """The shape of x + y where x has the shape a and y the shape b.

    a, b      tuples of sizes, of any lengths; () is the shape of a single number
    returns   a tuple; ValueError where the shapes do not fit

    >>> broadcast_shape((8, 1, 6), (7, 1))
    (8, 7, 6)
    """
    length = max(len(a), len(b))
    a = (1,) * (length - len(a)) + a
    b = (1,) * (length - len(b)) + b
    for m, n in zip(a, b):
        if m != n and 1 not in (m, n):
            raise ValueError(f"sizes {m} and {n} do not fit")
    return tuple(n if m == 1 else m for m, n in zip(a, b))


def unbroadcast(grad, shape):
    """Sum a gradient over the axes that broadcasting added or stretched, down to `shape`.

    Broadcasting copies elements; the gradient of an element is the sum over its copies. grad is an
    array. ValueError where `shape` does not broadcast to grad's.

    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    >>> unbroadcast(np.ones((2, 3)), (2, 1))
    array([[3.],
           [3.]])
    """
    if grad.shape == shape:
        return grad
    try:
        fits = broadcast_shape(grad.shape, shape) == grad.shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"a gradient of shape {grad.shape} does not fit an input of shape {shape}")
    added = grad.ndim - len(shape)
    stretched = [added + i for i, n in enumerate(shape) if n == 1]
    return grad.sum(axis=(*range(added), *stretched), keepdims=True).reshape(shape)


def start(tensor, gradient=None):
    """(root, gradient): where backward starts, and ∂L/∂tensor as a tensor of its shape.

    root       the node that computed the tensor; for a leaf the tensor itself
    gradient   a tensor, which is used as it is; an array or a nested list, which becomes a tensor
               of the same class and dtype; None: 1, where the tensor holds one number

    RuntimeError   the tensor does not require a gradient, or it holds several numbers and the
                   gradient is None
    ValueError     the gradient has another shape than the tensor

    >>> start(Tensor([1.0, 2.0], requires_grad=True), [10.0, 20.0])
    (Tensor([1., 2.], requires_grad=True), Tensor([10., 20.]))
    """
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
        gradient = np.ones_like(tensor.data)
    if not isinstance(gradient, Variable):
        gradient = tensor.wrap(np.array(gradient, tensor.dtype))
    if gradient.shape != tensor.shape:
        raise ValueError(f"the gradient has shape {gradient.shape}, the tensor {tensor.shape}")
    return tensor.grad_fn or tensor, gradient


def topological_order(roots):
    """Nodes and leaves below the roots, each once, after all that it was computed from.

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


def input_gradients(node, grad):
    """What backward returns: for each input a gradient of its shape, or None if it needs none."""
    if node.freed:
        raise freed_error(node)
    parts = node.function.backward(node, grad)
    parts = parts if isinstance(parts, (tuple, list)) else (parts,)
    if len(parts) != len(node.input_shapes):
        counts = f"{len(parts)} gradients for {len(node.input_shapes)} inputs"
        raise RuntimeError(f"{node.name}.backward returned {counts}")
    return [
        as_gradient(node, part, shape) if needed and part is not None else None
        for part, shape, needed in zip(parts, node.input_shapes, node.needs_input_grad)
    ]


def as_gradient(node, part, shape):
    """A gradient that backward returned, as a tensor, unbroadcast to the shape of its input."""
    part = part if isinstance(part, Variable) else node.tensor_type.wrap(np.asarray(part))
    try:
        if part.requires_grad:  # where backward itself is recorded (lesson 08)
            return unbroadcast(part, shape)
        return part if part.shape == shape else part.wrap(unbroadcast(part.data, shape))
    except ValueError as error:
        raise ValueError(f"{node.name}.backward: {error}") from None


def freed_error(node):
    return RuntimeError(
        f"{node.name}: backward has been here before, and freed what it needs;"
        " the first time, say backward(retain_graph=True)"
    )


def propagate(root, gradient, retain_graph=False, ask=input_gradients):
    """{leaf: ∂L/∂leaf} for the leaves below the root, where gradient = ∂L/∂root.

    root           a node (a Context), or a leaf (a Tensor), which is then the only one
    retain_graph   False: node.free() for each node when it has handed its gradient on
    ask            ask(node, grad) calls a node's backward: a gradient or None for each input

    topological_order([root]) lists the nodes and leaves, each after what it is computed from; each
    node is asked once, when its gradient is complete. One that gets no gradient is left out: it is
    not asked, and a leaf is not in the result. No gradient is changed in place.
    """
    arrived, found = {root: gradient}, {}
    for node in reversed(topological_order([root])):
        grad = arrived.pop(node, None)
        if grad is None:
            continue
        if not isinstance(node, Context):
            found[node] = grad
            continue
        for below, part in zip(node.next_nodes, ask(node, grad)):
            if part is not None:
                arrived[below] = arrived[below] + part if below in arrived else part
        if not retain_graph:
            node.free()
    return found
