"""Check 9 of lesson 02: the dot product of two arrays, and all of its slopes."""

import numpy as np

from autograder.checks.check import check


@check("neuron.dot", points=2, device=("slopes for w", "slopes for x"))
def neuron_dot(student, rng, tools):
    """Value and slopes for arrays of five, of one, and of whole numbers."""
    w, x, up = rng.normal(size=5), rng.normal(size=5) + 2.0, -rng.uniform(1.5, 2.5)

    def run(which, *arguments):
        return np.asarray(student.dot_with_slopes(*arguments)[which], dtype=float)

    def afterwards():
        given = [w.copy(), x.copy()]
        _, by_w, by_x = student.dot_with_slopes(*given, up)
        by_w += 1.0
        by_x += 1.0
        return given

    def like_values():
        n = 4
        boxes = [student.Value(float(number)) for number in [*w[:n], *x[:n]]]
        total = student.Value(0.0)
        for a, b in zip(boxes[:n], boxes[n:]):
            total = total + a * b
        tools.backpropagate(total, upstream=up)
        value, by_w, by_x = student.dot_with_slopes(w[:n].copy(), x[:n].copy(), up)
        return [value - total.data + up, *(np.array([*by_w, *by_x]) - [box.grad for box in boxes])]

    return {
        "input": f"w = {np.round(w, 3)}, x = {np.round(x, 3)}, arrived: {up:.3g}",
        "w·x": lambda: run(0, w.copy(), x.copy(), up),
        "slopes for w": lambda: run(1, w.copy(), x.copy(), up),
        "slopes for x": lambda: run(2, w.copy(), x.copy(), up),
        "one element: all three": lambda: [
            float(part) for part in map(np.sum, student.dot_with_slopes(w[:1].copy(), x[:1].copy(), up))
        ],
        "shapes of the slopes": lambda: [
            np.shape(part) for part in student.dot_with_slopes(w.copy(), x.copy(), up)[1:]
        ],
        "1 arrives: slopes for w": lambda: run(1, w.copy(), x.copy(), 1.0),
        "whole numbers, 2.5 arrives: slopes for w": lambda: run(1, np.array([3, -2, 0]), np.array([1, 0, -4]), 2.5),
        "difference from the same in Values": like_values,
        "w and x afterwards, also if somebody adds to the slopes": afterwards,
    }


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
    "what arrived is forgotten, and the arrays themselves are handed out",
    swap=(RETURN, "float(w @ x), x, w"),
    hint=["Along a path we multiply. What came down the path so far?", "`arrived * x` also makes a new array."],
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
