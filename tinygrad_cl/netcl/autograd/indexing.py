"""Operations that pick, join and mask: rows by their numbers, parts of a tensor, several tensors as
one. What they do to a gradient is the way back: it goes to where the numbers came from.
"""

import numpy as np

from tinygrad_cl.netcl.autograd.kept import apply_op
from tinygrad_cl.netcl.autograd.node import apply_primitive, getitem, tensor_node
from tinygrad_cl.netcl.autograd.ops import reshape
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor, whole
from tinygrad_cl.netcl.ops import indexing
from tinygrad_cl.netcl.ops.shapes import normal_axes
from tinygrad_cl.netcl.tape.node import Node, as_nodes

__all__ = [
    "arange",
    "cat",
    "causal_mask",
    "chunk",
    "embedding",
    "index_select",
    "masked_fill",
    "narrow",
    "split",
    "squeeze",
    "stack",
    "unsqueeze",
]

# -- rows by their numbers ------------------------------------------------------------------------


def embedding(weight, idx, tape=None):
    """Rows of a table, out[…, :] = weight[idx[…], :].    ∂L/∂weight = 0, but in the rows that were
    taken the upstream gradient, added as often as they were taken

    weight   (rows, features)
    idx      whole numbers of any shape: on the host, or an int32 Tensor. The result has the shape
             idx.shape + (features,)

    ValueError for an index that is no row; where it lies on the device already, its features are
    NaN, and its gradient goes nowhere. The gradient has no race: it is the same at every run.
    """
    weight = tensor_node("embedding", weight)
    if len(weight.shape) != 2:
        raise ValueError(f"a table of rows has two axes, not shape {weight.shape}")
    return select("embedding", weight, 0, idx, tape)


def index_select(x, axis, idx, tape=None):
    """x[…, idx, …] along one axis, as numpy.take(x, idx, axis): `embedding` for any axis."""
    x = tensor_node("index_select", x)
    return select("index_select", x, axis, idx, tape)


def select(name, x, axis, idx, tape):
    """index_select of a Node."""
    shape = x.shape
    (axis,) = normal_axes(axis, shape)
    indices = indexing.index_tensor(idx.value if isinstance(idx, Node) else idx, x.value, below=shape[axis])
    return apply_op(
        lambda value: indexing.index_select(value, axis, indices),
        lambda grad: [indexing.index_select_backward(grad, shape, axis, indices)],
        x,
        tape=tape,
        op_name=name,
        attrs={"axis": axis},
    )


# -- parts of a tensor ----------------------------------------------------------------------------


def narrow(x, axis, start, length, tape=None):
    """`length` numbers along an axis, from `start` on: x[…, start:start + length, …]."""
    x = tensor_node("narrow", x)
    (axis,) = normal_axes(axis, x.shape)
    start = start + x.shape[axis] if start < 0 else start
    if not 0 <= start <= start + length <= x.shape[axis]:
        raise ValueError(f"axis {axis} of shape {x.shape} has no part of {length} from {start} on")
    return getitem(x, (slice(None),) * axis + (slice(start, start + length),), tape)


def split(x, split_size_or_sections, axis=0, tape=None):
    """x cut into parts along an axis, a list: each of a size, the last one of what is left; or of
    the sizes in a list, which add up to the length of the axis.
    """
    x = tensor_node("split", x)
    (axis,) = normal_axes(axis, x.shape)
    length, sizes = x.shape[axis], split_size_or_sections
    if not np.ndim(sizes):
        size = whole("the size of a part", sizes)
        if size < 1:
            raise ValueError(f"parts have a size of at least 1, not {size}")
        sizes = [min(size, length - start) for start in range(0, max(length, 1), size)]
    if sum(sizes) != length:
        raise ValueError(f"the sizes {list(sizes)} do not add up to {length}, the length of axis {axis}")
    starts = np.cumsum([0, *sizes]).tolist()
    return [narrow(x, axis, start, size, tape) for start, size in zip(starts, sizes)]


def chunk(x, chunks, axis=0, tape=None):
    """x cut along an axis into so many parts of one size, the last one smaller; fewer where that
    does not come out. A list."""
    x = tensor_node("chunk", x)
    (axis,) = normal_axes(axis, x.shape)
    if whole("the number of parts", chunks) < 1:
        raise ValueError(f"a tensor has at least 1 part, not {chunks}")
    return split(x, -(-x.shape[axis] // chunks) or [0] * chunks, axis, tape)


def unsqueeze(x, axis, tape=None):
    """x with one more axis, of length 1, in this place."""
    x = tensor_node("unsqueeze", x)
    (axis,) = normal_axes(axis, (*x.shape, 1))
    return reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]), tape)


def squeeze(x, axis=None, tape=None):
    """x without an axis of length 1, or without all of them."""
    x = tensor_node("squeeze", x)
    gone = [n for n, length in enumerate(x.shape) if length == 1]
    if axis is not None:
        gone = normal_axes(axis, x.shape)
        if any(x.shape[axis] != 1 for axis in gone):
            raise ValueError(f"axis {axis} of shape {x.shape} has not length 1")
    return reshape(x, [length for n, length in enumerate(x.shape) if n not in gone], tape)


# -- several tensors as one -----------------------------------------------------------------------


def cat(tensors, axis=0, tape=None):
    """The tensors one after the other along an axis. Each gets its part of the gradient."""
    nodes = as_nodes(list(tensors))
    if not nodes or not all(isinstance(node, Node) for node in nodes):
        raise TypeError("cat takes a list of Nodes, Tensors and arrays, not all of them arrays")
    (axis,) = normal_axes(axis, nodes[0].shape)
    ends = np.cumsum([node.shape[axis] for node in nodes]).tolist()
    before = (slice(None),) * axis
    keys = [
        before + (slice(end - node.shape[axis], end),) if node.requires_grad else None for node, end in zip(nodes, ends)
    ]
    return apply_op(
        lambda *values: indexing.concatenate(values, axis),
        lambda grad: [key and indexing.Part(grad, key).take(grad) for key in keys],
        *nodes,
        tape=tape,
        op_name="cat",
        attrs={"axis": axis},
    )


def stack(tensors, axis=0, tape=None):
    """The tensors, all of one shape, along a new axis."""
    return cat([unsqueeze(x, axis, tape) for x in as_nodes(list(tensors))], axis, tape)


# -- masks ----------------------------------------------------------------------------------------


def masked_fill(x, mask, fill=-1e9, tape=None):
    """fill where the mask is true (or not 0), else x.    ∂/∂x = 0 where the mask is true, else 1

    mask   a Tensor or an array, also of truth values, that broadcasts to the shape of x
    """
    x, mask = as_nodes((x, mask))
    if not isinstance(x, Node) or not isinstance(mask, Node):
        raise TypeError("masked_fill takes a tensor and a mask, not a number")
    if np.broadcast_shapes(x.shape, mask.shape) != x.shape:
        raise ValueError(f"a mask of shape {mask.shape} does not broadcast to shape {x.shape}")
    return apply_primitive("where", mask, fill, x, tape=tape)


def causal_mask(seq_len, queue=None):
    """A Tensor (seq_len, seq_len), 1 above the diagonal, else 0: with it, `masked_fill` leaves each
    row of scores what comes no later than the row itself.
    """
    queue = queue or manager.default("auto").queue
    return Tensor.from_host(queue, np.triu(np.ones((seq_len, seq_len)), 1))


def arange(n, queue=None):
    """The indices 0, 1, …, n − 1, an int32 Tensor: the numbers of positions, for `embedding`."""
    return Tensor.from_host(queue or manager.default("auto").queue, np.arange(n), "int32")
