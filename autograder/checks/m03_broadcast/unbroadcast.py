"""Check 2 of lesson 03: the adjoint of broadcasting."""

import numpy as np

from autograder.checks.cases import array
from autograder.checks.check import exercise

broadcast_unbroadcast = exercise(
    "broadcast.unbroadcast", "A gradient, summed down to the shape of an input that was broadcast."
)


def shapes_below(grad, rng):
    """The shapes of inputs that broadcast to the gradient's, in any order: axes are left out on the left, or are 1."""
    found = []
    for added in range(grad.ndim + 1):
        kept = grad.shape[added:]
        for stretched in range(2 ** len(kept)):
            found.append(tuple(1 if stretched >> i & 1 else n for i, n in enumerate(kept)))
    return [found[i] for i in rng.permutation(len(found))]


def fits(whole, shape):
    try:
        return np.broadcast_shapes(whole, shape) == whole
    except ValueError:
        return False


SHAPES = ((), (1,), (2,), (2, 3), (3, 2), (2, 2), (1, 2), (2, 1), (1, 1), (2, 3, 4), (2, 1, 3), (2, 2, 2), (2, 3, 1, 2))


@broadcast_unbroadcast.aspect(
    "what does not fit is refused",
    0.5,
    corner=True,
    few=12,
    cases=array("grad", ((3,), (2, 3), (4,), (2, 2), (2, 3, 4)))
    .each(
        shape=lambda grad: [grad.shape[::-1], (2, *grad.shape), (2, 2), (3, 5), (*grad.shape[:-1], grad.shape[-1] + 1)]
    )
    .where(lambda grad, shape: not fits(grad.shape, shape)),
)
@broadcast_unbroadcast.aspect(
    "the sum over the copies", 3.5, few=47, cases=array("grad", SHAPES, axes=4).each(shape=shapes_below), device=8
)
def summed(student, case):
    return student.unbroadcast(case.grad, case.shape)


@broadcast_unbroadcast.on_device
def names(on, reference):
    def unbroadcast(grad, shape):
        return on.gradients(lambda x: on.ag.broadcast_to(x, grad.shape), grad, np.zeros(shape))[0]

    return {"unbroadcast": unbroadcast}


STRETCHED = "stretched = [added + i for i, n in enumerate(shape) if n == 1]"

broadcast_unbroadcast.mistake(
    "only the added axes are summed, not those of size 1",
    swap=(STRETCHED, "stretched = []"),
    hint=[
        "A column (3, 1) was repeated to (3, 4). Where are its four copies summed?",
        "Each axis i with shape[i] == 1 has to be summed, too, with keepdims.",
    ],
)
broadcast_unbroadcast.mistake(
    "only the axes of size 1 are summed, not the added ones",
    swap=("axis=(*range(added), *stretched)", "axis=tuple(stretched)"),
    hint=[
        "A bias (4,) was repeated for 3 lines. Where is the sum over the lines?",
        "The first grad.ndim − len(shape) axes are not the input's: sum over them.",
    ],
)
broadcast_unbroadcast.mistake(
    "the axes of size 1 are counted in shape, but summed in grad, which has more axes",
    swap=("[added + i for", "[i for"),
    hint=[
        "shape's axis 0 lies under which axis of grad, if grad has two more?",
        "Axis i of shape is axis added + i of grad.",
    ],
)
broadcast_unbroadcast.mistake(
    "the mean over the copies is taken, not the sum",
    swap=("grad.sum(", "grad.mean("),
    hint=["Three copies, three paths from b₀ to L. What do we do over all paths?", "Add: `sum`."],
)
broadcast_unbroadcast.mistake(
    "only one copy is used, the first",
    source="""
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad[0]
    for i, n in enumerate(shape):
        if n == 1:
            grad = grad.take([0], axis=i)
    if grad.shape != shape:
        raise ValueError("it does not fit")
    return grad
""",
    hint=[
        "b₀ is used in every line. What do the other lines say?",
        "Sum over the axis; `grad[0]` is only its first entry.",
    ],
)
broadcast_unbroadcast.mistake(
    "summed without keepdims, so the size 1 is lost",
    source="""
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    for i in reversed(range(len(shape))):
        if shape[i] == 1:
            grad = grad.sum(axis=i)
        elif grad.shape[i] != shape[i]:
            raise ValueError("it does not fit")
    return grad
""",
    hint=[
        "Which shape has your gradient for an input of shape (3, 1)?",
        "`keepdims=True`, or a reshape to `shape` at the end.",
    ],
)
broadcast_unbroadcast.mistake(
    "the added axes are taken to be on the right",
    source="""
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=-1)
    for i, n in enumerate(shape):
        if n == 1:
            grad = grad.sum(axis=i, keepdims=True)
    if grad.shape != shape:
        raise ValueError("it does not fit")
    return grad
""",
    hint=["Shapes are written flush right. On which side are sizes missing?", "Sum over the first axes: axis=0."],
)
broadcast_unbroadcast.mistake(
    "`reshape` makes any shape of as many numbers, and nothing is refused",
    swap=("if not fits:", "if False:"),
    hint=[
        "What does np.zeros((2, 3)).reshape((3, 2)) say?",
        "Compare the sizes before you reshape: an input's size is 1, or that of grad.",
    ],
)
broadcast_unbroadcast.mistake(
    "only the first axis of size 1 is summed",
    source="""
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    if 1 in shape:
        grad = grad.sum(axis=shape.index(1), keepdims=True)
    if grad.shape != shape:
        raise ValueError("it does not fit")
    return grad
""",
    hint=["(1, 7, 1) has two axes of size 1.", "A loop over all axes: `for i, n in enumerate(shape)`."],
)
broadcast_unbroadcast.mistake(
    "one added axis is summed, not all of them: `if` in place of `while`",
    source="""
def unbroadcast(grad, shape):
    if grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    for i, n in enumerate(shape):
        if n == 1:
            grad = grad.sum(axis=i, keepdims=True)
    if grad.shape != shape:
        raise ValueError("it does not fit")
    return grad
""",
    hint=["From (8, 7, 6) to (6,), two axes have to go.", "`while grad.ndim > len(shape)`."],
)
broadcast_unbroadcast.mistake(
    "an input with an axis of size 1 is summed to a single number",
    source="""
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    if 1 in shape:
        grad = grad.sum()
    return np.asarray(grad).reshape(shape)
""",
    hint=[
        "A column of three biases has three gradients.",
        "Sum along the axis of size 1 only: `sum(axis=i, keepdims=True)`.",
    ],
)
broadcast_unbroadcast.mistake(
    "`squeeze` takes away the axes of size 1 that should stay",
    source="""
def unbroadcast(grad, shape):
    added = grad.ndim - len(shape)
    axes = tuple(range(added)) + tuple(added + i for i, n in enumerate(shape) if n == 1)
    out = grad.sum(axis=axes, keepdims=True).squeeze()
    if out.shape != shape:
        raise ValueError("it does not fit")
    return out
""",
    hint=["Which shape has np.zeros((3, 1)).squeeze()?", "`reshape(shape)`, or sum the added axes without keepdims."],
)
broadcast_unbroadcast.variant(
    "axis by axis",
    source="""
def unbroadcast(grad, shape):
    while len(grad.shape) > len(shape):
        grad = grad.sum(axis=0)
    for i, (m, n) in enumerate(zip(grad.shape, shape)):
        if n == 1 and m != 1:
            grad = grad.sum(axis=i, keepdims=True)
    if grad.shape != tuple(shape):
        raise ValueError("this is no gradient of that input")
    return grad
""",
)
broadcast_unbroadcast.variant(
    "each number is sent to the place that it was copied from",
    source="""
def unbroadcast(grad, shape):
    size = int(np.prod(shape, dtype=int))
    place = np.broadcast_to(np.arange(size).reshape(shape), grad.shape)
    result = np.zeros(size)
    np.add.at(result, place.ravel(), grad.ravel())
    return result.reshape(shape)
""",
)
broadcast_unbroadcast.variant(
    "einsum sums over the letters that are left out",
    source="""
def unbroadcast(grad, shape):
    if np.broadcast_shapes(grad.shape, shape) != grad.shape:
        raise ValueError("it does not fit")
    padded = (1,) * (grad.ndim - len(shape)) + shape
    kept = [i for i, n in enumerate(padded) if n != 1]
    return np.einsum(grad, list(range(grad.ndim)), kept).reshape(shape)
""",
)
broadcast_unbroadcast.variant(
    "no shortcut for equal shapes: a sum over no axis", swap=("if grad.shape == shape:", "if False:")
)
broadcast_unbroadcast.variant("an empty shortcut", swap=("return grad\n", "pass\n"))
broadcast_unbroadcast.variant(
    "the shapes in the other order", swap=("broadcast_shape(grad.shape, shape)", "broadcast_shape(shape, grad.shape)")
)
broadcast_unbroadcast.variant(
    "compared number by number",
    swap=(
        "broadcast_shape(grad.shape, shape) == grad.shape",
        "len(shape) <= grad.ndim and all(n in (1, m) for n, m in zip(shape[::-1], grad.shape[::-1]))",
    ),
)
broadcast_unbroadcast.variant(
    "the axes of a sum in another order", swap=("(*range(added), *stretched)", "(*stretched, *range(added))")
)
broadcast_unbroadcast.variant("keepdims does not matter before a reshape", swap=("keepdims=True", "keepdims=False"))
