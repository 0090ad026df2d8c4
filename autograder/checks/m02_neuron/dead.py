"""Check 8 of lesson 02: neurons that are 0 for every example."""

from autograder.checks.check import check


@check("neuron.dead", points=2)
def neuron_dead(student, rng, tools):
    """Layers of our own, with a known number of neurons that are never, sometimes or always above 0."""
    examples = [[rng.uniform(0.2, 1.0), rng.uniform(-1.0, -0.2)] for _ in range(4)] + [[-1.5, 2.0], [3.0, 0.5]]

    class ReLU:
        def __init__(self, w, b):
            self.w, self.b = [student.Value(number) for number in w], student.Value(b)
            self.activation = student.Value.relu

        def __call__(self, x):
            return (self.w[0] * x[0] + self.w[1] * x[1] + self.b).relu()

        def parameters(self):
            return [*self.w, self.b]

    class Side:
        def __init__(self, kinds):
            made = {
                "dead": lambda: ReLU([rng.uniform(0.1, 0.9), -rng.uniform(0.1, 0.9)], -9.0),
                "at 0": lambda: ReLU([0.0, 0.0], 0.0),
                "alive": lambda: ReLU([rng.uniform(0.1, 0.9), -rng.uniform(0.1, 0.9)], 9.0),
                "only first": lambda: ReLU([rng.uniform(4.0, 5.0), -rng.uniform(4.0, 5.0)], -1.0),
                "only last": lambda: ReLU([4.0, 2.0], -11.0),
                "small": lambda: ReLU([1e-7, 0.0], 3e-7),
            }
            self.neurons = [made[kind]() for kind in kinds]

        def __call__(self, x):
            return [neuron(x) for neuron in self.neurons]

        def parameters(self):
            return [p for neuron in self.neurons for p in neuron.parameters()]

    def kinds(**counts):
        names = [name.replace("_", " ") for name, count in counts.items() for _ in range(count)]
        return [names[i] for i in rng.permutation(len(names))]

    many = int(rng.integers(2, 6))
    mixed = Side(kinds(dead=many, at_0=1, alive=3, only_first=2, only_last=4, small=1))
    none = Side(kinds(alive=2, only_first=1, only_last=3))
    all_of_them = Side(kinds(dead=many + 1))

    def unchanged():
        before = [p.data for p in mixed.parameters()]
        student.dead_neurons(mixed, examples)
        return [p.data - number + many for p, number in zip(mixed.parameters(), before)]

    return {
        "input": f"{len(mixed.neurons)} neurons, {len(examples)} examples",
        "neurons of all kinds": lambda: student.dead_neurons(mixed, examples),
        "the same, first four examples alone": lambda: student.dead_neurons(mixed, examples[:4]),
        "the same, last two examples alone": lambda: student.dead_neurons(mixed, examples[4:]),
        "the same, one example": lambda: student.dead_neurons(mixed, examples[2:3]),
        "the same, examples in another order": lambda: student.dead_neurons(mixed, examples[::-1]),
        "none is dead": lambda: student.dead_neurons(none, examples),
        "all are dead": lambda: student.dead_neurons(all_of_them, examples),
        "weights afterwards": unchanged,
    }


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
    "0, whatever the layer: a Value is compared with 0 where its number is meant, or `< 0` is asked of what is never negative",
    swap=("row[i].data == 0", "row[i] == 0"),
    hint=["Is a box equal to 0? Can the output of a ReLU be negative?", "`.data == 0`."],
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
neuron_dead.variant(
    "neuron by neuron, the largest output",
    source="""
def dead_neurons(layer, inputs):
    count = 0
    for neuron in layer.neurons:
        if max(neuron(x).data for x in inputs) == 0:
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
        suspects -= {i for i, out in enumerate(layer(x)) if out.data > 0}
    return len(suspects)
""",
)
neuron_dead.variant(
    "by the slopes: nothing is handed back for any example",
    source="""
def dead_neurons(layer, inputs):
    return sum(all(neuron(x).local_derivatives[0] == 0 for x in inputs) for neuron in layer.neurons)
""",
)
