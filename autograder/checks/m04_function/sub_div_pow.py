"""Check 6 of lesson 04: the rules of the difference, the quotient and the power."""

import numpy as np

from autograder.checks.cases import STRETCHES
from autograder.checks.check import exercise
from autograder.checks.m04_function.inputs import TENSORS, of, operands

function_sub_div_pow = exercise(
    "function.sub_div_pow",
    "The rules of the difference, the quotient and the power; the power also for negative numbers.",
    needs=("function.context", "function.apply", "function.add_mul"),
)
PAIRS, NUMBERS, EXPONENTS = STRETCHES[:16], ("2.5", "-0.5", "3"), ("2.5", "2", "-1", "3", "1.0")
OF_POSITIVE = operands(PAIRS, ("positive",), TENSORS, numbers=EXPONENTS)
TO_NUMBERS = {"left": ("a leaf", "computed"), "right": ("a number",)}
OF_ANY = operands(PAIRS, ("decimals",), **TO_NUMBERS, numbers=("2", "3", "-1", "Tensor(2.0)", "np.array(3.0)"))
OF_ZERO = operands(PAIRS, ("whole",), **TO_NUMBERS, numbers=("2", "3.0"))


def rule(student, case):
    y, grad = case.f(case.a, case.b), student.Tensor(case.grad)
    case.f(case.c, case.c)
    yield
    with np.errstate(invalid="raise", divide="raise"):
        parts = student.input_gradients(y.grad_fn, grad)
    found = {f"for {name}": part if part is None else part.data for name, part in zip("ab", parts)}
    return found | {"y": y.data, "a": student.raw(case.a), "b": student.raw(case.b), "grad": grad.data}


for name, function, cases in (
    ("the difference", of("a - b"), operands(PAIRS)),
    ("the quotient", of("a / b"), operands(PAIRS, ("decimals",), numbers=NUMBERS)),
    ("the power", of("a**b", "Pow.apply(a, b)"), OF_POSITIVE + OF_ANY + OF_ZERO),
):
    function_sub_div_pow.aspect(name, 1, cases=cases * function, device=4)(rule)


@function_sub_div_pow.on_device
def names(on, reference):
    power = on.function(lambda a, n: a**n, base=reference["Function"])

    class Pow(power):
        @staticmethod
        def forward(ctx, a, n):  # on the device a whole number is an index
            return power.forward(ctx, a, np.asarray(n, dtype=float))

    return {
        "Sub": on.function(lambda a, b: a - b, base=reference["Function"]),
        "Div": on.function(lambda a, b: a / b, base=reference["Function"]),
        "Pow": Pow,
    }


FOR_B = "-grad_a * a / b if ctx.needs_input_grad[1] else None"
FOR_N = "grad * a**n * a.log() if ctx.needs_input_grad[1] else None"

function_sub_div_pow.mistake(
    "the difference's rule is the sum's: the sign is missing",
    swap=("return grad, -grad", "return grad, grad"),
    hint=["b goes up by a bit: where does a − b go?", "`return grad, -grad`."],
)
function_sub_div_pow.mistake(
    "the sign of the difference is at the wrong one",
    swap=("return grad, -grad", "return -grad, grad"),
    hint=["Which of the two is subtracted?", "`return grad, -grad`."],
)
function_sub_div_pow.mistake(
    "the quotient's rule for b has no minus",
    swap=("-grad_a * a / b", "grad_a * a / b"),
    hint=["b grows: does a / b grow?", "−grad · a / b²."],
)
function_sub_div_pow.mistake(
    "the quotient's rule for b divides by b once only",
    swap=("-grad_a * a / b", "-grad_a * a"),
    hint=["The slope of 1/b is −1/b². Count the b's.", "−grad · a / b²."],
)
function_sub_div_pow.mistake(
    "the quotient's rule for a multiplies",
    swap=("grad_a = grad / b", "grad_a = grad * b"),
    hint=["a / 10: does the quotient move ten times as much as a, or a tenth?", "grad / b."],
)
function_sub_div_pow.mistake(
    "the quotient's rule for b leaves a out",
    swap=("-grad_a * a / b", "-grad_a / b"),
    hint=["a / b is a times 1/b. With a = 10, does it move as much with b as for a = 1?", "−grad · a / b²."],
)
function_sub_div_pow.mistake(
    "the exponent does not go down by one",
    swap=("a ** (n - 1)", "a ** n"),
    hint=["The slope of a³ is 3 a².", "`a ** (n - 1)`."],
)
function_sub_div_pow.mistake(
    "the exponent does not come down as a factor",
    swap=("grad * n * a ** (n - 1)", "grad * a ** (n - 1)"),
    hint=["The slope of a³ is 3 a².", "grad * n * …"],
)
function_sub_div_pow.mistake(
    "the power's rule ignores the gradient that arrives",
    swap=("grad_a = grad * n * a", "grad_a = n * a"),
    hint=["What if the result counts three times as much?", "grad * n * a ** (n − 1)."],
)
function_sub_div_pow.mistake(
    "an exponent that is a tensor gets no gradient",
    swap=(FOR_N, "None"),
    hint=["2ˣ moves with x, too.", "grad · aⁿ · ln a."],
)
function_sub_div_pow.mistake(
    "the logarithm is that of the exponent",
    swap=("a**n * a.log()", "a**n * n.log()"),
    hint=["eˣ has the slope eˣ · ln e. Of which of the two is the logarithm taken?", "ln a."],
)
function_sub_div_pow.mistake(
    "the logarithm is computed though nobody asked: a is negative in places",
    swap=(FOR_N, "grad * a**n * a.log()"),
    hint=["a ** 2 with a = −1: whose gradient needs ln a?", "Only `if ctx.needs_input_grad[1]`."],
)
function_sub_div_pow.mistake(
    "the power's gradient for n has no logarithm",
    swap=("a**n * a.log()", "a**n"),
    hint=["2ⁿ doubles from n to n + 1; eⁿ grows faster. What makes the difference?", "grad · aⁿ · ln a."],
)
for reason, old, new in [
    ("a is always kept for the quotient's rule", "a if ctx.needs_input_grad[1] else None, b", "a if True else None, b"),
    (
        "a is kept for the quotient's rule where there are inputs",
        "a if ctx.needs_input_grad[1] else None, b",
        "a if ctx.needs_input_grad else None, b",
    ),
    (
        "of two the second is the last: in Div.forward",
        "a if ctx.needs_input_grad[1] else None, b",
        "a if ctx.needs_input_grad[-1] else None, b",
    ),
    (
        "of two the second is the last: in Div.backward",
        "/ b if ctx.needs_input_grad[1]",
        "/ b if ctx.needs_input_grad[-1]",
    ),
    (
        "of two the second is the last: in Pow.backward",
        "log() if ctx.needs_input_grad[1]",
        "log() if ctx.needs_input_grad[-1]",
    ),
]:
    function_sub_div_pow.variant(reason, swap=(old, new))
function_sub_div_pow.variant(
    "everything through logarithms and powers",
    source="""
class Sub(Function):
    @staticmethod
    def forward(ctx, a, b):
        return a + (-1) * b

    @staticmethod
    def backward(ctx, grad):
        return [grad * 1.0, grad * -1.0]


class Div(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(np.asarray(a), np.asarray(b))
        return np.divide(a, b)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad / b, grad * a * (-1) / (b * b)


class Pow(Function):
    @staticmethod
    def forward(ctx, a, n):
        y = a ** n
        ctx.save_for_backward(a, np.asarray(n), y)
        return y

    @staticmethod
    def backward(ctx, grad):
        a, n, y = ctx.saved_tensors
        parts = [None, None]
        if ctx.needs_input_grad[0]:
            parts[0] = grad * (n * a ** (n - 1.0))
        if ctx.needs_input_grad[1]:
            parts[1] = a.log() * y * grad
        return tuple(parts)
""",
)
function_sub_div_pow.variant(
    "with plain arrays",
    source="""
class Sub(Function):
    @staticmethod
    def forward(ctx, a, b):
        return a - b

    @staticmethod
    def backward(ctx, grad):
        return grad.data, -grad.data


class Div(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.a, ctx.b = a, b
        return a / b

    @staticmethod
    def backward(ctx, grad):
        return grad.data / ctx.b, -grad.data * ctx.a / ctx.b ** 2


class Pow(Function):
    @staticmethod
    def forward(ctx, a, n):
        ctx.a, ctx.n = a, n
        return np.power(a, n)

    @staticmethod
    def backward(ctx, grad):
        a, n = ctx.a, ctx.n
        for_a = grad.data * n * np.power(a, n - 1.0)
        if ctx.needs_input_grad[1]:
            return for_a, grad.data * np.power(a, n) * np.log(a)
        return for_a, None
""",
)
