"""Check 6 of lesson 03: the product of two matrices."""

from autograder.checks.cases import array
from autograder.checks.check import exercise
from autograder.checks.m03_broadcast import arriving
from autograder.checks.m03_broadcast.products import second

broadcast_matmul = exercise("broadcast.matmul", "The gradients of a @ b, two matrices.")
MATRICES = ((1, 1), (2, 2), (2, 3), (3, 2), (1, 2), (2, 1), (3, 3), (3, 4))


@broadcast_matmul.aspect(
    "both gradients", 2, device=6, cases=array("a", MATRICES, axes=2).each(b=second).add(grad=arriving.of_product)
)
def gradients(student, case):
    return student.matmul_2d_backward(case.grad, case.a, case.b)


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
