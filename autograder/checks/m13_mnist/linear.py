"""Check 1 of lesson 13: a layer."""

import math

import numpy as np

from autograder.checks.cases import Text, array, choice, filled, integer
from autograder.checks.check import exercise
from autograder.checks.m13_mnist.device import measured_gradients
from autograder.checks.m13_mnist.places import parameter

linear = exercise(
    "mnist.linear",
    "x · W + b of leaves, of what was computed and of Tensors; its gradients; what the weights are at first.",
    seconds=30,
)
INPUTS = "lambda p: ag.tensor(p)", "lambda p: ag.tanh(ag.tensor(p))", "lambda p: ag.mul(p, 2.0)", "lambda p: p"
NUMBERS = array("weight", ((2, 3), (1, 1), (3, 2), (2, 2), (3, 1), (1, 3)), ("decimals", "whole"), axes=2)
NUMBERS = NUMBERS.where(lambda weight: weight.ndim == 2).add(
    bias=lambda weight, rng: filled(weight.shape[1:], "decimals", rng),
    p=lambda weight, rng: parameter(filled((int(rng.integers(1, 4)), len(weight)), "decimals", rng)),
    x=lambda rng: Text(INPUTS[rng.integers(len(INPUTS))]),
)


@linear.aspect(
    "the output, and the gradients of weight, bias and x",
    1,
    cases=NUMBERS,
    few=10,
    many=30,
    device=4,
    rtol=1e-4,
    atol=1e-5,
)
def output(student, case):
    layer = student.Linear(student.queue, *case.weight.shape, np.random.default_rng(1))
    layer.weight.write(case.weight)
    layer.bias.write(case.bias)
    out = layer(case.x(case.p))
    yield
    grad, leaves = np.arange(1.0, 1 + math.prod(out.shape)).reshape(out.shape), (layer.weight, layer.bias, case.p)
    return {
        "out": out.to_host(),
        "gradients of weight, bias and x": student.gradients(lambda: layer(case.x(case.p)), grad, *leaves),
    }


@linear.aspect(
    "a Tensor goes in, and a Node comes out",
    0.25,
    corner=True,
    cases=choice("rows", 1, 3),
    exact="gives a Node",
    rtol=1e-4,
)
def kinds(student, case):
    layer = student.Linear(student.queue, 2, 3, np.random.default_rng(1))
    layer.bias.write(np.array([1.0, 2.0, 3.0]))
    x = student.on_device(np.ones((case.rows, 2)))
    grad = np.arange(3.0 * case.rows).reshape(case.rows, 3)
    return {
        "kind": type(layer(x)).__name__,
        "gradients": student.gradients(lambda: layer(x), grad, layer.weight, layer.bias),
    }


@linear.aspect(
    "weight and bias at first",
    0.5,
    corner=True,
    cases=(choice("shape", (300, 40), (40, 300), (600, 20)) * integer("seed", 3, low=0, high=99)),
    few=4,
    many=8,
)
def start(student, case):
    rng = np.random.default_rng(case.seed)
    one, two = (student.Linear(student.queue, *case.shape, rng) for _ in range(2))
    again = student.Linear(student.queue, *case.shape, np.random.default_rng(case.seed))
    w, unit = one.weight.to_host(), np.sqrt(6 / case.shape[0])
    return {
        "largest, smallest and spread of the weights, in units of b": np.round(
            [w.max() / unit, w.min() / unit, w.std() * np.sqrt(3) / unit], 1
        ),
        "shape of weight": w.shape,
        "bias": one.bias.to_host()[:4],
        "shape of bias": one.bias.shape,
        "a second layer has the same weights": np.array_equal(w, two.weight.to_host()),
        "a layer of the same seed has the same weights": np.array_equal(w, again.weight.to_host()),
    }


@linear.aspect("parameters() is [weight, bias]", 0.25, corner=True, cases=choice("shape", (2, 3), (1, 1)))
def parameters(student, case):
    layer = student.Linear(student.queue, *case.shape, np.random.default_rng(1))
    found, own = list(layer.parameters()), {"weight": layer.weight, "bias": layer.bias}
    return {
        "which": [next((name for name in own if own[name] is p), "neither weight nor bias") for p in found],
        "their classes": ", ".join(f"{name} is a {type(p).__name__}" for name, p in own.items()),
    }


@linear.on_device
def names(on, reference):
    return {"gradients": measured_gradients}


OUT = "return ag.matmul(x, self.weight) + self.bias"
linear.mistake(
    "the graph is cut: the number of a Node is taken",
    swap=(OUT, "return ag.matmul(x.value if isinstance(x, ag.Node) else x, self.weight) + self.bias"),
    hint="x.value is a Tensor, which knows no parents. Give the Node itself to ag.matmul.",
)
linear.mistake(
    "a Tensor times a Parameter is computed, and not recorded",
    swap=("ag.matmul(x, self.weight)", "x @ self.weight"),
    hint=[
        "Run the cell above the exercise again. Which of the two lines says Node?",
        "`ag.matmul(x, self.weight)` makes a Node of either.",
    ],
)
linear.mistake("the bias is left out", swap=(OUT, "return ag.matmul(x, self.weight)"), hint="x · W + b.")
linear.mistake("the bias is subtracted", swap=("+ self.bias", "- self.bias"), hint="Plus.")
linear.mistake(
    "the weight has shape (outputs, inputs), as in PyTorch",
    swap=[
        ("(inputs, outputs))", "(outputs, inputs))"),
        ("ag.matmul(x, self.weight)", "ag.matmul(x, self.weight, transpose_b=True)"),
    ],
    hint="Here the weight is (inputs, outputs): rows of x times columns of W.",
)
linear.mistake(
    "weight and bias are Tensors: they require no gradient",
    swap=("Parameter.from_host", "Tensor.from_host"),
    hint=["Which kind of Tensor does an optimizer change?", "`Parameter.from_host`."],
)
linear.mistake(
    "the weight is a Tensor, not a Parameter: it requires no gradient",
    swap=("self.weight = Parameter", "self.weight = Tensor"),
    hint="The weight learns, too.",
)
linear.mistake(
    "only the weight is a Parameter; the bias is a Tensor",
    swap=("self.bias = Parameter", "self.bias = Tensor"),
    hint="The bias learns, too.",
)
linear.mistake(
    "b counts the outputs, not the inputs",
    swap=("6 / inputs", "6 / outputs"),
    hint="How many products does one output add up?",
)
linear.mistake(
    "b counts inputs and outputs: that is Xavier's",
    swap=("6 / inputs", "6 / (inputs + outputs)"),
    hint="√(6 / inputs).",
)
linear.mistake("the root is missing", swap=("math.sqrt(6 / inputs)", "6 / inputs"), hint="√(6 / inputs).")
linear.mistake(
    "weights are drawn from 0 to b",
    swap=("rng.uniform(-bound, bound,", "rng.uniform(0, bound,"),
    hint="From −b to b: both signs.",
)
linear.mistake(
    "weights are normal, and b is their spread",
    swap=("rng.uniform(-bound, bound,", "rng.normal(0, bound,"),
    hint="Uniform: no weight is larger than b.",
)
linear.mistake(
    "weights are normal, with the right spread",
    swap=("rng.uniform(-bound, bound,", "rng.normal(0, bound / math.sqrt(3),"),
    hint="Uniform: no weight is larger than b.",
)
linear.mistake(
    "all weights are 0 at first",
    swap=("rng.uniform(-bound, bound, (inputs, outputs))", "np.zeros((inputs, outputs))"),
    hint="With equal weights, all units get equal gradients, and stay equal for ever.",
)
linear.mistake(
    "the bias is a matrix of one row",
    swap=("np.zeros(outputs)", "np.zeros((1, outputs))"),
    hint="Shape (outputs,): broadcasting adds it to each row all the same.",
)
linear.mistake(
    "the bias is drawn, too", swap=("np.zeros(outputs)", "rng.uniform(-bound, bound, outputs)"), hint="It begins at 0."
)
linear.mistake("the bias begins at 1", swap=("np.zeros(outputs)", "np.ones(outputs)"), hint="It begins at 0.")
linear.mistake(
    "two layers that are drawn from one rng get the same weights",
    swap=("weight = rng.uniform", "weight = np.random.default_rng(0).uniform"),
    hint="Draw from the rng that was given, anew for each layer.",
)
linear.mistake(
    "weights are drawn from a generator without a seed",
    swap=("weight = rng.uniform", "weight = np.random.default_rng().uniform"),
    hint="The same seed, the same network: draw from `rng`.",
)
linear.mistake(
    "the list has the bias first", swap=("[self.weight, self.bias]", "[self.bias, self.weight]"), hint="[weight, bias]."
)
linear.mistake(
    "the list forgets the bias", swap=("[self.weight, self.bias]", "[self.weight]"), hint="Who would train it?"
)
linear.mistake(
    "the list holds Nodes",
    swap=("[self.weight, self.bias]", "[ag.tensor(self.weight), ag.tensor(self.bias)]"),
    hint="An optimizer takes the Parameters themselves.",
)
linear.variant(
    "the layer of the engine, and numbers from 0 to 1 stretched",
    source="""
class Linear:
    def __init__(self, queue, inputs, outputs, rng):
        b = (6 / inputs) ** 0.5
        self.bias = Parameter.full(queue, (outputs,), 0)
        self.weight = Parameter.from_shape(queue, (inputs, outputs))
        self.weight.write((2 * rng.random((inputs, outputs), dtype=np.float32) - 1) * b)

    def __call__(self, x):
        return ag.linear(x, self.weight, self.bias)

    def parameters(self):
        return self.weight, self.bias
""",
)
linear.variant(
    "x is wrapped first, and @ does the rest",
    swap=(
        OUT,
        """if not isinstance(x, ag.Node):
            x = ag.tensor(x)
        return ag.add(self.bias, x @ ag.tensor(self.weight))""",
    ),
)
linear.variant(
    "drawn row by row",
    swap=(
        "rng.uniform(-bound, bound, (inputs, outputs))",
        "[[rng.uniform(-bound, bound) for _ in range(outputs)] for _ in range(inputs)]",
    ),
)
