"""Check 7 of lesson 04: sum, reshape, transpose."""

import numpy as np

from autograder.checks.check import check


@check(
    "function.shapes",
    points=3,
    needs=("function.apply",),
    device=(
        "sum, all: for x",
        "sum, axis 0: for x",
        "sum, axis 1: for x",
        "sum, last axis: for x",
        "sum, axes 0 and 2: for x",
        "sum, axis 1 kept: for x",
        "transpose 0, 1: for x",
        "transpose 2, 0: for x",
        "transpose −1, −2: for x",
        "transpose 0, −1: for x",
    ),
)
def function_shapes(student, rng, tools):
    """Sums over every kind of axis, shapes and swaps: values, and what the rules answer."""
    x_data = rng.normal(size=(2, 3, 4))

    def result(f):
        return f(student.Tensor(x_data, requires_grad=True))

    def value(f):
        return result(f).data

    def answer(f):
        """What the rule answers to a gradient without pattern, of the result's shape; x is left alone."""
        x = student.Tensor(x_data, requires_grad=True)
        out = f(x)
        g = np.random.default_rng(out.ndim * 100 + out.size).normal(size=out.shape) * x_data[0, 0, 0]
        upstream = student.Tensor(g)
        part = student.input_gradients(out.grad_fn, upstream)[0]
        if not np.array_equal(upstream.data, g) or not np.array_equal(x.data, x_data):
            raise ValueError("the gradient that arrived, or x, was changed")
        return None if part is None else part.data

    def two_sums():
        """Two sums with different axes, and then the rule of the first."""
        x = student.Tensor(x_data, requires_grad=True)
        first, _ = x.sum(axis=0), x.sum(axis=2)
        g = student.Tensor(x_data[1])
        return student.input_gradients(first.grad_fn, g)[0].data

    def saved(f):
        return [len(result(f).grad_fn.kept), float(np.sum(value(f)))]

    sums = {
        "all": dict(),
        "axis 0": dict(axis=0),
        "axis 1": dict(axis=1),
        "last axis": dict(axis=-1),
        "axes 0 and 2": dict(axis=(0, 2)),
        "axis 1 kept": dict(axis=1, keepdims=True),
        "all kept": dict(keepdims=True),
        "axes −1 and 0 kept": dict(axis=(-1, 0), keepdims=True),
    }
    quantities = {"input": f"x of shape (2, 3, 4): {np.round(x_data.ravel(), 3).tolist()}"}
    for name, options in sums.items():
        quantities[f"sum, {name}"] = lambda options=options: value(lambda x: student.Sum.apply(x, **options))
        quantities[f"sum, {name}: for x"] = lambda options=options: answer(lambda x: student.Sum.apply(x, **options))
    moves = {
        "reshape to (6, 4)": lambda x: x.reshape(6, 4),
        "reshape to (4, −1)": lambda x: x.reshape(4, -1),
        "reshape to (24,)": lambda x: x.reshape((24,)),
        "transpose 0, 1": lambda x: x.transpose(0, 1),
        "transpose 2, 0": lambda x: x.transpose(2, 0),
        "transpose −1, −2": lambda x: x.transpose(-1, -2),
        "transpose 0, −1": lambda x: x.transpose(0, -1),
    }
    for name, move in moves.items():
        quantities[name] = lambda move=move: value(move)
        quantities[f"{name}: for x"] = lambda move=move: answer(move)
    return quantities | {
        "two sums, then the rule of the first": two_sums,
        "how many arrays a sum saves; the sum": lambda: saved(lambda x: x.sum(axis=1)),
        "how many arrays a transpose saves; the sum": lambda: saved(lambda x: x.transpose(0, 2)),
    }


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
