"""Check 5 of lesson 02: the mean squared error."""

from autograder.checks.check import check
from autograder.checks.m02_neuron.device import on_traced_values


@check("neuron.loss", points=2, device=("five examples: grad of the predictions", "predictions 3·x and x·x: x.grad"))
def neuron_loss(student, rng, tools):
    """The loss of three predictions, of one, of five, and its gradients."""
    numbers = [
        1.0 + rng.uniform(0.1, 0.8),
        -2.0 - rng.uniform(0.1, 0.8),
        0.3 + rng.uniform(0.1, 0.8),
        -0.6 - rng.uniform(0.1, 0.3),
        2.2 + rng.uniform(0.1, 0.8),
    ]
    aims = [2.5 + rng.uniform(0.1, 0.8), -0.2 - rng.uniform(0.1, 0.4), -1.5 - rng.uniform(0.1, 0.8), 0.4, -0.9]
    up = -rng.uniform(1.5, 2.5)

    def run(n, targets=aims):
        predictions = [student.Value(number) for number in numbers[:n]]
        loss = student.mean_squared_error(predictions, targets[:n])
        tools.backpropagate(loss, upstream=up)
        return {"loss": loss.data, "grad": [p.grad for p in predictions], "data": [p.data for p in predictions]}

    def before_it():
        x = student.Value(numbers[0])
        loss = student.mean_squared_error([x * 3.0, x * x], aims[:2])
        tools.backpropagate(loss, upstream=up)
        return x.grad

    def afterwards():
        targets = list(aims)
        return [*run(5, targets)["data"], *targets]

    def refuses(predictions, targets):
        try:
            student.mean_squared_error([student.Value(1.0) for _ in range(predictions)], [1.5] * targets)
        except ValueError:
            return True
        return False

    return {
        "input": f"predictions {', '.join(f'{p:.3g}' for p in numbers)}; targets {', '.join(f'{t:.3g}' for t in aims)}, the first one, "
        f"three, or all; the gradient that arrives is {up:.3g}",
        "three examples: loss": lambda: run(3)["loss"],
        "three examples: grad of the predictions": lambda: run(3)["grad"],
        "five examples: loss": lambda: run(5)["loss"],
        "five examples: grad of the predictions": lambda: run(5)["grad"],
        "one example: loss": lambda: run(1)["loss"],
        "one example: grad of the prediction": lambda: run(1)["grad"],
        "targets 3, 0, −1: loss": lambda: run(3, [3, 0, -1])["loss"],
        "predictions 3·x and x·x: x.grad": before_it,
        "prediction and target equal: loss and grad": lambda: [run(2, numbers)["loss"], *run(2, numbers)["grad"]],
        "predictions and targets afterwards": afterwards,
        "ValueError if there are more predictions": lambda: refuses(3, 2),
        "ValueError if there are more targets": lambda: refuses(2, 3),
    }


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
