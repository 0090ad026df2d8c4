"""Check 8 of lesson 04: the matrix product of matrices, vectors and stacks."""

import numpy as np

from autograder.checks.check import exercise
from autograder.checks.m03_broadcast.device import product as matmul
from autograder.checks.m04_function.inputs import FORMS, of, operands
from autograder.checks.m04_function.sub_div_pow import rule

function_matmul = exercise(
    "function.matmul",
    "The matrix product of matrices, vectors and stacks.",
    needs=("function.apply", "function.shapes"),
)
SQUARES = ((2,), (2,)), ((2, 2), (2, 2)), ((1, 1), (1, 1)), ((3, 2, 2), (2, 2)), ((1,), (1,))
PAIRS = (
    ((2, 3), (3, 2)), ((2, 3), (3,)), ((2,), (2, 3)), ((3,), (3,)), ((2, 2), (2, 2)), ((1, 2), (2, 1)), ((1, 3), (3,)), ((2,), (2, 1)),
    ((3, 2, 2), (2, 3)), ((2, 3), (2, 3, 1)), ((2, 1, 3), (2, 3, 2)), ((2, 2, 3), (3,)), ((2,), (3, 2, 2)), ((2, 1, 1, 3), (2, 3, 2)),
    ((1, 2, 3), (2, 3, 2)), ((2, 2, 2), (1, 2, 2)), ((3, 4), (4, 6)), ((2,), (2, 1, 2, 3)),
)  # fmt: skip
UNFIT = (
    ((2, 3), (2, 3)),
    ((3,), (2,)),
    ((2,), (3, 2)),
    ((2, 3), (2,)),
    ((2, 2, 3), (2, 2)),
    ((2, 3), (1, 2)),
    ((3,), (2, 3)),
)
ARRAYS = [form for form in FORMS if form != "a number"]


def product(first, second):
    return np.matmul(np.empty(first), np.empty(second)).shape


def value(student, case):
    return case.f(case.a, case.b).data


PRODUCTS = operands(PAIRS, ("decimals", "whole", "transposed"), ARRAYS, ARRAYS, shape_of=product)
PRODUCTS += operands(SQUARES, ("decimals",), ("a leaf", "computed"), ("a itself",), shape_of=product)
PRODUCTS *= of("a @ b", "MatMul.apply(a, b)")
REFUSED = operands(UNFIT, ("decimals",), ARRAYS, ARRAYS, shape_of=lambda first, second: ()) * of("a @ b")

function_matmul.aspect("both gradients", 2.25, cases=PRODUCTS, device=6, few=40)(rule)
function_matmul.aspect("the product", 0.5, cases=PRODUCTS, few=12)(value)
function_matmul.aspect("shapes that do not fit are refused", 0.25, cases=REFUSED, corner=True, few=8)(value)


@function_matmul.on_device
def names(on, reference):
    return {"MatMul": on.function(matmul(on.ag), base=reference["Function"])}


FOR_A = "grad_a = grad @ (b.unsqueeze(-1) if ctx.b_is_vector else b).mT"
FOR_B = "grad_b = (a.unsqueeze(-2) if ctx.a_is_vector else a).mT @ grad"

function_matmul.mistake(
    "the factors of the gradients are the wrong way round",
    swap=[
        (FOR_A, "grad_a = (b.unsqueeze(-1) if ctx.b_is_vector else b).mT @ grad"),
        (FOR_B, "grad_b = grad @ (a.unsqueeze(-2) if ctx.a_is_vector else a).mT"),
    ],
    hint=["a is (3, 4), grad is (3, 6), b is (4, 6): which product gives (3, 4)?", "grad @ bᵀ, and aᵀ @ grad."],
)
function_matmul.mistake(
    "b is not transposed in the gradient of a",
    swap=("else b).mT", "else b)"),
    hint=["(3, 6) @ ? gives (3, 4).", "grad @ b.mT."],
)
function_matmul.mistake(
    "a is not transposed in the gradient of b",
    swap=("else a).mT", "else a)"),
    hint=["? @ (3, 6) gives (4, 6).", "a.mT @ grad."],
)
function_matmul.mistake(
    "the gradient of a leaves out the gradient that arrives",
    swap=(FOR_A, "grad_a = Tensor(np.ones(grad.shape)) @ (b.unsqueeze(-1) if ctx.b_is_vector else b).mT"),
    hint=["With y.sum() as the loss nobody notices.", "grad @ b.mT, with the grad that came."],
)
function_matmul.mistake(
    "vectors are not handled",
    swap=[
        (
            "        if ctx.b_is_vector:\n            grad = grad.unsqueeze(-1)\n        if ctx.a_is_vector:\n            grad = grad.unsqueeze(-2)\n",
            "",
        ),
        (FOR_A, "grad_a = grad @ b.mT"),
        (FOR_B, "grad_b = a.mT @ grad"),
        ("            grad_b = grad_b.squeeze(-1) if ctx.b_is_vector else grad_b\n", ""),
    ],
    hint=[
        "What is missing in grad when b is (4,)?",
        "`grad.unsqueeze(-1)`; use the rule for a column; `squeeze(-1)` at the end.",
    ],
)
function_matmul.mistake(
    "a vector on the left is not handled",
    swap=[
        ("        if ctx.a_is_vector:\n            grad = grad.unsqueeze(-2)\n", ""),
        (FOR_B, "grad_b = a.mT @ grad"),
    ],
    hint=[
        "(4,) @ (4, 6): as if a were (1, 4). Which axis is missing in grad?",
        "`grad.unsqueeze(-2)` if a is a vector, and `a.unsqueeze(-2)`.",
    ],
)
function_matmul.mistake(
    "the gradient of a vector b keeps its column: shape (k, 1)",
    swap=("grad_b.squeeze(-1) if ctx.b_is_vector else grad_b", "grad_b"),
    hint=["b is (4,). What shape has your gradient?", "`squeeze(-1)` if b is a vector."],
)
function_matmul.mistake(
    "all axes are reversed: wrong for stacks",
    swap=[
        ("else b).mT", "else b).reshape(b.shape if not ctx.b_is_vector else (b.size, 1)).transpose(0, -1)"),
        ("else a).mT", "else a).transpose(0, -1)"),
    ],
    hint=["A stack (5, 4, 6): which two axes make the matrix?", "The last two: `.mT`."],
)
function_matmul.mistake(
    "each gradient is taken for the other input",
    swap=("return grad_a, grad_b", "return grad_b, grad_a"),
    hint=["The first gradient belongs to the first input.", "`return grad_a, grad_b`."],
)
function_matmul.mistake(
    "the product is taken number by number in the gradient of b",
    swap=(FOR_B, "grad_b = (a.unsqueeze(-2) if ctx.a_is_vector else a).mT * grad"),
    hint=["Which sign is the matrix product?", "aᵀ @ grad."],
)
function_matmul.mistake(
    "what is saved is for the own gradient, not for the other's",
    swap=(
        "ctx.save_for_backward(a if b_needed else None, b if a_needed else None)",
        "ctx.save_for_backward(a if a_needed else None, b if b_needed else None)",
    ),
    hint=["∂L/∂a = grad @ bᵀ. If only a's gradient is wanted, what must be kept?", "b if a_needed, a if b_needed."],
)
function_matmul.mistake(
    "forward multiplies number by number, not as matrices",
    swap=[("        check_inner(a, b)\n", ""), ("return a @ b", "return a * b")],
    hint=["Which shape has the product of (3, 4) and (4, 6)?", "The matrix product is `@`, of arrays as well."],
)
function_matmul.mistake(
    "forward takes np.dot, which pairs each matrix of one stack with each of the other",
    swap=("return a @ b", "return np.dot(a, b)"),
    hint=["Two stacks of 5 matrices: how many products are there?", "`a @ b`: stacks go side by side."],
)
function_matmul.variant(
    "vectors are made matrices in forward; both are saved",
    source="""
class MatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.vectors = (a.ndim == 1, b.ndim == 1)
        left = a[None, :] if a.ndim == 1 else a
        right = b[:, None] if b.ndim == 1 else b
        ctx.save_for_backward(left, right)
        y = left @ right
        ctx.full = y.shape
        if b.ndim == 1:
            y = y[..., 0]
        if a.ndim == 1:
            y = y[..., 0, :] if b.ndim > 1 else y[..., 0]
        return y

    @staticmethod
    def backward(ctx, grad):
        left, right = ctx.saved_tensors
        grad = grad.reshape(ctx.full)
        for_a, for_b = grad @ right.mT, left.mT @ grad
        if ctx.vectors[1]:
            for_b = for_b.squeeze(-1)
        return for_a, for_b
""",
)
function_matmul.variant(
    "with einsum on plain arrays",
    source="""
class MatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.a, ctx.b = a, b
        return np.matmul(a, b)

    @staticmethod
    def backward(ctx, grad):
        a, b, g = ctx.a, ctx.b, grad.data
        if a.ndim == 1 and b.ndim == 1:
            return g * b, g * a
        if a.ndim == 1:
            return np.einsum("...m,...km->...k", g, b), np.einsum("k,...m->...km", a, g)
        if b.ndim == 1:
            return np.einsum("...n,k->...nk", g, b), np.einsum("...nk,...n->...k", a, g)
        return g @ np.swapaxes(b, -1, -2), np.swapaxes(a, -1, -2) @ g
""",
)
for reason, old, new in [
    ("a is always saved", "(a if b_needed else None", "(a if True else None"),
    ("a is saved in every context", "(a if b_needed else None", "(a if ctx else None"),
    ("b is always saved", "b if a_needed else None", "b if True else None"),
    ("b is saved in every context", "b if a_needed else None", "b if ctx else None"),
    ("the last axis of a column is axis 1", "b.unsqueeze(-1)", "b.unsqueeze(1)"),
    ("the last axis of a column is axis 1, written oddly", "b.unsqueeze(-1)", "b.unsqueeze(-(-1))"),
    ("of two the second is the last", "ctx.needs_input_grad[1]", "ctx.needs_input_grad[-1]"),
]:
    function_matmul.variant(reason, swap=(old, new))
function_matmul.variant("the shapes are not checked: NumPy refuses them itself", swap=("check_inner(a, b)", "pass"))
