"""Check 7 of lesson 02: the training loop."""

from autograder.checks.cases import choice
from autograder.checks.check import exercise
from autograder.checks.m02_neuron.boxes import sizes, some
from autograder.checks.m02_neuron.device import on_traced_values

neuron_train = exercise(
    "neuron.train",
    "A small model of our own, trained for some rounds: losses and parameters.",
    needs=("neuron.loss", "neuron.step"),
)
TRAININGS = sizes("n", *(2, 3, 1) * 4).add(
    start=lambda rng: some(4, rng), x=lambda n, rng: [some(2, rng) for _ in range(n)], t=lambda n, rng: some(n, rng)
) * choice("rounds", 1, 3, 2, 0, 40) * choice("rate", 0.1, 0.02, 0.9, 0.0) * choice("old", 0.0, 2.5)  # fmt: skip


@neuron_train.aspect("the parameters", 2.25, cases=TRAININGS, device=3)
def parameters(student, case):
    values = [student.Value(number) for number in case.start]
    (values[0] * case.old).backward()

    def model(x):
        return (values[0] * x[0] + values[1] * x[1] + values[2]).tanh() * values[3]

    model.parameters = lambda: list(values)
    student.train(model, case.x, case.t, case.rounds, case.rate)
    return [value.data for value in values]


@neuron_train.aspect("the losses", 1.75, cases=TRAININGS)
def losses(student, case):
    values = [student.Value(number) for number in case.start]
    (values[0] * case.old).backward()

    def model(x):
        return (values[0] * x[0] + values[1] * x[1] + values[2]).tanh() * values[3]

    model.parameters = lambda: list(values)
    return list(student.train(model, case.x, case.t, case.rounds, case.rate))


ERASE, BACK, STEP, NOTE = (
    "zero_grad(model.parameters())",
    "loss.backward()",
    "step(model.parameters(), learning_rate)",
    "losses.append(loss.data)",
)
LOSS = "loss = mean_squared_error([model(x) for x in inputs], targets)"
neuron_train.on_device(on_traced_values)

neuron_train.mistake(
    "zero_grad is missing: the gradients of all rounds add up",
    swap=(ERASE, "pass"),
    hint=[
        "What is in a grad when the second round begins?",
        "`zero_grad(model.parameters())` in each round, before backward.",
    ],
)
neuron_train.mistake(
    "zero_grad stands before the loop, so it erases only once",
    source="""
def train(model, inputs, targets, rounds, learning_rate):
    losses = []
    zero_grad(model.parameters())
    for _ in range(rounds):
        loss = mean_squared_error([model(x) for x in inputs], targets)
        loss.backward()
        step(model.parameters(), learning_rate)
        losses.append(loss.data)
    return losses
""",
    hint=["What is in a grad when the second round begins?", "Into the loop with it."],
)
neuron_train.mistake(
    "zero_grad comes last in each round: what was there before training counts in the first",
    source="""
def train(model, inputs, targets, rounds, learning_rate):
    losses = []
    for _ in range(rounds):
        loss = mean_squared_error([model(x) for x in inputs], targets)
        loss.backward()
        step(model.parameters(), learning_rate)
        zero_grad(model.parameters())
        losses.append(loss.data)
    return losses
""",
    hint=[
        "Somebody called backward on this model before. What does your first step do?",
        "Erase before backward, not after the step.",
    ],
)
neuron_train.mistake(
    "nothing moves: `backward` or `step` is missing, or zero_grad erases between the two, or step comes right after zero_grad",
    swap=[(ERASE, "pass"), (BACK, f"{BACK}\n        {ERASE}")],
    hint=[
        "What does step find in the gradients, and does it run at all?",
        "In each round: `zero_grad`, then `backward`, then `step`.",
    ],
)
neuron_train.mistake(
    "the predictions are computed once, before the loop: the loss never changes",
    source="""
def train(model, inputs, targets, rounds, learning_rate):
    losses = []
    loss = mean_squared_error([model(x) for x in inputs], targets)
    for _ in range(rounds):
        zero_grad(model.parameters())
        loss.backward()
        step(model.parameters(), learning_rate)
        losses.append(loss.data)
    return losses
""",
    hint=["A graph holds the numbers of the moment when it was made.", "New predictions in each round."],
)
neuron_train.mistake(
    "step comes first: each one uses the gradients of the round before",
    swap=[(f"{BACK}\n        {STEP}", BACK), (LOSS, f"{LOSS}\n        {STEP}")],
    hint=["Which gradients does step find in the first round?", "Erase, backward, step."],
)
neuron_train.mistake(
    "the loss is noted after the step, not before it",
    swap=(NOTE, "losses.append(mean_squared_error([model(x) for x in inputs], targets).data)"),
    hint=["What is the first loss: that of the untrained model?", "Note `loss.data` of the graph that you have."],
)
neuron_train.mistake(
    "the losses are Values: each keeps its whole graph in memory",
    swap=("loss.data", "loss"),
    hint=["What is alive as long as a loss in your list is?", "Note the number: `loss.data`."],
)
neuron_train.mistake(
    "only the last loss is returned",
    swap=("return losses", "return losses[-1:]"),
    hint=["How many losses does the docstring ask for?", "All of them, a list."],
)
neuron_train.mistake(
    "a round too few",
    swap=("range(rounds)", "range(1, rounds)"),
    hint=["How many numbers are in range(1, 5)?", "`range(rounds)`."],
)
neuron_train.mistake(
    "a round too many",
    swap=("range(rounds)", "range(rounds + 1)"),
    hint=["How many numbers are in range(5 + 1)?", "`range(rounds)`."],
)
neuron_train.mistake(
    "a step after each single example, not after all of them",
    source="""
def train(model, inputs, targets, rounds, learning_rate):
    losses = []
    for _ in range(rounds):
        total = 0.0
        for x, t in zip(inputs, targets):
            loss = mean_squared_error([model(x)], [t])
            zero_grad(model.parameters())
            loss.backward()
            step(model.parameters(), learning_rate)
            total += loss.data
        losses.append(total / len(inputs))
    return losses
""",
    hint=[
        "How many steps does one round take?",
        "One loss over all examples, one step. (What you have is called stochastic gradient descent. It works, too; it is another method.)",
    ],
)
neuron_train.mistake(
    "backward for each example, but the gradients are not divided by their number",
    source="""
def train(model, inputs, targets, rounds, learning_rate):
    losses = []
    for _ in range(rounds):
        zero_grad(model.parameters())
        total = 0.0
        for x, t in zip(inputs, targets):
            loss = (model(x) - t) ** 2
            loss.backward()
            total += loss.data
        step(model.parameters(), learning_rate)
        losses.append(total / len(inputs))
    return losses
""",
    hint=[
        "The loss is a mean. Are your gradients those of the mean, or of the sum?",
        "`loss = … / len(inputs)` before backward.",
    ],
)
neuron_train.mistake(
    "in each round only the last example counts: loss and zero_grad stand within the loop over the examples",
    source="""
def train(model, inputs, targets, rounds, learning_rate):
    losses = []
    for _ in range(rounds):
        for x, t in zip(inputs, targets):
            loss = mean_squared_error([model(x)], [t])
            zero_grad(model.parameters())
            loss.backward()
        step(model.parameters(), learning_rate)
        losses.append(loss.data)
    return losses
""",
    hint=[
        "What is left of the first example's gradients when step is called?",
        "One loss over all examples: first all predictions, then the loss.",
    ],
)
neuron_train.mistake(
    "all inputs are put into the model at once",
    swap=("[model(x) for x in inputs]", "model(inputs)"),
    hint=["model(…) takes one example. What is `inputs`?", "`[model(x) for x in inputs]`."],
)
neuron_train.mistake(
    "two steps in each round",
    swap=(STEP, f"{STEP}\n        {STEP}"),
    hint=["How often is `step` called in a round?", "Once."],
)
neuron_train.mistake(
    "the learning rate is a fixed number, not the one that was given",
    swap=("step(model.parameters(), learning_rate)", "step(model.parameters(), 0.1)"),
    hint=["Who chooses the learning rate?", "Hand on `learning_rate`."],
)
neuron_train.variant(
    "zero_grad first in the round, list made by hand",
    source="""
def train(model, inputs, targets, rounds, learning_rate):
    losses = []
    for i in range(rounds):
        zero_grad(model.parameters())
        predictions = []
        for x in inputs:
            predictions.append(model(x))
        loss = mean_squared_error(predictions, targets)
        losses.append(loss.data)
        loss.backward()
        step(model.parameters(), learning_rate)
    return losses
""",
)
neuron_train.variant(
    "the loss erases its own graph, losses from NumPy",
    source="""
def train(model, inputs, targets, rounds, learning_rate):
    losses = np.zeros(rounds)
    for i in range(rounds):
        loss = sum((model(x) - t) ** 2 for x, t in zip(inputs, targets)) / len(targets)
        loss.zero_grad()
        loss.backward()
        losses[i] = loss.data
        for p in model.parameters():
            p.data -= learning_rate * p.grad
    return losses
""",
)
neuron_train.variant(
    "erased before training and after each step",
    source="""
def train(model, inputs, targets, rounds, learning_rate):
    losses, parameters = [], model.parameters()
    zero_grad(parameters)
    while len(losses) < rounds:
        loss = mean_squared_error([model(x) for x in inputs], targets)
        losses += [float(loss.data)]
        loss.backward()
        step(parameters, learning_rate)
        zero_grad(parameters)
    return losses
""",
)
neuron_train.variant(
    "backward for each example, a share of the mean at a time",
    source="""
def train(model, inputs, targets, rounds, learning_rate):
    losses = []
    for _ in range(rounds):
        zero_grad(model.parameters())
        shares = [(model(x) - t) ** 2 / len(inputs) for x, t in zip(inputs, targets)]
        for share in shares:
            share.backward()
        losses.append(sum(share.data for share in shares))
        step(model.parameters(), learning_rate)
    return losses
""",
)
