"""Check 9 of lesson 03: gradient descent on arrays."""

import numpy as np

from autograder.checks.cases import choice
from autograder.checks.check import exercise
from autograder.checks.m03_broadcast.networks import SMALL_NETWORKS

broadcast_train = exercise(
    "broadcast.train", "Gradient descent: losses, parameters, and what was given stays.", needs=("broadcast.network",)
)


@broadcast_train.aspect(
    "the losses and the parameters",
    2,
    cases=SMALL_NETWORKS * choice("steps", 1, 2, 5, 0) * choice("rate", 0.01, 0.05, 0.0, 0.1),
)
def trained(student, case):
    parameters = [case.w1, case.b1, case.w2, case.b2]
    losses, after = student.train(case.x, case.target, parameters, case.steps, case.rate)
    return {"losses": np.array(losses), "after": after, "parameters": parameters}


STEP = "parameters = [p - rate * gradient for p, gradient in zip(parameters, gradients)]"
CALL = "loss, gradients = loss_and_gradients(x, target, *parameters)"

broadcast_train.mistake(
    "the step goes with the gradient, so the loss rises",
    swap=("p - rate", "p + rate"),
    hint=["The gradient points to where the loss grows.", "Minus."],
)
broadcast_train.mistake(
    "`p -= …` writes into the arrays that were given",
    swap=(
        STEP,
        """for p, gradient in zip(parameters, gradients):
            p -= rate * gradient""",
    ),
    hint=[
        "Call train twice with the same start. Is it the same start?",
        "`p - rate * gradient` makes a new array; or copy them first.",
    ],
)
broadcast_train.mistake(
    "the list that was given is changed: `parameters[i] = …`",
    swap=(
        STEP,
        """for i, gradient in enumerate(gradients):
            parameters[i] = parameters[i] - rate * gradient""",
    ),
    hint=["Who else holds the list `parameters`?", "Make a new list, or begin with `parameters = list(parameters)`."],
)
broadcast_train.mistake(
    "the gradients are computed once, before the loop",
    swap=("for _ in range(steps):\n        " + CALL, CALL + "\n    for _ in range(steps):"),
    hint=["After a step you stand somewhere else. Is it as steep there?", "loss_and_gradients belongs into the loop."],
)
broadcast_train.mistake(
    "the loss is noted after its step, not before",
    source="""
def train(x, target, parameters, steps, rate):
    losses = []
    for _ in range(steps):
        _, gradients = loss_and_gradients(x, target, *parameters)
        parameters = [p - rate * g for p, g in zip(parameters, gradients)]
        losses.append(loss_and_gradients(x, target, *parameters)[0])
    return losses, parameters
""",
    hint=[
        "Which loss is the first one in your list?",
        "The loss that comes with the gradients is the one before the step.",
    ],
)
broadcast_train.mistake(
    "each parameter is moved at once, and the next gradient is computed from there",
    source="""
def train(x, target, parameters, steps, rate):
    losses, parameters = [], list(parameters)
    for _ in range(steps):
        losses.append(loss_and_gradients(x, target, *parameters)[0])
        for i in range(4):
            gradients = loss_and_gradients(x, target, *parameters)[1]
            parameters[i] = parameters[i] - rate * gradients[i]
    return losses, parameters
""",
    hint=[
        "All four gradients of a step belong to the same point.",
        "One call of loss_and_gradients per step, then all four.",
    ],
)
broadcast_train.mistake(
    "the step is computed and not kept: `p = p − …` in a loop over them gives the result a name, no more",
    swap=(STEP, "last = [p - rate * gradient for p, gradient in zip(parameters, gradients)]"),
    hint=["All your losses are the same. Which list holds the new arrays?", "`parameters = [p - rate * gradient …]`."],
)
broadcast_train.mistake(
    "one step too many",
    swap=("range(steps)", "range(steps + 1)"),
    hint=["How many losses are in your list?", "`range(steps)` counts steps numbers, from 0 on."],
)
broadcast_train.mistake(
    "the gradients of earlier steps are kept and added",
    source="""
def train(x, target, parameters, steps, rate):
    losses, totals = [], [np.zeros(p.shape) for p in parameters]
    for _ in range(steps):
        loss, gradients = loss_and_gradients(x, target, *parameters)
        losses.append(loss)
        totals = [t + g for t, g in zip(totals, gradients)]
        parameters = [p - rate * t for p, t in zip(parameters, totals)]
    return losses, parameters
""",
    hint=["One step is right, the next are too long.", "Each step uses its own gradients alone, as after a zero_grad."],
)
broadcast_train.mistake(
    "the rate is not used",
    swap=("p - rate * gradient", "p - 0.05 * gradient"),
    hint=["Call it with another rate: is it the same?", "rate * gradient, no number of your own."],
)
broadcast_train.mistake(
    "the biases stay where they are",
    swap=(
        STEP,
        """w1, b1, w2, b2 = parameters
        parameters = [w1 - rate * gradients[0], b1, w2 - rate * gradients[2], b2]""",
    ),
    hint=["What is b1 after a step?", "All four are moved."],
)
broadcast_train.mistake(
    "the gradients are divided by the batch once more",
    swap=("p - rate * gradient", "p - rate * gradient / len(x)"),
    hint=["1/N stands in the loss already.", "rate * gradient, nothing else."],
)
broadcast_train.variant(
    "copies first, then in place",
    source="""
def train(x, target, parameters, steps, rate):
    parameters, losses = [np.array(p) for p in parameters], np.zeros(steps)
    for i in range(steps):
        losses[i], gradients = loss_and_gradients(x, target, *parameters)
        for p, g in zip(parameters, gradients):
            p -= rate * g
    return losses, parameters
""",
)
broadcast_train.variant(
    "by recursion",
    source="""
def train(x, target, parameters, steps, rate):
    if steps == 0:
        return [], parameters
    loss, gradients = loss_and_gradients(x, target, *parameters)
    moved = tuple(np.subtract(p, g * rate) for p, g in zip(parameters, gradients))
    later, end = train(x, target, moved, steps - 1, rate)
    return [loss] + later, end
""",
)
