"""Check 4 of lesson 02: layers one after the other."""

import math

from autograder.checks.cases import Text, choice
from autograder.checks.check import exercise
from autograder.checks.m02_neuron.boxes import inputs
from autograder.checks.m02_neuron.device import on_traced_values
from autograder.checks.value_programs import arriving

neuron_mlp = exercise(
    "neuron.mlp",
    "Networks: sizes, activations, outputs, gradients, parameters.",
    needs=("neuron.neuron", "neuron.layer"),
)
SIZES = choice(
    "sizes", [2, 3, 1], [2, 1], [1, 2], [2, 3, 2], [2, 1, 3, 1], [1, 1, 1], [2, 4, 3, 4], [3, 2, 2, 2], [1, 3, 1, 2]
)
OPTIONS = choice(
    "options",
    *map(
        Text,
        (
            "{'activation': Value.tanh}",
            "{'activation': Value.relu}",
            "{'activation': lambda s: s * s}",
            "{}",
            "{'activation': Value.sigmoid}",
        ),
    ),
)
NETWORKS = (SIZES * OPTIONS).add(x=lambda sizes, rng: inputs(sizes[0], rng), start=lambda rng: int(rng.integers(100)))


@neuron_mlp.aspect("the outputs, and the gradients", 1.75, cases=NETWORKS.add(up=arriving), device=4)
def outputs(student, case):
    model = student.MLP(case.sizes, **case.options)
    boxes = [box for layer in model.layers for neuron in layer.neurons for box in [*neuron.w, neuron.b]]
    for i, box in enumerate(boxes):
        box.data = math.sin(i + case.start)
    y = model(case.x)
    outs = y if isinstance(y, list) else [y]
    yield
    sum((out * (case.up + i) for i, out in enumerate(outs)), student.Value(0.0)).backward()
    found = {"outputs": [out.data for out in outs], "they come in a list": isinstance(y, list)}
    return found | {"gradients": [box.grad for box in boxes]}


@neuron_mlp.aspect("the parameters, drawn from the rng that is given", 1.25, cases=NETWORKS)
def parameters(student, case):
    import random

    state = random.getstate()
    random.seed("not this one")  # else those who draw from it get other numbers each time
    model = student.MLP(case.sizes, rng=random.Random(case.start), **case.options)
    random.setstate(state)
    model(case.x)
    found = {
        "inputs and outputs of the layers": [[len(layer.neurons[0].w), len(layer.neurons)] for layer in model.layers]
    }
    found["their numbers"] = [p.data for p in model.parameters()]
    for i, p in enumerate(model.parameters()):
        p.data = math.cos(i)
    y = model(case.x)
    return found | {"outputs after they are changed": [out.data for out in (y if isinstance(y, list) else [y])]}


MAKE = "[Layer(*pair, activation, rng) for pair in pairs[:-1]]"
LAST = "self.layers.append(Layer(*pairs[-1], None, rng))"
RETURN = "return values[0] if len(values) == 1 else values"
PARAMETERS = "[p for layer in self.layers for p in layer.parameters()]"
neuron_mlp.on_device(on_traced_values)

neuron_mlp.mistake(
    "the last layer has the activation, too: the output cannot leave −1 … 1",
    swap=("Layer(*pairs[-1], None, rng)", "Layer(*pairs[-1], activation, rng)"),
    hint=["Can your network answer 5?", "The last layer gets None."],
)
neuron_mlp.mistake(
    "no layer has an activation: many linear layers are only one linear layer",
    swap=(MAKE, "[Layer(*pair, None, rng) for pair in pairs[:-1]]"),
    hint=["A line of a line is a line.", "All layers but the last get the activation."],
)
neuron_mlp.mistake(
    "the activation that is given is not handed on",
    swap=(MAKE, "[Layer(*pair, rng=rng) for pair in pairs[:-1]]"),
    hint=["Which activation have the layers of `MLP([2, 3, 1], Value.relu)`?", "`Layer(…, activation, rng)`."],
)
neuron_mlp.mistake(
    "the rng is not handed on: with a seed the weights are still different each time",
    swap=[(MAKE, MAKE.replace(", rng", "")), (LAST, LAST.replace(", rng", ""))],
    hint=["Who draws the weights, and from which rng?", "`Layer(…, rng)`, for the last one, too."],
)
neuron_mlp.mistake(
    "in the last layer the rng comes where the activation belongs",
    swap=(LAST, LAST.replace("None, rng", "rng")),
    hint=["In which order does Layer take inputs, outputs, activation, rng?", "`Layer(…, None, rng)`."],
)
neuron_mlp.mistake(
    "the last layer's rng is forgotten",
    swap=(LAST, LAST.replace(", rng", "")),
    hint=["Who draws the weights of the last layer?", "`Layer(…, None, rng)`."],
)
neuron_mlp.mistake(
    "every layer gets the network's inputs, not the outputs of the layer before",
    swap=("values = layer(values)", "values = layer((list(inputs) * 9)[:len(layer.neurons[0].w)])"),
    hint=["What goes into the second layer?", "`values = layer(values)`."],
)
neuron_mlp.mistake(
    "the layers are walked from the end",
    swap=("for layer in self.layers:", "for layer in self.layers[::-1]:"),
    hint=["Which layer sees the inputs?", "First to last."],
)
neuron_mlp.mistake(
    "the last layer is left out of the call",
    swap=("for layer in self.layers:", "for layer in self.layers[:-1]:"),
    hint=["How many numbers come out of MLP([2, 3, 1])?", "All layers."],
)
neuron_mlp.mistake(
    "a single output comes in a list",
    swap=(RETURN, "return values"),
    hint=["What is the type of `MLP([2, 3, 1])([1, 2])`?", "One output: `values[0]`."],
)
neuron_mlp.mistake(
    "of several outputs only the first is returned",
    swap=(RETURN, "return values[0]"),
    hint=["How many numbers come out of MLP([2, 3, 4])?", "The list, unless it has one element."],
)
neuron_mlp.mistake(
    "between two layers only numbers are passed on: the graph is cut there",
    swap=("values = layer(values)", "values = layer([v.data if isinstance(v, Value) else v for v in values])"),
    hint=["The output is right. Do the first weights get a gradient?", "Pass the Values on."],
)
neuron_mlp.mistake(
    "a single output in the middle is unpacked as well",
    swap=(
        "values = layer(values)",
        "values = layer(values)\n            values = values[0] if len(values) == 1 else values",
    ),
    hint=[
        "In [2, 1, 3, 1] the middle has one neuron. What does the next layer need?",
        "Unpack after the loop, not in it.",
    ],
)
neuron_mlp.mistake(
    "there is a layer too many: one for each size",
    swap=(LAST, LAST + "\n        self.layers.append(Layer(sizes[-1], sizes[-1], None, rng))"),
    hint=[
        "How many layers of weights lie between three columns of dots?",
        "One fewer than sizes: `zip(sizes, sizes[1:])`.",
    ],
)
neuron_mlp.mistake(
    "the parameters come as a list of lists, not flat",
    swap=(PARAMETERS, "[layer.parameters() for layer in self.layers]"),
    hint=["What is the first part of your list?", "Two `for` in the comprehension."],
)
neuron_mlp.mistake(
    "the last layer's parameters are left out",
    swap=(PARAMETERS, PARAMETERS.replace("self.layers", "self.layers[:-1]")),
    hint=["Should the last layer learn?", "All layers."],
)
neuron_mlp.mistake(
    "`sizes` is taken apart with pop: the caller's list is empty afterwards",
    swap=(
        "pairs = list(zip(sizes, sizes[1:]))",
        "pairs = []\n        while len(sizes) > 1:\n            pairs.append((sizes.pop(0), sizes[0]))",
    ),
    hint=["What is in the list that was given, after the call?", "Read it, do not change it: `zip(sizes, sizes[1:])`."],
)
neuron_mlp.variant(
    "by index, with the activation chosen in the loop",
    source="""
class MLP:
    def __init__(self, sizes, activation=Value.tanh, rng=random):
        self.layers = []
        for i in range(len(sizes) - 1):
            last = i == len(sizes) - 2
            self.layers.append(Layer(sizes[i], sizes[i + 1], None if last else activation, rng))

    def __call__(self, inputs):
        for layer in self.layers:
            inputs = layer(inputs)
        if len(inputs) == 1:
            return inputs[0]
        return inputs

    def parameters(self):
        result = []
        for layer in self.layers:
            result += layer.parameters()
        return result
""",
)
neuron_mlp.variant(
    "the last activation is taken away afterwards, functools.reduce",
    source="""
from functools import reduce

class MLP:
    def __init__(self, sizes, activation=Value.tanh, rng=random):
        self.layers = [Layer(a, b, activation, rng) for a, b in zip(sizes[:-1], sizes[1:])]
        for neuron in self.layers[-1].neurons:
            neuron.activation = None

    def __call__(self, inputs):
        outputs = reduce(lambda values, layer: layer(values), self.layers, inputs)
        return outputs if len(outputs) > 1 else outputs[0]

    def parameters(self):
        return [p for layer in self.layers for neuron in layer.neurons for p in neuron.parameters()]
""",
)
neuron_mlp.variant("of a single output, the last is the first", swap=("return values[0] if", "return values[-1] if"))
