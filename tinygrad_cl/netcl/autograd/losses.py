"""Losses: errors of predictions, for each element or each row, and their mean or sum.

The elementwise ones are a primitive of the table (`ops.table`) and a reduction; the formulas of
cross-entropy are in `ops.rows_table`.

reduction   "mean", "sum", or "none": a result for each element, or for each row
"""

import math

import numpy as np

from tinygrad_cl.netcl.autograd.kept import apply_op
from tinygrad_cl.netcl.autograd.node import apply_primitive, tensor_node
from tinygrad_cl.netcl.autograd.ops import mean, sum
from tinygrad_cl.netcl.autograd.steps import register_step
from tinygrad_cl.netcl.autograd.types import LossReduction, Operand
from tinygrad_cl.netcl.core.device import INT32
from tinygrad_cl.netcl.core.tensor import Tensor, spec_of
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
from tinygrad_cl.netcl.tape.tape import Tape

__all__ = [
    "bce_with_logits",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "l1_loss",
    "mse_loss",
]


def mse_loss(pred: Operand, target: Operand, tape: Tape | None = None, reduction: LossReduction = "mean") -> Node:
    """(pred − target)².    ∂/∂pred = 2 (pred − target), ∂/∂target = −∂/∂pred"""
    return elementwise_loss("mse_loss", "squared_error", pred, target, tape, reduction)


def l1_loss(pred: Operand, target: Operand, tape: Tape | None = None, reduction: LossReduction = "mean") -> Node:
    """|pred − target|.    ∂/∂pred = sign(pred − target), ∂/∂target = −∂/∂pred"""
    return elementwise_loss("l1_loss", "absolute_error", pred, target, tape, reduction)


def binary_cross_entropy(
    pred: Operand, target: Operand, tape: Tape | None = None, reduction: LossReduction = "mean"
) -> Node:
    """−t ln p − (1 − t) ln(1 − p), of probabilities p and targets t from 0 to 1.

    ∂/∂p = (p − t) / (p (1 − p)). As in PyTorch, logarithms are clamped to at least −100 and
    p (1 − p) to at least 10⁻¹², so p = 0 and p = 1 give finite results. NaN where p is not from 0 to 1.
    """
    return elementwise_loss("binary_cross_entropy", "log_loss", pred, target, tape, reduction)


def binary_cross_entropy_with_logits(
    logits: Operand, target: Operand, tape: Tape | None = None, reduction: LossReduction = "mean"
) -> Node:
    """Binary cross-entropy of p = σ(x), from x: −ln σ(x) for target 1, −ln σ(−x) for target 0.

    max(x, 0) − x t + ln(1 + e⁻|x|), which never takes the logarithm of 0.    ∂/∂x = σ(x) − t
    """
    return elementwise_loss("binary_cross_entropy_with_logits", "logistic_loss", logits, target, tape, reduction)


bce_with_logits = binary_cross_entropy_with_logits


def elementwise_loss(name, primitive, pred, target, tape, reduction):
    """A primitive of prediction and target, which have one shape, and its reduction."""
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


def cross_entropy(
    logits: Node | Tensor, target: Operand, tape: Tape | None = None, reduction: LossReduction = "mean"
) -> Node:
    """−ln softmax(logits) at the target, for each row of logits (…, classes).

    target   class indices of shape (…): integers from the host, or a Tensor of any dtype. Or
             probabilities of the shape of `logits`, which may require a gradient: then the loss is
             −Σ target · ln softmax(logits)

    ∂L/∂logits = (softmax(logits) − target) / rows for the mean, where an index stands for its one-hot
    row. One launch for the rows, one for the gradient.

    ValueError for a target of another shape, and for an index out of range. Indices that are on the
    device already are not checked: out of range, the row is NaN, in the loss and in the gradient.
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


def cross_entropy_spec(logits, target, reduction="mean"):
    """The TensorSpec of the result of cross_entropy."""
    dtypes = [each.dtype for each in (logits, target) if each.dtype != INT32]
    return spec_of(logits.device, logits.shape[:-1] if reduction == "none" else (), np.result_type(*dtypes))


register_step("cross_entropy", cross_entropy, cross_entropy_spec)


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
    """The losses of the rows, of shape (…, 1), reduced."""
    if reduction == "none":
        return loss.reshape(loss.shape[:-1])
    return reduce(loss, reduction)


def spread(g, shape, reduction):
    """(the upstream gradient, broadcastable to the rows, losses of this shape; the number that it is multiplied by)."""
    if reduction == "none":
        return g.reshape(shape), 1
    return g, 1 / max(math.prod(shape), 1) if reduction == "mean" else 1


def check_reduction(reduction):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'reduction is "mean", "sum" or "none", not {reduction!r}')
