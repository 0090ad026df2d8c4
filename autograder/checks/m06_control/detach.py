"""Check 1 of lesson 06: a target is a constant."""

from autograder.checks.cases import Text, array, choice, filled
from autograder.checks.check import exercise

control_detach = exercise("control.detach", "A target is a constant.")

NUMBERS = array("w", ((1,), (2,), (3,), (5,)), ("decimals", "whole"), axes=1).where(lambda w: w.ndim == 1)
NUMBERS = NUMBERS.add(reward=lambda w, rng: filled(w.shape, ("decimals", "integers")[rng.integers(2)], rng))
VALUES = choice(
    "value", Text("lambda w: w * 1.0"), Text("lambda w: w"), Text("lambda w: w.tanh()"), Text("lambda w: w * w")
)
LATER = choice(
    "later",
    Text("lambda w, value: w * 3.0"),
    Text("lambda w, value: value"),
    Text("lambda w, value: value * w"),
    Text("lambda w, value: w"),
)
CASES = NUMBERS * VALUES * LATER * choice("discount", 0.5, 1.0, 0, 0.9)


@control_detach.aspect("gradients through `value` alone", 1, cases=CASES * choice("upstream", 1.0, -2.5))
def gradients(student, case):
    w = student.Tensor(case.w, requires_grad=True)
    value = case.value(w)
    loss = student.bootstrap_loss(value, case.later(w, value), case.reward, case.discount)
    yield
    loss.backward(case.upstream)
    return w.grad.data


@control_detach.aspect("the loss", 0.5, cases=CASES)
def loss(student, case):
    w = student.Tensor(case.w)
    value = case.value(w)
    return student.bootstrap_loss(value, case.later(w, value), case.reward, case.discount).data


@control_detach.aspect("the two tensors stay as they are", 0.5, corner=True, cases=CASES)
def two_tensors(student, case):
    value, later = student.Tensor(case.w, requires_grad=True), student.Tensor(case.w + 0.5, requires_grad=True)
    student.bootstrap_loss(value, later, case.reward, case.discount).backward()
    found = {"later.data": later.data.copy(), "later.grad": later.grad}
    (value * later).sum().backward()
    return found | {"value.grad then": value.grad.data, "later.grad then": later.grad.data}


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
    "the sum is taken in place of the mean",
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
