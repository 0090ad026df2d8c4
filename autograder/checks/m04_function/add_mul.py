"""Check 3 of lesson 04: the rules of the sum and of the product."""

import numpy as np

from autograder.checks.cases import STRETCHES
from autograder.checks.check import exercise
from autograder.checks.m04_function.inputs import of, operands

function_add_mul = exercise(
    "function.add_mul", "The rules of the sum and of the product.", needs=("function.context", "function.apply")
)


def value(student, case):
    return case.f(case.a, case.b).data


def rule(student, case):
    y, grad = case.f(case.a, case.b), student.Tensor(case.grad)
    case.f(case.c, case.c)
    yield
    node = y.grad_fn
    parts = node.function.backward(node, grad)
    found = {f"for {name}": student.raw(part) for name, part, need in zip("ab", parts, node.needs_input_grad) if need}
    return found | {"parts": len(parts), "a": student.raw(case.a), "b": student.raw(case.b), "grad": grad.data}


def kept(student, case):
    y = case.f(case.a, case.b)
    node = y.grad_fn
    bags = [x for name, x in vars(node).items() if name != "next_nodes"]
    things = [student.raw(x) for bag in bags for x in (bag if isinstance(bag, (tuple, list)) else [bag])]
    found = {f"{name} is kept": any(x is student.raw(getattr(case, name)) for x in things) for name in "ab"}
    return found | {"arrays kept": sum(isinstance(x, np.ndarray) and x.ndim > 0 for x in things), "product": y.data}


function_add_mul.aspect(
    "the product's rule", 0.75, cases=operands() * of("a * b", "Mul.apply(a, b)"), device=4, few=22
)(rule)
function_add_mul.aspect("the sum's rule", 0.5, cases=operands() * of("a + b", "Add.apply(a, b)"), device=4, few=16)(
    rule
)
function_add_mul.aspect("sum and product", 0.25, cases=operands(STRETCHES) * of("a + b", "a * b"), few=12)(value)
function_add_mul.aspect(
    "a factor is saved only if it is needed",
    0.5,
    cases=operands() * of("a * b"),
    at_most=("arrays kept", "a is kept", "b is kept"),
    corner=True,
    few=10,
)(kept)


@function_add_mul.on_device
def names(on, reference):
    return {
        "Add": on.function(lambda a, b: a + b, base=reference["Function"]),
        "Mul": on.function(lambda a, b: a * b, base=reference["Function"]),
    }


SAVE = "ctx.save_for_backward(a if b_needed else None, b if a_needed else None)"
ANSWER = "return grad * b if a_needed else None, grad * a if b_needed else None"

function_add_mul.mistake(
    "each factor gets its own value, not the other's",
    swap=(
        "grad * b if a_needed else None, grad * a if b_needed",
        "grad * a if a_needed else None, grad * b if b_needed",
    ),
    hint=["Wiggle only a: how much does a · b move? Is that a, or is it b?", "∂L/∂a = grad · b."],
)
function_add_mul.mistake(
    "the two gradients of the product are in the wrong order",
    swap=(ANSWER, "return grad * a if b_needed else None, grad * b if a_needed else None"),
    hint=["The first gradient belongs to the first input. What is it multiplied by?", "(grad · b, grad · a)."],
)
function_add_mul.mistake(
    "the product's rule ignores the gradient that arrives",
    swap=(ANSWER, "return b if a_needed else None, a if b_needed else None"),
    hint=["What if the result counts three times as much? Look at `grad`.", "grad * b, grad * a."],
)
function_add_mul.mistake(
    "the sum's rule ignores the gradient that arrives",
    swap=("return grad, grad", "return Tensor(np.ones(grad.shape)), Tensor(np.ones(grad.shape))"),
    hint=["1 is the local derivative. And what has come down the path so far?", "`return grad, grad`."],
)
function_add_mul.mistake(
    "the sum shares the gradient out: half for each",
    swap=("return grad, grad", "return grad * 0.5, grad * 0.5"),
    hint=["If only a goes up by a bit, how far does a + b move?", "The whole of it for each: `return grad, grad`."],
)
function_add_mul.mistake(
    "the sum has one gradient for two inputs",
    swap=("return grad, grad", "return (grad,)"),
    hint=["One gradient for each input, also where they are the same.", "`return grad, grad`."],
)
function_add_mul.mistake(
    "both factors are saved, whether needed or not",
    swap=[
        (SAVE, "ctx.save_for_backward(a, b)"),
        ("        a_needed, b_needed = ctx.needs_input_grad\n        ctx", "        ctx"),
    ],
    hint=[
        "x * w with a constant x: w's gradient needs x. Who needs w?",
        "`a if b_needed else None`, and the other way round for b.",
    ],
)
function_add_mul.mistake(
    "each factor is saved for its own gradient, not for the other's",
    swap=[(SAVE, "ctx.save_for_backward(a if a_needed else None, b if b_needed else None)")],
    hint=[
        "∂L/∂a = grad · b. So if only a's gradient is wanted, which of the two must be kept?",
        "`a if b_needed else None`.",
    ],
)
function_add_mul.mistake(
    "both gradients are computed, though a factor that nobody needs was not saved",
    swap=[
        ("        a_needed, b_needed = ctx.needs_input_grad\n        return", "        return"),
        (ANSWER.removeprefix("return "), "grad * b, grad * a"),
    ],
    hint=[
        "In x * 2.5 nobody wants a gradient for 2.5, so x was not saved. What is a in your backward?",
        "`grad * b if a_needed else None`, and the same for b.",
    ],
)
function_add_mul.mistake(
    "the factors are saved as attributes of the class, so the next call overwrites them",
    swap=[
        (SAVE, "Mul.a, Mul.b = a, b"),
        ("a, b = ctx.saved_tensors", "a, b = Tensor.wrap(np.asarray(Mul.a)), Tensor.wrap(np.asarray(Mul.b))"),
    ],
    hint=[
        "Two products, then both backward. Whose factors are there?",
        "What belongs to one call goes on ctx: `ctx.save_for_backward(…)`.",
    ],
)
function_add_mul.mistake(
    "the matrix product, not number by number",
    swap=("return a * b\n", "return np.asarray(a) @ np.asarray(b).T\n"),
    hint=["What shape does the product have?", "`a * b`."],
)
function_add_mul.mistake(
    "the product's forward adds: copied from Add",
    swap=("return a * b\n", "return a + b\n"),
    hint=["Look at what forward returns.", "`a * b`."],
)
function_add_mul.variant(
    "what is not needed is computed, too, where the factor is there",
    swap=[
        (
            "        a_needed, b_needed = ctx.needs_input_grad\n        return grad * b if a_needed else None, grad * a if b_needed else None",
            "        return [None if b is None else b * grad, None if a is None else a * grad]",
        )
    ],
)
function_add_mul.variant(
    "with arrays in place of tensors",
    source="""
class Add(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward()
        return np.add(a, b)

    @staticmethod
    def backward(ctx, grad):
        return [grad.data, grad.data.copy()]


class Mul(Function):
    @staticmethod
    def forward(ctx, a, b):
        first = second = None
        if ctx.needs_input_grad[0]:
            second = np.asarray(b)
        if ctx.needs_input_grad[1]:
            first = np.asarray(a)
        ctx.save_for_backward(first, second)
        return np.multiply(a, b)

    @staticmethod
    def backward(ctx, grad):
        other_of_b, other_of_a = ctx.saved_tensors
        parts = [None, None]
        if other_of_a is not None:
            parts[0] = grad.data * other_of_a.data
        if other_of_b is not None:
            parts[1] = grad.data * other_of_b.data
        return tuple(parts)
""",
)
