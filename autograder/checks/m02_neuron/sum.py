"""Check 1 of lesson 02: the weighted sum."""

from autograder.checks.check import check
from autograder.checks.m02_neuron.device import on_traced_values


@check("neuron.sum", points=2, device=("grad of the weights", "grad of the bias", "inputs are Values: their grad"))
def neuron_sum(student, rng, tools):
    """Weights times inputs, plus the bias: the number, and the gradients of all that goes in."""
    numbers = [1.0 + rng.uniform(0.1, 0.8), -2.0 - rng.uniform(0.1, 0.8), 3.0 + rng.uniform(0.1, 0.8)]
    given = [-1.3 - rng.uniform(0.1, 0.4), 0.4 + rng.uniform(0.1, 0.2), 2.1 + rng.uniform(0.1, 0.3)]
    start, up = -0.7 - rng.uniform(0.1, 0.9), -rng.uniform(1.5, 2.5)

    def run(inputs, n=3):
        weights, bias = [student.Value(number) for number in numbers[:n]], student.Value(start)
        out = student.weighted_sum(weights, inputs[:n], bias)
        tools.backpropagate(out, upstream=up)
        return {
            "out": out.data,
            "w": [w.grad for w in weights],
            "b": bias.grad,
            "data": [bias.data] + [w.data for w in weights],
            "lengths": [len(weights), len(inputs)],
        }

    def of_values():
        inputs = [student.Value(number) for number in given]
        out = run(inputs)
        return {"out": out["out"], "x": [x.grad for x in inputs], "w": out["w"]}

    def whole_numbers():
        return run([3, 0, -2])["w"]

    def afterwards():
        inputs = list(given)
        return [*run(inputs)["data"], *inputs]

    def again():
        weights, bias = [student.Value(number) for number in numbers], student.Value(start)
        return [student.weighted_sum(weights, given, bias).data for _ in range(2)]

    def refuses(more_weights, more_inputs):
        weights = [student.Value(1.0) for _ in range(2 + more_weights)]
        try:
            student.weighted_sum(weights, [1.0] * (2 + more_inputs), student.Value(0.0))
        except ValueError:
            return True
        return False

    return {
        "input": f"weights {', '.join(f'{w:.3g}' for w in numbers)}; inputs {', '.join(f'{x:.3g}' for x in given)}; bias {start:.3g}; "
        f"the gradient that arrives is {up:.3g}",
        "the sum": lambda: run(given)["out"],
        "grad of the weights": lambda: run(given)["w"],
        "grad of the bias": lambda: run(given)["b"],
        "inputs 3, 0, −2: grad of the weights": whole_numbers,
        "inputs are Values: the sum": lambda: of_values()["out"],
        "inputs are Values: their grad": lambda: of_values()["x"],
        "one weight, one input": lambda: run(given, 1)["out"],
        "weights, bias and inputs afterwards": afterwards,
        "called twice with the same": again,
        "ValueError if there are more weights": lambda: refuses(1, 0),
        "ValueError if there are more inputs": lambda: refuses(0, 1),
    }


neuron_sum.on_device(on_traced_values)
neuron_sum.mistake(
    "the bias is forgotten",
    swap=("total = bias", "total = Value(0.0)"),
    hint=["What is the sum if all inputs are 0?", "Begin with `total = bias`."],
)
neuron_sum.mistake(
    "the bias is added once for each input",
    swap=[("total = bias", "total = Value(0.0)"), ("total + w * x", "total + w * x + bias")],
    hint=["How often does b stand in the formula?", "Add it once, outside of the loop."],
)
neuron_sum.mistake(
    "the total is overwritten: only the last product is left",
    swap=("total = total + w * x", "total = bias + w * x"),
    hint=["What does the second round of the loop do to the result of the first?", "`total = total + …`."],
)
neuron_sum.mistake(
    "each product multiplies the total, it is not added",
    swap=("total + w * x", "total * w * x"),
    hint=["A weighted *sum*.", "`total + w * x`."],
)
neuron_sum.mistake(
    "weights and inputs are added, not multiplied",
    swap=("w * x", "w + x"),
    hint=["A weight says how much an input counts: is that a sum?", "`w * x`."],
)
neuron_sum.mistake(
    "of a weight only the number is used: the graph is cut, and the weights get no gradient",
    swap=("w * x", "w.data * x"),
    hint=["The sum is right. Does it know the weights?", "No `.data`: multiply the Value itself."],
)
neuron_sum.mistake(
    "only the result is wrapped into a Value: it remembers nothing",
    swap=("return total", "return Value(total.data)"),
    hint=["The number is right. What was it computed from?", "Return `total` itself."],
)
neuron_sum.mistake(
    "inputs that are Values are taken apart: no gradient reaches them",
    swap=("w * x", "w * (x.data if isinstance(x, Value) else x)"),
    hint=[
        "In a network the inputs come from other neurons, and those want to learn, too.",
        "`w * x`, for both kinds of x.",
    ],
)
neuron_sum.mistake(
    "`x.data` is asked of an input that is a plain number",
    swap=("w * x", "w * x.data"),
    hint=["What is x when it comes from the data?", "`w * x`: a Value times a number, or times a Value."],
)
neuron_sum.mistake(
    "`zip` stops silently at the shorter list",
    swap=(", strict=True", ""),
    hint=[
        "Two weights and three inputs: does anybody notice?",
        "`zip(weights, inputs, strict=True)` raises ValueError.",
    ],
)
neuron_sum.mistake(
    "only too few inputs are refused, too many are not",
    swap=(
        "for w, x in zip(weights, inputs, strict=True):",
        "for w, x in [(weights[i], inputs[i]) for i in range(len(weights))]:",
    ),
    hint=["Three inputs for two weights: what becomes of the third?", "Compare the lengths, or `zip(…, strict=True)`."],
)
neuron_sum.mistake(
    "the sum is written into the bias itself",
    source="""
def weighted_sum(weights, inputs, bias):
    total = bias
    for w, x in zip(weights, inputs, strict=True):
        product = w * x
        total.data += product.data
        total.parents += (product,)
        total.local_derivatives += (1.0,)
    return total
""",
    hint=[
        "What is in the bias afterwards? And after a second call?",
        "`total = total + w * x` makes a new Value each time.",
    ],
)
neuron_sum.mistake(
    "the inputs are walked from the end: each meets the weight of another",
    swap=("zip(weights, inputs,", "zip(weights, inputs[::-1],"),
    hint=["Which input belongs to the first weight?", "Both lists in the same direction."],
)
neuron_sum.mistake(
    "the first pair is left out",
    swap=("zip(weights, inputs, strict=True)", "list(zip(weights, inputs, strict=True))[1:]"),
    hint=["Where does `range(1, n)` begin?", "Python counts from 0."],
)
neuron_sum.mistake(
    "every weight meets every input",
    source="""
def weighted_sum(weights, inputs, bias):
    if len(weights) != len(inputs):
        raise ValueError("one input for each weight")
    total = bias
    for w in weights:
        for x in inputs:
            total = total + w * x
    return total
""",
    hint=[
        "How many products are there for three weights and three inputs?",
        "One loop over pairs: `zip(weights, inputs)`.",
    ],
)
neuron_sum.variant(
    "with Python's sum",
    source="""
def weighted_sum(weights, inputs, bias):
    if len(weights) != len(inputs):
        raise ValueError("one input for each weight")
    return sum((w * x for w, x in zip(weights, inputs)), bias)
""",
)
neuron_sum.variant(
    "products first, by index, the bias last",
    source="""
def weighted_sum(weights, inputs, bias):
    n = len(weights)
    if n != len(inputs):
        raise ValueError
    total = 0
    for i in range(n - 1, -1, -1):
        total += inputs[i] * weights[i]
    return bias + total
""",
)
neuron_sum.variant(
    "one box with all its parents",
    source="""
def weighted_sum(weights, inputs, bias):
    inputs = [x if isinstance(x, Value) else Value(x) for x in inputs]
    pairs = list(zip(weights, inputs, strict=True))
    number = bias.data + math.fsum(w.data * x.data for w, x in pairs)
    parents = [bias] + [w for w, _ in pairs] + [x for _, x in pairs]
    return Value(number, parents, [1.0] + [x.data for _, x in pairs] + [w.data for w, _ in pairs], "dot")
""",
)
