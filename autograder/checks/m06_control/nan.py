"""Check 9 of lesson 06: where NaN and Inf come from."""

from autograder.checks.check import exercise
from autograder.checks.programs import pick, printed, scripts

control_nan = exercise("control.nan", "Where NaN and Inf come from.")

NUMBERS = (
    "[4.0, 1.0]",
    "[4.0, 0.0]",
    "[-1.0, 2.0]",
    "[0.0, 0.0]",
    "[math.nan, 1.0]",
    "[1.0, math.inf]",
    "[-math.inf, 2.0]",
    "[1e200, 1.0]",
)
STEPS = (
    "{a} * 2.0",
    "{a} * w",
    "{a} - 1.0",
    "{a}.sqrt()",
    "{a}.log()",
    "{a} * {a}",
    "1.0 / {a}",
    "({a} - 1.0) ** 0.5",
    "{a} * 1e200",
    "{a} + w",
)
LOSSES = (
    "({z} * {z}).sum()",
    "{z}.sum()",
    "({z} * w).sum()",
    "({z} * math.inf).sum()",
    "({z} * np.array([1.0, math.nan])).sum()",
    "({z} * -math.inf).sum()",
)
NAMES = ("first", "root", "scale", "wave", "out", "last")


def chain(numbers, steps, loss, requires=True):
    lines = [
        "w = Tensor(np.array([0.5, 2.0]), requires_grad=True)",
        f"first = Tensor(np.array({numbers}), requires_grad={requires})",
    ]
    lines += [f"{b} = {step.format(a=a)}" for a, b, step in zip(NAMES, NAMES[1:], steps)]
    names = NAMES[: len(steps) + 1]
    named = ", ".join(f"'{name}': {name}" for name in names)
    return [*lines, f"tensors = {{{named}}}", f"loss = {loss.format(z=names[-1])}"]


def drawn(rng):
    requires, steps = bool(rng.random() < 0.7), [pick(rng, STEPS) for _ in range(rng.integers(1, 6))]
    numbers = pick(rng, NUMBERS if rng.random() < 0.3 else NUMBERS[:2])
    return chain(numbers, steps, pick(rng, LOSSES if requires else LOSSES[2:3]), requires)


def small():
    for numbers in NUMBERS:
        for requires in (True, False):
            yield chain(numbers, ["{a} * w", "{a}.sqrt()", "{a} * 2.0"], LOSSES[1], requires)
    yield from (chain("[4.0, 1.0]", STEPS[:2], loss) for loss in LOSSES)
    for step in STEPS:
        yield chain("[4.0, 2.0]", ["{a} - 1.0", step, "{a} * 2.0"], LOSSES[0])
        yield chain("[1.0, 2.0]", ["{a} * 2.0", "{a} - w", step], LOSSES[2], requires=False)


def asked(*lines):
    return scripts([[*program, *lines] for program in small()], lambda rng: [*drawn(rng), *lines])


PLACE = asked("print(first_bad(tensors, loss))", "print(first.grad, w.grad)")
HOOKS = asked(
    "first_bad(tensors, loss)",
    "print([len(t.hooks) + len(t.grad_fn.hooks if t.grad_fn else ()) for t in tensors.values()])",
)

control_nan.aspect("the place, forward or backward", 2, exact='("forward", name), ("backward", name)', cases=PLACE)(
    printed
)
control_nan.aspect("no hook is left behind", 1, corner=True, cases=HOOKS)(printed)


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
    "numbers are compared with NaN, which is never true",
    swap=[
        ("not np.isfinite(tensor.data).all()", "(tensor.data == np.nan).any()"),
        ("not np.isfinite(gradient.data).all()", "(gradient.data == np.nan).any()"),
    ],
    hint="NaN is not equal to anything, itself included: `np.isfinite`.",
)
control_nan.mistake(
    "a tensor counts as bad only where all its numbers are",
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
    "the first bad one is asked for where all is well",
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
        return "forward", broken[0]
    for name in names:
        if tensors[name].requires_grad:
            tensors[name].retain_grad()
    loss.backward()
    for name in names[::-1]:
        if tensors[name].grad is not None and bad(tensors[name].grad.data):
            return "backward", name
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
