"""Check 9 of lesson 02: the dot product of two arrays, and all of its slopes."""

import numpy as np

from autograder.checks.cases import Text, array, choice, filled
from autograder.checks.check import exercise

neuron_dot = exercise("neuron.dot", "The dot product of two arrays, and what it hands back to both.")
KINDS = ("decimals", "integers", "whole")
PAIRS = array("w", [(2,), (3,), (1,), (5,)], KINDS, axes=1).where(lambda w: w.ndim == 1).each(
    x=lambda w, rng: [Text("w"), *(filled(w.shape, kind, rng) for kind in KINDS)]
) * choice("arrived", 10.0, -0.5, 1.0, 2.5, 0.0, 3)  # fmt: skip


@neuron_dot.aspect("both slopes", 1.5, cases=PAIRS, device=2)
def slopes(student, case):
    _, by_w, by_x = student.dot_with_slopes(case.w, case.x, case.arrived)
    return {"∂loss/∂w": np.asarray(by_w), "∂loss/∂x": np.asarray(by_x)}


@neuron_dot.aspect("w · x", 0.5, cases=PAIRS, few=15)
def product(student, case):
    return float(student.dot_with_slopes(case.w, case.x, case.arrived)[0])


RETURN = "float(w @ x), arrived * x, arrived * w"


@neuron_dot.on_device
def names(on, reference):
    def dot(w, x):
        return on.ag.sum(w * x)

    return {"dot_with_slopes": lambda w, x, arrived: (on.value(dot, w, x), *on.gradients(dot, np.array(arrived), w, x))}


neuron_dot.mistake(
    "the slopes are exchanged",
    swap=(RETURN, "float(w @ x), arrived * w, arrived * x"),
    hint=["If w₁ moves by a bit, by how much does w·x move?", "For w it is x, for x it is w."],
)
neuron_dot.mistake(
    "what arrived is forgotten",
    swap=(RETURN, "float(w @ x), x.copy(), w.copy()"),
    hint=["Along a path we multiply. What came down the path so far?", "`arrived * x`, `arrived * w`."],
)
neuron_dot.mistake(
    "what arrived is added, not multiplied",
    swap=(RETURN, "float(w @ x), arrived + x, arrived + w"),
    hint=["The chain rule multiplies.", "`arrived * x`."],
)
neuron_dot.mistake(
    "what arrived counts for w alone",
    swap=(RETURN, "float(w @ x), arrived * x, w.copy()"),
    hint=["x lies below the same result.", "`arrived * w` for x."],
)
neuron_dot.mistake(
    "the result is multiplied with what arrived, too",
    swap=("float(w @ x)", "arrived * float(w @ x)"),
    hint=["Does the result know what comes later?", "w·x is w·x."],
)
neuron_dot.mistake(
    "the products are not added up",
    swap=("float(w @ x)", "w * x"),
    hint=["How many numbers is a dot product?", "`w @ x`, or `(w * x).sum()`."],
)
neuron_dot.mistake(
    "the slopes are added up to one number",
    swap=(RETURN, "float(w @ x), arrived * x.sum(), arrived * w.sum()"),
    hint=["How many weights are there, and how many slopes?", "One for each: an array."],
)
neuron_dot.mistake(
    "the slope is the product w·x, for both",
    swap=(RETURN, "float(w @ x), arrived * w * x, arrived * w * x"),
    hint=["The term w₁·x₁ is linear in w₁: what stands before it?", "`arrived * x` for w."],
)
neuron_dot.mistake(
    "the result goes into the slopes as a factor",
    swap=(RETURN, "float(w @ x), arrived * (w @ x) * x, arrived * (w @ x) * w"),
    hint=["Does ∂(w·x)/∂w depend on w?", "`arrived * x`."],
)
neuron_dot.mistake(
    "`w *= arrived` changes the array that was given",
    swap=(
        "return " + RETURN,
        "value = float(w @ x)\n    by_w = arrived * x\n    w *= arrived\n    return value, by_w, w",
    ),
    hint=["What is in w after the call?", "`arrived * w` is a new array."],
)
neuron_dot.mistake(
    "the slopes take the type of w and x, and whole numbers cut off the rest",
    swap=(RETURN, "float(w @ x), (arrived * x).astype(x.dtype), (arrived * w).astype(w.dtype)"),
    hint=["2.5 in an array of whole numbers is what?", "`arrived * x` finds the right type by itself."],
)
neuron_dot.mistake(
    "a table of all products with all: `np.outer`",
    swap=(RETURN, "float(w @ x), arrived * np.outer(w, x), arrived * np.outer(x, w)"),
    hint=["Which shape have the slopes for n weights?", "(n,), as w."],
)
neuron_dot.variant(
    "with np.dot and lists",
    source="""
def dot_with_slopes(w, x, arrived):
    value = np.dot(w, x)
    by_w = np.array([arrived * number for number in x], dtype=float)
    by_x = np.array([arrived * number for number in w], dtype=float)
    return value, by_w, by_x
""",
)
neuron_dot.variant(
    "a list of three, through einsum and multiply",
    source="""
def dot_with_slopes(w, x, arrived):
    return [np.einsum("i,i->", w, x), np.multiply(x, arrived), np.multiply(arrived, w)]
""",
)
neuron_dot.variant(
    "a loop for the sum",
    source="""
def dot_with_slopes(w, x, arrived):
    total = 0.0
    for i in range(len(w)):
        total += w[i] * x[i]
    slopes = np.outer(arrived, np.stack([x, w])).reshape(2, -1)
    return total, slopes[0], slopes[1]
""",
)
neuron_dot.variant("the dot product as NumPy's own number", swap=("float(w @ x)", "w @ x"))
neuron_dot.variant("x·w is w·x", swap=("w @ x", "x @ w"))
