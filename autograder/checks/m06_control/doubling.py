"""Check 2 of lesson 06: gradients through if and while."""

import numpy as np

from autograder.checks.check import check


@check("control.doubling", points=2)
def control_doubling(student, rng, tools):
    """The result and the gradient, for inputs that take different ways."""
    small, large = rng.uniform(0.2, 1.4), rng.uniform(600.0, 900.0)
    up, down = rng.normal(size=(2, 3)) + 0.6, rng.normal(size=5) - 0.8
    flat = np.array([400.0, 300.0]) * 0.8

    def both(numbers):
        a = student.Tensor(numbers, requires_grad=True)
        upstream = np.random.default_rng(7).normal(size=a.shape)
        with np.errstate(all="ignore"):
            d = student.doubling(a)
            d.backward(upstream)
        return np.array([d.data, a.grad.data])

    return {
        "input": f"a = {small:.4g}, its negative, {large:.4g}, its negative, {np.round(up, 3).tolist()}, {np.round(down, 3).tolist()}",
        "a small, positive: d and a.grad": lambda: both(small),
        "a small, negative: d and a.grad": lambda: both(-small),
        "a large, positive: d and a.grad": lambda: both(large),
        "a large, negative: d and a.grad": lambda: both(-large),
        "a of shape (2, 3): d and a.grad": lambda: both(up),
        "a of shape (5,): d and a.grad": lambda: both(down),
        "a longer than 1000 itself: d and a.grad": lambda: both(2 * large),
        "length of b just 1000: d": lambda: both(500.0)[0],
        "numbers shorter than their length: d": lambda: both(flat)[0],
        "sum of b just 0: d": lambda: both([small, -small])[0],
    }


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
    "the length without its root", swap=("b.norm() < 1000", "(b * b).sum() < 1000"), hint="√Σb² < 1000, or Σb² < 1000²."
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
