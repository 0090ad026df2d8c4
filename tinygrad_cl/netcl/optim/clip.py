"""Gradient clipping."""

import functools
from collections.abc import Iterable

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import cast, elementwise_binary, elementwise_unary
from tinygrad_cl.netcl.ops.many import sum_of_squares, update
from tinygrad_cl.netcl.ops.primitives import Formula
from tinygrad_cl.netcl.optim.optimizer import at_least_0

add = functools.partial(elementwise_binary, expression="ADD(v0, v1)")
SCALED = Formula("scaled", ("v1 * v2",), 3)  # v0 is the output


def clip_grad_norm_(params: Tensor | Iterable[Tensor], max_norm: float) -> Tensor | None:
    """Scale all gradients by one factor so that their norm is at most max_norm. Return the norm
    before, a Tensor with one element, or None if no parameter has a gradient.

    The norm is √Σg² over the elements of all gradients, so the direction does not change. Nothing
    is read on the host, so this can be captured and replayed. Each scaled gradient is a new Tensor,
    since the old one may still be in use.
    """
    params = [params] if isinstance(params, Tensor) else params
    params = [p for p in params if p.grad is not None]
    max_norm = at_least_0("max_norm", max_norm)
    if not params:
        return None
    kinds: dict = {}  # {dtype: parameters}
    for p in params:
        kinds.setdefault(p.dtype, []).append(p)
    squares = [sum_of_squares([p.grad for p in group]) for group in kinds.values()]
    norm = elementwise_unary(functools.reduce(add, squares), expression="SQRT(v0)")
    scale = elementwise_binary(norm, max_norm, expression="v0 > v1 ? v1 / v0 : (V)(1)")
    for dtype, group in kinds.items():
        factor = scale if scale.dtype == dtype else cast(scale, dtype)
        fresh = [Tensor.from_shape(p.queue, p.shape, dtype) for p in group]
        update(SCALED, [(new, p.grad) for new, p in zip(fresh, group)], (factor,))
        for new, p in zip(fresh, group):
            p.grad = new
    return norm
