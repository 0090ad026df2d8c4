"""Check 3 of lesson 03: the product, number by number."""

from autograder.checks.cases import broadcast
from autograder.checks.check import exercise
from autograder.checks.m03_broadcast import arriving

broadcast_mul = exercise(
    "broadcast.mul", "The gradients of a · b, where a and b broadcast.", needs=("broadcast.unbroadcast",)
)


@broadcast_mul.aspect("both gradients", 3, cases=broadcast("a", "b").add(grad=arriving.of_both), device=6)
def gradients(student, case):
    return student.mul_backward(case.grad, case.a, case.b)


@broadcast_mul.on_device
def names(on, reference):
    return {"mul_backward": lambda grad, a, b: on.gradients(on.ag.mul, grad, a, b)}


RETURN = "return unbroadcast(grad * b, a.shape), unbroadcast(grad * a, b.shape)"

broadcast_mul.mistake(
    "each factor keeps its own numbers, not the other's",
    swap=(RETURN, "return unbroadcast(grad * a, a.shape), unbroadcast(grad * b, b.shape)"),
    hint=["Wiggle only a: how much does a·b move? By a, or by b?", "For a: grad * b. For b: grad * a."],
)
broadcast_mul.mistake(
    "summed first, then multiplied: each copy of b met another a",
    swap=(
        RETURN,
        "return unbroadcast(unbroadcast(grad, a.shape) * b, a.shape), unbroadcast(unbroadcast(grad, b.shape) * a, b.shape)",
    ),
    hint=[
        "Σ g·a is not (Σ g)·(Σ a), nor (Σ g)·a.",
        "`unbroadcast(grad * b, a.shape)`: the product inside, the sum outside.",
    ],
)
broadcast_mul.mistake(
    "nothing is un-broadcast: the gradients keep the shape of y",
    swap=(RETURN, "return grad * b, grad * a"),
    hint=["Which shape has ∂L/∂b, and which has b?", "`unbroadcast(…, b.shape)`, and the same for a."],
)
broadcast_mul.mistake(
    "only b is un-broadcast, as if only b could be the smaller one",
    swap=(RETURN, "return grad * b, unbroadcast(grad * a, b.shape)"),
    hint=["A row times a matrix: here a was copied.", "Both: `unbroadcast(grad * b, a.shape)`."],
)
broadcast_mul.mistake(
    "the gradient that arrives is left out",
    swap=(
        RETURN,
        """ones = np.ones_like(grad)
    return unbroadcast(ones * b, a.shape), unbroadcast(ones * a, b.shape)""",
    ),
    hint=["Along a path we multiply. What came down the path so far?", "grad times the other factor."],
)
broadcast_mul.mistake(
    "the rule of the sum: grad alone, without the other factor",
    swap=(RETURN, "return unbroadcast(grad, a.shape), unbroadcast(grad, b.shape)"),
    hint=["If b is 10, one bit of a moves a·b by ten.", "grad * b for a, grad * a for b."],
)
broadcast_mul.mistake(
    "the two gradients come in the wrong order",
    swap=(RETURN, "return unbroadcast(grad * a, b.shape), unbroadcast(grad * b, a.shape)"),
    hint=["Which of the two has the shape of a?", "First ∂L/∂a, then ∂L/∂b."],
)
broadcast_mul.mistake(
    "un-broadcast to the shape of the other factor",
    swap=(RETURN, "return unbroadcast(grad * b, b.shape), unbroadcast(grad * a, a.shape)"),
    hint=["∂L/∂a has the shape of … ?", "`unbroadcast(grad * b, a.shape)`."],
)
broadcast_mul.mistake(
    "`grad *= b` writes into grad, and the second gradient is computed from that",
    swap=(
        RETURN,
        """grad *= b
    grad_a = unbroadcast(grad, a.shape)
    return grad_a, unbroadcast(grad * a, b.shape)""",
    ),
    hint=["What is in grad after the first line?", "`grad * b` makes a new array; `*=` does not."],
)
broadcast_mul.mistake(
    "a matrix product in place of the product number by number",
    swap=(RETURN, "return grad @ b.T, a.T @ grad"),
    hint=["`*` or `@`?", "y = a * b is number by number, and so are its gradients."],
)
broadcast_mul.mistake(
    "summed first, then multiplied, so the other factor makes it large again",
    swap=(RETURN, "return unbroadcast(grad, a.shape) * b, unbroadcast(grad, b.shape) * a"),
    hint=[
        "Which shape has unbroadcast(grad, b.shape) * a?",
        "`unbroadcast(grad * b, a.shape)`: the product inside, the sum outside.",
    ],
)
broadcast_mul.variant(
    "in steps, a list",
    source="""
def mul_backward(grad, a, b):
    gradients = []
    for own, other in ((a, b), (b, a)):
        gradients.append(unbroadcast(np.multiply(other, grad), own.shape))
    return gradients
""",
)
broadcast_mul.variant(
    "with einsum, without unbroadcast",
    source="""
def mul_backward(grad, a, b):
    def summed(x, shape):
        padded = (1,) * (x.ndim - len(shape)) + shape
        kept = [i for i, n in enumerate(padded) if n != 1]
        return np.einsum(x, list(range(x.ndim)), kept).reshape(shape)

    whole_a, whole_b = np.broadcast_arrays(a, b)
    return summed(np.array(grad * whole_b), a.shape), summed(np.array(grad * whole_a), b.shape)
""",
)
