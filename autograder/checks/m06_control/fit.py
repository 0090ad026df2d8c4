"""Check 10 of lesson 06: a training loop without the usual faults."""

import numpy as np

from autograder.checks.cases import Draft, Source, choice, filled
from autograder.checks.check import exercise

control_fit = exercise("control.fit", "A training loop without the usual faults.")

SIZES = ((2, 1), (1, 1), (3, 2), (2, 2), (5, 3), (1, 2), (4, 1), (3, 3))


def data(n, k, rng):
    kind = ("decimals", "integers")[int(rng.random() < 0.2)]
    return Draft({"w": filled((k,), "decimals", rng), "x": filled((n, k), kind, rng), "y": filled((n,), kind, rng)})


DATA = Source(
    lambda rng: (data(n, k, rng) for n, k in SIZES),
    lambda rng: data(int(rng.integers(1, 7)), int(rng.integers(1, 4)), rng),
)
CASES = DATA * choice("steps", 1, 2, 5, 0) * choice("lr", 0.1, 0.01, 0.5, 0.0)


@control_fit.aspect("the caller's own w is trained", 1.5, device=4, cases=CASES)
def trained(student, case):
    w = student.Tensor(case.w, requires_grad=True)
    with student.engine.set_grad_enabled(True):
        student.fit(w, case.x, case.y, case.lr, case.steps)
    return w.data


@control_fit.aspect("the losses, from before each step, as floats", 0.75, cases=CASES)
def losses(student, case):
    w = student.Tensor(case.w, requires_grad=True)
    with student.engine.set_grad_enabled(True):
        return list(student.fit(w, case.x, case.y, case.lr, case.steps))


@control_fit.aspect("w stays a leaf in its memory; no old gradient counts", 0.75, corner=True, cases=CASES)
def leaf(student, case):
    w = student.Tensor(case.w, requires_grad=True)
    w.grad, array = student.Tensor(np.full(w.shape, 3.0)), w.data
    with student.engine.set_grad_enabled(True):
        student.fit(w, case.x, case.y, case.lr, case.steps)
        found = {
            "w": w.data.copy(),
            "the same array": w.data is array,
            "is_leaf": w.is_leaf,
            "requires_grad": w.requires_grad,
        }
        found["recording"] = student.engine.is_grad_enabled()
        student.fit(w, case.x, case.y, case.lr, 1)
    return found | {"w, trained on": w.data}


@control_fit.on_device
def names(on, reference):
    def fit(w, x, y, lr, steps):
        for _ in range(steps):
            w.grad, error = None, on.MeasuredTensor(x) @ w.reshape(-1, 1) - y[:, None]
            (error * error).mean().backward()
            w.data = w.data - lr * w.grad.data

    return {"Tensor": on.MeasuredTensor, "fit": fit}


control_fit.mistake(
    "zero_grad is missing: old gradients are used again",
    swap=("        w.zero_grad()\n", ""),
    hint=["backward adds to what is there.", "`w.zero_grad()` in each step, before backward."],
)
control_fit.mistake(
    "zero_grad stands before the loop: each step adds to the last one's gradient",
    swap=[("        w.zero_grad()\n", ""), ("losses = []", "losses = []\n    w.zero_grad()")],
    hint="Into the loop: each step needs its own gradient.",
)
control_fit.mistake(
    "zero_grad comes after the step: a gradient from before the call counts",
    swap=[
        ("        w.zero_grad()\n", ""),
        ("losses.append(loss.item())", "losses.append(loss.item())\n        w.zero_grad()"),
    ],
    hint="What if w comes in with a gradient? Clear it before backward.",
)
control_fit.mistake(
    "w.grad.zero_() is called before there is a gradient",
    swap=("w.zero_grad()", "w.grad.zero_()"),
    hint=["Before the first backward, w.grad is None.", "`w.zero_grad()`, or `w.grad = None`."],
)
control_fit.mistake(
    "one step too many is made", swap=("range(steps)", "range(steps + 1)"), hint="`steps` losses, each with its step."
)
control_fit.mistake(
    "w is rebuilt: a new tensor is trained, not the caller's",
    swap=(
        "with engine.no_grad():\n            w -= lr * w.grad",
        "w = Tensor(w.data - lr * w.grad.data, requires_grad=True)",
    ),
    hint=["`w = …` gives your name w another tensor. The caller's is as before.", "In place, under no_grad: `w -= …`."],
)
control_fit.mistake(
    "`w = w - …` stands under no_grad: w requires no gradient any longer",
    swap=("w -= lr * w.grad", "w = w - lr * w.grad"),
    hint=["A new tensor, made under no_grad: what can backward find?", "In place: `w -= …`."],
)
control_fit.mistake(
    "the update is recorded, which the engine refuses",
    swap=("with engine.no_grad():\n            w -= lr * w.grad", "w -= lr * w.grad"),
    hint="`with engine.no_grad():` around the update.",
)
control_fit.mistake(
    "the losses are kept as tensors, with their graphs",
    swap=("losses.append(loss.item())", "losses.append(loss)"),
    hint=["The docstring asks for floats. A tensor holds its graph.", "`loss.item()`"],
)
control_fit.mistake(
    "no way leads from the loss to w: the prediction is a copy, or made under no_grad",
    swap=("(x @ w - y)", "(Tensor((x @ w).data) - y)"),
    hint="From `.data`, no way leads back to w; and only the update goes under no_grad.",
)
control_fit.mistake(
    "y is a column: everybody is compared with everybody",
    swap=("(x @ w - y)", "(x @ w - y.reshape(-1, 1))"),
    hint=["Look at the shape of the difference.", "(n,) minus (n, 1) is (n, n)."],
)
control_fit.mistake(
    "the step goes uphill: the gradient is added",
    swap=("w -= lr * w.grad", "w += lr * w.grad"),
    hint="The gradient points to where the loss grows.",
)
control_fit.mistake(
    "the losses are noted after the step",
    swap=("losses.append(loss.item())", "losses.append(((x @ w - y) ** 2).mean().item())"),
    hint="Each loss from before its step: the one that was differentiated.",
)
control_fit.mistake(
    "the sum is taken in place of the mean", swap=(".mean()", ".sum()"), hint="mean((x @ w − y)²): over the n points."
)
control_fit.mistake(
    "recording stays off",
    swap=(
        "with engine.no_grad():\n            w -= lr * w.grad",
        "engine.set_grad_enabled(False)\n        w -= lr * w.grad",
    ),
    hint="In the second step nothing is recorded. A `with` block puts the switch back.",
)
control_fit.variant("squared, the sign does not matter", swap=("(x @ w - y)", "(y - x @ w)"))
control_fit.variant(
    "with copy_, and grad set to None",
    source="""
def fit(w, x, y, lr, steps):
    losses = []
    for _ in range(steps):
        w.grad = None
        error = x @ w - y
        loss = (error * error).sum() / len(y)
        losses.append(float(loss))
        loss.backward()
        w.copy_(w.data - lr * w.grad.data)
    return tuple(losses)
""",
)
control_fit.variant(
    "with the engine's optimizer and loss",
    source="""
def fit(w, x, y, lr, steps):
    from tinygrad_cl.tensor import SGD, mse_loss
    optimizer, losses = SGD([w], lr), []
    for _ in range(steps):
        loss = mse_loss(x @ w, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().numpy()[()])
    return losses
""",
)
control_fit.variant(
    "through a detached tensor, which shares the memory",
    source="""
def fit(w, x, y, lr, steps):
    def step():
        (gradient,) = engine.grad(loss := ((Tensor(x) @ w - Tensor(y)) ** 2).mean(), w)
        numbers = w.detach()
        numbers -= lr * gradient
        return loss.item()
    return [step() for _ in range(steps)]
""",
)
