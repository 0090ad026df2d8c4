"""Check 8 of lesson 06: all gradients shorter, in the same direction."""

import math

import numpy as np

from autograder.checks.check import check


@check("control.clip", points=2, rtol=1e-5)
def control_clip(student, rng, tools):
    """The length before, and the gradients after."""
    shapes = [(2, 3), (4,), (), (3, 1)]
    gradients = [rng.normal(size=shape) * size for shape, size in zip(shapes, (1.0, 5.0, 0.3, 2.0))]
    total = math.sqrt(sum(float(np.sum(g**2)) for g in gradients))
    tight, loose = total * rng.uniform(0.2, 0.7), total * rng.uniform(1.5, 3.0)

    def parameters():
        """One of each shape, and one that has no gradient yet in the middle."""
        made = []
        for g in gradients:
            p = student.Tensor(np.full(g.shape, 0.5), requires_grad=True)
            p.grad = student.Tensor(g)
            made.append(p)
        made.insert(2, student.Tensor([1.0, 2.0], requires_grad=True))
        return made

    def clipped(max_norm, form=list):
        made = parameters()
        norm = student.clip_grad_norm_(form(made), max_norm)
        return made, norm

    def flat(made):
        return np.concatenate([p.grad.data.ravel() for p in made if p.grad is not None])

    def generator(made):
        return (p for p in made)

    def again():
        made, first = clipped(tight)
        return [float(first), float(student.clip_grad_norm_(made, tight * 0.9)), *flat(made)]

    def one_tensor():
        p = parameters()[0]
        norm = student.clip_grad_norm_(p, tight * 0.1)
        return [float(norm), *p.grad.data.ravel()]

    def zero():
        p = student.Tensor(gradients[0], requires_grad=True)
        p.grad = student.Tensor(np.zeros_like(gradients[0]))
        q = parameters()[1]
        norms = [float(student.clip_grad_norm_([p], tight)), float(student.clip_grad_norm_([p, q], tight * 0.1))]
        return [*norms, *p.grad.data.ravel(), *q.grad.data.ravel()]

    def left_alone():
        made, _ = clipped(tight)
        return [*np.concatenate([p.data.ravel() for p in made]), made[2].grad is None, float(flat(made).sum())]

    def huge():
        """As one leaves clipping out: max_norm = ∞."""
        made, norm = clipped(math.inf)
        return [float(norm), *flat(made)]

    return {
        "input": f"gradients of shapes {shapes}, together {total:.4g} long; one parameter has none; max_norm {tight:.4g} or {loose:.4g}",
        "max_norm smaller: the length returned": lambda: float(clipped(tight)[1]),
        "max_norm smaller: the gradients": lambda: flat(clipped(tight)[0]),
        "max_norm larger: the length returned": lambda: float(clipped(loose)[1]),
        "max_norm larger: the gradients": lambda: flat(clipped(loose)[0]),
        "a generator of parameters: the gradients": lambda: flat(clipped(tight, generator)[0]),
        "one tensor alone: its length, its gradient": one_tensor,
        "clipped twice: both lengths, the gradients": again,
        "gradients of 0 among them: lengths, gradients": zero,
        "the parameters, the missing gradient still None, Σ of the gradients": left_alone,
        "max_norm = ∞: the length, the gradients": huge,
    }


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
    "the length without its root",
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
    vector = np.concatenate([np.ravel(p.grad.data) for p in with_gradient])
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
