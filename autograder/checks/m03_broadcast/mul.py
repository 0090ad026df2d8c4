"""Check 3 of lesson 03: the product, number by number."""

import numpy as np

from autograder.checks.check import check


@check(
    "broadcast.mul",
    points=3,
    needs=("broadcast.unbroadcast",),
    device=tuple(
        f"{name}: ∂L/∂{letter}"
        for name in (
            "of one shape",
            "square",
            "a matrix and a row",
            "a row and a matrix",
            "a matrix and a column",
            "a column and a row",
            "(p, 1, r) and (q, 1)",
        )
        for letter in "ab"
    ),
)
def broadcast_mul(student, rng, tools):
    """The gradients of a · b, where a and b broadcast."""
    p, q, r = (int(n) for n in rng.permutation(range(2, 6))[:3])

    def run(a_shape, b_shape, which):
        a, b = np.asarray(rng.normal(size=a_shape)), np.asarray(rng.normal(size=b_shape))
        grad = np.asarray(rng.normal(size=np.broadcast_shapes(a_shape, b_shape)))
        gradients = student.mul_backward(grad, a, b)
        return np.asarray(gradients[which])

    def afterwards():
        arrays = [np.arange(1.0, 1.0 + p * q).reshape(p, q), np.arange(2.0, 2.0 + q), np.full((p, q), 3.0)]
        a, b, grad = arrays
        student.mul_backward(grad, a, b)
        return np.concatenate([array.ravel() for array in arrays])

    cases = {
        "of one shape": ((p, q), (p, q)),
        "square": ((p, p), (p, p)),
        "a matrix and a row": ((p, q), (q,)),
        "a row and a matrix": ((q,), (p, q)),
        "a matrix and a column": ((p, q), (p, 1)),
        "a column and a row": ((p, 1), (q,)),
        "(p, 1, r) and (q, 1)": ((p, 1, r), (q, 1)),
        "a number and a matrix": ((), (p, q)),
        "two numbers": ((), ()),
    }
    quantities = {"input": f"p, q, r = {p}, {q}, {r}; all numbers are random"}
    for name, (a_shape, b_shape) in cases.items():
        for which, letter in enumerate("ab"):
            quantities[f"{name}: ∂L/∂{letter}"] = lambda a=a_shape, b=b_shape, which=which: run(a, b, which)
    return quantities | {"a, b and grad afterwards": afterwards}


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
