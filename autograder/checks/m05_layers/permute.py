"""Check 6 of lesson 05: axes in another order."""

from itertools import permutations

import numpy as np

from autograder.checks.cases import array
from autograder.checks.check import exercise
from autograder.checks.m05_layers.rules import arriving, gradient, programs, value

layers_permute = exercise(
    "layers.permute", "Axes in another order and back, with orders that are not their own inverse."
)


class Permuted(np.ndarray):
    def permute(self, *axes):
        return self.transpose(axes)


def orders(x):
    last = x.ndim - 1
    found = [f"x.permute({', '.join(map(str, axes))})" for axes in permutations(range(x.ndim))][::-1]
    from_the_end = [body.replace(str(last), "-1") for body in found]
    twice = [f"{one}{two[1:]}" for one, two in zip(found, found[1:] + found[:1])]
    return programs(*found, *from_the_end, *(f"(2 * {body[0]}){body[1:]}" for body in twice))


SHAPES = (2, 3), (1, 2), (2, 1, 3), (2, 3, 4), (2, 2, 2), (3, 2), (2, 2), (2,), (1, 3, 2), (2, 1, 3, 2)
AXES = array("x", SHAPES, ("decimals", "transposed"), axes=4).each(f=orders)
AXES = AXES.add(grad=lambda x, f, rng: arriving(x.view(Permuted), f, rng))

layers_permute.aspect("the gradient", 1.5, cases=AXES, device=6, few=39)(gradient)
layers_permute.aspect("the value", 0.5, cases=AXES, few=20)(value)


@layers_permute.on_device
def names(on, reference):
    return {"Tensor": on.MeasuredTensor}


INVERSE = "ctx.inverse = tuple(int(i) for i in np.argsort([i % x.ndim for i in axes]))"
layers_permute.mistake(
    "backward permutes once more, it does not undo",
    swap=(INVERSE, "ctx.inverse = axes"),
    hint=["Go (1, 2, 0) twice: are the axes back?", "You need the inverse order: np.argsort(axes)."],
)
layers_permute.mistake(
    "backward takes the axes from the end: that is not the inverse",
    swap=(INVERSE, "ctx.inverse = axes[::-1]"),
    hint=["Write down where each axis of x went. Who has to go back where?", "np.argsort(axes)."],
)
layers_permute.mistake(
    "backward leaves the axes as they came",
    swap=("return grad.permute(*ctx.inverse)", "return grad"),
    hint=["Which shape has grad, and which x?", "Put the axes back, by the inverse order."],
)
layers_permute.mistake(
    "backward reshapes: the shape is right, the numbers are not in their places",
    swap=[
        (INVERSE, "ctx.input_shape = x.shape"),
        ("return grad.permute(*ctx.inverse)", "return grad.reshape(ctx.input_shape)"),
    ],
    hint=["reshape keeps the order in memory. Is that the order of x?", "Permute back; reshape cannot undo it."],
)
layers_permute.mistake(
    "forward reshapes: the shape is right, the numbers are not in their places",
    swap=("return x.transpose(axes)", "return x.reshape([x.shape[i] for i in axes])"),
    hint=["Compare one row of the result with x.", "`x.transpose(axes)` moves the axes."],
)
layers_permute.mistake(
    "−1 is not handled: it has to be made positive before the inverse is looked for",
    swap=("[i % x.ndim for i in axes]", "axes"),
    hint=["What is np.argsort((-1, 0, 1)), and what (2, 0, 1)?", "Make the axes positive first: i % x.ndim."],
)
layers_permute.mistake(
    "forward and backward are swapped: forward takes the inverse order",
    swap=[
        ("return x.transpose(axes)", "return x.transpose(ctx.inverse)"),
        ("return grad.permute(*ctx.inverse)", "return grad.permute(*ctx.axes)"),
        (INVERSE, INVERSE + "\n        ctx.axes = axes"),
    ],
    hint=[
        "Which shape has x.permute(1, 2, 0) of (2, 3, 4)?",
        "Axis i of the result is axis axes[i] of x: `x.transpose(axes)`.",
    ],
)
layers_permute.mistake(
    "all axes are reversed, whatever `axes` says",
    swap=[("return x.transpose(axes)", "return x.transpose()"), ("return grad.permute(*ctx.inverse)", "return grad.T")],
    hint=["`x.transpose()` without axes is the matrix's transpose.", "Give it the axes."],
)
layers_permute.mistake(
    "only the first two axes are swapped back",
    swap=("return grad.permute(*ctx.inverse)", "return grad.transpose(0, 1)"),
    hint=["How many axes were moved?", "permute, with the whole inverse order."],
)

layers_permute.variant(
    "the inverse, place by place",
    source="""
class Permute(Function):
    @staticmethod
    def forward(ctx, x, axes):
        ctx.back = [0] * x.ndim
        for place, axis in enumerate(axes):
            ctx.back[axis] = place
        return np.transpose(x, axes)

    @staticmethod
    def backward(ctx, grad):
        return np.transpose(grad.data, ctx.back)
""",
)
layers_permute.variant(
    "moveaxis and index",
    source="""
class Permute(Function):
    @staticmethod
    def forward(ctx, x, axes):
        ctx.axes = [axis % len(axes) for axis in axes]
        return np.moveaxis(x, axes, range(x.ndim)).copy()

    @staticmethod
    def backward(ctx, grad):
        return grad.permute(*[ctx.axes.index(i) for i in range(grad.ndim)])
""",
)
layers_permute.variant(
    "a list or an array of NumPy's numbers serves as well",
    swap=("tuple(int(i) for i in np.argsort([i % x.ndim for i in axes]))", "np.argsort([i % x.ndim for i in axes])"),
)
layers_permute.variant("NumPy's whole numbers are whole numbers", swap=("tuple(int(i) for i in", "tuple(i for i in"))
