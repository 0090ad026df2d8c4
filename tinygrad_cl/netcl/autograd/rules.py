"""Vector-Jacobian products (VJPs) on Tensors: from the gradient of a result, those of its inputs.

Each function here returns the VJP of one call, a function of the upstream gradient, which keeps the
tensors that it needs and no others. Where an input was broadcast, a VJP may return the gradient in
the shape of the result: the engine sums it.
"""

import math
import re

from tinygrad_cl.netcl.autograd.kept import Rule
from tinygrad_cl.netcl.ops.elementwise import broadcast_to, compute, compute_all, elementwise_binary
from tinygrad_cl.netcl.ops.matmul import matmul
from tinygrad_cl.netcl.ops.primitives import Formula, get_primitive
from tinygrad_cl.netcl.ops.reduction import reduce_sum
from tinygrad_cl.netcl.ops.shapes import normal_axes

_rules: dict[tuple, "PrimitiveRule"] = {}


class PrimitiveRule:
    """The backward kernel of a primitive, for the inputs that need a gradient: one launch for all of them.

    formula    of v0, the upstream gradient, and of the saved tensors; None if no kernel is needed
    saved      which of (input 0, input 1, …, result) the kernel reads
    gradients  for each tensor among the inputs: None, -1 for the upstream gradient as it is, or the
               number of an output
    """

    def __init__(self, primitive, attrs, needs):
        arity = primitive.arity
        constants = primitive.constants(attrs or {})

        def gradients_in_c(names):
            found = primitive.backward(names[:arity], "v0", constants, names[arity])
            return [each if each and need else None for each, need in zip(found, needs)]

        trial = [f"saved{number}_" for number in range(arity + 1)]
        text = " ".join(each for each in gradients_in_c(trial) if each)
        self.saved = [number for number, name in enumerate(trial) if re.search(rf"\b{name}\b", text)]
        names = [
            f"v{self.saved.index(number) + 1}" if number in self.saved else name for number, name in enumerate(trial)
        ]
        expressions, self.gradients = [], []
        for expression, need in zip(gradients_in_c(names), needs):
            if need is None:
                continue
            if expression is None or expression == "v0":
                self.gradients.append(None if expression is None else -1)
            else:
                self.gradients.append(len(expressions))
                expressions.append(expression)
        name, arity = f"{primitive.name}_backward", len(self.saved) + 1
        self.formula = Formula(name, tuple(expressions), arity) if expressions else None
        self.single = len(expressions) == 1

    def run(self, saved, grad):
        """A list: for each input that is a tensor, its gradient or None."""
        if self.formula is None:
            outputs = (grad,)
        elif self.single:
            outputs = (compute(self.formula, (grad, *saved)), grad)
        else:
            outputs = (*compute_all(self.formula, (grad, *saved)), grad)
        return [None if number is None else outputs[number] for number in self.gradients]


def primitive_rule(primitive, attrs, values, out, needs):
    """The VJP of one call of a primitive.

    values, out   inputs (Tensors and numbers) and result
    needs         for each input whether it needs a gradient; None for a number
    """
    key = (primitive, needs, *attrs.items()) if attrs else (primitive, needs)
    rule = _rules.get(key)
    if rule is None:
        rule = _rules[key] = PrimitiveRule(primitive, attrs, needs)
    inputs = [*values, out]
    return Rule(primitive.name, rule.run, [inputs[number] for number in rule.saved])


def matmul_rule(a, b, transpose_a, transpose_b, needs):
    """The VJP of C = A · B: ∂L/∂A = ∂L/∂C · Bᵀ, ∂L/∂B = Aᵀ · ∂L/∂C. With transpose_a, C = Aᵀ · B,
    and ∂L/∂A is the transpose of that; likewise with transpose_b.

    A vector counts as a matrix of one row on the left, of one column on the right.
    """
    row, column = a.ndim == 1, b.ndim == 1
    ta, tb = transpose_a and not row, transpose_b and not column
    first = (a.reshape((1, *a.shape)) if row else a) if needs[1] else None
    second = (b.reshape((*b.shape, 1)) if column else b) if needs[0] else None

    def differentiate(grad):
        shape = [*grad.shape, *[1] * column]
        if row:
            shape.insert(len(shape) - 1, 1)
        c = grad.reshape(tuple(shape))
        grad_a = grad_b = None
        if needs[0]:
            grad_a = matmul(second, c, tb, True) if ta else matmul(c, second, False, not tb)
            grad_a = grad_a.reshape((*grad_a.shape[:-2], grad_a.shape[-1])) if row else grad_a
        if needs[1]:
            grad_b = matmul(c, first, True, ta) if tb else matmul(first, c, not ta, False)
            grad_b = grad_b.reshape(grad_b.shape[:-1]) if column else grad_b
        return [grad_a, grad_b]

    return differentiate


def sum_rule(x, axis, mean=False):
    """The VJP of a sum or mean: ∂Σx/∂x = 1, or 1/n; the upstream gradient, broadcast to the shape of x."""
    shape = x.shape
    axes = normal_axes(axis, shape)
    kept = tuple(1 if axis in axes else length for axis, length in enumerate(shape))
    count = math.prod(shape[axis] for axis in axes)

    def differentiate(grad):
        if mean and count > 1:
            grad = elementwise_binary(grad, count, expression="DIV(v0, v1)")
        return [broadcast_to(grad.reshape(kept), shape)]

    return differentiate


SHARE = Formula("share", ("(v0 != 0 ? v1 / v2 : v2 != 0 ? (V)(0) : (V)(NAN))",), 3)


def max_min_rule(x, out, axis):
    """The VJP of max: ∂max/∂x = 1 at the largest element, 0 elsewhere; ties share it. Likewise for min.

    What is not the largest gets 0 of an infinite gradient, too; where the largest is NaN, all get NaN.
    """
    axes = normal_axes(axis, x.shape)
    kept = tuple(1 if axis in axes else length for axis, length in enumerate(x.shape))

    def differentiate(grad):
        hit = compute(get_primitive("eq").forward_formula(), (x, out.reshape(kept)))
        return [compute(SHARE, (hit, grad.reshape(kept), reduce_sum(hit, axes, keepdims=True)))]

    return differentiate
