"""Check 1 of lesson 02: the weighted sum."""

from autograder.checks.cases import Text, fixed
from autograder.checks.check import exercise
from autograder.checks.m02_neuron.boxes import boxes, inputs, sizes, some
from autograder.checks.m02_neuron.device import on_traced_values
from autograder.checks.value_programs import arriving

neuron_sum = exercise(
    "neuron.sum", "Weights times inputs, plus the bias: the number, and the gradients of all that goes in."
)
SUMS = sizes("n", *(2, 1, 3) * 8).add(
    w=lambda n, rng: boxes(some(n, rng)),
    x=lambda n, rng: inputs(n, rng),
    b=lambda rng: Text(f"Value({some(1, rng)[0]})"),
)


@neuron_sum.aspect("the sum; what is given stays", 0.6, cases=SUMS)
def number(student, case):
    y = student.weighted_sum(case.w, case.x, case.b)
    return {
        "the sum": y.data,
        "w.data": [w.data for w in case.w],
        "b.data": case.b.data,
        "lengths": [len(case.w), len(case.x)],
    }


@neuron_sum.aspect("the gradients", 1.0, cases=SUMS.add(up=arriving), device=6)
def gradients(student, case):
    y = student.weighted_sum(case.w, case.x, case.b)
    yield
    (y * case.up).backward()
    return {"w": [w.grad for w in case.w], "b": case.b.grad, "x": [getattr(x, "grad", 0.0) for x in case.x]}


@neuron_sum.aspect(
    "ValueError unless there are as many inputs as weights",
    0.4,
    corner=True,
    cases=fixed(
        {"w": 3, "x": 2}, {"w": 2, "x": 3}, {"w": 1, "x": 0}, {"w": 0, "x": 1}, {"w": 1, "x": 4}, {"w": 5, "x": 2}
    ),
)
def refused(student, case):
    return student.weighted_sum([student.Value(1.5)] * case.w, [2.0] * case.x, student.Value(0.5)).data


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
