"""How wrong are the predictions? Losses, each the mean, the sum or the list of what it says of each
number, or of each row.

The elementwise ones are a primitive of the table (`ops.table`) and a mean; the formulas of
cross-entropy stand in `ops.rows_table`.

reduction   "mean", "sum", or "none": as many numbers as there were pairs, or rows, to compare
"""

import math

import numpy as np

from tinygrad_cl.netcl.autograd.kept import apply_op
from tinygrad_cl.netcl.autograd.node import apply_primitive, tensor_node
from tinygrad_cl.netcl.autograd.ops import mean, sum
from tinygrad_cl.netcl.autograd.steps import register_step
from tinygrad_cl.netcl.core.device import INT32
from tinygrad_cl.netcl.core.tensor import Tensor, layout_of
from tinygrad_cl.netcl.ops.indexing import index_tensor
from tinygrad_cl.netcl.ops.reduction import reduce
from tinygrad_cl.netcl.ops.rows import compute_rows
from tinygrad_cl.netcl.ops.rows_table import (
    CROSS_ENTROPY,
    CROSS_ENTROPY_BACKWARD,
    SOFT_CROSS_ENTROPY,
    SOFT_CROSS_ENTROPY_BACKWARD,
)
from tinygrad_cl.netcl.tape.modes import state
from tinygrad_cl.netcl.tape.node import Node, as_nodes

__all__ = [
    "bce_with_logits",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "l1_loss",
    "mse_loss",
]


def mse_loss(pred, target, tape=None, reduction="mean"):
    """(pred − target)².    ∂/∂pred = 2 (pred − target), ∂/∂target the same, negative"""
    return elementwise_loss("mse_loss", "squared_error", pred, target, tape, reduction)


def l1_loss(pred, target, tape=None, reduction="mean"):
    """|pred − target|.    ∂/∂pred = the sign of pred − target, ∂/∂target the same, negative"""
    return elementwise_loss("l1_loss", "absolute_error", pred, target, tape, reduction)


def binary_cross_entropy(pred, target, tape=None, reduction="mean"):
    """−t ln p − (1 − t) ln(1 − p), of probabilities p and targets t from 0 to 1.

    ∂/∂p = (p − t) / (p (1 − p)). As in PyTorch, a logarithm counts as −100 at least, and p (1 − p)
    as 10⁻¹² at least: p = 0 and p = 1 are no trouble. NaN where p is no probability.
    """
    return elementwise_loss("binary_cross_entropy", "log_loss", pred, target, tape, reduction)


def binary_cross_entropy_with_logits(logits, target, tape=None, reduction="mean"):
    """Binary cross-entropy of p = σ(x), from x: −ln σ(x) where the target is 1, −ln σ(−x) where it
    is 0.

    max(x, 0) − x t + ln(1 + e⁻|x|), which never takes the logarithm of 0.    ∂/∂x = σ(x) − t
    """
    return elementwise_loss("binary_cross_entropy_with_logits", "logistic_loss", logits, target, tape, reduction)


bce_with_logits = binary_cross_entropy_with_logits


def elementwise_loss(name, primitive, pred, target, tape, reduction):
    """A primitive of prediction and target, of one shape, reduced."""
    pred, target = as_nodes((pred, target))
    if isinstance(pred, Node) and isinstance(target, Node) and pred.shape != target.shape:
        raise ValueError(
            f"{name}: the prediction has shape {pred.shape}, the target {target.shape}; they must be equal"
        )
    check_reduction(reduction)
    loss = apply_primitive(primitive, pred, target, tape=tape)
    if reduction == "none":
        return loss
    return mean(loss, tape=tape) if reduction == "mean" else sum(loss, tape=tape)


def cross_entropy(logits, target, tape=None, reduction="mean"):
    """−ln softmax(logits) at the target, for each row of logits (…, classes).

    target   class indices of shape (…): whole numbers from the host, or a Tensor of any dtype. Or
             probabilities of the shape of `logits`, which may require a gradient: then
             −Σ target · ln softmax(logits)

    ∂L/∂logits = (softmax(logits) − target) / rows for the mean, with an index counting as a 1 at
    its place. One launch for the rows, one for the gradient.

    ValueError for another shape of target, and for an index that is no class; where it lies on the
    device already, its row becomes NaN, in the loss and in the gradient.
    """
    logits = tensor_node("cross_entropy", logits)
    check_reduction(reduction)
    shape = logits.shape
    given = target.shape if isinstance(target, (Node, Tensor)) else np.shape(target)
    if state.trace is not None and given in (shape, shape[:-1]):
        return state.trace.operation("cross_entropy", (logits, target), {"reduction": reduction})
    if shape and given == shape[:-1]:
        return index_cross_entropy(logits, target, tape, reduction)
    if shape and given == shape:
        return soft_cross_entropy(*as_nodes((logits, target)), tape, reduction)
    raise ValueError(
        f"cross_entropy of logits {shape} needs class indices of shape {shape[:-1]}, "
        f"or probabilities of shape {shape}, not a target of shape {given}"
    )


def cross_entropy_layout(logits, target, reduction="mean"):
    """The Layout of the result of cross_entropy."""
    dtypes = [each.dtype for each in (logits, target) if each.dtype != INT32]
    return layout_of(logits.device, logits.shape[:-1] if reduction == "none" else (), np.result_type(*dtypes))


register_step("cross_entropy", cross_entropy, cross_entropy_layout)


def index_cross_entropy(logits, target, tape, reduction):
    """Cross-entropy with class indices."""
    x = logits.value
    target = target.value if isinstance(target, Node) else target
    if not isinstance(target, Tensor):
        target = index_tensor(target, x, below=x.shape[-1])
    target = target.reshape((*target.shape, 1))
    loss, m, s = compute_rows(CROSS_ENTROPY, (x, target))
    shape = loss.shape

    def differentiate(g):
        g, scale = spread(g, shape, reduction)
        return compute_rows(CROSS_ENTROPY_BACKWARD, (g, scale, x, m, s, target))

    out = reduced(loss, reduction)
    attrs = {"reduction": reduction}
    return apply_op(lambda value: out, differentiate, logits, tape=tape, op_name="cross_entropy", attrs=attrs)


def soft_cross_entropy(logits, target, tape, reduction):
    """Cross-entropy with probabilities."""
    x, p = logits.value, target.value
    loss, m, s, total = compute_rows(SOFT_CROSS_ENTROPY, (x, p))
    wanted, shape = (logits.requires_grad, target.requires_grad), loss.shape

    def differentiate(g):
        g, scale = spread(g, shape, reduction)
        return compute_rows(SOFT_CROSS_ENTROPY_BACKWARD, (g, scale, x, p, m, s, total), wanted)

    out = reduced(loss, reduction)
    attrs, inputs = {"reduction": reduction}, (logits, target)
    return apply_op(lambda *values: out, differentiate, *inputs, tape=tape, op_name="cross_entropy", attrs=attrs)


def reduced(loss, reduction):
    """The losses of rows, (…, 1), as what the caller wants."""
    if reduction == "none":
        return loss.reshape(loss.shape[:-1])
    return reduce(loss, reduction)


def spread(g, shape, reduction):
    """(the upstream gradient as rows see it, losses of this shape; the number it is multiplied by)."""
    if reduction == "none":
        return g.reshape(shape), 1
    return g, 1 / max(math.prod(shape), 1) if reduction == "mean" else 1


def check_reduction(reduction):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'reduction is "mean", "sum" or "none", not {reduction!r}')
