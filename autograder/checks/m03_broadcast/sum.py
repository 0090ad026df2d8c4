"""Check 4 of lesson 03: the sum along axes."""

from autograder.checks.check import exercise
from autograder.checks.m03_broadcast.arriving import SUMS

broadcast_sum = exercise("broadcast.sum", "The gradient of a sum along axes, with and without keepdims.")


@broadcast_sum.aspect("∂L/∂x", 3, cases=SUMS, device=8)
def gradient(student, case):
    return student.sum_backward(case.grad, case.x, axis=case.axis, keepdims=case.keepdims)


@broadcast_sum.on_device
def names(on, reference):
    return {"sum_backward": lambda grad, x, **options: on.gradients(on.ag.sum, grad, x, **options)[0]}


EXPAND = "grad = np.expand_dims(grad, axis)"
RETURN = "return np.broadcast_to(grad, x.shape)"

broadcast_sum.mistake(
    "the 1 of the summed axis is not put back, or always at the front, which is the same: grad is aligned to the right",
    swap=("if axis is not None and not keepdims:", "if False:"),
    hint=[
        "grad (2,) under x (2, 4), flush right: does it fit?",
        "`np.expand_dims(grad, axis)` puts a 1 where the axis was.",
    ],
)
broadcast_sum.mistake(
    "with keepdims the 1 is put in once more",
    swap=("if axis is not None and not keepdims:", "if axis is not None:"),
    hint=[
        "Which shape has grad, if the sum was taken with keepdims?",
        "Only without keepdims is there something to put back.",
    ],
)
broadcast_sum.mistake(
    "the 1 is always put at the end",
    swap=(EXPAND, "grad = grad[..., np.newaxis]"),
    hint=["x (2, 4, 3) was summed over axis 1. Where does the 1 belong?", "`np.expand_dims(grad, axis)`."],
)
broadcast_sum.mistake(
    "ones are returned: the gradient that arrives is left out",
    swap=(RETURN, "return np.ones(x.shape)"),
    hint=["A one is right only if grad is one.", "Copies of grad, not of 1."],
)
broadcast_sum.mistake(
    "divided by how many were summed: that is the mean",
    swap=(RETURN, "return np.broadcast_to(grad, x.shape) * (grad.size / x.size)"),
    hint=["One bit of x moves the sum by one bit, however many there are.", "Copies of grad, nothing else."],
)
broadcast_sum.mistake(
    "`np.resize` repeats the numbers one after the other, until the shape is full",
    swap=(RETURN, "return np.resize(grad, x.shape)"),
    hint=[
        "The shape is right. Does every number stand on its own line?",
        "`np.broadcast_to` stretches along the axis of size 1.",
    ],
)
broadcast_sum.mistake(
    "a negative axis is compared with axes counted from 0",
    source="""
def sum_backward(grad, x, axis=None, keepdims=False):
    if axis is None:
        axis = tuple(range(x.ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    return np.broadcast_to(grad.reshape(kept), x.shape)
""",
    hint=["Which number has the axis −1 of an array of three axes?", "`i % x.ndim` makes a number from 0 of it."],
)
broadcast_sum.mistake(
    "several axes at once are not handled",
    source="""
def sum_backward(grad, x, axis=None, keepdims=False):
    kept = [1 if axis is None or i == axis % x.ndim else n for i, n in enumerate(x.shape)]
    return np.broadcast_to(grad.reshape(kept), x.shape)
""",
    hint=[
        "axis may be a tuple, as in x.sum(axis=(0, 2)).",
        "np.expand_dims takes a tuple, too; or make a tuple of a single number first.",
    ],
)
broadcast_sum.mistake(
    "axes are put back one after the other in the order given, and the later ones move",
    source="""
def sum_backward(grad, x, axis=None, keepdims=False):
    if axis is not None and not keepdims:
        for i in axis if isinstance(axis, tuple) else (axis,):
            grad = np.expand_dims(grad, i)
    return np.broadcast_to(grad, x.shape)
""",
    hint=[
        "After the first 1 is in, what does the number of the next axis count?",
        "Give np.expand_dims the whole tuple.",
    ],
)
broadcast_sum.mistake(
    "grad is multiplied by x, the rule of a square",
    swap=(RETURN, "return np.broadcast_to(grad, x.shape) * x"),
    hint=["Does the slope of a sum depend on how large x is?", "Copies of grad, nothing else."],
)
broadcast_sum.mistake(
    "grad is summed once more, and the total copied",
    swap=(EXPAND, "grad = grad.sum()"),
    hint=["Each line of x moves only its own sum.", "Put the axis back: np.expand_dims(grad, axis)."],
)
broadcast_sum.variant(
    "the shape is asked from NumPy",
    source="""
def sum_backward(grad, x, axis=None, keepdims=False):
    return np.ones_like(x) * np.reshape(grad, x.sum(axis=axis, keepdims=True).shape)
""",
)
broadcast_sum.variant(
    "number by number",
    source="""
def sum_backward(grad, x, axis=None, keepdims=False):
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = {i % x.ndim for i in axes}
    out = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        if keepdims:
            out[index] = grad[tuple(0 if i in axes else n for i, n in enumerate(index))]
        else:
            out[index] = grad[tuple(n for i, n in enumerate(index) if i not in axes)]
    return out
""",
)
broadcast_sum.variant(
    "repeated along each axis",
    source="""
def sum_backward(grad, x, axis=None, keepdims=False):
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = sorted(i % x.ndim for i in axes)
    for i in axes:
        if not keepdims:
            grad = np.expand_dims(grad, i)
        grad = np.repeat(grad, x.shape[i], axis=i)
    return grad
""",
)
