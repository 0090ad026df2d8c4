"""Check 3 of lesson 04: the rules of the sum and of the product."""

import numpy as np

from autograder.checks.check import check


@check(
    "function.add_mul",
    points=2,
    needs=("function.context", "function.apply"),
    device=("a + b: for a", "a + b: for b", "a · b: for a", "a · b: for b", "a · a: both parts added"),
)
def function_add_mul(student, rng, tools):
    """Values, and what the rules answer to a random gradient."""
    a_data, b_data, grad = rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    row, number = rng.normal(size=2), float(rng.uniform(1.2, 1.9))

    def tensors(needs=(True, True)):
        return [student.Tensor(data, requires_grad=need) for data, need in zip((a_data, b_data), needs)]

    def answer(out):
        """The gradients that the rule behind `out` returns, as arrays."""
        upstream = student.Tensor(grad)
        parts = out.grad_fn.function.backward(out.grad_fn, upstream)
        if not np.array_equal(upstream.data, grad):
            raise ValueError("the gradient that arrived was changed")
        if not isinstance(parts, (tuple, list)) or len(parts) != 2:
            raise TypeError(f"backward of {out.grad_fn.name} has to return two gradients, for a and for b")
        return [None if part is None else np.asarray(student.raw(part)) for part in parts]

    def part(f, i, needs=(True, True)):
        return answer(f(*tensors(needs)))[i]

    def kept(needs):
        """Whether a, and whether b, is kept for backward; and the product."""
        a, b = tensors(needs)
        out = student.Mul.apply(a, b)
        saved = [student.raw(x) for x in out.grad_fn.kept]
        return [any(x is a.data for x in saved), any(x is b.data for x in saved), *out.data.ravel()]

    def kept_by_add():
        a, b = tensors()
        out = student.Add.apply(a, b)
        return [len(out.grad_fn.kept), *answer(out)[0].ravel()]

    def product(a, b):
        return student.Mul.apply(a, b)

    def total(a, b):
        return student.Add.apply(a, b)

    def times_zero():
        return [*answer(tensors()[0] * 0)[0].ravel(), *answer(0 * tensors()[1])[1].ravel(), number]

    def afterwards():
        a, b = tensors()
        answer(product(a, b)), answer(total(a, b))
        return [*a.data.ravel(), *b.data.ravel(), a.grad is None]

    return {
        "input": f"a = {np.round(a_data, 3).tolist()}, b = {np.round(b_data, 3).tolist()}, a row {np.round(row, 3).tolist()}, "
        f"a number {number:.4g}; grad = {np.round(grad, 3).tolist()}",
        "a + b": lambda: total(*tensors()).data,
        "a + row": lambda: total(tensors()[0], row).data,
        "a + b: for a": lambda: part(total, 0),
        "a + b: for b": lambda: part(total, 1),
        "a + b: how much is saved": kept_by_add,
        "a · b": lambda: product(*tensors()).data,
        "a · row": lambda: product(tensors()[0], row).data,
        "a · b: for a": lambda: part(product, 0),
        "a · b: for b": lambda: part(product, 1),
        "a · a: both parts added": lambda: sum(answer(product(*[tensors()[0]] * 2))),
        "a · number: for a": lambda: answer(tensors()[0] * number)[0],
        "number · b: for b": lambda: answer(number * tensors()[1])[1],
        "a · 0: for a; 0 · b: for b": times_zero,
        "a · b, only a needs it: is a kept, b; a · b": lambda: kept((True, False)),
        "a · b, only a needs it: for a": lambda: part(product, 0, (True, False)),
        "a · b, only b needs it: is a kept, b; a · b": lambda: kept((False, True)),
        "a · b, only b needs it: for b": lambda: part(product, 1, (False, True)),
        "a and b afterwards": afterwards,
    }


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
