"""Check 3 of lesson 02: neurons side by side."""

from autograder.checks.cases import Text, choice
from autograder.checks.check import exercise
from autograder.checks.m02_neuron.boxes import inputs, sizes, some
from autograder.checks.m02_neuron.device import on_traced_values

neuron_layer = exercise(
    "neuron.layer",
    "A layer: its outputs, its parameters, and what its neurons are made with.",
    needs=("neuron.neuron",),
)
OPTIONS = choice(
    "options",
    *map(
        Text,
        (
            "{'activation': Value.tanh}",
            "{'activation': Value.relu}",
            "{'activation': None}",
            "{}",
            "{'activation': Value.sigmoid}",
        ),
    ),
)
LAYERS = (sizes("n", 2, 3, 1) * sizes("m", 3, 2, 1, 4) * OPTIONS).add(x=lambda n, rng: inputs(n, rng))


@neuron_layer.aspect(
    "the outputs, and the gradients",
    1.0,
    device=4,
    cases=LAYERS.add(w=lambda n, m, rng: some((n + 1) * m, rng), up=lambda m, rng: some(m, rng)),
)
def outputs(student, case):
    layer = student.Layer(case.n, case.m, **case.options)
    boxes = [box for neuron in layer.neurons for box in [*neuron.w, neuron.b]]
    for box, number in zip(boxes, case.w):
        box.data = number
    y = layer(case.x)
    yield
    sum((out * up for out, up in zip(y, case.up)), student.Value(0.0)).backward()
    return {"outputs": [out.data for out in y], "gradients": [box.grad for box in boxes]}


@neuron_layer.aspect(
    "the parameters, drawn from the rng that is given", 1.0, cases=LAYERS.add(seed=lambda rng: int(rng.integers(1000)))
)
def parameters(student, case):
    import random

    state = random.getstate()
    random.seed("not this one")  # else those who draw from it get other numbers each time
    layer = student.Layer(case.n, case.m, rng=random.Random(case.seed), **case.options)
    random.setstate(state)
    before = [out.data for out in layer(case.x)]
    drawn = [[*[w.data for w in neuron.w], neuron.b.data] for neuron in layer.neurons]
    numbers = [p.data for p in layer.parameters()]
    for i, p in enumerate(layer.parameters()):
        p.data = (-1) ** i * i / 10
    after = [out.data for out in layer(case.x)]
    return {"drawn": drawn, "their numbers": numbers, "outputs before": before, "outputs after they are changed": after}


MAKE, CALL, PARAMETERS = (
    "[Neuron(inputs, activation, rng) for _ in range(outputs)]",
    "[neuron(inputs) for neuron in self.neurons]",
    "[p for neuron in self.neurons for p in neuron.parameters()]",
)
neuron_layer.on_device(on_traced_values)

neuron_layer.mistake(
    "one and the same neuron stands in the list several times",
    swap=(MAKE, "[Neuron(inputs, activation, rng)] * outputs"),
    hint=[
        "Change a weight of the first neuron. What happens to the second?",
        "`[Neuron(…) for _ in range(outputs)]` makes a new one each time.",
    ],
)
neuron_layer.mistake(
    "inputs and outputs are exchanged",
    swap=(MAKE, "[Neuron(outputs, activation, rng) for _ in range(inputs)]"),
    hint=["How many neurons, and how many weights has each?", "`outputs` neurons with `inputs` weights."],
)
neuron_layer.mistake(
    "the activation is not handed on to the neurons",
    swap=(MAKE, "[Neuron(inputs, rng=rng) for _ in range(outputs)]"),
    hint=["Which activation have the neurons of `Layer(3, 4, Value.relu)`?", "`Neuron(inputs, activation, rng)`."],
)
neuron_layer.mistake(
    "the rng comes where the activation belongs",
    swap=(MAKE, "[Neuron(inputs, rng) for _ in range(outputs)]"),
    hint=["In which order does Neuron take inputs, activation, rng?", "`Neuron(inputs, activation, rng)`."],
)
neuron_layer.mistake(
    "the rng is not handed on: with a seed the weights are still different each time",
    swap=(MAKE, "[Neuron(inputs, activation) for _ in range(outputs)]"),
    hint=["Who draws the weights, and from which rng?", "`Neuron(inputs, activation, rng)`."],
)
neuron_layer.mistake(
    "each neuron gets the output of the one before, they stand in a row",
    swap=(
        f"return {CALL}",
        "outputs = []\n        for neuron in self.neurons:\n            outputs.append(neuron(inputs))\n"
        "            inputs = [outputs[-1]] * len(inputs)\n        return outputs",
    ),
    hint=["Look at the drawing: what goes into the second neuron?", "All get the same inputs."],
)
neuron_layer.mistake(
    "the outputs are added up",
    swap=(CALL, "sum(neuron(inputs) for neuron in self.neurons)"),
    hint=["How many outputs has a layer with four neurons?", "A list with the output of each."],
)
neuron_layer.mistake(
    "neuron number i gets only input number i",
    swap=(CALL, "[neuron([x] * len(inputs)) for neuron, x in zip(self.neurons, inputs)]"),
    hint=["How many inputs has each neuron?", "Each neuron gets the whole list."],
)
neuron_layer.mistake(
    "a return stands within the loop: only the first neuron answers",
    swap=(CALL, "[self.neurons[0](inputs)]"),
    hint=["When does `return` leave the loop?", "Collect all outputs first."],
)
neuron_layer.mistake(
    "the outputs are plain numbers",
    swap=(CALL, "[neuron(inputs).data for neuron in self.neurons]"),
    hint=["How shall gradients come back to the neurons?", "No `.data`."],
)
neuron_layer.mistake(
    "the parameters come as a list of lists, not flat",
    swap=(PARAMETERS, "[neuron.parameters() for neuron in self.neurons]"),
    hint=["What is the first part of your list?", "Two `for` in the comprehension, or `+=` in a loop."],
)
neuron_layer.mistake(
    "the biases are left out",
    swap=(PARAMETERS, "[w for neuron in self.neurons for w in neuron.w]"),
    hint=["What does a neuron have besides weights?", "Ask each neuron: `neuron.parameters()`."],
)
neuron_layer.mistake(
    "only the last neuron's parameters are returned",
    swap=(PARAMETERS, "self.neurons[-1].parameters()"),
    hint=["`=` in a loop keeps only the last.", "`+=` collects."],
)
neuron_layer.mistake(
    "all weights come first, then all biases",
    swap=(PARAMETERS, "[w for neuron in self.neurons for w in neuron.w] + [neuron.b for neuron in self.neurons]"),
    hint=["Which order does the docstring ask for?", "All of the first neuron, then all of the second."],
)
neuron_layer.variant(
    "loops",
    source="""
class Layer:
    def __init__(self, inputs, outputs, activation=Value.tanh, rng=random):
        self.neurons = []
        while len(self.neurons) < outputs:
            self.neurons.append(Neuron(inputs, activation=activation, rng=rng))

    def __call__(self, inputs):
        outputs = []
        for neuron in self.neurons:
            outputs += [neuron(inputs)]
        return outputs

    def parameters(self):
        return sum([neuron.parameters() for neuron in self.neurons], [])
""",
)
neuron_layer.variant(
    "map, a tuple of neurons, a generator",
    source="""
class Layer:
    def __init__(self, inputs, outputs, activation=Value.tanh, rng=random):
        self.inputs, self.outputs = inputs, outputs
        self.neurons = tuple(Neuron(inputs, activation, rng) for i in range(outputs))

    def __call__(self, inputs):
        return list(map(lambda neuron: neuron(inputs), self.neurons))

    def parameters(self):
        collected = []
        for neuron in self.neurons:
            collected.extend(neuron.w)
            collected.append(neuron.b)
        return collected
""",
)
