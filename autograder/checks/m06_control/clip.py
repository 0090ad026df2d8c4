"""Check 8 of lesson 06: all gradients shorter, in the same direction."""

import math

import numpy as np

from autograder.checks.cases import Draft, Source, Text, filled, fixed
from autograder.checks.check import exercise
from autograder.checks.programs import pick

control_clip = exercise("control.clip", "All gradients shorter, in the same direction.")

LISTS = ([(2,)], [()], [(2,), (3,)], [(2, 3), (), (1, 2)], [(2,), None, (2, 2)], [None, (3,)], [(2,), (2,), (2,)])
KINDS = ("decimals", "whole", "positive", "large", "float32")
FORMS = ("list", "tuple", "iter", "lambda parameters: (p for p in parameters)")
ONE = "lambda parameters: parameters[0]"


def clipping(shapes, kind, share, form, rng):
    """share: max_norm as a part of the length of all gradients."""
    gradients = [None if shape is None else filled(shape, kind, rng) for shape in shapes]
    length = math.sqrt(sum(float(np.sum(g.astype(float) ** 2)) for g in gradients if g is not None)) or 1.0
    return Draft({"gradients": gradients, "max_norm": round(float(length * share), 3), "form": Text(form)})


def small(rng):
    yield Draft({"gradients": [np.array([3.0, 4.0])], "max_norm": 5.0, "form": Text("list")})
    for share in (0.5, 2.0, 0.1, math.inf, 0.9, 1.1):
        for place, shapes in enumerate(LISTS):
            yield clipping(shapes, KINDS[place % 2], share, FORMS[place % 4], rng)
            yield clipping(shapes, KINDS[(place + 2) % 5], share, FORMS[0], rng)


def drawn(rng):
    return clipping(pick(rng, LISTS), pick(rng, KINDS), float(rng.uniform(0.1, 1.7)), pick(rng, FORMS), rng)


def alone(rng):
    return (
        clipping([shape], kind, share, ONE, rng)
        for share in (0.3, 1.5)
        for shape in ((2, 2), (), (3,))
        for kind in KINDS[:2]
    )


NOTHING = [
    {"gradients": gradients, "max_norm": most, "form": Text("list")}
    for gradients in ([None, None], [], [np.zeros(2), np.zeros(())])
    for most in (0.5, 3.0)
]
CASES = Source(small, drawn)
ODD = Source(alone) + fixed(*NOTHING, {"gradients": [None], "max_norm": 1.0, "form": Text(ONE)})


def clipped(student, case):
    parameters = [student.Tensor(np.full(np.shape(g), 0.5), requires_grad=True) for g in case.gradients]
    for p, g in zip(parameters, case.gradients):
        p.grad = None if g is None else student.Tensor(g)
    norm = student.clip_grad_norm_(case.form(parameters), case.max_norm)
    found = {
        "gradients": [None if p.grad is None else p.grad.data for p in parameters],
        "parameters": [p.data for p in parameters],
    }
    return {"norm": norm, **found}


def norm(student, case):
    parameters = [student.Tensor(np.zeros(np.shape(g)), requires_grad=True) for g in case.gradients]
    for p, g in zip(parameters, case.gradients):
        p.grad = None if g is None else student.Tensor(g)
    return student.clip_grad_norm_(case.form(parameters), case.max_norm)


control_clip.aspect("the gradients afterwards", 1, cases=CASES, rtol=1e-5)(clipped)
control_clip.aspect("the norm that they had", 0.5, cases=CASES, rtol=1e-5)(norm)
control_clip.aspect("one tensor alone, zeros, no gradients", 0.5, corner=True, cases=ODD, rtol=1e-5)(clipped)


control_clip.mistake(
    "each gradient is clipped on its own: the direction changes",
    swap=[
        (
            "    if norm > max_norm:\n        for g in gradients:\n            g.copy_(g.data * (max_norm / norm))",
            "    for g in gradients:\n        own = math.sqrt(float(np.sum(g.data ** 2)))\n        if own > max_norm:\n            g.copy_(g.data * (max_norm / own))",
        )
    ],
    hint=[
        "All parameters together are one long vector, with one length.",
        "One factor for all: max_norm over the whole length.",
    ],
)
control_clip.mistake(
    "numbers are cut off at max_norm, not scaled",
    swap=("g.data * (max_norm / norm)", "np.clip(g.data, -max_norm, max_norm)"),
    hint="Clipping by value is another method: here all numbers get the same factor.",
)
control_clip.mistake(
    "short gradients are made longer",
    swap=("if norm > max_norm:", "if norm > 0:"),
    hint=["max_norm is a limit, not a goal.", "Only if the length is above it."],
)
control_clip.mistake(
    "the length is taken without its root",
    swap=(
        "math.sqrt(sum(float(np.sum(g.data.astype(np.float64) ** 2)) for g in gradients))",
        "sum(float(np.sum(g.data.astype(np.float64) ** 2)) for g in gradients)",
    ),
    hint="√Σg²",
)
control_clip.mistake(
    "the squares of each gradient are averaged, not added up",
    swap=("np.sum(g.data", "np.mean(g.data"),
    hint="√Σg²: a sum over all numbers of all gradients.",
)
control_clip.mistake(
    "the lengths of the single gradients are added up",
    swap=(
        "math.sqrt(sum(float(np.sum(g.data.astype(np.float64) ** 2)) for g in gradients))",
        "sum(math.sqrt(float(np.sum(g.data.astype(np.float64) ** 2))) for g in gradients)",
    ),
    hint=["3 to the east and 4 to the north: how far is it?", "Add the squares of all, then one root."],
)
control_clip.mistake(
    "the largest number is taken for the length",
    swap=(
        "math.sqrt(sum(float(np.sum(g.data.astype(np.float64) ** 2)) for g in gradients))",
        "max(float(np.abs(g.data).max()) for g in gradients)",
    ),
    hint="The length is √Σg² over all numbers.",
)
control_clip.mistake(
    "the length afterwards is returned",
    swap=("return norm", "return min(norm, max_norm)"),
    hint="The length before is worth plotting; the one afterwards is known.",
)
control_clip.mistake(
    "a parameter without gradient ends in an error",
    swap=(" if p.grad is not None]", "]"),
    hint="A parameter that was not used has grad None: leave it out.",
)
control_clip.mistake(
    "the factor is upside down",
    swap=("(max_norm / norm)", "(norm / max_norm)"),
    hint="Too long means a factor below 1: max_norm / norm.",
)
control_clip.mistake(
    "the parameters are walked twice: a generator is empty the second time",
    swap=[
        ("gradients = [p.grad for p in parameters if p.grad is not None]\n", "pass\n"),
        ("for g in gradients))", "for g in (p.grad for p in parameters if p.grad is not None)))"),
        ("for g in gradients:", "for g in (p.grad for p in parameters if p.grad is not None):"),
    ],
    hint=["The length comes out right, and nothing is scaled.", "Make a list of the gradients first."],
)
control_clip.mistake(
    "the parameters are scaled, not their gradients",
    swap=[
        (
            "gradients = [p.grad for p in parameters if p.grad is not None]",
            "parameters = list(parameters)\n    gradients = [p.grad for p in parameters if p.grad is not None]",
        ),
        (
            "for g in gradients:\n            g.copy_(g.data * (max_norm / norm))",
            "for p in parameters:\n            p.copy_(p.data * (max_norm / norm))",
        ),
    ],
    hint="The weights stay: `p.grad` gets shorter.",
)
control_clip.mistake(
    "one tensor alone is taken for a list of its rows",
    swap=("[parameters] if isinstance(parameters, Variable) else parameters", "parameters"),
    hint="`clip_grad_norm_(p, 1.0)` should do, too: put a single tensor into a list.",
)
control_clip.mistake(
    "length 0 divides by 0",
    swap=[
        ("if norm > max_norm:\n", "factor = min(1.0, max_norm / norm)\n    if True:\n"),
        ("(max_norm / norm))", "factor)"),
    ],
    hint="A gradient of 0 has length 0. Divide only where it is too long.",
)
control_clip.variant(
    "as one long vector, with a factor as PyTorch has it",
    source="""
def clip_grad_norm_(parameters, max_norm):
    if isinstance(parameters, Tensor):
        parameters = (parameters,)
    with_gradient = list(filter(lambda p: p.grad is not None, parameters))
    vector = np.concatenate([np.zeros(0), *(np.ravel(p.grad.data) for p in with_gradient)])
    norm = np.linalg.norm(vector)
    factor = min(max_norm / (norm + 1e-6), 1.0)
    for p in with_gradient:
        p.grad = p.grad * factor
    return norm
""",
)
control_clip.variant(
    "in place, without Variable",
    source="""
def clip_grad_norm_(parameters, max_norm):
    if hasattr(parameters, "grad"):
        parameters = [parameters]
    squares, found = 0.0, []
    for p in parameters:
        if p.grad is None:
            continue
        squares += (p.grad.data ** 2).sum()
        found.append(p)
    if squares > max_norm ** 2:
        for p in found:
            p.grad.data[...] *= max_norm / squares ** 0.5
    return squares ** 0.5
""",
)
control_clip.variant(
    "a sum of NumPy numbers is a number",
    swap=("float(np.sum(g.data.astype(np.float64) ** 2))", "np.sum(g.data.astype(np.float64) ** 2)"),
)
control_clip.variant(
    "the gradients are tensors, and copy_ takes one", swap=("g.data * (max_norm / norm)", "g * (max_norm / norm)")
)
control_clip.variant("just at max_norm the factor is 1", swap=("norm > max_norm", "norm >= max_norm"))
