"""Check 3 of lesson 00: the gradients of sin(a) · b."""

import numpy as np

from autograder.checks.cases import array, filled
from autograder.checks.check import exercise
from autograder.checks.m00_start.inputs import KINDS, like_a, single
from autograder.checks.value_programs import any_of

gradient = exercise("start.gradient", "Both gradients, for an upstream gradient that is not 1.")
UPSTREAM = (
    array("a", kinds=KINDS, empty=True)
    .each(b=like_a)
    .add(upstream=lambda a, rng: filled(a.shape, any_of(rng, ["decimals", "integers"]), rng))
)
SINGLE = single("a", "b", "upstream")


@gradient.aspect("∂loss/∂a, of single numbers", 0.25, cases=SINGLE, few=12)
@gradient.aspect("∂loss/∂a, of arrays", 1.25, cases=UPSTREAM)
def grad_a(student, case):
    grad_a, _ = student.sin_times_gradient(case.a, case.b, case.upstream)
    return np.array(grad_a)


@gradient.aspect("∂loss/∂b, of single numbers", 0.25, cases=SINGLE, few=12)
@gradient.aspect("∂loss/∂b, of arrays", 1.25, cases=UPSTREAM)
def grad_b(student, case):
    _, grad_b = student.sin_times_gradient(case.a, case.b, case.upstream)
    return np.array(grad_b)


gradient.mistake(
    "the upstream gradient is not used",
    swap=[("upstream * np.cos", "np.cos"), ("upstream * np.sin", "np.sin")],
    hint=[
        "The partial derivatives are right. What does the chain rule do with them?",
        "Multiply each of them by `upstream`.",
    ],
)
gradient.mistake(
    "the upstream gradient is missing in grad_b",
    swap=("upstream * np.sin", "np.sin"),
    hint="grad_a is multiplied by upstream. And grad_b?",
)
gradient.mistake(
    "the upstream gradient is missing in grad_a",
    swap=("upstream * np.cos", "np.cos"),
    hint="grad_b is multiplied by upstream. And grad_a?",
)
gradient.mistake(
    "the factor b is missing in grad_a",
    swap=("np.cos(a) * b", "np.cos(a)"),
    hint="While a moves, b is a constant factor. It stays: the derivative of 5·sin(a) is 5·cos(a).",
)
gradient.mistake(
    "cos has a minus sign",
    swap=("upstream * np.cos", "-upstream * np.cos"),
    hint="The derivative of sin is cos. It is the derivative of cos that has the minus sign.",
)
gradient.mistake(
    "grad_a has sin where cos belongs",
    swap=("np.cos(a)", "np.sin(a)"),
    hint="The sine is steepest at 0, where it is 0 itself. So its derivative cannot be sin.",
)
gradient.mistake(
    "grad_b has cos where sin belongs",
    swap=("upstream * np.sin(a)", "upstream * np.cos(a)"),
    hint="While b moves, nothing happens to a: sin(a) is just a factor, and is not differentiated.",
)
gradient.mistake(
    "the two gradients have changed places",
    swap=("upstream * np.cos(a) * b, upstream * np.sin(a)", "upstream * np.sin(a), upstream * np.cos(a) * b"),
    hint="The gradients come in the order of the inputs: the one for a first.",
)
gradient.mistake(
    "both functions are differentiated at once: f'·g' is no product rule",
    swap=("upstream * np.cos(a) * b, upstream * np.sin(a)", "upstream * np.cos(a), upstream * np.cos(a)"),
    hint="A partial derivative moves one input and holds the other still. Do a alone first, then b alone.",
)
gradient.mistake(
    "the upstream gradient is added, not multiplied",
    swap=[("upstream * np.cos", "upstream + np.cos"), ("upstream * np.sin", "upstream + np.sin")],
    hint="If the loss moves 10 times as fast as out, it moves 10 times as fast with a, too: times, not plus.",
)
gradient.mistake(
    "the gradients are summed over the array",
    source="""
def sin_times_gradient(a, b, upstream):
    return np.sum(upstream * np.cos(a) * b), np.sum(upstream * np.sin(a))
""",
    hint="Each number of a has a gradient of its own: grad_a has the shape of a.",
)
gradient.mistake(
    "`upstream` is changed in place",
    source="""
def sin_times_gradient(a, b, upstream):
    grad_b = upstream * np.sin(a)
    upstream *= np.cos(a) * b
    return upstream, grad_b
""",
    hint="`upstream *= …` changes the caller's array, who may need it again. Write `grad_a = upstream * …`.",
)
gradient.mistake(
    "upstream was changed before its second use",
    source="""
def sin_times_gradient(a, b, upstream):
    upstream = upstream * np.cos(a) * b
    return upstream, upstream * np.sin(a)
""",
    hint="What is in `upstream` when the second gradient is computed?",
)
gradient.mistake(
    "the arrays are multiplied as matrices, which is right for lists only",
    source="""
def sin_times_gradient(a, b, upstream):
    if np.ndim(a) == 0:
        return upstream * np.cos(a) * b, upstream * np.sin(a)
    return np.diag(np.cos(a) * b) @ upstream, np.diag(np.sin(a)) @ upstream
""",
    hint="Each number of out depends on one number of a alone. `*` multiplies number by number, for every shape.",
)
gradient.variant(
    "one array for both",
    source="""
def sin_times_gradient(a, b, upstream):
    return upstream * np.array([np.cos(a) * b, np.sin(a)])
""",
)
gradient.variant(
    "one after the other, as they are asked for",
    source="""
def sin_times_gradient(a, b, upstream):
    return map(lambda derivative: upstream * derivative, (b * np.cos(a), np.sin(a)))
""",
)
gradient.variant(
    "over names, in another order",
    source="""
def sin_times_gradient(a, b, upstream):
    grad_b = np.sin(a) * upstream
    grad_a = b * np.cos(a) * upstream
    return [grad_a, grad_b]
""",
)
gradient.variant("the derivative as a shifted sine", swap=("np.cos(a)", "np.sin(a + np.pi / 2)"))
gradient.variant(
    "by the chain rule, node by node",
    source="""
def sin_times_gradient(a, b, upstream):
    grad_s = upstream * b
    return grad_s * np.cos(a), upstream * sin_times(a, 1.0)
""",
)
