"""Check 7 of lesson 08: the Hessian times a vector."""

import numpy as np

from autograder.checks.check import exercise
from autograder.checks.m08_custom.functions import OF_TENSORS, POINTS, like

custom_hvp = exercise("custom.hvp", "The Hessian times a vector, by two backward passes.")

CASES = (POINTS * OF_TENSORS).add(v=like)


@custom_hvp.aspect("H v", 1.5, cases=CASES, rtol=1e-9, atol=1e-11)
def product(student, case):
    return np.array(student.hvp(case.f, case.x, case.v))


@custom_hvp.aspect(
    "two backward passes, and no matrix",
    0.5,
    corner=True,
    cases=CASES,
    few=8,
    many=24,
    at_most=("calls of f", "backward passes"),
)
def passes(student, case):
    class Same(student.Function):
        @staticmethod
        def forward(ctx, x):
            calls.append(x)
            return x * 1.0

        @staticmethod
        def backward(ctx, grad):
            passes.append(grad)
            return grad * 1.0

    calls, passes = [], []
    student.hvp(lambda x: case.f(Same.apply(x)), case.x, case.v)
    return {"calls of f": len(calls), "backward passes": len(passes)}


custom_hvp.mistake(
    "the gradient's own square is differentiated: Σ g · g, not Σ g · v",
    swap=("(gradient * v).sum()", "(gradient * gradient).sum()"),
    hint=["Where is v?", "⟨g, v⟩ = `(gradient * v).sum()`."],
)
custom_hvp.mistake(
    "v is left out: H times ones comes out",
    swap=("(gradient * v).sum()", "gradient.sum()"),
    hint=["Where is v?", "⟨g, v⟩ = `(gradient * v).sum()`."],
)
custom_hvp.mistake(
    "what the second `grad` gets has no history: create_graph=True is missing, or NumPy or `.data` came in between",
    swap=(", create_graph=True", ", retain_graph=True"),
    hint=[
        "The second `grad` asks how ⟨g, v⟩ depends on x. Does g still know?",
        "`(gradient,) = grad(f(x), x, create_graph=True)`, and then the tensor's own operators: `(gradient * v).sum()`.",
    ],
)
custom_hvp.mistake(
    "only the first gradient comes back, multiplied by v",
    swap=("return product.data", "return gradient.data * v"),
    hint=["That is g · v, with no second derivative in it.", "The second call of `grad` is what you return."],
)
custom_hvp.mistake(
    "each number is differentiated twice by itself: the mixed second derivatives are missing",
    source="""
def hvp(f, x, v):
    result = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        leaf, alone = Tensor(x, requires_grad=True), np.zeros(x.shape)
        alone[i] = 1.0
        (gradient,) = grad(f(leaf), leaf, create_graph=True)
        result[i] = grad((gradient * alone).sum(), leaf)[0].data[i] * v[i]
    return result
""",
    hint=["Row i of H v is Σⱼ H[i, j] v[j]. Where are the others?", "`grad` of ⟨g, v⟩ has them all."],
)
custom_hvp.mistake(
    "v comes too late: H times ones, then each number times its v",
    swap=[("(gradient * v).sum()", "gradient.sum()"), ("return product.data", "return product.data * v")],
    hint=[
        "Row i of H v is Σⱼ H[i, j] v[j]. Which v multiplies H[i, j] in yours?",
        "v belongs inside: `(gradient * v).sum()`, then `grad`.",
    ],
)
custom_hvp.mistake(
    "`gradient @ v` is a product of matrices, unless both are vectors",
    swap=("(gradient * v).sum()", "gradient @ v"),
    hint=["x may have any shape.", "Number by number: `(gradient * v).sum()`."],
)
custom_hvp.mistake(
    "the product is divided by the length of v",
    swap=("return product.data", "return product.data / np.linalg.norm(v)"),
    hint=["H (2v) = 2 H v.", "Take v as it is."],
)
custom_hvp.mistake(
    "Σ x · v is differentiated: f is not in it",
    swap=("(gradient * v).sum()", "(x * v).sum()"),
    hint=["The derivative of what is wanted?", "Of ⟨g, v⟩, with g = ∂f/∂x."],
)
custom_hvp.mistake(
    "x is changed: v is added to it for a difference of gradients, and not taken off again",
    source="""
def hvp(f, x, v):
    h = 1e-3

    def gradient_at(x):
        leaf = Tensor(x, requires_grad=True)
        return grad(f(leaf), leaf)[0].data
    before = gradient_at(x)
    x += h * v
    return (gradient_at(x) - before) / h
""",
    hint=[
        "What is in x afterwards? And why not exactly, with two backward passes?",
        "`grad` with create_graph=True, then `grad` again.",
    ],
)
custom_hvp.mistake(
    "the gradient is measured on one side only: near, but only to a few digits",
    source="""
def hvp(f, x, v):
    h = 1e-4

    def gradient_at(x):
        leaf = Tensor(x, requires_grad=True)
        return grad(f(leaf), leaf)[0].data
    return (gradient_at(x + h * v) - gradient_at(x)) / h
""",
    hint=[
        "No step is needed: backward can be differentiated exactly.",
        "`grad` with create_graph=True, then `grad` again.",
    ],
)
custom_hvp.mistake(
    "the first gradient is v times too early: v goes in as the upstream gradient",
    source="""
def hvp(f, x, v):
    x = Tensor(x, requires_grad=True)
    (gradient,) = grad(f(x) * Tensor(v).sum(), x, create_graph=True)
    return grad(gradient.sum(), x)[0].data
""",
    hint=["Each number of g has its own v.", "`(gradient * v).sum()` after the first `grad`."],
)
custom_hvp.variant(
    "v as the upstream gradient of g",
    source="""
def hvp(f, x, v):
    leaf = Tensor(x, requires_grad=True)
    g = grad(f(leaf), [leaf], create_graph=True)[0]
    return grad(g, leaf, grad_outputs=v)[0]
""",
)
custom_hvp.variant(
    "backward twice",
    source="""
def hvp(f, x, v):
    leaf = Tensor(x, requires_grad=True)
    f(leaf).backward(create_graph=True)
    product = (leaf.grad * Tensor(v)).sum()
    leaf.grad = None
    product.backward()
    return np.array(leaf.grad.data)
""",
)
custom_hvp.variant("a tensor comes back", swap=("product.data", "product"))
