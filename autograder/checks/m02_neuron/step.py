"""Check 6 of lesson 02: one step against the gradient, and the eraser."""

from autograder.checks.check import check


@check("neuron.step", points=2)
def neuron_step(student, rng, tools):
    """Four parameters with gradients of both signs and a gradient of 0."""
    numbers = [
        1.0 + rng.uniform(0.1, 0.8),
        -2.0 - rng.uniform(0.1, 0.8),
        0.3 + rng.uniform(0.1, 0.4),
        -0.6 - rng.uniform(0.1, 0.3),
    ]
    slopes = [3.0 + rng.uniform(0.1, 0.8), -1.5 - rng.uniform(0.1, 0.8), 0.0, 0.4 + rng.uniform(0.1, 0.8)]
    rate = rng.uniform(0.05, 0.4)

    def made():
        values = [student.Value(number) for number in numbers]
        for value, slope in zip(values, slopes):
            value.grad = slope
        return values

    def stepped(times=1, how=list):
        values = made()
        for _ in range(times):
            student.step(how(values), rate)
        return values

    def erased(how=list):
        values = made()
        student.zero_grad(how(values))
        return values

    def the_list(call):
        values = made()
        given = list(values)
        call(given)
        return [len(given), *[value.data for value in given]]

    def erased_then_backward():
        a, b, *_ = values = erased()
        (a * b).backward()
        return [value.grad for value in values]

    def unreached():
        value = student.Value(numbers[0])
        student.step([value], rate)
        return value.data

    return {
        "input": f"data {', '.join(f'{x:.3g}' for x in numbers)}; grad {', '.join(f'{x:.3g}' for x in slopes)}; learning rate {rate:.3g}",
        "step: data": lambda: [value.data for value in stepped()],
        "step: grad": lambda: [value.grad for value in stepped()],
        "three steps: data": lambda: [value.data for value in stepped(3)],
        "step on parameters that come from a generator: data": lambda: [value.data for value in stepped(how=iter)],
        "step: the list that was given": lambda: the_list(lambda given: student.step(given, rate)),
        "step on a parameter without gradient yet: data": unreached,
        "zero_grad: grad": lambda: [value.grad for value in erased()],
        "zero_grad: data": lambda: [value.data for value in erased()],
        "zero_grad: the list that was given": lambda: the_list(student.zero_grad),
        "zero_grad, then backward: grad": erased_then_backward,
    }


STEP, ERASE = "p.data -= learning_rate * p.grad", "p.grad = 0.0"
neuron_step.mistake(
    "uphill: the step goes along the slope",
    swap=(STEP, "p.data += learning_rate * p.grad"),
    hint=["The slope is positive: the loss grows with w. Where should w go?", "`-=`."],
)
neuron_step.mistake(
    "p = p − … gives the name to a new Value; the parameter stays where it was",
    swap=(STEP, "p = p - learning_rate * p.grad"),
    hint=["After the loop: what is in the list?", "Change what is inside: `p.data -= …`."],
)
neuron_step.mistake(
    "the learning rate is left out",
    swap=(STEP, "p.data -= p.grad"),
    hint=["Half the learning rate: is your step half as long?", "`learning_rate * p.grad`."],
)
neuron_step.mistake(
    "the learning rate alone, with the sign of the slope: all steps have one length",
    swap=(STEP, "p.data -= learning_rate * ((p.grad > 0) - (p.grad < 0))"),
    hint=["Where it is steep, the step may be longer.", "`learning_rate * p.grad`."],
)
neuron_step.mistake(
    "the parameter is replaced by the step",
    swap=(STEP, "p.data = -learning_rate * p.grad"),
    hint=["Where does it start from?", "`p.data - learning_rate * p.grad`."],
)
neuron_step.mistake(
    "data and grad are exchanged in the product: the parameter shrinks",
    swap=(STEP, "p.data -= learning_rate * p.data"),
    hint=["Does your step know the slope?", "`learning_rate * p.grad`."],
)
neuron_step.mistake(
    "divided by the learning rate",
    swap=(STEP, "p.data -= p.grad / learning_rate"),
    hint=["A small rate should give a small step.", "Times, not divided by."],
)
neuron_step.mistake(
    "data becomes a Value",
    swap=(STEP, "p.data = p - learning_rate * p.grad"),
    hint=["What is `p - 0.1`: a number or a box?", "`p.data - …`."],
)
neuron_step.mistake(
    "step erases the gradients, too",
    swap=(STEP, STEP + "\n        p.grad = 0.0"),
    hint=["Whoever wants to look at the gradients after the step finds 0.", "One thing each: `zero_grad` erases."],
)
neuron_step.mistake(
    "zero_grad leaves the gradients as they are: `p = 0.0` sets only a name, `p.grad == 0.0` only compares",
    swap=(ERASE, "p = 0.0"),
    hint=["What do the Values in the list hold after the loop?", "`p.grad = 0.0`, with one =."],
)
neuron_step.mistake(
    "zero_grad erases the data",
    swap=(ERASE, "p.data = 0.0"),
    hint=["What has the network learned afterwards?", "`p.grad = 0.0`."],
)
neuron_step.mistake(
    "zero_grad sets None: the next backward cannot add to it",
    swap=(ERASE, "p.grad = None"),
    hint=["PyTorch does that, and its backward knows. Yours says `grad +=`.", "`p.grad = 0.0`."],
)
neuron_step.mistake(
    "a return within the loop: only the first is erased",
    swap=(ERASE, ERASE + "\n        return"),
    hint=["When does `return` leave the loop?", "No return is needed."],
)
neuron_step.mistake(
    "a return within the loop: only the first takes a step",
    swap=(STEP, STEP + "\n        return"),
    hint=["When does `return` leave the loop?", "No return is needed."],
)
neuron_step.mistake(
    "new Values are put into the list, and the network keeps the old ones",
    source="""
def step(parameters, learning_rate):
    for i, p in enumerate(parameters):
        parameters[i] = Value(p.data - learning_rate * p.grad)


def zero_grad(parameters):
    for p in parameters:
        p.grad = 0.0
""",
    hint=["Who else holds the old Values? The neurons.", "Change what is inside: `p.data -= …`."],
)
neuron_step.variant(
    "by setattr and map, whole numbers",
    source="""
def step(parameters, learning_rate):
    for p in parameters:
        p.data = p.data + (-learning_rate) * p.grad


def zero_grad(parameters):
    for p in parameters:
        setattr(p, "grad", 0)
""",
)
neuron_step.variant(
    "with lists and NumPy",
    source="""
import numpy as np

def step(parameters, learning_rate):
    parameters = list(parameters)
    moved = np.array([p.data for p in parameters]) - learning_rate * np.array([p.grad for p in parameters])
    for i, p in enumerate(parameters):
        p.data = float(moved[i])
    return parameters


def zero_grad(parameters):
    for p in list(parameters):
        p.grad *= 0.0
""",
)
