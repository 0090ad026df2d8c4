"""Check 7 of lesson 03: the matrix product of vectors, matrices and stacks."""

from autograder.checks.cases import array
from autograder.checks.check import exercise
from autograder.checks.m03_broadcast import arriving
from autograder.checks.m03_broadcast.device import product
from autograder.checks.m03_broadcast.products import any_second

broadcast_matmul_any = exercise(
    "broadcast.matmul_any",
    "The gradients of a @ b: vectors, matrices, stacks.",
    needs=("broadcast.unbroadcast", "broadcast.matmul"),
)
SHAPES = ((2,), (1,), (2, 3), (3, 2), (3,), (1, 2), (2, 2), (2, 3, 2), (3, 1, 2), (1, 2, 3), (2, 1, 3, 2), (1, 2, 2, 2))


@broadcast_matmul_any.aspect(
    "both gradients",
    4,
    device=12,
    cases=array("a", SHAPES, ("decimals", "whole", "integers"), axes=4)
    .where(lambda a: a.ndim > 0)
    .each(b=any_second)
    .add(grad=arriving.of_product),
)
def gradients(student, case):
    return student.matmul_backward(case.grad, case.a, case.b)


@broadcast_matmul_any.on_device
def names(on, reference):
    return {"matmul_backward": lambda grad, a, b: on.gradients(product(on.ag), grad, a, b)}


SWAP_B, SWAP_A = "np.swapaxes(right, -1, -2)", "np.swapaxes(left, -1, -2)"
VECTOR_B = "right, grad = b[:, np.newaxis], grad[..., np.newaxis]"
VECTOR_A = "left, grad = a[np.newaxis, :], grad[..., np.newaxis, :]"

broadcast_matmul_any.mistake(
    "the rule for two matrices, with `.T`, which turns a whole stack around",
    source="""
def matmul_backward(grad, a, b):
    return matmul_2d_backward(grad, a, b)
""",
    hint=["Which shape has np.zeros((7, 2, 3)).T?", "`np.swapaxes(x, -1, -2)` transposes each matrix of a stack."],
)
broadcast_matmul_any.mistake(
    "`.T` turns a whole stack around; only the last two axes should change places",
    swap=[(SWAP_B, "right.T"), (SWAP_A, "left.T")],
    hint=["Which shape has np.zeros((7, 2, 3)).T?", "`np.swapaxes(x, -1, -2)` transposes each matrix of a stack."],
)
broadcast_matmul_any.mistake(
    "a weight under a stack is not summed over the stack",
    source="""
def matmul_backward(grad, a, b):
    left, right = a, b
    if b.ndim == 1:
        right, grad = b[:, np.newaxis], grad[..., np.newaxis]
    if a.ndim == 1:
        left, grad = a[np.newaxis, :], grad[..., np.newaxis, :]
    grad_a, grad_b = grad @ np.swapaxes(right, -1, -2), np.swapaxes(left, -1, -2) @ grad
    return (grad_a[..., 0, :] if a.ndim == 1 else grad_a), (grad_b[..., 0] if b.ndim == 1 else grad_b)
""",
    hint=[
        "(7, 2, 3) @ (3, 4): the weight was copied seven times. Which shape has your ∂L/∂b?",
        "`unbroadcast(…, right.shape)`, and the same for a.",
    ],
)
broadcast_matmul_any.mistake(
    "vectors are not handled",
    swap=[("if b.ndim == 1:", "if False:"), ("if a.ndim == 1:", "if False:")],
    hint=[
        "What is np.swapaxes(v, -1, -2) of a vector?",
        "Make a column of b, a line of a, and give grad the axis that is missing.",
    ],
)
broadcast_matmul_any.mistake(
    "a vector on the left is not handled",
    swap=("if a.ndim == 1:", "if False:"),
    hint=[
        "(3,) @ (3, 4) is a line times a matrix.",
        "If a.ndim == 1: a[np.newaxis, :], and grad gets its last axis but one.",
    ],
)
broadcast_matmul_any.mistake(
    "a vector on the right is not handled",
    swap=("if b.ndim == 1:", "if False:"),
    hint=["(2, 3) @ (3,) is a matrix times a column.", "If b.ndim == 1: b[:, np.newaxis], and grad gets a last axis."],
)
broadcast_matmul_any.mistake(
    "the vector becomes a matrix, but grad does not get its axis",
    swap=[(VECTOR_B, "right = b[:, np.newaxis]"), (VECTOR_A, "left = a[np.newaxis, :]")],
    hint=[
        "(2, 3) @ (3, 1) would be (2, 1). Which shape has grad?",
        "`grad[..., np.newaxis]` for the right one, `grad[..., np.newaxis, :]` for the left one.",
    ],
)
broadcast_matmul_any.mistake(
    "the gradient of a vector stays a matrix",
    swap=("return grad_a.reshape(a.shape), grad_b.reshape(b.shape)", "return grad_a, grad_b"),
    hint=[
        "Which shape has your ∂L/∂b, if b is (3,)?",
        "At the end, give it the shape of its input: `.reshape(b.shape)`.",
    ],
)
broadcast_matmul_any.mistake(
    "a vector on the right is made a line, as one on the left",
    swap=(VECTOR_B, "right, grad = b[np.newaxis, :], grad[..., np.newaxis]"),
    hint=["(2, 3) @ (3,): as a matrix, b has one column.", "`b[:, np.newaxis]`, of shape (k, 1)."],
)
broadcast_matmul_any.mistake(
    "whatever is a stack is summed over its first axis, also where both are stacks",
    source="""
def matmul_backward(grad, a, b):
    left, right = a, b
    if b.ndim == 1:
        right, grad = b[:, np.newaxis], grad[..., np.newaxis]
    if a.ndim == 1:
        left, grad = a[np.newaxis, :], grad[..., np.newaxis, :]
    grad_a, grad_b = grad @ np.swapaxes(right, -1, -2), np.swapaxes(left, -1, -2) @ grad
    while grad_a.ndim > 2:
        grad_a = grad_a.sum(axis=0)
    while grad_b.ndim > 2:
        grad_b = grad_b.sum(axis=0)
    return (grad_a[0] if a.ndim == 1 else grad_a), (grad_b[:, 0] if b.ndim == 1 else grad_b)
""",
    hint=[
        "(7, 2, 3) @ (7, 3, 4): is anything copied here?",
        "Sum only what was broadcast: `unbroadcast` knows it from the shape.",
    ],
)
broadcast_matmul_any.mistake(
    "the mean over the stack is taken, not the sum",
    source="""
def matmul_backward(grad, a, b):
    left, right = a, b
    if b.ndim == 1:
        right, grad = b[:, np.newaxis], grad[..., np.newaxis]
    if a.ndim == 1:
        left, grad = a[np.newaxis, :], grad[..., np.newaxis, :]
    grad_a, grad_b = grad @ np.swapaxes(right, -1, -2), np.swapaxes(left, -1, -2) @ grad
    return (unbroadcast(grad_a, left.shape).reshape(a.shape) * a.size / grad_a.size,
            unbroadcast(grad_b, right.shape).reshape(b.shape) * b.size / grad_b.size)
""",
    hint=["One weight, seven matrices that use it: seven paths.", "Over all paths, add."],
)
broadcast_matmul_any.mistake(
    "the two gradients come in the wrong order",
    swap=(
        "return grad_a.reshape(a.shape), grad_b.reshape(b.shape)",
        "return grad_b.reshape(b.shape), grad_a.reshape(a.shape)",
    ),
    hint=["Which of the two has the shape of a?", "First ∂L/∂a, then ∂L/∂b."],
)
broadcast_matmul_any.mistake(
    "`np.atleast_2d` makes a line of every vector, also of b and grad",
    source="""
def matmul_backward(grad, a, b):
    left, right, grad = np.atleast_2d(a), np.atleast_2d(b), np.atleast_2d(grad)
    return (unbroadcast(grad @ np.swapaxes(right, -1, -2), left.shape).reshape(a.shape),
            unbroadcast(np.swapaxes(left, -1, -2) @ grad, right.shape).reshape(b.shape))
""",
    hint=[
        "(2, 3) @ (3,): as a matrix, b has one column, and y, too.",
        "`b[:, np.newaxis]` and `grad[..., np.newaxis]`.",
    ],
)
broadcast_matmul_any.mistake(
    "with a vector, only one matrix beside it is handled, no stack",
    source="""
def matmul_backward(grad, a, b):
    if a.ndim == 1 and b.ndim == 1:
        return grad * b, grad * a
    if b.ndim == 1:
        return np.outer(grad, b), a.T @ grad
    if a.ndim == 1:
        return b @ grad, np.outer(a, grad)
    return (unbroadcast(grad @ np.swapaxes(b, -1, -2), a.shape),
            unbroadcast(np.swapaxes(a, -1, -2) @ grad, b.shape))
""",
    hint=[
        "(7, 2, 3) @ (3,) is allowed, too. What does np.outer make of (7, 2) and (3,)?",
        "Make the vector a matrix first; then one rule, with unbroadcast, does for all.",
    ],
)
broadcast_matmul_any.variant(
    "matrix by matrix",
    source="""
def matmul_backward(grad, a, b):
    left = a.reshape(1, -1) if a.ndim == 1 else a
    right = b.reshape(-1, 1) if b.ndim == 1 else b
    stack = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    grad = grad.reshape(stack + (left.shape[-2], right.shape[-1]))
    whole_left = np.broadcast_to(left, stack + left.shape[-2:])
    whole_right = np.broadcast_to(right, stack + right.shape[-2:])
    grad_left, grad_right = np.zeros(whole_left.shape), np.zeros(whole_right.shape)
    for i in np.ndindex(stack):
        grad_left[i], grad_right[i] = matmul_2d_backward(grad[i], whole_left[i], whole_right[i])
    return unbroadcast(grad_left, left.shape).reshape(a.shape), unbroadcast(grad_right, right.shape).reshape(b.shape)
""",
)
broadcast_matmul_any.variant(
    "case by case",
    source="""
def matmul_backward(grad, a, b):
    if a.ndim == 1 and b.ndim == 1:
        return grad * b, grad * a
    if b.ndim == 1:
        return (np.expand_dims(grad, -1) * b,
                (a * np.expand_dims(grad, -1)).reshape(-1, len(b)).sum(axis=0))
    if a.ndim == 1:
        grad_a = (b * np.expand_dims(grad, -2)).sum(axis=-1)
        return grad_a.reshape(-1, len(a)).sum(axis=0), a[:, None] * np.expand_dims(grad, -2)
    return (unbroadcast(np.einsum("...nm,...km->...nk", grad, b), a.shape),
            unbroadcast(np.einsum("...nk,...nm->...km", a, grad), b.shape))
""",
)
broadcast_matmul_any.variant(
    "as a product number by number, then a sum",
    source="""
def matmul_backward(grad, a, b):
    left = a.reshape(1, -1) if a.ndim == 1 else a
    right = b.reshape(-1, 1) if b.ndim == 1 else b
    y = left @ right
    grad = grad.reshape(y.shape)[..., :, np.newaxis, :]
    grad_a, grad_b = mul_backward(grad * np.ones(y.shape[:-1] + left.shape[-1:] + y.shape[-1:]),
                                  left[..., :, :, np.newaxis], right[..., np.newaxis, :, :])
    return grad_a.reshape(a.shape), grad_b.reshape(b.shape)
""",
)
broadcast_matmul_any.variant(
    "right is still b when it is asked for its axes", swap=("if b.ndim == 1:", "if right.ndim == 1:")
)
broadcast_matmul_any.variant(
    "right is still b when it becomes a column", swap=("b[:, np.newaxis]", "right[:, np.newaxis]")
)
broadcast_matmul_any.variant(
    "left is still a when it is asked for its axes", swap=("if a.ndim == 1:", "if left.ndim == 1:")
)
broadcast_matmul_any.variant("left is still a when it becomes a line", swap=("a[np.newaxis, :]", "left[np.newaxis, :]"))
broadcast_matmul_any.variant("the axis of a line goes with the sum", swap=("left.shape)", "a.shape)"))
