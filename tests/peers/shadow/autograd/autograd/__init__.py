"""autograd's names on top of engine 2.

Ours are `core` (tracing, gradients), `numpy` (functions), `extend`, `tracer` and `builtins`. The
rest of the package, that is `differential_operators`, `test_util`, `wrap_util` and `util`, is autograd's
own, found in the sources of the suite: its gradient checks judge our gradients.
"""

import os

__path__.append(os.path.join(os.environ["PEERS_SUITE"], "autograd"))

from autograd.builtins import dict, isinstance, list, tuple, type
from autograd.core import primitive
from autograd.differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)

__all__ = [
    "checkpoint",
    "deriv",
    "dict",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "isinstance",
    "jacobian",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_vjp",
    "multigrad_dict",
    "primitive",
    "tensor_jacobian_product",
    "tuple",
    "type",
    "value_and_grad",
    "vector_jacobian_product",
]
