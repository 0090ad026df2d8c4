"""Softmax, log-softmax, logsumexp and layer norm, with gradients; their formulas are in `ops.rows_table`."""

from tinygrad_cl.netcl.autograd.kept import apply_op
from tinygrad_cl.netcl.autograd.node import tensor_node
from tinygrad_cl.netcl.autograd.steps import register_step
from tinygrad_cl.netcl.autograd.types import Operand
from tinygrad_cl.netcl.core.tensor import Tensor, spec_of
from tinygrad_cl.netcl.ops.rows import along, axis_from_end, axis_to_end, compute_rows
from tinygrad_cl.netcl.ops.rows_table import (
    LAYER_NORM,
    LAYER_NORM_BACKWARD,
    LOG_SOFTMAX,
    LOG_SOFTMAX_BACKWARD,
    LOGSUMEXP,
    LOGSUMEXP_BACKWARD,
    SOFTMAX,
    SOFTMAX_BACKWARD,
)
from tinygrad_cl.netcl.ops.shapes import joint_spec, one_axis
from tinygrad_cl.netcl.tape.modes import state
from tinygrad_cl.netcl.tape.node import Node, as_nodes
from tinygrad_cl.netcl.tape.tape import Tape

__all__ = ["layer_norm", "log_softmax", "logsumexp", "softmax"]


def softmax(x: Node | Tensor, axis: int = -1, tape: Tape | None = None) -> Node:
    """y = eˣ / Σ eˣ, the sum along one axis.    ∂L/∂x = y (g − Σ g y)

    As in PyTorch, a row becomes NaN if it holds NaN or +∞, or if all of it is −∞. To mask a whole row
    and get equal probabilities, mask with a large negative number instead of −∞.
    """
    return by_rows("softmax", SOFTMAX, SOFTMAX_BACKWARD, x, axis, tape)


def log_softmax(x: Node | Tensor, axis: int = -1, tape: Tape | None = None) -> Node:
    """z = ln softmax(x), without a logarithm of 0.    ∂L/∂x = g − softmax(x) Σ g"""
    return by_rows("log_softmax", LOG_SOFTMAX, LOG_SOFTMAX_BACKWARD, x, axis, tape)


def by_rows(name, forward, backward, x, axis, tape):
    """An operation on rows, whose gradient is computed from its result and ∂L/∂(result)."""
    x = tensor_node(name, x)
    if state.trace is not None:
        return state.trace.operation(name, (x,), {"axis": axis})
    y = along(forward, axis, x.value)

    def differentiate(g):
        return [along(backward, axis, g, y)]

    return apply_op(lambda value: y, differentiate, x, tape=tape, op_name=name, attrs={"axis": axis})


def logsumexp(x: Node | Tensor, axis: int = -1, keepdims: bool = False, tape: Tape | None = None) -> Node:
    """ln Σ eˣ along one axis; −∞ if the whole row is −∞.    ∂L/∂x = g softmax(x)"""
    x = tensor_node("logsumexp", x)
    if state.trace is not None:
        return state.trace.operation("logsumexp", (x,), {"axis": axis, "keepdims": keepdims})
    one = one_axis(axis, x.shape)
    rows = axis_to_end(x.value, one)
    (out,) = compute_rows(LOGSUMEXP, (rows,))
    out = out.reshape(logsumexp_spec(x.value.spec, axis, keepdims).shape)

    def differentiate(g):
        g = g.reshape((*rows.shape[:-1], 1))
        return [axis_from_end(compute_rows(LOGSUMEXP_BACKWARD, (g, rows))[0], one)]

    return apply_op(
        lambda value: out, differentiate, x, tape=tape, op_name="logsumexp", attrs={"axis": axis, "keepdims": keepdims}
    )


def layer_norm(
    x: Node | Tensor,
    gamma: Operand | None = None,
    beta: Operand | None = None,
    eps: float = 1e-5,
    tape: Tape | None = None,
) -> Node:
    """(x − mean) / √(variance + eps) · gamma + beta: mean and variance of each row, the last axis.

    gamma, beta   of the length of a row; None for 1 and 0. With u = (x − mean) / √(variance + eps),
                  ∂L/∂gamma = Σ g u and ∂L/∂beta = Σ g, summed over the rows.
    """
    x, gamma, beta = as_nodes(
        (tensor_node("layer_norm", x), 1.0 if gamma is None else gamma, 0.0 if beta is None else beta)
    )
    for name, each in (("gamma", gamma), ("beta", beta)):
        if isinstance(each, Node) and each.shape != x.shape[-1:]:
            raise ValueError(f"layer_norm of shape {x.shape} needs {name} of shape {x.shape[-1:]}, not {each.shape}")
    inputs = (x, gamma, beta)
    if state.trace is not None:
        return state.trace.operation("layer_norm", inputs, {"eps": eps})
    x, scale, shift = [each.value if isinstance(each, Node) else each for each in inputs]
    out, mean, rstd = compute_rows(LAYER_NORM, (x, scale, shift, eps))
    tensors = [isinstance(each, Node) for each in inputs]
    wanted = tuple(there and each.requires_grad for there, each in zip(tensors, inputs[:2]))
    saved = (x, scale, mean, rstd) if any(wanted) else None

    def differentiate(g):
        parts = compute_rows(LAYER_NORM_BACKWARD, (g, *saved), wanted) if saved else (None, None)
        # The engine sums the gradients of gamma and beta over the rows.
        return [part for part, there in zip((*parts, g), tensors) if there]

    return apply_op(lambda *values: out, differentiate, *inputs, tape=tape, op_name="layer_norm", attrs={"eps": eps})


def logsumexp_spec(x, axis=-1, keepdims=False):
    """The TensorSpec of the result of logsumexp."""
    one = one_axis(axis, x.shape)
    return spec_of(x.device, (*x.shape[:one], *[1] * keepdims, *x.shape[one + 1 :]), x.dtype)


register_step("softmax", softmax, lambda x, axis: x)
register_step("log_softmax", log_softmax, lambda x, axis: x)
register_step("logsumexp", logsumexp, logsumexp_spec)
register_step("layer_norm", layer_norm, lambda *inputs, eps: joint_spec("layer_norm", 3, inputs))
