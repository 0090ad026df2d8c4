"""A layer as one operation: product, bias and activation in one launch."""

import functools
import math

from tinygrad_cl.netcl.autograd.kept import apply_op
from tinygrad_cl.netcl.autograd.rules import PrimitiveRule
from tinygrad_cl.netcl.autograd.steps import register_step
from tinygrad_cl.netcl.autograd.types import Operand
from tinygrad_cl.netcl.core.tensor import spec_of
from tinygrad_cl.netcl.ops.matmul import matmul
from tinygrad_cl.netcl.ops.primitives import Formula, get_primitive
from tinygrad_cl.netcl.ops.reduction import reduce_sum
from tinygrad_cl.netcl.tape.modes import state
from tinygrad_cl.netcl.tape.node import Node, as_nodes
from tinygrad_cl.netcl.tape.tape import Tape

__all__ = ["linear"]


def linear(
    x: Operand,
    weight: Operand,
    bias: Operand | None = None,
    activation: str | None = None,
    tape: Tape | None = None,
    **attrs: float,
) -> Node:
    """f(x · W + b), of shape (…, in) → (…, out), for W (in, out), b (out,), and an activation f.

    activation, attrs   the name of a primitive of one input, as "relu" or "gelu", and its
                        constants; None: f(z) = z

    With z = x · W + b, and g = ∂L/∂f(z) · f′(z):

    ∂L/∂x = g · Wᵀ      ∂L/∂W = xᵀ · g      ∂L/∂b = Σ g over the rows

    z is stored only if the formula of f′ uses z, as that of gelu does; that of relu uses f(z).

    ValueError if the shapes do not fit, TypeError if f does not take one input.
    """
    inputs = as_nodes((x, weight) if bias is None else (x, weight, bias))
    if not all(isinstance(each, Node) for each in inputs):
        raise TypeError("linear takes tensors, not numbers")
    check_shapes(*[each.shape for each in inputs])
    if activation is None and attrs:
        raise TypeError(f"linear without an activation takes no {', '.join(attrs)}")
    primitive = None if activation is None else get_primitive(activation)
    form = form_of(primitive, tuple(attrs.items()), bias is not None)
    attrs = {"activation": activation, **attrs}
    if state.trace is not None:
        return state.trace.operation("linear", inputs, attrs)
    needs = [each.requires_grad and state.enabled for each in inputs]
    out, rule = layer(form, needs, *[each.value for each in inputs])
    return apply_op(lambda *values: out, rule, *inputs, tape=tape, op_name="linear", attrs=attrs)


def layer_spec(x, weight, bias=None, activation=None, **attrs):
    """The TensorSpec of a layer's result."""
    return spec_of(x.device, (*x.shape[:-1], weight.shape[1]), x.dtype)


register_step("linear", linear, layer_spec)


def check_shapes(x, weight, bias=None):
    """ValueError if they are not (…, in), (in, out) and (out,)."""
    fit = len(weight) == 2 and x[-1:] == weight[:1] and bias in (None, weight[1:])
    if not fit:
        also = "" if bias is None else f" and {bias}"
        raise ValueError(
            f"linear takes x of shape (…, in), a weight (in, out) and a bias (out,), not {x}, {weight}{also}"
        )


class Form:
    """What one kind of layer computes.

    value           the Formula of f(z), of the product and of the bias, if there is one
    both            the Formula of f(z) and z, if the formula of f′ uses z; else None
    rule            the PrimitiveRule of f, None for f(z) = z
    differentiable  whether f has a gradient
    """

    def __init__(self, primitive, attrs, biased):
        z, arity = ("(v0 + v1)", 2) if biased else ("v0", 1)
        if primitive is None:
            self.value, self.both = Formula("linear", (z,), arity), None
            self.rule, self.differentiable = None, True
            return
        if primitive.arity != 1:
            raise TypeError(f"linear takes an activation of one input; {primitive.name} has {primitive.arity}")
        y = primitive.forward([z], primitive.constants(attrs))
        self.value = Formula(f"linear_{primitive.name}", (y,), arity)
        self.differentiable = primitive.gradients(attrs) != [None]
        self.rule = PrimitiveRule(primitive, attrs, (True,)) if self.differentiable else None
        reads_z = self.differentiable and 0 in self.rule.saved
        self.both = Formula(self.value.name, (y, z), arity) if reads_z else None


@functools.lru_cache(maxsize=256)
def form_of(primitive, attrs, biased):
    """The Form of a record of the table, or None, and its constants, the same for the same."""
    return Form(primitive, dict(attrs), biased)


def layer(form, needs, x, weight, *bias):
    """(f(x · W + b), the rule of its gradients with the tensors that they need; None if f has none).

    needs   for x, the weight and the bias, if there is one, whether a gradient is wanted
    """
    shape, columns = x.shape, weight.shape[1]
    rows, z = x.reshape((math.prod(shape[:-1]), shape[-1])), None
    if form.both and any(needs):
        y, z = matmul(rows, weight, epilogue=form.both, operands=bias)
    else:
        y = matmul(rows, weight, epilogue=form.value, operands=bias)
    out = y.reshape((*shape[:-1], columns))
    saved = [(z, y)[number] for number in form.rule.saved] if form.rule else []
    rows, weight = rows if needs[1] else None, weight if needs[0] else None

    def differentiate(grad):
        grad = grad.reshape((math.prod(shape[:-1]), columns))
        if form.rule:
            (grad,) = form.rule.run(saved, grad)
        parts = [
            lambda: matmul(grad, weight, transpose_b=True).reshape(shape),
            lambda: matmul(rows, grad, transpose_a=True),
            lambda: reduce_sum(grad, 0),
        ]
        return [part() if need else None for part, need in zip(parts, needs)]

    return out, differentiate if form.differentiable else None
