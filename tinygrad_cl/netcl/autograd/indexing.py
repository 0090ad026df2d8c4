"""Indexing, slicing, concatenation and masks. The gradient of each goes to the elements that were
taken; an element that was taken several times gets the sum.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pyopencl as cl

from tinygrad_cl.netcl.autograd.kept import apply_op
from tinygrad_cl.netcl.autograd.node import apply_primitive, getitem, tensor_node
from tinygrad_cl.netcl.autograd.ops import reshape
from tinygrad_cl.netcl.autograd.types import Axes, Operand
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor, whole
from tinygrad_cl.netcl.ops import indexing
from tinygrad_cl.netcl.ops.shapes import normal_axes
from tinygrad_cl.netcl.tape.node import Node, as_nodes
from tinygrad_cl.netcl.tape.tape import Tape

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

# -- rows by their indices ------------------------------------------------------------------------


def embedding(weight: Operand, idx: Operand, tape: Tape | None = None) -> Node:
    """Rows of a table: out[…, :] = weight[idx[…], :].

    ∂L/∂weight is 0, with the upstream gradient added to the rows that were taken, once for each time.

    weight   (rows, features)
    idx      integers of any shape: from the host, or as an int32 Tensor. The result has the shape
             idx.shape + (features,)

    ValueError for an index out of range. Indices that are on the device already are not checked: out
    of range, the features are NaN and the gradient is dropped. The gradient is deterministic: the same
    at every run.
    """
    weight = tensor_node("embedding", weight)
    if len(weight.shape) != 2:
        raise ValueError(f"a table of rows has two axes, not shape {weight.shape}")
    return select("embedding", weight, 0, idx, tape)


def index_select(x: Operand, axis: int, idx: Operand, tape: Tape | None = None) -> Node:
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


def narrow(x: Operand, axis: int, start: int, length: int, tape: Tape | None = None) -> Node:
    """`length` elements along an axis, from `start` on: x[…, start:start + length, …]."""
    x = tensor_node("narrow", x)
    (axis,) = normal_axes(axis, x.shape)
    start = start + x.shape[axis] if start < 0 else start
    if not 0 <= start <= start + length <= x.shape[axis]:
        raise ValueError(f"axis {axis} of shape {x.shape} has no part of {length} from {start} on")
    return getitem(x, (slice(None),) * axis + (slice(start, start + length),), tape)


def split(
    x: Operand, split_size_or_sections: int | Sequence[int], axis: int = 0, tape: Tape | None = None
) -> list[Node]:
    """Split x along an axis into a list of parts: of one size, the last one perhaps smaller; or of the
    sizes in a list, which add up to the length of the axis.
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


def chunk(x: Operand, chunks: int, axis: int = 0, tape: Tape | None = None) -> list[Node]:
    """Split x along an axis into a list of `chunks` parts of equal size, the last one perhaps smaller.
    As in PyTorch, there are fewer parts where equal sizes do not give that many.
    """
    x = tensor_node("chunk", x)
    (axis,) = normal_axes(axis, x.shape)
    if whole("the number of parts", chunks) < 1:
        raise ValueError(f"a tensor has at least 1 part, not {chunks}")
    return split(x, -(-x.shape[axis] // chunks) or [0] * chunks, axis, tape)


def unsqueeze(x: Operand, axis: int, tape: Tape | None = None) -> Node:
    """x with a new axis of length 1 at position `axis`."""
    x = tensor_node("unsqueeze", x)
    (axis,) = normal_axes(axis, (*x.shape, 1))
    return reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]), tape)


def squeeze(x: Operand, axis: Axes = None, tape: Tape | None = None) -> Node:
    """x without an axis of length 1, or without all of them."""
    x = tensor_node("squeeze", x)
    gone = [n for n, length in enumerate(x.shape) if length == 1]
    if axis is not None:
        gone = normal_axes(axis, x.shape)
        if any(x.shape[axis] != 1 for axis in gone):
            raise ValueError(f"axis {axis} of shape {x.shape} has not length 1")
    return reshape(x, [length for n, length in enumerate(x.shape) if n not in gone], tape)


# -- several tensors as one -----------------------------------------------------------------------


def cat(tensors: Iterable[Operand], axis: int = 0, tape: Tape | None = None) -> Node:
    """Concatenate tensors along an axis. Each gets its part of the gradient."""
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


def stack(tensors: Iterable[Operand], axis: int = 0, tape: Tape | None = None) -> Node:
    """Stack tensors of one shape along a new axis."""
    return cat([unsqueeze(x, axis, tape) for x in as_nodes(list(tensors))], axis, tape)


# -- masks ----------------------------------------------------------------------------------------


def masked_fill(x: Operand, mask: Operand, fill: float = -1e9, tape: Tape | None = None) -> Node:
    """fill where the mask is true (or not 0), else x.    ∂/∂x = 0 where the mask is true, else 1

    mask   a Tensor or an array, also of booleans, that broadcasts to the shape of x
    """
    x, mask = as_nodes((x, mask))
    if not isinstance(x, Node) or not isinstance(mask, Node):
        raise TypeError("masked_fill takes a tensor and a mask, not a number")
    if np.broadcast_shapes(x.shape, mask.shape) != x.shape:
        raise ValueError(f"a mask of shape {mask.shape} does not broadcast to shape {x.shape}")
    return apply_primitive("where", mask, fill, x, tape=tape)


def causal_mask(seq_len: int, queue: cl.CommandQueue | None = None) -> Tensor:
    """A causal mask for `masked_fill`: a Tensor (seq_len, seq_len), 1 above the diagonal and 0 elsewhere.
    Position i keeps its scores for the positions 0, …, i.
    """
    queue = queue or manager.default("auto").queue
    return Tensor.from_host(queue, np.triu(np.ones((seq_len, seq_len)), 1))


def arange(n: int, queue: cl.CommandQueue | None = None) -> Tensor:
    """The indices 0, 1, …, n − 1 as an int32 Tensor, such as positions for `embedding`."""
    return Tensor.from_host(queue or manager.default("auto").queue, np.arange(n), "int32")
