"""Check 8 of lesson 04: the matrix product of matrices, vectors and stacks."""

import numpy as np

from autograder.checks.check import check


@check(
    "function.matmul",
    points=3,
    needs=("function.apply", "function.shapes"),
    device=("(3, 4) @ (4, 6): for a", "(3, 4) @ (4, 6): for b", "(5, 3, 4) @ (4, 6): for b"),
)
def function_matmul(student, rng, tools):
    """Values and gradients for every kind of shapes."""
    left, right = rng.normal(size=(2, 5, 3, 4)), rng.normal(size=(2, 5, 4, 6))
    kinds = {
        "(3, 4) @ (4, 6)": (left[0, 0], right[0, 0]),
        "(3, 4) @ (4,)": (left[0, 0], right[0, 0, :, 0]),
        "(4,) @ (4, 6)": (left[0, 0, 0], right[0, 0]),
        "(4,) @ (4,)": (left[0, 0, 0], right[0, 0, :, 0]),
        "(5, 3, 4) @ (5, 4, 6)": (left[0], right[0]),
        "(5, 3, 4) @ (4, 6)": (left[0], right[0, 0]),
        "(3, 4) @ (5, 4, 6)": (left[0, 0], right[0]),
        "(5, 3, 4) @ (4,)": (left[0], right[0, 0, :, 0]),
        "(4,) @ (5, 4, 6)": (left[0, 0, 0], right[0]),
        "(2, 1, 3, 4) @ (5, 4, 6)": (left[:, :1], right[0]),
    }

    def tensors(kind, needs=(True, True)):
        return [student.Tensor(data, requires_grad=need) for data, need in zip(kinds[kind], needs)]

    def value(kind):
        return student.MatMul.apply(*tensors(kind)).data

    def answer(kind, i, needs=(True, True)):
        out = student.MatMul.apply(*tensors(kind, needs))
        g = np.random.default_rng(out.ndim * 100 + out.size).normal(size=out.shape) * left[0, 0, 0, 0]
        upstream = student.Tensor(g)
        part = student.input_gradients(out.grad_fn, upstream)[i]
        if not np.array_equal(upstream.data, g):
            raise ValueError("the gradient that arrived was changed")
        return None if part is None else part.data

    def with_array(i):
        """One of the two is a plain array."""
        a, b = kinds["(3, 4) @ (4, 6)"]
        out = a @ student.Tensor(b, requires_grad=True) if i else student.Tensor(a, requires_grad=True) @ b
        return student.input_gradients(out.grad_fn, student.Tensor(2 * out.data))[i].data

    def afterwards():
        a, b = tensors("(5, 3, 4) @ (4,)")
        out = a @ b
        student.input_gradients(out.grad_fn, student.Tensor(out.data))
        return [*a.data.ravel(), *b.data.ravel(), *a.shape, *b.shape]

    def refused():
        """1 where shapes that do not fit raise ValueError; with numbers that change."""
        try:
            student.MatMul.apply(student.Tensor(left[0, 0]), student.Tensor(left[0, 0]))
        except ValueError:
            return [1, *left[0, 0, 0]]
        return [0, *left[0, 0, 0]]

    quantities = {
        "input": f"random a and b of these shapes, the matrices among them a = {np.round(left[0, 0], 3).tolist()}, "
        f"b = {np.round(right[0, 0], 3).tolist()}"
    }
    for kind in kinds:
        quantities[f"{kind}"] = lambda kind=kind: value(kind)
        quantities[f"{kind}: for a"] = lambda kind=kind: answer(kind, 0)
        quantities[f"{kind}: for b"] = lambda kind=kind: answer(kind, 1)
    return quantities | {
        "matrix @ array: for the matrix": lambda: with_array(0),
        "array @ matrix: for the matrix": lambda: with_array(1),
        "a constant matrix @ a vector: for the vector": lambda: answer("(3, 4) @ (4,)", 1, (False, True)),
        "a vector @ a constant matrix: for the vector": lambda: answer("(4,) @ (4, 6)", 0, (True, False)),
        "a and b afterwards": afterwards,
        "(3, 4) @ (3, 4): ValueError": refused,
    }


@function_matmul.on_device
def names(on, reference):
    return {"MatMul": on.function(on.ag.matmul, base=reference["Function"])}


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
