"""Check 3 of lesson 02: neurons side by side."""

import numpy as np

from autograder.checks.check import check
from autograder.checks.m02_neuron.device import on_traced_values


@check("neuron.layer", points=2, needs=("neuron.neuron",), device=("grad of all weights and biases",))
def neuron_layer(student, rng, tools):
    """A layer with three inputs and four outputs, its weights set one by one."""
    numbers = rng.permutation(np.linspace(-0.9, 0.8, 16)) + rng.uniform(-0.02, 0.02)
    given = [-0.9 - rng.uniform(0.05, 0.2), 0.4 + rng.uniform(0.05, 0.2), 1.3 + rng.uniform(0.05, 0.2)]
    ups = -rng.uniform(0.5, 2.5, 4)
    outputs_of_it = int(rng.integers(3, 9))

    def values_of(layer):
        return [p for neuron in layer.neurons for p in [*neuron.w, neuron.b]]

    def make(activation=student.Value.tanh, inputs=3, outputs=4):
        layer = student.Layer(inputs, outputs, activation)
        for value, number in zip(values_of(layer), numbers):
            value.data = float(number)
        return layer

    def outputs(*activation):
        return [out.data for out in make(*activation)(given)]

    def grads():
        layer = make()
        total = student.Value(0.0)
        for out, up in zip(layer(given), ups):
            total = total + out * float(up)
        tools.backpropagate(total, upstream=-1.3)
        return [value.grad for value in values_of(layer)]

    class Counting:
        """An rng that counts how often it is asked."""

        draws = 0

        def uniform(self, low, high):
            self.draws += 1
            return (low + high) / 2 + 0.01 * self.draws

    def drawn():
        source = Counting()
        student.Layer(3, outputs_of_it, student.Value.relu, source)
        return source.draws

    def after_change():
        layer = make()
        for k, p in enumerate(layer.parameters()):
            p.data = 0.05 * k - 0.3
        return [out.data for out in layer(given)]

    def twice():
        layer = make()
        first = [out.data for out in layer(given)]
        layer([x + 0.5 for x in given])
        return [
            len(layer.parameters()),
            len(layer.parameters()),
            *[out.data - before for out, before in zip(layer(given), first)],
        ]

    return {
        "input": f"Layer(3, 4), inputs {', '.join(f'{x:.3g}' for x in given)}",
        "outputs with tanh": outputs,
        "outputs with relu": lambda: outputs(student.Value.relu),
        "outputs without activation": lambda: outputs(None),
        "grad of all weights and biases": grads,
        "how many neurons, how many weights each": lambda: [
            [len(neuron.w) for neuron in student.Layer(n, m).neurons] for n, m in ((5, 2), (2, 2))
        ],
        "how many outputs of Layer(2, 5), of Layer(1, 1)": lambda: [
            len(student.Layer(2, 5)([1.0, 2.0])),
            len(student.Layer(1, 1)([1.0])),
        ],
        "how many weights are drawn from the rng that is given": drawn,
        "the activation that is handed on, at −1 and 1": lambda: [
            neuron.activation(student.Value(number)).data
            for neuron in student.Layer(2, 3, lambda value: value * value * (3 + ups[0])).neurons
            for number in (-1.0, 1.0)
        ],
        "parameters, their numbers": lambda: [p.data for p in make().parameters()],
        "outputs after all parameters are changed": after_change,
        "called again: number of parameters, change of the outputs": twice,
    }


MAKE, CALL, PARAMETERS = (
    "[Neuron(inputs, activation, rng) for _ in range(outputs)]",
    "[neuron(inputs) for neuron in self.neurons]",
    "[p for neuron in self.neurons for p in neuron.parameters()]",
)
neuron_layer.on_device(on_traced_values)
neuron_layer.mistake(
    "one and the same neuron, several times in the list",
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
    "a return within the loop: only the first neuron answers",
    swap=(CALL, "[self.neurons[0](inputs)]"),
    hint=["When does `return` leave the loop?", "Collect all outputs first."],
)
neuron_layer.mistake(
    "the outputs are plain numbers",
    swap=(CALL, "[neuron(inputs).data for neuron in self.neurons]"),
    hint=["How shall gradients come back to the neurons?", "No `.data`."],
)
neuron_layer.mistake(
    "a list of lists: the parameters are not flat",
    swap=(PARAMETERS, "[neuron.parameters() for neuron in self.neurons]"),
    hint=["What is the first part of your list?", "Two `for` in the comprehension, or `+=` in a loop."],
)
neuron_layer.mistake(
    "the biases are left out",
    swap=(PARAMETERS, "[w for neuron in self.neurons for w in neuron.w]"),
    hint=["What does a neuron have besides weights?", "Ask each neuron: `neuron.parameters()`."],
)
neuron_layer.mistake(
    "only the last neuron's parameters",
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
