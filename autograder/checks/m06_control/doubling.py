"""Check 2 of lesson 06: gradients through if and while."""

import numpy as np

from autograder.checks.cases import Text, array, choice, fixed
from autograder.checks.check import exercise

control_doubling = exercise("control.doubling", "Gradients through `if` and `while`.")

SHAPES = ((), (1,), (2,), (3,), (2, 2), (2, 3), (2, 1, 2))
NUMBERS = array("a", SHAPES, ("decimals", "whole", "transposed", "large")).where(lambda a: a.any())
LIMITS = fixed(
    *[
        {"a": np.array(numbers)}
        for numbers in (
            500.0,
            -500.0,
            [300.0, 400.0],
            [0.5, -0.5],
            [-0.3, 0.3],
            1000.0,
            [400.0, 400.0],
            [600.0, -700.0],
            [1.0, -1.0, 0.0],
        )
        + (499.9, [-300.0, 400.0], 1e-30, -2000.0, [2.0, -3.0, 1.5])
    ]
)
CASES = (LIMITS + NUMBERS) * choice("f", Text("lambda a: a"), Text("lambda a: a * 0.5"))


def program(student, case):
    a = student.Tensor(case.a, requires_grad=True)
    return student.doubling(case.f(a)).data


control_doubling.aspect("the result", 1, cases=CASES)(program)


@control_doubling.aspect("the gradient", 1, cases=CASES)
def gradient(student, case):
    a = student.Tensor(case.a, requires_grad=True)
    d = student.doubling(case.f(a))
    yield
    d.backward(np.arange(1.0, 1 + d.size).reshape(d.shape))
    return a.grad.data


control_doubling.mistake(
    "the graph is cut in the loop: by a copy, a detach, or no_grad around it",
    swap=("        b = b * 2", "        b = Tensor(b.data * 2)"),
    hint=["From b.data to a, no way leads back.", "`b = b * 2`, with tensors. Only the condition may go unrecorded."],
)
control_doubling.mistake(
    "it begins with a, not with 2a",
    swap=("b = a * 2\n    while", "b = a\n    while"),
    hint="Start with b = 2a, before the first look at the length.",
)
control_doubling.mistake(
    "at a length of just 1000 it doubles once more",
    swap=("< 1000", "<= 1000"),
    hint="While the length is **below** 1000.",
)
control_doubling.mistake(
    "the branches are swapped",
    swap=("b.sum() > 0", "b.sum() < 0"),
    hint="b itself where the sum is above 0; 100·b elsewhere.",
)
control_doubling.mistake(
    "a sum of 0 counts as above 0",
    swap=("b.sum() > 0", "b.sum() >= 0"),
    hint="Above 0 gives b, else 100·b; and 0 is not above 0.",
)
control_doubling.mistake(
    "the sum is tested, not the length",
    swap=("b.norm() < 1000", "b.sum().abs() < 1000"),
    hint=["For one number it is the same. For several?", "√Σb²: `b.norm()`."],
)
control_doubling.mistake(
    "the largest number is tested, not the length",
    swap=("b.norm() < 1000", "b.abs().max() < 1000"),
    hint=["For one number it is the same. For several?", "√Σb²: `b.norm()`."],
)
control_doubling.mistake(
    "the length is taken without its root",
    swap=("b.norm() < 1000", "(b * b).sum() < 1000"),
    hint="√Σb² < 1000, or Σb² < 1000².",
)
control_doubling.mistake(
    "the factor 100 is a constant tensor's: it is applied to the numbers only",
    swap=("return 100 * b", "b.data[...] = 100 * b.data\n    return b"),
    hint=["The result is 100 times as large. Is the gradient?", "`return 100 * b`: an operation that is recorded."],
)
control_doubling.variant(
    "the number of doublings first, then one product",
    source="""
def doubling(a):
    times = 1
    while np.linalg.norm(a.data * 2.0 ** times) < 1000:
        times += 1
    factor = 2.0 ** times
    return a * (factor if a.data.sum() > 0 else 100 * factor)
""",
)
control_doubling.variant(
    "by recursion, with + in place of ·2",
    source="""
def doubling(a):
    def longer(b):
        return longer(b + b) if float((b.detach() ** 2).sum()) < 1000 ** 2 else b
    b = longer(a + a)
    return b * 1 if b.sum().item() > 0 else b * 100
""",
)
control_doubling.variant(
    "in place, with the norm detached",
    source="""
def doubling(a):
    b = 2 * a
    while b.detach().norm().item() < 1000:
        b *= 2
    if b.sum().item() > 0:
        return b
    b *= 100
    return b
""",
)
control_doubling.variant(
    "in a random sum, nothing between 0 and 1 comes up: b is 1000 long", swap=("b.sum() > 0", "b.sum() > 1")
)
control_doubling.variant("nor between 0 and a half", swap=("b.sum() > 0", "b.sum() > 0.5"))
control_doubling.variant("doubling keeps the sign of the sum, so a will do", swap=("b.sum() > 0", "a.sum() > 0"))
