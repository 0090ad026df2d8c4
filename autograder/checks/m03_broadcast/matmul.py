"""Check 6 of lesson 03: the product of two matrices."""

import numpy as np

from autograder.checks.check import check


@check("broadcast.matmul", points=2, device=("(n, k) @ (k, m): ∂L/∂a", "(n, k) @ (k, m): ∂L/∂b"))
def broadcast_matmul(student, rng, tools):
    """The gradients of a @ b, two matrices."""
    n, k, m = (int(size) for size in rng.permutation(range(2, 7))[:3])

    def run(n, k, m, which):
        a, b, grad = rng.normal(size=(n, k)), rng.normal(size=(k, m)), rng.normal(size=(n, m))
        return np.asarray(student.matmul_2d_backward(grad, a, b)[which])

    def afterwards():
        a, b, grad = (np.arange(1.0, 1.0 + i * j).reshape(i, j) for i, j in ((n, k), (k, m), (n, m)))
        student.matmul_2d_backward(grad, a, b)
        return np.concatenate([a.ravel(), b.ravel(), grad.ravel()])

    return {
        "input": f"n, k, m = {n}, {k}, {m}; all numbers are random",
        "(n, k) @ (k, m): ∂L/∂a": lambda: run(n, k, m, 0),
        "(n, k) @ (k, m): ∂L/∂b": lambda: run(n, k, m, 1),
        "one line, (1, k) @ (k, m): ∂L/∂a": lambda: run(1, k, m, 0),
        "one column, (n, k) @ (k, 1): ∂L/∂b": lambda: run(n, k, 1, 1),
        "inner size 1, (n, 1) @ (1, m): ∂L/∂a": lambda: run(n, 1, m, 0),
        "all square, (k, k) @ (k, k): ∂L/∂a": lambda: run(k, k, k, 0),
        "all square, (k, k) @ (k, k): ∂L/∂b": lambda: run(k, k, k, 1),
        "a, b and grad afterwards": afterwards,
    }


@broadcast_matmul.on_device
def names(on, reference):
    return {"matmul_2d_backward": lambda grad, a, b: on.gradients(on.ag.matmul, grad, a, b)}


RETURN = "return grad @ b.T, a.T @ grad"

broadcast_matmul.mistake(
    "the transposes are missing: it runs only where all sizes are equal",
    swap=(RETURN, "return grad @ b, a @ grad"),
    hint=["grad is (n, m), b is (k, m). Which side of b has to meet the m of grad?", "grad @ b.T is (n, m) @ (m, k)."],
)
broadcast_matmul.mistake(
    "the factors stand in the wrong order",
    swap=(RETURN, "return b.T @ grad, grad @ a.T"),
    hint=["(m, k) @ (n, m)? Write the shapes below.", "grad stands where y stood: grad @ b.T and a.T @ grad."],
)
broadcast_matmul.mistake(
    "∂L/∂b comes out transposed: grad.T @ a",
    swap=(RETURN, "return grad @ b.T, grad.T @ a"),
    hint=["Your ∂L/∂b has the shape (m, k). And b?", "(grad.T @ a).T = a.T @ grad."],
)
broadcast_matmul.mistake(
    "∂L/∂a comes out transposed: b @ grad.T",
    swap=(RETURN, "return b @ grad.T, a.T @ grad"),
    hint=["Your ∂L/∂a has the shape (k, n). And a?", "(b @ grad.T).T = grad @ b.T."],
)
broadcast_matmul.mistake(
    "the two gradients come in the wrong order",
    swap=(RETURN, "return a.T @ grad, grad @ b.T"),
    hint=["Which of the two has the shape of a?", "First ∂L/∂a, then ∂L/∂b."],
)
broadcast_matmul.mistake(
    "each factor is differentiated by itself: b in place of a",
    swap=(RETURN, "return grad @ b.T, b.T @ grad"),
    hint=["How fast does y move with b? That depends on a.", "∂L/∂b = a.T @ grad."],
)
broadcast_matmul.mistake(
    "number by number in place of the matrix product",
    swap=(RETURN, "return grad * b.T, a.T * grad"),
    hint=["`*` is number by number.", "`@`."],
)
broadcast_matmul.mistake(
    "the gradient that arrives is left out",
    swap=(RETURN, "return np.ones_like(grad) @ b.T, a.T @ np.ones_like(grad)"),
    hint=["With grad all ones, nobody would notice.", "grad @ b.T and a.T @ grad."],
)
broadcast_matmul.mistake(
    "grad is transposed, too",
    swap=(RETURN, "return (grad.T @ b).T if grad.shape[0] == b.shape[0] else grad @ b.T, a.T @ grad.T"),
    hint=["a.T is (k, n). Which shape has to come next?", "grad as it is: a.T @ grad."],
)
broadcast_matmul.mistake(
    "divided by the number of lines, as if the loss had a mean in it",
    swap=(RETURN, "return grad @ b.T, a.T @ grad / len(a)"),
    hint=["The mean, if there is one, has its own backward.", "a.T @ grad, nothing else."],
)
broadcast_matmul.mistake(
    "`reshape` in place of the transpose: the shape is right, the numbers stand elsewhere",
    swap=(RETURN, "return grad @ b.reshape(b.shape[::-1]), a.reshape(a.shape[::-1]) @ grad"),
    hint=[
        "Where does b's second line go in b.T, and where in b.reshape(…)?",
        "`.T` turns lines into columns; reshape goes on counting.",
    ],
)
broadcast_matmul.variant(
    "line by line: outer products",
    source="""
def matmul_2d_backward(grad, a, b):
    grad_b = np.zeros(b.shape)
    for line_a, line_grad in zip(a, grad):
        grad_b += np.outer(line_a, line_grad)
    return np.array([[np.dot(line, other) for other in b] for line in grad]), grad_b
""",
)
broadcast_matmul.variant(
    "einsum",
    source="""
def matmul_2d_backward(grad, a, b):
    return np.einsum("nm,km->nk", grad, b), np.einsum("nk,nm->km", a, grad)
""",
)
broadcast_matmul.variant(
    "both transposed",
    source="""
def matmul_2d_backward(grad, a, b):
    return [np.dot(b, grad.T).T, np.dot(grad.T, a).T]
""",
)
