"""Check 10 of lesson 06: a training loop without the usual faults."""

import numpy as np

from autograder.checks.check import check


@check("control.fit", points=3, device=("w of the caller", "one step: w"))
def control_fit(student, rng, tools):
    """Losses, the trained weights, and what is left behind."""
    n, k, steps = 7, 3, int(rng.integers(3, 6))
    x, y, start, old = rng.normal(size=(n, k)), rng.normal(size=n), rng.normal(size=k), rng.normal(size=k)
    lr = rng.uniform(0.05, 0.15)

    def guarded(program):
        def run():
            with student.engine.set_grad_enabled(True):
                return program()

        return run

    def trained(stale=False, count=None):
        w = student.Tensor(start, requires_grad=True)
        if stale:
            w.grad = student.Tensor(old)
        return w, student.fit(w, x, y, lr, steps if count is None else count)

    def losses():
        return [
            float(loss)
            if isinstance(loss, (float, np.floating)) or np.ndim(loss) == 0 and isinstance(loss, np.ndarray)
            else loss
            for loss in trained()[1]
        ]

    def still_a_leaf():
        w, _ = trained()
        return [int(w.is_leaf), int(w.requires_grad), *w.data]

    def usable():
        """The caller goes on with the same tensor."""
        w, _ = trained()
        w.zero_grad()
        (w * w).sum().backward()
        return w.grad.data

    def twice():
        w, first = trained()
        return [*map(float, first), *map(float, student.fit(w, x, y, lr, 2)), *w.data]

    def passing():
        """The gradients that pass w in one step, also if it ends in an error."""
        w, seen = student.Tensor(start, requires_grad=True), []
        w.register_hook(lambda gradient: seen.append(gradient.data.copy()))
        try:
            student.fit(w, x, y, lr, 1)
        except NotImplementedError:  # a RuntimeError, too, and what an untouched exercise raises
            raise
        except RuntimeError:
            pass
        return seen

    def data_alone():
        before = x.copy(), y.copy()
        w, _ = trained()
        return [float(np.abs(before[0] - x).max() + np.abs(before[1] - y).max()), float(w.data.sum())]

    def afterwards():
        trained()
        return [int(student.engine.is_grad_enabled()), *trained()[0].data]

    return {
        "input": f"w = {np.round(start, 3)}, {n} points, lr = {lr:.3g}, {steps} steps",
        "the losses, as numbers": guarded(losses),
        "w of the caller": guarded(lambda: trained()[0].data),
        "is_leaf, requires_grad, w": guarded(still_a_leaf),
        "w had a gradient before: w": guarded(lambda: trained(stale=True)[0].data),
        "w used afterwards: its gradient": guarded(usable),
        "trained on for 2 steps: losses, w": guarded(twice),
        "one step: w": guarded(lambda: trained(count=1)[0].data),
        "one step: the gradient that passes w": guarded(passing),
        "x and y changed by, Σw": guarded(data_alone),
        "recording afterwards (1), w": guarded(afterwards),
    }


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
    "w.grad.zero_() before there is a gradient",
    swap=("w.zero_grad()", "w.grad.zero_()"),
    hint=["Before the first backward, w.grad is None.", "`w.zero_grad()`, or `w.grad = None`."],
)
control_fit.mistake(
    "one step too many", swap=("range(steps)", "range(steps + 1)"), hint="`steps` losses, each with its step."
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
    "`w = w - …` under no_grad: w requires no gradient any longer",
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
    "uphill: the gradient is added",
    swap=("w -= lr * w.grad", "w += lr * w.grad"),
    hint="The gradient points to where the loss grows.",
)
control_fit.mistake(
    "the losses are noted after the step",
    swap=("losses.append(loss.item())", "losses.append(((x @ w - y) ** 2).mean().item())"),
    hint="Each loss from before its step: the one that was differentiated.",
)
control_fit.mistake(
    "the sum in place of the mean", swap=(".mean()", ".sum()"), hint="mean((x @ w − y)²): over the n points."
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
