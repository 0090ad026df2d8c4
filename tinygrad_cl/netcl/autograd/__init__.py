"""Automatic differentiation on the device, under netcl's names: `import tinygrad_cl.netcl.autograd
as ag`.
"""

from tinygrad_cl.netcl.autograd.compiled_graph import CompiledGraph
from tinygrad_cl.netcl.autograd.debug import (debug_tape, describe, detect_anomaly,
                                              set_detect_anomaly)
from tinygrad_cl.netcl.autograd.indexing import (arange, cat, causal_mask, chunk, embedding,
                                                 index_select, masked_fill, narrow, split,
                                                 squeeze, stack, unsqueeze)
from tinygrad_cl.netcl.autograd.jit import CompiledFunction, JitFallback, jit_compile
from tinygrad_cl.netcl.autograd.linear import linear
from tinygrad_cl.netcl.autograd.losses import (bce_with_logits, binary_cross_entropy,
                                               binary_cross_entropy_with_logits, cross_entropy,
                                               l1_loss, mse_loss)
from tinygrad_cl.netcl.autograd.node import Node, apply_op, apply_primitive, getitem
from tinygrad_cl.netcl.autograd.modes import (enable_grad, is_grad_enabled, no_grad,
                                              set_grad_enabled)
from tinygrad_cl.netcl.autograd.normalization import (layer_norm, log_softmax, logsumexp,
                                                      softmax)
from tinygrad_cl.netcl.autograd.ops import (
    abs, absolute_error, add, broadcast_to, cast, clamp, cos, div, elu, eq, exp, ge, gelu, gt, le,
    leaky_relu, log, log_loss, logistic_loss, lt, matmul, max, maximum, mean, min, minimum, mul, ne,
    neg, pow, primitive, reciprocal, relu, reshape, rsqrt, sigmoid, sin, softplus, sqrt, square,
    squared_error, sub, sum, swish, tanh, tensor, transpose, where)
from tinygrad_cl.netcl.autograd.tape import Tape
from tinygrad_cl.netcl.autograd.trace import TraceNode
from tinygrad_cl.netcl.ops.primitives import register_primitive

__all__ = [
    "CompiledFunction", "CompiledGraph", "JitFallback", "Node", "Tape", "TraceNode", "abs",
    "absolute_error", "add", "apply_op", "apply_primitive", "arange", "bce_with_logits",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "broadcast_to", "cast", "cat",
    "causal_mask", "chunk", "clamp", "cos", "cross_entropy", "debug_tape", "describe",
    "detect_anomaly", "div", "elu", "embedding", "enable_grad", "eq", "exp", "ge", "gelu",
    "getitem", "gt", "index_select", "is_grad_enabled", "jit_compile", "l1_loss", "layer_norm",
    "le", "leaky_relu", "linear", "log", "log_loss", "log_softmax", "logistic_loss",
    "logsumexp", "lt", "masked_fill", "matmul", "max", "maximum", "mean", "min", "minimum",
    "mse_loss", "mul", "narrow", "ne", "neg", "no_grad", "pow", "primitive", "reciprocal",
    "register_primitive", "relu", "reshape", "rsqrt", "set_detect_anomaly", "set_grad_enabled",
    "sigmoid", "sin", "softmax", "softplus", "split", "sqrt", "square", "squared_error",
    "squeeze", "stack", "sub", "sum", "swish", "tanh", "tensor", "transpose", "unsqueeze",
    "where"]
