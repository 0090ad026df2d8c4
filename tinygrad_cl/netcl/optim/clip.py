"""Gradients that are too long."""

import functools

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import cast, elementwise_binary, elementwise_unary
from tinygrad_cl.netcl.ops.reduction import reduce_sum
from tinygrad_cl.netcl.optim.optimizer import at_least_0

add = functools.partial(elementwise_binary, expression="ADD(v0, v1)")


def clip_grad_norm_(params, max_norm):
    """Scale all gradients together so that their norm is max_norm at most; return the norm before,
    a Tensor of one number, or None where no parameter has a gradient.

    The norm is √Σg² over all numbers of all gradients, so the direction stays. Nothing is read on
    the host, so this can be captured and replayed. A scaled gradient lies in memory of its own:
    somebody may still hold the old one.
    """
    params = [params] if isinstance(params, Tensor) else params
    params = [p for p in params if p.grad is not None]
    max_norm = at_least_0("max_norm", max_norm)
    if not params:
        return None
    squares = [reduce_sum(elementwise_unary(p.grad, expression="v0 * v0")) for p in params]
    norm = elementwise_unary(functools.reduce(add, squares), expression="SQRT(v0)")
    scale = elementwise_binary(norm, max_norm, expression="v0 > v1 ? v1 / v0 : (V)(1)")
    for p in params:
        factor = scale if scale.dtype == p.dtype else cast(scale, p.dtype)
        p.grad = elementwise_binary(p.grad, factor, expression="MUL(v0, v1)")
    return norm
