"""Check 2 of lesson 02: a neuron that can be called, and its parameters."""

from autograder.checks.check import exercise
from autograder.checks.m02_neuron.boxes import ACTIVATIONS, inputs, sizes, some
from autograder.checks.m02_neuron.device import on_traced_values
from autograder.checks.value_programs import arriving

neuron_neuron = exercise(
    "neuron.neuron", "A neuron with set weights: output, gradients, parameters.", needs=("neuron.sum",)
)
NEURONS = (sizes("n", 2, 1, 3) * ACTIVATIONS).add(w=lambda n, rng: some(n + 1, rng), x=lambda n, rng: inputs(n, rng))


@neuron_neuron.aspect("the output, and the gradients", 1.2, cases=NEURONS.add(up=arriving), device=6)
def output(student, case):
    neuron = student.Neuron(case.n, case.activation)
    for box, number in zip([*neuron.w, neuron.b], case.w):
        box.data = number
    y = neuron(case.x)
    yield
    (y * case.up).backward()
    found = {"output": y.data, "w": [w.grad for w in neuron.w], "b": neuron.b.grad}
    return found | {"x": [getattr(x, "grad", 0.0) for x in case.x]}


@neuron_neuron.aspect("the parameters", 0.8, cases=NEURONS.add(after=lambda n, rng: some(n + 1, rng)))
def parameters(student, case):
    neuron = student.Neuron(case.n, case.activation)
    for box, number in zip([*neuron.w, neuron.b], case.w):
        box.data = number
    first, before = neuron.parameters(), neuron(case.x).data
    numbers = [p.data for p in first]
    for p, number in zip(neuron.parameters(), case.after):
        p.data = number
    found = {"their numbers": numbers, "output before": before, "output after they are changed": neuron(case.x).data}
    return found | {"a new list each time": first is not neuron.parameters(), "weights": len(neuron.w)}


neuron_neuron.on_device(on_traced_values)

neuron_neuron.mistake(
    "the activation is left out",
    swap=("total if self.activation is None else self.activation(total)", "total"),
    hint=[
        "What does the neuron keep in `self.activation`, and who uses it?",
        "`self.activation(total)`, unless it is None.",
    ],
)
neuron_neuron.mistake(
    "always tanh, whatever activation the neuron was given",
    swap=("self.activation(total)", "total.tanh()"),
    hint=["Which neuron did `Neuron(3, Value.relu)` ask for?", "Call what was given: `self.activation(total)`."],
)
neuron_neuron.mistake(
    "tanh also where the activation is None",
    swap=("total if self.activation is None else self.activation(total)", "(self.activation or Value.tanh)(total)"),
    hint=["What does None stand for in the docstring?", "`if self.activation is None:` the sum is the output."],
)
neuron_neuron.mistake(
    "None is called like a function",
    swap=("total if self.activation is None else self.activation(total)", "self.activation(total)"),
    hint=["What is `self.activation` in `Neuron(3, None)`?", "First ask `if self.activation is None`."],
)
neuron_neuron.mistake(
    "each input is bent before it is weighed: the activation comes too early",
    source="""
class Neuron:
    def __init__(self, inputs, activation=Value.tanh, rng=random):
        reach = 1 / math.sqrt(inputs)
        self.w = [Value(rng.uniform(-reach, reach)) for _ in range(inputs)]
        self.b = Value(0.0)
        self.activation = activation

    def __call__(self, inputs):
        if self.activation is not None:
            inputs = [self.activation(x if isinstance(x, Value) else Value(x)) for x in inputs]
        return weighted_sum(self.w, inputs, self.b)

    def parameters(self):
        return [*self.w, self.b]
""",
    hint=["Look at the drawing: what comes first, sum or tanh?", "activation(w · inputs + b)."],
)
neuron_neuron.mistake(
    "the bias is added after the activation",
    swap=[
        ("weighted_sum(self.w, inputs, self.b)", "weighted_sum(self.w, inputs, Value(0.0))"),
        (
            "return total if self.activation is None else self.activation(total)",
            "return (total if self.activation is None else self.activation(total)) + self.b",
        ),
    ],
    hint=["Can the output of a tanh neuron be larger than 1?", "The bias belongs to the sum, inside the activation."],
)
neuron_neuron.mistake(
    "the bias is no parameter: it will never be trained",
    swap=("[*self.w, self.b]", "list(self.w)"),
    hint=["What else does a neuron have, besides its weights?", "`[*self.w, self.b]`."],
)
neuron_neuron.mistake(
    "the bias comes first",
    swap=("[*self.w, self.b]", "[self.b, *self.w]"),
    hint=["Which order does the docstring ask for?", "The weights, then the bias."],
)
neuron_neuron.mistake(
    "the list in a list: [[w, …], b]",
    swap=("[*self.w, self.b]", "[self.w, self.b]"),
    hint=["What is the first part of your list?", "`[*self.w, self.b]`, or `self.w + [self.b]`."],
)
neuron_neuron.mistake(
    "a list plus a Value: the bias is not in a list of its own",
    swap=("[*self.w, self.b]", "self.w + self.b"),
    hint=["What is on the left of the +, and what on the right?", "List plus list: `self.w + [self.b]`."],
)
neuron_neuron.mistake(
    "the bias is appended to the neuron's own weights",
    swap=("return [*self.w, self.b]", "self.w.append(self.b)\n        return self.w"),
    hint=["How many weights has the neuron after parameters() was called?", "`self.w + [self.b]` is a new list."],
)
neuron_neuron.mistake(
    "copies are handed out: whoever trains them does not move the neuron",
    swap=("[*self.w, self.b]", "[Value(p.data) for p in [*self.w, self.b]]"),
    hint=["If somebody changes your parameters, does the output change?", "Hand out the Values themselves."],
)
neuron_neuron.mistake(
    "numbers are handed out, not Values",
    swap=("[*self.w, self.b]", "[p.data for p in [*self.w, self.b]]"),
    hint=["Where should the gradients go?", "Hand out the Values, without `.data`."],
)
neuron_neuron.mistake(
    "the output is a plain number",
    swap=(
        "return total if self.activation is None else self.activation(total)",
        "return (total if self.activation is None else self.activation(total)).data",
    ),
    hint=["A plain number remembers nothing.", "Return the Value."],
)
neuron_neuron.variant(
    "all in one, without weighted_sum",
    source="""
class Neuron:
    def __init__(self, inputs, activation=Value.tanh, rng=random):
        reach = 1 / math.sqrt(inputs)
        self.w = [Value(rng.uniform(-reach, reach)) for _ in range(inputs)]
        self.b = Value(0.0)
        self.activation = activation

    def __call__(self, inputs):
        out = sum((wi * xi for wi, xi in zip(self.w, inputs)), self.b)
        if self.activation:
            out = self.activation(out)
        return out

    def parameters(self):
        return self.w + [self.b]
""",
)
neuron_neuron.variant(
    "an identity in place of None, a list by hand",
    source="""
class Neuron:
    def __init__(self, inputs, activation=Value.tanh, rng=random):
        reach = 1 / math.sqrt(inputs)
        self.w = [Value(rng.uniform(-reach, reach)) for _ in range(inputs)]
        self.b = Value(0.0)
        self.activation = activation

    def __call__(self, inputs):
        bend = self.activation if self.activation is not None else lambda s: s
        return bend(weighted_sum([*self.w, self.b], [*inputs, 1], Value(0)))

    def parameters(self):
        found = []
        for w in self.w:
            found.append(w)
        found.append(self.b)
        return found
""",
)
