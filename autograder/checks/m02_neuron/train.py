"""Check 7 of lesson 02: the training loop."""

from autograder.checks.check import check
from autograder.checks.m02_neuron.device import on_traced_values


@check(
    "neuron.train",
    points=4,
    needs=("neuron.loss", "neuron.step"),
    device=("one round: parameters", "five rounds: parameters"),
)
def neuron_train(student, rng, tools):
    """A small model of our own, trained for some rounds: losses, parameters, what is left behind."""
    start = [
        0.4 + rng.uniform(0.05, 0.3),
        -0.7 - rng.uniform(0.05, 0.3),
        0.2 + rng.uniform(0.05, 0.3),
        0.9 + rng.uniform(0.05, 0.3),
    ]
    examples = [
        [1.0 + rng.uniform(0.1, 0.5), -0.6 - rng.uniform(0.1, 0.5)],
        [-0.8 - rng.uniform(0.1, 0.5), 0.3 + rng.uniform(0.1, 0.5)],
        [0.5 + rng.uniform(0.1, 0.2), 1.4 + rng.uniform(0.1, 0.5)],
    ]
    aims, rate = (
        [0.9 + rng.uniform(0.05, 0.2), -1.1 - rng.uniform(0.05, 0.2), 0.3 + rng.uniform(0.05, 0.2)],
        0.1 + rng.uniform(0.01, 0.05),
    )

    class Bent:
        """tanh(w · x + b) · v, which keeps count of its calls."""

        def __init__(self, stale=0.0):
            self.values = [student.Value(number) for number in start]
            for value in self.values:
                value.grad = stale

        def __call__(self, x):
            w0, w1, b, v = self.values
            return (w0 * x[0] + w1 * x[1] + b).tanh() * v

        def parameters(self):
            return list(self.values)

    def run(rounds, stale=0.0, n=3, model_rate=rate):
        model = Bent(stale)
        losses = student.train(model, examples[:n], aims[:n], rounds, model_rate)
        return {"losses": list(losses), "data": [value.data for value in model.values], "model": model}

    def afterwards():
        inputs, targets = [list(x) for x in examples], list(aims)
        student.train(Bent(), inputs, targets, 2, rate)
        return [*[number for x in inputs for number in x], *targets]

    def in_two_parts():
        model = Bent()
        losses = [*student.train(model, examples, aims, 2, rate), *student.train(model, examples, aims, 2, rate)]
        return [*losses, *[value.data for value in model.values]]

    def of_the_students_own():
        model = student.MLP([2, 3, 1])
        for k, p in enumerate(model.parameters()):
            p.data = start[k % 4] * (-1) ** (k // 4) / (1 + k // 3)
        return student.train(model, examples, aims, 3, rate)

    return {
        "input": f"tanh(w·x + b)·v from {', '.join(f'{x:.3g}' for x in start)}; targets {', '.join(f'{t:.3g}' for t in aims)}; learning rate {rate:.3g}",
        "one round: losses": lambda: run(1)["losses"],
        "one round: parameters": lambda: run(1)["data"],
        "five rounds: losses": lambda: run(5)["losses"],
        "five rounds: parameters": lambda: run(5)["data"],
        "one example, two rounds: parameters": lambda: run(2, n=1)["data"],
        "old gradients in the model, two rounds: parameters": lambda: run(2, stale=2.5)["data"],
        "no rounds: number of losses, parameters": lambda: [len(run(0)["losses"]), *run(0)["data"]],
        "learning rate 0, three rounds: losses": lambda: run(3, model_rate=0.0)["losses"],
        "trained in two parts: losses and parameters": in_two_parts,
        "your own MLP([2, 3, 1]): losses": of_the_students_own,
        "inputs and targets afterwards": afterwards,
    }


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
