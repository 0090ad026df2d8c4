"""Check 6 of lesson 02: one step against the gradient, and the eraser."""

from autograder.checks.cases import choice
from autograder.checks.check import exercise
from autograder.checks.m02_neuron.boxes import sizes, some

neuron_step = exercise("neuron.step", "A step moves every parameter against its gradient; zero_grad erases.")
PARAMETERS = (
    sizes("n", 2, 1, 3, 0)
    .add(data=lambda n, rng: some(n, rng))
    .each(
        grad=lambda n, rng: [
            some(n, rng),
            [7.5, -20.0, 0.0, 0.001][:n],
            [0.0, 100.0, -0.5, 3][:n],
            [2.0, -3.0, 1.5, 4.0][:n],
        ]
    )
)


@neuron_step.aspect("a step", 1.25, cases=PARAMETERS * choice("rate", 0.1, 0.5, 0.0, 2.0, 1))
def moved(student, case):
    parameters = list(map(student.Value, case.data))
    for p, grad in zip(parameters, case.grad):
        p.grad = grad
    given = list(parameters)
    student.step(given, case.rate)
    found = {"data": [p.data for p in parameters], "grad": [p.grad for p in parameters]}
    return found | {"the same boxes in the list": [id(p) for p in given] == [id(p) for p in parameters]}


INFINITE = sizes("n", 2, 3).add(
    data=lambda n, rng: some(n, rng), grad=lambda n: [float("nan"), float("inf"), -float("inf")][:n]
)


@neuron_step.aspect("zero_grad", 0.75, cases=PARAMETERS + INFINITE)
def erased(student, case):
    parameters = list(map(student.Value, case.data))
    for p, grad in zip(parameters, case.grad):
        p.grad = grad
    given = list(parameters)
    student.zero_grad(given)
    found = {"grad": [p.grad for p in parameters], "data": [p.data for p in parameters]}
    return found | {"the same boxes in the list": [id(p) for p in given] == [id(p) for p in parameters]}


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
        p.grad = int(0)
""",
)
