"""Check 8 of lesson 02: neurons that are 0 for every example."""

from autograder.checks.cases import Draft, Source, Text, choice
from autograder.checks.check import exercise
from autograder.checks.m02_neuron.boxes import some

neuron_dead = exercise("neuron.dead", "Neurons that are 0 for every example are counted.", needs=("neuron.layer",))


def layers(rng) -> Draft:
    """The weights and the bias of each neuron, many of them dead, and examples."""
    whole = rng.integers(-2, 3, size=(rng.integers(1, 7), 3))
    weights = [[float(w), float(v), [-9.0, 0.0, 0.0, float(b), 9.0][rng.integers(5)]] for w, v, b in whole]
    return Draft({"neurons": weights, "examples": [some(2, rng) for _ in range(rng.integers(1, 4))]})


SMALL = (
    {"neurons": [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0]], "examples": [[1.0, 2.0], [-1.0, 0.5]]},
    {"neurons": [[0.0, 0.0, 0.0], [1.0, 1.0, -9.0], [0.5, 0.5, 9.0]], "examples": [[1.0, 2.0]]},
    {"neurons": [[-1.0, 0.0, 0.0]] * 3, "examples": [[1.0, 0.0], [2.0, 0.0]]},
    {"neurons": [[1e-30, 0.0, 0.0], [0.0, -1.0, 1.0]], "examples": [[1.0, 2.0], [-1.0, 3.0], [-2.0, 5.0]]},
    {"neurons": [[1.0, 1.0, 9.0]], "examples": [[1.0, 2.0]]},
)
ACTIVATIONS = choice("activation", *map(Text, ("Value.relu", "Value.tanh", "None")))
LAYERS = Source(lambda rng: [*map(Draft, SMALL), *(layers(rng) for _ in range(25))], layers)


@neuron_dead.aspect("how many are dead", 2, cases=LAYERS * ACTIVATIONS)
def dead(student, case):
    layer = student.Layer(2, len(case.neurons), case.activation)
    for neuron, (w, u, b) in zip(layer.neurons, case.neurons):
        neuron.w[0].data, neuron.w[1].data, neuron.b.data = w, u, b
    found = {"dead": student.dead_neurons(layer, case.examples)}
    return found | {"afterwards": [p.data for p in layer.parameters()]}


ALL = "all(row[i].data == 0 for row in outputs)"

neuron_dead.mistake(
    "0 for one of the examples is taken for dead",
    swap=(ALL, ALL.replace("all", "any", 1)),
    hint=["A ReLU that is 0 for some examples is doing its job.", "`all`: 0 for every one."],
)
neuron_dead.mistake(
    "the living are counted",
    swap=(ALL, f"not {ALL}"),
    hint=["How many has a layer of living neurons only?", "Count those that are 0 for all examples."],
)
neuron_dead.mistake(
    "those that fire for every example are counted, not those that never do",
    swap=("data == 0", "data != 0"),
    hint=["What does a dead neuron give?", "`== 0`."],
)
neuron_dead.mistake(
    "every 0 is counted, for each example anew",
    swap=(f"sum({ALL} for i in range(len(layer.neurons)))", "sum(value.data == 0 for row in outputs for value in row)"),
    hint=["Can there be more dead neurons than neurons?", "For each neuron one question: 0 for all?"],
)
neuron_dead.mistake(
    "only the first example is checked",
    swap=("for row in outputs)", "for row in outputs[:1])"),
    hint=["The neuron may wake up at the second example.", "All of `inputs`."],
)
neuron_dead.mistake(
    "only the last example is checked: the loop overwrites its result",
    swap=("for row in outputs)", "for row in outputs[-1:])"),
    hint=["What becomes of the result for the example before?", "All of `inputs`."],
)
neuron_dead.mistake(
    "the share is returned, not the number",
    swap=("return sum(", "return 1 / len(layer.neurons) * sum("),
    hint=["How many, or what part of them?", "Leave the division out."],
)
neuron_dead.mistake(
    "a Value is compared with 0 where its number is meant, so none is found",
    swap=("row[i].data == 0", "row[i] == 0"),
    hint=["Is a box equal to 0, even if its number is?", "`.data == 0`."],
)
neuron_dead.mistake(
    "a small output is taken for 0",
    swap=("row[i].data == 0", "abs(row[i].data) < 1e-3"),
    hint=["A neuron that gives a millionth still has the slope 1.", "Exactly 0: `== 0`."],
)
neuron_dead.mistake(
    "neurons with a negative bias are counted",
    swap=(ALL, "layer.neurons[i].b.data < 0"),
    hint=["A large input may lift the sum above 0 all the same.", "Look at the outputs, not at the weights."],
)
neuron_dead.mistake(
    "the examples are counted for which all neurons are 0",
    swap=(
        f"sum({ALL} for i in range(len(layer.neurons)))",
        "sum(all(value.data == 0 for value in row) for row in outputs)",
    ),
    hint=["Which loop is outside, that over neurons or that over examples?", "For each neuron: 0 for all examples?"],
)
neuron_dead.mistake(
    "the question is whether there is any dead one, not how many",
    swap=("return sum(", "return any("),
    hint=["How many?", "`sum` counts what is True."],
)
neuron_dead.mistake(
    "it is asked whether a nudge comes through, not whether the output is 0",
    source="""
def dead_neurons(layer, inputs):
    return sum(all(neuron(x).local_derivatives[0] == 0 for x in inputs) for neuron in layer.neurons)
""",
    hint=["A ReLU at −3 lets nothing through, and so does a tanh at 1000.", "Look at the outputs: `.data == 0`."],
)
neuron_dead.mistake(
    "an output below 0 counts as 0: right for ReLUs alone",
    swap=(ALL, "all(row[i].data <= 0 for row in outputs)"),
    hint=["A layer may have another activation, tanh for one. Which outputs has it?", "Exactly 0: `==`."],
)
neuron_dead.variant(
    "neuron by neuron, the largest output",
    source="""
def dead_neurons(layer, inputs):
    count = 0
    for neuron in layer.neurons:
        if max(abs(neuron(x).data) for x in inputs) == 0:
            count += 1
    return count
""",
)
neuron_dead.variant(
    "NumPy",
    source="""
def dead_neurons(layer, inputs):
    table = np.array([[value.data for value in layer(x)] for x in inputs])
    return (table == 0).all(axis=0).sum()
""",
)
neuron_dead.variant(
    "a set of suspects",
    source="""
def dead_neurons(layer, inputs):
    suspects = set(range(len(layer.neurons)))
    for x in inputs:
        suspects -= {i for i, out in enumerate(layer(x)) if out.data != 0}
    return len(suspects)
""",
)
