"""Check 9 of lesson 08: a gradient through a gradient step."""

import numpy as np

from autograder.checks.cases import Draft, Source, Text, choice, filled
from autograder.checks.check import exercise

custom_maml = exercise("custom.maml", "The gradient of the loss after a step, by the weights before it.")

LOSSES = {  # a loss, and the shapes of its weights; a batch is a number, or arrays of this shape
    "lambda w, goal: ((w[0] - goal) ** 2).sum()": ([(1,)], ()),
    "lambda w, goal: ((w[0] ** 2 - goal) ** 2).mean()": ([(2,)], (2,)),
    "lambda w, goal: (w[0] * w[1] - goal) ** 2": ([(), ()], ()),
    "lambda w, goal: ((w[0].tanh() * w[1] - goal) ** 2).mean()": ([(2, 1), (3,)], (2, 3)),
    "lambda w, goal: ((goal @ w[0] + w[1]).tanh() @ w[2]).exp().mean()": ([(2, 3), (3,), (3,)], (4, 2)),
    "lambda w, goal: (w[0] * goal).tanh().sum() * (1.0 + w[0].sum())": ([(2, 2)], (2, 2)),
}


def learning(loss, tasks, lr, rng):
    shapes, goal = LOSSES[loss]
    pairs = [tuple(filled(goal, "decimals", rng) for _ in range(2)) for _ in range(tasks)]
    weights = [filled(shape, "decimals", rng) * 0.5 for shape in shapes]
    return Draft({"loss": Text(loss), "weights": weights, "tasks": pairs, "lr": lr})


def small(rng):
    return (
        learning(loss, tasks, lr, rng)
        for tasks, lr in ((1, 0.25), (2, 0.25), (3, 0.1), (2, 0.0), (4, 1.0))
        for loss in LOSSES
    )


def drawn(rng):
    return learning(
        [*LOSSES][rng.integers(len(LOSSES))], int(rng.integers(1, 5)), round(float(rng.uniform(0, 0.5)), 2), rng
    )


@custom_maml.aspect("the gradients", 2.5, cases=Source(small, drawn))
def gradients(student, case):
    weights = [student.Tensor(w, requires_grad=True) for w in case.weights]
    return [np.array(g) for g in student.meta_gradient(case.loss, weights, case.tasks, case.lr)]


@custom_maml.aspect(
    "the weights and their `grad` stay",
    0.5,
    corner=True,
    cases=Source(small, drawn) * choice("before", None, 2.0),
    few=12,
)
def weights_stay(student, case):
    weights = [student.Tensor(w, requires_grad=True) for w in case.weights]
    for w in weights[:1]:
        w.grad = case.before and student.Tensor(case.before * w.data)
    student.meta_gradient(case.loss, weights, case.tasks, case.lr)
    return {"weights": [w.data for w in weights], "grad": [None if w.grad is None else w.grad.data for w in weights]}


custom_maml.mistake(
    "the inner gradient is a constant (create_graph=True is missing, or `.data` was taken): a gradient of first order only",
    swap=(", create_graph=True", ""),
    hint=[
        "The inner gradient depends on the weights, too. Does the outer one know?",
        "`create_graph=True` in the inner `grad`, and `w - lr * g` with tensors.",
    ],
)
custom_maml.mistake(
    "the inner step goes uphill: it is added",
    swap=("w - lr * g", "w + lr * g"),
    hint=["The gradient points up.", "w − lr · g."],
)
custom_maml.mistake(
    "the adapted weights are judged by the support batch again",
    swap=("loss(adapted, query)", "loss(adapted, support)"),
    hint=["What was learnt on the ten points is to be judged on others.", "`loss(adapted, query)`."],
)
custom_maml.mistake(
    "the step is made on the query batch",
    swap=("loss(weights, support)", "loss(weights, query)"),
    hint=["That is looking at the exam before it.", "The inner gradient comes from `support`."],
)
custom_maml.mistake(
    "support and query are exchanged",
    swap=("for support, query in tasks", "for query, support in tasks"),
    hint=["Which of the two comes first in a pair?", "`for support, query in tasks`."],
)
custom_maml.mistake(
    "the sum over the tasks is taken, not the mean",
    swap=("total / len(tasks)", "total"),
    hint=["With twice as many tasks, should the step be twice as long?", "Divide by the number of tasks."],
)
custom_maml.mistake(
    "each task starts from where the last one ended",
    swap=[
        ("adapted = [", "weights = ["),
        ("loss(adapted, query)", "loss(weights, query)"),
        ("    total = 0.0\n", "    total, first = 0.0, weights\n"),
        ("grad(total / len(tasks), weights)", "grad(total / len(tasks), first)"),
    ],
    hint=["Every task starts from the same weights.", "Give the adapted weights a name of their own."],
)
custom_maml.mistake(
    "only the last task counts",
    swap=("total = total + loss(adapted, query)", "total = loss(adapted, query)"),
    hint=["What becomes of the first task's loss?", "`total = total + …`."],
)
custom_maml.mistake(
    "the gradient is that of the last adapted weights, not of those before the step",
    swap=("grad(total / len(tasks), weights)]", "grad(total / len(tasks), adapted)]"),
    hint=["Who is to learn: the weights before the step, or after it?", "`grad(…, weights)`."],
)
custom_maml.mistake(
    "no step is made: the loss of the weights as they are",
    swap=("loss(adapted, query)", "loss(weights, query)"),
    hint=["Where are the adapted weights used?", "`loss(adapted, query)`."],
)
custom_maml.mistake(
    "lr is not used: the step is the whole gradient",
    swap=("w - lr * g", "w - g"),
    hint=["How long is the inner step?", "lr · g."],
)
custom_maml.mistake(
    "the weights themselves are changed by the step",
    source="""
def meta_gradient(loss, weights, tasks, lr):
    total = 0.0
    for support, query in tasks:
        gradients = grad(loss(weights, support), weights)
        for w, g in zip(weights, gradients):
            w.data = w.data - lr * g.data
        total = total + loss(weights, query)
    return [g.data for g in grad(total / len(tasks), weights)]
""",
    hint=[
        "What is in the weights afterwards? And how could the outer gradient see the step?",
        "New tensors: `adapted = [w - lr * g for …]`.",
    ],
)
custom_maml.mistake(
    "the adapted weights are new leaves: the graph to the weights is cut",
    swap=("[w - lr * g for", "[Tensor((w - lr * g).data, requires_grad=True) for"),
    hint=[
        "The outer gradient goes from the query loss to the weights. Which way does it take?",
        "`w - lr * g`, just as it is.",
    ],
)
custom_maml.mistake(
    "the loss before the step is added to that after it",
    swap=("+ loss(adapted, query)", "+ loss(adapted, query) + loss(weights, support)"),
    hint=["The weights may be bad before the step. Only afterwards counts.", "`total + loss(adapted, query)`."],
)
custom_maml.mistake(
    "only the first weight is adapted",
    swap=(
        "adapted = [w - lr * g for w, g in zip(weights, gradients)]",
        "adapted = [weights[0] - lr * gradients[0], *weights[1:]]",
    ),
    hint=["All weights take the step.", "`zip(weights, gradients)`."],
)
custom_maml.variant(
    "task by task, the means added up",
    source="""
def meta_gradient(loss, weights, tasks, lr):
    result = [np.zeros(w.shape) for w in weights]
    for support, query in tasks:
        inner = grad(loss(weights, support), weights, create_graph=True)
        fast = [w - g * lr for w, g in zip(weights, inner)]
        for part, g in zip(result, grad(loss(fast, query), weights)):
            part += g.data / len(tasks)
    return result
""",
)
custom_maml.variant(
    "by hand: g − lr · H g, with the Hessian-vector product",
    source="""
def meta_gradient(loss, weights, tasks, lr):
    total = [0.0] * len(weights)
    for support, query in tasks:
        inner = grad(loss(weights, support), weights, create_graph=True)
        adapted = [Tensor(w.data - lr * g.data, requires_grad=True) for w, g in zip(weights, inner)]
        outer = grad(loss(adapted, query), adapted)
        along = sum((i * Tensor(o.data)).sum() for i, o in zip(inner, outer))
        curved = grad(along, weights)
        total = [t + (o.data - lr * c.data) / len(tasks) for t, o, c in zip(total, outer, curved)]
    return total
""",
)
custom_maml.variant(
    "the mean of a list of losses, tensors returned",
    source="""
def meta_gradient(loss, weights, tasks, lr):
    def after(support, query):
        steps = grad(loss(weights, support), weights, create_graph=True)
        return loss([w + (-lr) * s for w, s in zip(weights, steps)], query)
    losses = [after(*task) for task in tasks]
    mean = losses[0] * (1 / len(losses))
    for one in losses[1:]:
        mean = mean + one * (1 / len(losses))
    return list(grad(mean, weights))
""",
)
for other in ("1", "(-1)", "0.5"):
    custom_maml.variant(
        f"the sum begins with {other}: a constant has no gradient", swap=("total = 0.0", f"total = {other}")
    )
custom_maml.variant("tensors come back", swap=("[g.data for g in grad", "[g for g in grad"))
