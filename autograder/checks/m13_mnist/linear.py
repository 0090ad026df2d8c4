"""Check 1 of lesson 13: a layer."""

import numpy as np

from autograder.checks.check import check
from autograder.checks.m13_mnist.device import measured_gradients


@check("mnist.linear", points=2, rtol=1e-4, atol=1e-5, device=("weight, bias and x: gradients",))
def linear(student, rng, tools):
    """Layers whose weights are set to known numbers: values, gradients; and what the weights are at first."""
    import tinygrad_cl.netcl.autograd as ag
    from tinygrad_cl.netcl.core.device import manager
    from tinygrad_cl.netcl.core.parameter import Parameter
    from tinygrad_cl.netcl.core.tensor import Tensor

    queue = manager.default("auto").queue
    rows, inputs, outputs = int(rng.integers(6, 9)), 4, 3
    x, weight, bias = rng.normal(size=(rows, inputs)), rng.normal(size=(inputs, outputs)), rng.normal(size=outputs)
    upstream = rng.normal(size=(rows, outputs))

    def known():
        layer = student.Linear(queue, inputs, outputs, np.random.default_rng(1))
        layer.weight.write(weight)
        layer.bias.write(bias.reshape(layer.bias.shape))
        return layer

    def all_gradients():
        layer, leaf = known(), Parameter.from_host(queue, x)
        found = student.gradients(lambda: layer(ag.tensor(leaf)), upstream, layer.weight, layer.bias, leaf)
        return np.concatenate([gradient.ravel() for gradient in found])

    def of_a_tensor():
        layer = known()
        found = student.gradients(lambda: layer(Tensor.from_host(queue, x)), upstream, layer.weight, layer.bias)
        return np.concatenate([gradient.ravel() for gradient in found])

    def after_a_change():
        layer = known()
        layer(Tensor.from_host(queue, x))
        layer.weight.write(weight / 2)
        return layer(Tensor.from_host(queue, x)).to_host()

    def drawn(n, m, seed=3):
        return student.Linear(queue, n, m, np.random.default_rng(seed)).weight.to_host()

    def spread():
        """Of many weights: the largest, the smallest and the spread, in units of b, rounded, for two shapes."""
        found = []
        for n, m in ((300, 40), (40, 300)):
            w = drawn(n, m) / np.sqrt(6 / n)
            found += [np.round(w.max(), 1), np.round(w.min(), 1), np.round(w.std() * np.sqrt(3), 1)]
        return found

    def differ():
        source = np.random.default_rng(5)
        one, two = (student.Linear(queue, inputs, outputs, source).weight.to_host() for _ in range(2))
        return [
            np.array_equal(one, two),
            np.array_equal(drawn(3, 2), drawn(3, 2)),
            np.array_equal(drawn(3, 2), drawn(3, 2, 4)),
        ]

    def parameters():
        layer = known()
        found = list(layer.parameters())
        return [
            len(found),
            found[0] is layer.weight,
            found[-1] is layer.bias,
            *[isinstance(p, Parameter) for p in found],
        ]

    return {
        "input": f"x of shape ({rows}, {inputs}), a layer from {inputs} to {outputs}; weight and bias are written after it was made",
        "out": lambda: known()(Tensor.from_host(queue, x)).to_host(),
        "weight, bias and x: gradients": all_gradients,
        "x is a Tensor: gradients": of_a_tensor,
        "out, after weight was changed": after_a_change,
        "shapes at first": lambda: [
            len(known().weight.shape),
            len(known().bias.shape),
            *known().weight.shape,
            *known().bias.shape,
        ],
        "bias at first": lambda: student.Linear(queue, 5, 6, np.random.default_rng(0)).bias.to_host(),
        "weights at first, in units of b: largest, smallest, spread": spread,
        "equal: two layers from one rng; one seed twice; two seeds": differ,
        "parameters(): number, weight first, bias last, are Parameters": parameters,
    }


@linear.on_device
def names(on, reference):
    return {"gradients": measured_gradients}


OUT = "return ag.matmul(x, self.weight) + self.bias"
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
    "the rng that was given is not used",
    swap=("weight = rng.uniform", "weight = np.random.default_rng(0).uniform"),
    hint="Two layers of one network would begin with the same numbers.",
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
