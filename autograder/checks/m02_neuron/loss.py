"""Check 5 of lesson 02: the mean squared error."""

from autograder.checks.cases import Text, choice, fixed
from autograder.checks.check import exercise
from autograder.checks.m02_neuron.boxes import boxes, sizes, some
from autograder.checks.m02_neuron.device import on_traced_values
from autograder.checks.value_programs import arriving

neuron_loss = exercise("neuron.loss", "The mean of the squared differences, and its gradients.")
LOSSES = sizes("n", *(2, 1, 3) * 8, most=6).add(
    p=lambda n, rng: boxes(some(n, rng)),
    t=lambda n, rng: some(n, rng) if rng.integers(3) else [round(t) for t in some(n, rng)],
) + choice("p", *map(Text, ("[Value(1.5)] * 2", "[(x := Value(2.0)) * 3, x * x]"))) * choice("t", [0.5, -1.0], [3, 3])


@neuron_loss.aspect("the loss", 0.7, cases=LOSSES)
def loss(student, case):
    loss = student.mean_squared_error(case.p, case.t)
    return {"the loss": loss.data, "p.data": [p.data for p in case.p]}


@neuron_loss.aspect("the gradients of the predictions", 0.9, cases=LOSSES.add(up=arriving), device=6)
def gradients(student, case):
    loss = student.mean_squared_error(case.p, case.t)
    yield
    (loss * case.up).backward()
    return [p.grad for p in case.p]


@neuron_loss.aspect(
    "ValueError unless there are as many targets as predictions",
    0.4,
    corner=True,
    cases=fixed(
        {"p": 3, "t": 2}, {"p": 2, "t": 3}, {"p": 1, "t": 2}, {"p": 2, "t": 1}, {"p": 1, "t": 5}, {"p": 4, "t": 2}
    ),
)
def refused(student, case):
    return student.mean_squared_error([student.Value(1.0)] * case.p, [1.5] * case.t).data


DIVIDED = "total / len(targets)"
neuron_loss.on_device(on_traced_values)

neuron_loss.mistake(
    "the sum, not the mean: nothing divides by the number of examples",
    swap=(DIVIDED, "total"),
    hint=["What becomes of your loss if every example comes twice?", "Divide by `len(targets)`."],
)
neuron_loss.mistake(
    "divided by the number of examples twice",
    swap=(DIVIDED, "total / len(targets) / len(targets)"),
    hint=["Once in the loop and once after it?", "Divide once."],
)
neuron_loss.mistake(
    "half of it: the ½ of some textbooks",
    swap=(DIVIDED, "total / (2 * len(targets))"),
    hint=["The ½ is there to cancel the 2 of the slope. Is it in the docstring?", "The mean, and nothing else."],
)
neuron_loss.mistake(
    "absolute differences, no squares",
    swap=("(prediction - target) ** 2", "((prediction - target) ** 2) ** 0.5"),
    hint=["How much does a difference of 3 cost?", "`** 2`."],
)
neuron_loss.mistake(
    "no squares: differences of both signs cancel",
    swap=("(prediction - target) ** 2", "(prediction - target)"),
    hint=["One is 2 too high, another 2 too low: is the loss 0?", "`** 2`."],
)
neuron_loss.mistake(
    "the root is taken at the end",
    swap=(DIVIDED, "(total / len(targets)) ** 0.5"),
    hint=["Mean squared error, not its root.", "Leave `** 0.5` out."],
)
neuron_loss.mistake(
    "the square of the mean difference, not the mean of the squares",
    swap=[("(prediction - target) ** 2", "(prediction - target)"), (DIVIDED, "(total / len(targets)) ** 2")],
    hint=["First square, then add.", "`** 2` belongs inside the loop."],
)
neuron_loss.mistake(
    "squares of the numbers, difference afterwards: p² − t²",
    swap=("(prediction - target) ** 2", "prediction ** 2 - target ** 2"),
    hint=["Is p² − t² the same as (p − t)²?", "Parentheses around the difference."],
)
neuron_loss.mistake(
    "the parentheses are missing: p − t²",
    swap=("(prediction - target) ** 2", "prediction - target ** 2"),
    hint=["What does Python do first, - or **?", "`(prediction - target) ** 2`."],
)
neuron_loss.mistake(
    "computed from the plain numbers: the graph is cut, nothing gets a gradient",
    swap=("(prediction - target)", "(prediction.data - target)"),
    hint=["The loss is right. Does it know the predictions?", "No `.data`."],
)
neuron_loss.mistake(
    "a plain number is returned",
    swap=(DIVIDED, "(total / len(targets)).data"),
    hint=["Who should call backward?", "Return the Value."],
)
neuron_loss.mistake(
    "the total is overwritten: only the last example counts",
    swap=("total = total + ", "total = "),
    hint=["What does the second round of the loop do to the result of the first?", "`total = total + …`."],
)
neuron_loss.mistake(
    "`zip` stops silently at the shorter list",
    swap=(", strict=True", ""),
    hint=["Three predictions and two targets: does anybody notice?", "`zip(predictions, targets, strict=True)`."],
)
neuron_loss.mistake(
    "a return within the loop: only the first example counts",
    swap=(DIVIDED, "(predictions[0] - targets[0]) ** 2"),
    hint=["When does `return` leave the loop?", "One level of indentation less."],
)
neuron_loss.variant(
    "sum, product, times one over n",
    source="""
def mean_squared_error(predictions, targets):
    n = len(predictions)
    if n != len(targets):
        raise ValueError("as many targets as predictions")
    differences = [t - p for p, t in zip(predictions, targets)]
    return sum(d * d for d in differences) * (1 / n)
""",
)
neuron_loss.variant(
    "each share divided at once",
    source="""
def mean_squared_error(predictions, targets):
    if len(predictions) > len(targets) or len(targets) > len(predictions):
        raise ValueError
    loss = 0
    for i in range(len(predictions)):
        loss = (predictions[i] + -targets[i]) ** 2.0 / len(predictions) + loss
    return loss
""",
)
neuron_loss.variant(
    "one box with a rule of its own",
    source="""
def mean_squared_error(predictions, targets):
    pairs = list(zip(predictions, targets, strict=True))
    n = len(pairs)
    return Value(sum((p.data - t) ** 2 for p, t in pairs) / n, [p for p, _ in pairs], [2 * (p.data - t) / n for p, t in pairs], "mse")
""",
)
neuron_loss.variant("the first + makes a Value of the number 0", swap=("total = Value(0.0)", "total = 0.0"))
neuron_loss.variant("target − prediction has the same square", swap=("(prediction - target)", "(target - prediction)"))
neuron_loss.variant("there are as many predictions as targets", swap=("len(targets)", "len(predictions)"))
