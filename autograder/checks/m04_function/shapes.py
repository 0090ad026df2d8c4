"""Check 7 of lesson 04: sum, reshape, transpose."""

import numpy as np

from autograder.checks.cases import array, axes_of, filled
from autograder.checks.check import exercise
from autograder.checks.m04_function.inputs import texts

function_shapes = exercise(
    "function.shapes",
    "Sums over every kind of axis, shapes and swaps: values, and what the rules answer.",
    needs=("function.apply",),
)
SHAPES = (2, 3), (2,), (1, 3), (2, 1), (3, 2), (2, 2), (2, 3, 4), (2, 1, 3), (2, 2, 2), (1, 2, 1, 3)


class Swapping(np.ndarray):
    """An array whose transpose swaps two axes, as a tensor's does."""

    def transpose(self, axis1, axis2):
        return self.swapaxes(axis1, axis2)


def sums(x):
    axes = axes_of(x.ndim)[:-1]
    options = [f"axis={axis}, keepdims={kept}" for axis in axes for kept in (False, True)]
    return texts("lambda x: x.sum()", *(f"lambda x: x.sum({option})" for option in options))


def reshapes(x):
    shapes = [(x.size,), (-1,), (1, x.size), (x.size, 1), x.shape[::-1], (*x.shape, 1), (x.shape[-1], -1), x.shape]
    return texts(*(f"lambda x: x.reshape({shape})" for shape in shapes), "lambda x: x.reshape(-1, 1)")


def swaps(x):
    axes = [*range(x.ndim), *range(-x.ndim, 0)]
    return texts(*(f"lambda x: x.transpose({i}, {j})" for i in axes for j in axes[::-1]))


def rule(student, case):
    x, grad = student.Tensor(case.x, requires_grad=True), student.Tensor(case.grad)
    y = case.f(x)
    case.another(-x)
    yield
    (part,) = student.input_gradients(y.grad_fn, grad)
    return {"y": y.data, "for x": part.data, "x": x.data, "grad": grad.data}


def kept(student, case):
    y = case.f(student.Tensor(case.x, requires_grad=True))
    return {"arrays kept": len(y.grad_fn.kept), "y": y.data}


def moves(programs):
    cases = array("x", SHAPES, ("decimals", "whole", "transposed")).where(lambda x: x.ndim > 0).each(f=programs)
    cases = cases.add(another=lambda x, rng: (others := programs(x))[rng.integers(len(others))])
    return cases.add(grad=lambda x, f, rng: filled(np.shape(f(x.view(Swapping))), "decimals", rng))


function_shapes.aspect("sum", 1.25, cases=moves(sums), device=5, few=24)(rule)
function_shapes.aspect("reshape", 0.5, cases=moves(reshapes), few=12)(rule)
function_shapes.aspect("transpose", 1, cases=moves(swaps), device=4, few=18)(rule)
function_shapes.aspect(
    "no array is saved", 0.25, cases=moves(sums) + moves(swaps), at_most=("arrays kept",), corner=True, few=6
)(kept)


@function_shapes.on_device
def names(on, reference):
    class Sum:
        @staticmethod
        def apply(x, **options):
            return x.sum(**options)

    def input_gradients(out, upstream):
        out.backward(upstream)
        return [x.grad for x in out.inputs]

    return {"Tensor": on.MeasuredTensor, "Sum": Sum, "input_gradients": input_gradients}


SPREAD = "grad.reshape(kept_shape(ctx.input_shape, ctx.axis)).expand(ctx.input_shape)"

function_shapes.mistake(
    "the gradient is not copied to all the numbers that were summed",
    swap=(SPREAD, "grad.reshape(kept_shape(ctx.input_shape, ctx.axis))"),
    hint=["How many numbers has x, how many has your gradient?", "`.expand(ctx.input_shape)`."],
)
function_shapes.mistake(
    "the axis that was summed away is not put back before copying",
    swap=(SPREAD, "grad.expand(ctx.input_shape)"),
    hint=[
        "x is (2, 3, 4), summed over axis 1: grad is (2, 4). Does that broadcast to (2, 3, 4)?",
        "First `grad.reshape(kept_shape(…))`, then expand.",
    ],
)
function_shapes.mistake(
    "the sum's rule ignores the gradient that arrives: ones for all",
    swap=(SPREAD, "Tensor(np.ones(ctx.input_shape))"),
    hint=["With a loss of `y.sum()` nobody notices. And with `(y * w).sum()`?", "Copies of `grad`."],
)
function_shapes.mistake(
    "the gradient is shared out over the numbers, as for a mean",
    swap=(SPREAD, SPREAD + " * (grad.size / math.prod(ctx.input_shape))"),
    hint=["One of the numbers goes up by 1: by how much does the sum?", "Each gets the whole of grad."],
)
function_shapes.mistake(
    "keepdims is not handed on to NumPy",
    swap=("x.sum(axis, keepdims=keepdims)", "x.sum(axis)"),
    hint=["Look at the shape of the result with keepdims=True.", "`x.sum(axis, keepdims=keepdims)`."],
)
function_shapes.mistake(
    "the axis is not handed on to NumPy",
    swap=("x.sum(axis, keepdims=keepdims)", "x.sum(keepdims=keepdims)"),
    hint=["Look at the shape of x.sum(axis=1).", "`x.sum(axis, keepdims=keepdims)`."],
)
function_shapes.mistake(
    "the shape is noted on the class: the next sum overwrites it",
    swap=[
        (
            "ctx.input_shape, ctx.axis = x.shape, axis\n        return x.sum",
            "Sum.input_shape, Sum.axis = x.shape, axis\n        return x.sum",
        ),
        (SPREAD, "grad.reshape(kept_shape(Sum.input_shape, Sum.axis)).expand(Sum.input_shape)"),
    ],
    hint=["Two sums, then backward of the first. Whose axis is there?", "What belongs to one call stands on ctx."],
)
function_shapes.mistake(
    "the copies are laid out along the wrong axis",
    swap=(SPREAD, "Tensor.wrap(np.resize(raw(grad), ctx.input_shape))"),
    hint=[
        "Numbers of row 0 of x get the gradient of which sum?",
        "reshape to the kept shape, then expand: each along its own axis.",
    ],
)
function_shapes.mistake(
    "reshape hands the gradient on in the shape of the result",
    swap=("return grad.reshape(ctx.input_shape)", "return grad"),
    hint=["A gradient has the shape of what it belongs to.", "`grad.reshape(ctx.input_shape)`."],
)
function_shapes.mistake(
    "the transpose is not undone",
    swap=("return grad.transpose(ctx.axis1, ctx.axis2)", "return grad"),
    hint=[
        "With a square matrix the shapes even agree. Where does the number at (0, 1) come from?",
        "Swap the same two axes back.",
    ],
)
function_shapes.mistake(
    "the transpose is undone by a reshape: the shape is right, the numbers are in the wrong places",
    swap=[
        ("ctx.axis1, ctx.axis2 = axis1, axis2", "ctx.input_shape = x.shape"),
        ("grad.transpose(ctx.axis1, ctx.axis2)", "grad.reshape(ctx.input_shape)"),
    ],
    hint=[
        "reshape leaves the order of the numbers in memory as it is. And transpose?",
        "`grad.transpose(…)` with the same two axes.",
    ],
)
function_shapes.mistake(
    "always the last two axes are swapped",
    swap=[
        ("x.swapaxes(axis1, axis2)", "x.swapaxes(-1, -2)"),
        ("grad.transpose(ctx.axis1, ctx.axis2)", "grad.transpose(-1, -2)"),
    ],
    hint=["Which axes were asked for?", "axis1 and axis2."],
)
function_shapes.mistake(
    "transpose is a reshape: the shape is right, the numbers are in the wrong places",
    swap=("x.swapaxes(axis1, axis2)", "x.reshape(x.swapaxes(axis1, axis2).shape)"),
    hint=["[[1, 2, 3], [4, 5, 6]] transposed begins with 1, 4.", "`x.swapaxes(axis1, axis2)`."],
)
function_shapes.variant(
    "the sum keeps its axes, and NumPy copies",
    source="""
class Sum(Function):
    @staticmethod
    def forward(ctx, x, axis=None, keepdims=False):
        ctx.like = np.empty_like(x)
        ctx.small = x.sum(axis=axis, keepdims=True).shape
        return np.sum(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def backward(ctx, grad):
        return grad.data.reshape(ctx.small) + np.zeros_like(ctx.like)


class Reshape(Function):
    @staticmethod
    def forward(ctx, x, shape):
        ctx.before = x.shape
        return np.reshape(x, shape)

    @staticmethod
    def backward(ctx, grad):
        return (np.reshape(grad.data, ctx.before),)


class Transpose(Function):
    @staticmethod
    def forward(ctx, x, axis1, axis2):
        order = list(range(x.ndim))
        order[axis1], order[axis2] = order[axis2], order[axis1]
        ctx.order = order
        return np.transpose(x, order)

    @staticmethod
    def backward(ctx, grad):
        return (np.transpose(grad.data, np.argsort(ctx.order)),)
""",
)
function_shapes.variant("a swap is the same both ways", swap=("= axis1, axis2", "= axis2, axis1"))
function_shapes.variant(
    "by multiplying with ones, and swapping in the other order",
    swap=[
        (SPREAD, "grad.reshape(kept_shape(ctx.input_shape, ctx.axis)) * np.ones(ctx.input_shape)"),
        ("grad.transpose(ctx.axis1, ctx.axis2)", "grad.transpose(ctx.axis2, ctx.axis1)"),
    ],
)
