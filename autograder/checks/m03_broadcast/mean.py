"""Check 5 of lesson 03: the mean along axes."""

from autograder.checks.check import exercise
from autograder.checks.m03_broadcast.arriving import SUMS

broadcast_mean = exercise("broadcast.mean", "The gradient of a mean along axes.", needs=("broadcast.sum",))


@broadcast_mean.aspect("∂L/∂x", 2, cases=SUMS, device=8)
def gradient(student, case):
    return student.mean_backward(case.grad, case.x, axis=case.axis, keepdims=case.keepdims)


@broadcast_mean.on_device
def names(on, reference):
    return {"mean_backward": lambda grad, x, **options: on.gradients(on.ag.mean, grad, x, **options)[0]}


COUNT = "count = x.size / grad.size"
CALL = "sum_backward(grad, x, axis, keepdims)"

broadcast_mean.mistake(
    "divided by all numbers of x, whatever the axis",
    swap=(COUNT, "count = x.size"),
    hint=[
        "A mean over four numbers out of eight divides by four.",
        "x.size / grad.size: so many numbers are behind each mean.",
    ],
)
broadcast_mean.mistake(
    "divided by how many means there are, not by how many numbers are in each",
    swap=(COUNT, "count = grad.size"),
    hint=["A mean over 4 numbers, taken twice: divide by 4 or by 2?", "x.size / grad.size."],
)
broadcast_mean.mistake(
    "divided by len(x), the size of the first axis",
    swap=(COUNT, "count = len(x)"),
    hint=["len(x) is x.shape[0]. Over which axis was the mean taken?", "x.size / grad.size holds for every axis."],
)
broadcast_mean.mistake(
    "not divided at all: that is the sum",
    swap=(COUNT, "count = 1"),
    hint=["One bit of one number out of four moves the mean by … ?", "Divide by how many numbers are in each mean."],
)
broadcast_mean.mistake(
    "multiplied by the count",
    swap=("/ count", "* count"),
    hint=["The more numbers, the less each one matters.", "Divide."],
)
broadcast_mean.mistake(
    "divided twice",
    swap=("/ count", "/ count / count"),
    hint=["How often stands 1/N in the formula of the mean?", "sum_backward does not divide; you do, once."],
)
broadcast_mean.mistake(
    "x.shape[axis], where axis may be None or a tuple",
    swap=(COUNT, "count = x.shape[axis]"),
    hint=["What is x.shape[(0, 2)]?", "x.size / grad.size needs no axis."],
)
broadcast_mean.mistake(
    "keepdims is not handed on",
    swap=(CALL, "sum_backward(grad, x, axis)"),
    hint=["Which shape has grad with keepdims?", "`sum_backward(grad, x, axis, keepdims)`."],
)
broadcast_mean.mistake(
    "the axis is not handed on",
    swap=(CALL, "sum_backward(grad, x)"),
    hint=["sum_backward has to know where the 1 belongs.", "`sum_backward(grad, x, axis, keepdims)`."],
)
broadcast_mean.mistake(
    "the mean of grad is copied",
    swap=(CALL, "np.broadcast_to(grad.mean(), x.shape)"),
    hint=["Each number of x moves only its own mean.", "As in the sum, copy each grad along its axis."],
)
broadcast_mean.mistake(
    "x.shape[axis] and all of them for None, but axis may be a tuple",
    swap=(COUNT, "count = x.size if axis is None else x.shape[axis]"),
    hint=["What is x.shape[(0, 2)]?", "x.size / grad.size needs no axis."],
)
broadcast_mean.mistake(
    "None is taken for axis 0",
    swap=(COUNT, "count = x.size / grad.size if axis is not None else x.shape[0]"),
    hint=["With axis=None, over how many numbers is the mean?", "Over all of them: x.size / grad.size."],
)
broadcast_mean.variant(
    "grad is divided before it is copied",
    source="""
def mean_backward(grad, x, axis=None, keepdims=False):
    numbers_in_each = x.size // np.mean(x, axis=axis).size
    return sum_backward(np.asarray(grad / numbers_in_each), x, axis=axis, keepdims=keepdims)
""",
)
broadcast_mean.variant(
    "without sum_backward",
    source="""
def mean_backward(grad, x, axis=None, keepdims=False):
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    kept, count = list(x.shape), 1
    for i in axes:
        count *= x.shape[i]
        kept[i] = 1
    return np.zeros(x.shape) + grad.reshape(kept) / count
""",
)
broadcast_mean.variant(
    "1/N is the mean of ones by the rule of the product",
    source="""
def mean_backward(grad, x, axis=None, keepdims=False):
    share = 1 / np.sum(np.ones_like(x), axis=axis, keepdims=keepdims)
    return sum_backward(np.asarray(grad * share), x, axis, keepdims)
""",
)
