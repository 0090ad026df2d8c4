"""Automatic differentiation on the device, under netcl's names: `import tinygrad_cl.netcl.autograd
as ag`.
"""

from tinygrad_cl.netcl.autograd.debug import (debug_tape, describe, detect_anomaly,
                                              set_detect_anomaly)
from tinygrad_cl.netcl.autograd.node import Node, apply_op, apply_primitive
from tinygrad_cl.netcl.autograd.modes import (enable_grad, is_grad_enabled, no_grad,
                                              set_grad_enabled)
from tinygrad_cl.netcl.autograd.ops import (
    abs, add, broadcast_to, clamp, cos, div, elu, eq, exp, ge, gelu, gt, le, leaky_relu, log, lt,
    matmul, max, maximum, mean, min, minimum, mul, ne, neg, pow, primitive, reciprocal, relu,
    reshape, rsqrt, sigmoid, sin, softplus, sqrt, square, sub, sum, swish, tanh, tensor, transpose,
    where)
from tinygrad_cl.netcl.autograd.tape import Tape
from tinygrad_cl.netcl.ops.primitives import register_primitive

__all__ = [
    "Node", "Tape", "abs", "add", "apply_op", "apply_primitive", "broadcast_to", "clamp", "cos",
    "debug_tape", "describe", "detect_anomaly", "div", "elu", "enable_grad", "eq", "exp", "ge",
    "gelu", "gt", "is_grad_enabled", "le", "leaky_relu", "log", "lt", "matmul", "max", "maximum",
    "mean", "min", "minimum", "mul", "ne", "neg", "no_grad", "pow", "primitive", "reciprocal",
    "register_primitive", "relu", "reshape", "rsqrt", "set_detect_anomaly", "set_grad_enabled",
    "sigmoid", "sin", "softplus", "sqrt", "square", "sub", "sum", "swish", "tanh", "tensor",
    "transpose", "where"]
