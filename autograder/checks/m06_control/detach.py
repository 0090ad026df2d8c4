"""Check 1 of lesson 06: a target is a constant."""

import numpy as np

from autograder.checks.check import check


@check("control.detach", points=2)
def control_detach(student, rng, tools):
    """The loss, and gradients through the value alone."""
    Tensor, n = student.Tensor, int(rng.integers(3, 6))
    numbers, later, reward = rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)
    discount, upstream = rng.uniform(0.6, 0.9), rng.uniform(1.5, 3.0)

    def shared():
        """Both values from the same weights."""
        w = Tensor(numbers, requires_grad=True)
        loss = student.bootstrap_loss(w.tanh(), w * later, reward, discount)
        (loss * upstream).backward()
        return w.grad.data

    def apart():
        value, after = Tensor(numbers, requires_grad=True), Tensor(later, requires_grad=True)
        loss = student.bootstrap_loss(value, after, reward, discount)
        loss.backward(upstream)
        return loss, value, after

    def loss_alone():
        value, after = Tensor(numbers, requires_grad=True), Tensor(later, requires_grad=True)
        return student.bootstrap_loss(value, after, reward, discount).data

    def nothing_reaches_the_next():
        _, value, after = apart()
        return [float(value.grad.data.sum()), 0.0 if after.grad is None else float(np.abs(after.grad.data).sum())]

    def used_afterwards():
        _, value, after = apart()
        value.zero_grad()
        after.zero_grad()
        (value * after).sum().backward()
        return [value.grad.data, after.grad.data]

    return {
        "input": f"value = {np.round(numbers, 3)}, next_value = {np.round(later, 3)}, reward = {np.round(reward, 3)}, "
        f"discount = {discount:.3g}; with shared weights w: value = tanh(w), next_value = w · {np.round(later, 3)}",
        "loss": loss_alone,
        "gradient of value": lambda: apart()[1].grad.data,
        "Σ of value.grad, Σ of |next_value.grad|": nothing_reaches_the_next,
        "shared weights: w.grad": shared,
        "(value · next_value) used afterwards: both gradients": used_afterwards,
    }


control_detach.mistake(
    "nothing is detached: the target moves, too",
    swap=("next_value.detach()", "next_value"),
    hint=["Which gradient arrives at next_value? None should.", "`next_value.detach()` in the target."],
)
control_detach.mistake(
    "the value is detached, and the target is what learns",
    swap=[("next_value.detach()", "next_value"), ("(value - target)", "(value.detach() - target)")],
    hint=["Who is to run after whom? The value after the target.", "Detach next_value, and leave value as it is."],
)
control_detach.mistake(
    "nobody learns: the value is detached as well, or the loss",
    swap=("(value - target)", "(value.detach() - target)"),
    hint=["Backward finds nothing that requires a gradient.", "Only the target is a constant."],
)
control_detach.mistake(
    "the sum in place of the mean",
    swap=(".mean()", ".sum()"),
    hint=["By how much does yours differ? By n.", "`.mean()`"],
)
control_detach.mistake(
    "the discount multiplies the reward, too",
    swap=("reward + discount * next_value.detach()", "discount * (reward + next_value.detach())"),
    hint="The reward comes now, only the next value comes later: reward + discount · next_value.",
)
control_detach.mistake(
    "the discount is left out",
    swap=("discount * next_value", "next_value"),
    hint="What comes later counts a bit less: reward + discount · next_value.",
)
control_detach.mistake(
    "the difference is not squared",
    swap=("((value - target) ** 2)", "(value - target)"),
    hint="The mean of (value − target)².",
)
control_detach.mistake(
    "next_value is switched off for everybody, not only here",
    swap=("target = reward", "next_value.requires_grad = False\n    target = reward"),
    hint=[
        "Who uses next_value after your function? It requires no gradient any longer.",
        "`detach()` gives a new tensor, and leaves this one as it is.",
    ],
)
control_detach.mistake(
    "the target is computed in place, in next_value's memory",
    swap=(
        "target = reward + discount * next_value.detach()",
        "target = next_value.detach()\n    target.data[...] = reward + discount * target.data",
    ),
    hint=["detach() does not copy: what is in next_value afterwards?", "Make a new tensor: `reward + discount * …`."],
)
control_detach.variant(
    "the target under no_grad",
    source="""
def bootstrap_loss(value, next_value, reward, discount):
    with engine.no_grad():
        target = next_value * discount + reward
    return engine.mse_loss(value, target)
""",
)
control_detach.variant(
    "the target as an array",
    source="""
def bootstrap_loss(value, next_value, reward, discount):
    error = value - (reward + discount * next_value.data)
    return (error * error).sum() / error.size
""",
)
control_detach.variant("squared, the sign does not matter", swap=("value - target", "(target - value)"))
control_detach.variant(
    "a copy, and the difference the other way round",
    source="""
def bootstrap_loss(value, next_value, reward, discount):
    target = Tensor(next_value.data * discount + reward)
    return ((target - value) ** 2).mean()
""",
)
