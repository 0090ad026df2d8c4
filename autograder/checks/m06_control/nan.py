"""Check 9 of lesson 06: where NaN and Inf come from."""

import math

import numpy as np

from autograder.checks.check import check


@check("control.nan", points=3, device=("all well: None (1), and the gradient",))
def control_nan(student, rng, tools):
    """Forward or backward, and the name; or nothing."""
    Tensor = student.Tensor
    names = [str(name) for name in rng.permutation(["in", "scale", "root", "wave", "out", "copy"])]
    where = int(rng.integers(1, 4))
    numbers, factors = rng.uniform(0.5, 1.5, size=(2, 2, 3))

    def answer(found):
        return "None" if found is None else " ".join(str(part) for part in found)

    def forward(value, spot=(1, 2), requires_grad=True, at=None):
        """A chain of six; at one place a constant with a bad number is multiplied in."""

        def run():
            t = Tensor(numbers, requires_grad=requires_grad)
            tensors, poison = {names[0]: t}, np.ones((2, 3))
            poison[spot] = value
            for k, name in enumerate(names[1:], 1):
                tensors[name] = t = t * (poison if k == (where if at is None else at) else factors)
            w = Tensor(factors, requires_grad=True)
            with np.errstate(all="ignore"):
                found = student.first_bad(tensors, (t * w).sum())
            return [answer(found), "backward ran" if w.grad is not None else "backward did not run"]

        return run

    def bad_from_the_start(value):
        def run():
            start = numbers.copy()
            start[0, 1] = value
            x = Tensor(start)
            tensors = {names[0]: x, names[1]: x * 2, names[2]: x * 0.5}
            w = Tensor(factors, requires_grad=True)
            return answer(student.first_bad(tensors, (tensors[names[2]] * w).sum()))

        return run

    def chain(at, power=0.5, upstream=None, plain=0):
        """Numbers that are fine; at one place the power 0.5 of a 0, or a number that overflows on the way back."""
        t, tensors = Tensor(numbers, requires_grad=plain == 0), {}
        if plain:
            tensors[names[0]] = t
            t = t * Tensor(factors, requires_grad=True)
        for name in names[plain:]:
            tensors[name] = t
            if name == names[at]:
                t = ((t - t.detach()) * factors) ** power  # 0 to a power: the derivative at 0 is ∞
            else:
                t = t * factors
        with np.errstate(all="ignore"):
            return tensors, (t * (factors if upstream is None else upstream)).sum()

    def backward(at, **options):
        def run():
            tensors, loss = chain(at, **options)
            with np.errstate(all="ignore"):
                return answer(student.first_bad(tensors, loss))

        return run

    def one_number():
        """A gradient that is bad in one place only: √ of a 0 among others."""
        start = numbers.copy()
        start[1, 0] = 0.0
        a = Tensor(start, requires_grad=True)
        b = a * 2
        c = b.sqrt()
        with np.errstate(all="ignore"):
            return answer(student.first_bad(dict(zip(names, (a, b, c))), (c * factors).sum()))

    def hooks_left():
        tensors, loss = chain(where)
        with np.errstate(all="ignore"):
            found = answer(student.first_bad(tensors, loss))
        left = [len(t.hooks) + (len(t.grad_fn.hooks) if t.grad_fn is not None else 0) for t in tensors.values()]
        return [found, str(sum(left))]

    def gradient_arrives():
        x = Tensor(numbers, requires_grad=True)
        y = x * factors
        found = student.first_bad({names[0]: x, names[1]: y}, (y * y).sum())
        return [float(found is None), *x.grad.data.ravel()]

    return {
        "input": f"a chain of {names}; the trouble is made at {names[where]!r}",
        "a NaN on the way: place, and did backward run?": forward(math.nan),
        "an Inf on the way: place, and did backward run?": forward(math.inf, (0, 1)),
        "a −Inf on the way: place, and did backward run?": forward(-math.inf, (0, 0)),
        "a NaN in the last": forward(math.nan, at=5),
        "an Inf in the first, which requires no gradient": bad_from_the_start(math.inf),
        "a gradient that gets infinite": backward(where),
        "a gradient that gets infinite, one place further": backward(where + 1),
        "a gradient with one bad number": one_number,
        "a gradient that comes in as NaN": backward(where, power=1.0, upstream=np.full((2, 3), math.nan)),
        "a gradient that comes in as −Inf": backward(where, power=1.0, upstream=np.full((2, 3), -math.inf)),
        "the first requires no gradient": backward(where + 1, plain=1),
        "hooks left behind": hooks_left,
        "all well: None (1), and the gradient": gradient_arrives,
    }


@control_nan.on_device
def names(on, reference):
    def first_bad(tensors, loss):
        loss.backward()

    return {"Tensor": on.MeasuredTensor, "first_bad": first_bad}


control_nan.mistake(
    "only NaN is looked for, not Inf",
    swap=[
        ("not np.isfinite(tensor.data).all()", "np.isnan(tensor.data).any()"),
        ("not np.isfinite(gradient.data).all()", "np.isnan(gradient.data).any()"),
    ],
    hint=["√ at 0 has a gradient of ∞, and the NaN comes a step later.", "`np.isfinite` is False for both."],
)
control_nan.mistake(
    "forward, only NaN is looked for",
    swap=("not np.isfinite(tensor.data).all()", "np.isnan(tensor.data).any()"),
    hint="An overflow gives Inf first, and a NaN later: `np.isfinite`.",
)
control_nan.mistake(
    "backward, only NaN is looked for",
    swap=("not np.isfinite(gradient.data).all()", "np.isnan(gradient.data).any()"),
    hint="√ at 0 has a gradient of ∞, and the NaN comes a step later: `np.isfinite`.",
)
control_nan.mistake(
    "only +Inf and −Inf are looked for, not NaN",
    swap=[
        ("not np.isfinite(tensor.data).all()", "np.isinf(tensor.data).any()"),
        ("not np.isfinite(gradient.data).all()", "np.isinf(gradient.data).any()"),
    ],
    hint="`np.isfinite` is False for NaN as well.",
)
control_nan.mistake(
    "a comparison with NaN, which is never true",
    swap=[
        ("not np.isfinite(tensor.data).all()", "(tensor.data == np.nan).any()"),
        ("not np.isfinite(gradient.data).all()", "(gradient.data == np.nan).any()"),
    ],
    hint="NaN is not equal to anything, itself included: `np.isfinite`.",
)
control_nan.mistake(
    "bad only where all numbers are bad",
    swap=[
        ("np.isfinite(tensor.data).all()", "np.isfinite(tensor.data).any()"),
        ("np.isfinite(gradient.data).all()", "np.isfinite(gradient.data).any()"),
    ],
    hint="One bad number is enough: not *all* of them finite.",
)
control_nan.mistake(
    "the last that backward reaches is named, not the first",
    swap=("bad[0]", "bad[-1]"),
    hint=[
        "Bad gradients spread to the left. Where did it begin?",
        "Hooks append in the order of backward: the first one.",
    ],
)
control_nan.mistake(
    "gradients are checked before backward was run",
    swap=[("    loss.backward()\n", ""), ("    handles =", "    loss.backward()\n    handles =")],
    hint="First the hooks, then backward: a hook sees only what comes after it was hung on.",
)
control_nan.mistake(
    "where all is well, there is no first bad one to take",
    swap=('return ("backward", bad[0]) if bad else None', 'return "backward", bad[0]'),
    hint="An empty list has no [0]: return None if nothing was found.",
)
control_nan.mistake(
    "the hooks stay",
    swap=("handle.remove()", "pass"),
    hint="`register_hook` returns a handle: call its remove() after backward.",
)
control_nan.mistake(
    "a tensor that requires no gradient is asked for a hook",
    swap=("if tensor.requires_grad]", "]"),
    hint="register_hook raises there: leave those out.",
)
control_nan.mistake(
    "all hooks name the last tensor",
    source="""
def first_bad(tensors, loss):
    for name, tensor in tensors.items():
        if not np.isfinite(tensor.data).all():
            return "forward", name
    bad, handles = [], []
    for name, tensor in tensors.items():
        if tensor.requires_grad:
            def hook(gradient):
                if not np.isfinite(gradient.data).all():
                    bad.append(name)
            handles.append(tensor.register_hook(hook))
    loss.backward()
    for handle in handles:
        handle.remove()
    return ("backward", bad[0]) if bad else None
""",
    hint="As in `watch`: the hook looks up `name` when it is called. `hook_for(name)`, or `name=name`.",
)
control_nan.mistake(
    "only gradients of leaves are checked",
    source="""
def first_bad(tensors, loss):
    for name, tensor in tensors.items():
        if not np.isfinite(tensor.data).all():
            return "forward", name
    loss.backward()
    for name, tensor in reversed(tensors.items()):
        if tensor.grad is not None and not np.isfinite(tensor.grad.data).all():
            return "backward", name
    return None
""",
    hint="Tensors in between have no grad after backward. Hooks see it as it passes.",
)
control_nan.mistake(
    "the last bad one forward is named",
    swap=(
        "    for name, tensor in tensors.items():\n        if not",
        "    for name, tensor in reversed(tensors.items()):\n        if not",
    ),
    hint="Bad numbers spread to the right. The first of them is where it began.",
)
control_nan.mistake(
    "the numbers are not checked, only the gradients",
    swap=("if not np.isfinite(tensor.data).all():", "if False:"),
    hint="First the numbers, in order; backward only if all are fine.",
)
control_nan.variant(
    "with retain_grad",
    source="""
def first_bad(tensors, loss):
    def bad(array):
        return not bool(np.all(np.isfinite(array)))

    names = list(tensors)
    broken = [name for name in names if bad(tensors[name].data)]
    if broken:
        return ["forward", broken[0]]
    for name in names:
        if tensors[name].requires_grad:
            tensors[name].retain_grad()
    loss.backward()
    for name in names[::-1]:
        if tensors[name].grad is not None and bad(tensors[name].grad.data):
            return ["backward", name]
""",
)
control_nan.variant(
    "by the sum of zeros: 0 · bad is NaN",
    source="""
def first_bad(tensors, loss):
    def bad(t):
        with np.errstate(invalid="ignore"):
            return np.isnan((t.data * 0.0).sum())

    for name in tensors:
        if bad(tensors[name]):
            return ("forward", name)
    first, handles = [], []
    for name, t in tensors.items():
        if t.requires_grad:
            handles.append(t.register_hook(lambda g, name=name: first.append(name) if bad(g) else None))
    try:
        loss.backward()
    finally:
        [handle.remove() for handle in handles]
    if first:
        return ("backward", first[0])
    return None
""",
)
