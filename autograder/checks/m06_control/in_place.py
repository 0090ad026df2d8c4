"""Check 6 of lesson 06: a change in place that the graph knows of."""

from autograder.checks.check import exercise
from autograder.checks.programs import pick, printed, scripts

control_in_place = exercise("control.in_place", "A change in place that the graph knows of.")

FUNCTIONS = (
    "Tensor.tanh",
    "lambda t: t * w",
    "lambda t: t + w",
    "lambda t: (0.3 * t).exp()",
    "lambda t: t * t",
    "lambda t: 2.0 * t - 1.0",
)
W = "w = Tensor(np.array([1.0, 2.0]), requires_grad=True)"
MADE = ("y = w * 3.0", "y = w * w", "y = w.tanh() + w", "y = w + 1.0", "y = Tensor(np.array([0.5, -1.5]))")
USES = (
    "z = z + (y * w).sum()",
    "z = z + (y * y).sum()",
    "z = z + y.sum()",
    "z = z + (y * 2.0).sum()",
    "z = z + y.exp().sum()",
)
Z = "z = (0.0 * w).sum()"
BACKWARD = ["print(y)", "(y * y + w).sum().backward()", "print(w.grad)"]
WARNED = ["try:", "    z.backward()", "    print(w.grad)", "except RuntimeError:", "    print('RuntimeError')"]
STATE = "print(y, y.requires_grad, y.is_leaf, y.version.count)"
UNWRITTEN = ["except NotImplementedError:", "    raise"]
REFUSED = ["try:", "    apply_(y, Tensor.tanh)", *UNWRITTEN, "except RuntimeError:", "    print('RuntimeError')", STATE]


def change(function):
    return f"apply_(y, {function})"


def off(line):
    return f"with engine.no_grad():\n    {line}"


def graph(rng):
    return [W, pick(rng, MADE), *(change(pick(rng, FUNCTIONS)) for _ in range(rng.integers(1, 4))), *BACKWARD]


def used(rng):
    steps = [change(pick(rng, FUNCTIONS)) if rng.random() < 0.5 else pick(rng, USES) for _ in range(rng.integers(2, 6))]
    steps = [off(step) if "apply_" in step and rng.random() < 0.3 else step for step in steps]
    return [W, pick(rng, MADE), Z, pick(rng, USES), *steps, *WARNED, STATE]


def memory(rng):
    changes = [pick(rng, (change, lambda f: off(change(f))))(pick(rng, FUNCTIONS)) for _ in range(rng.integers(1, 4))]
    return [W, pick(rng, MADE), *ARRAY, *changes, *SAME]


ARRAY = [
    "array, view, calls = y.data, y.data.reshape(-1, 1), []",
    "out = apply_(y, lambda t: calls.append(t) or t * 3.0)",
    "print(len(calls), out is y, type(out).__name__)",
]
SAME = ["print(y.data is array)", "print(view)", STATE]
GRAPHS = [[W, made, change(function), *BACKWARD] for function, made in zip(FUNCTIONS, MADE[:4] * 2)]
GRAPHS += [
    [W, MADE[0], change("Tensor.tanh"), change("lambda t: t - w"), *BACKWARD],
    [W, MADE[4], change("lambda t: t + w * w"), *BACKWARD],
]
USED = [[W, "y = w * 3.0", Z, use, change("Tensor.tanh"), *WARNED] for use in USES]
USED += [[W, "y = w * 3.0", Z, change("Tensor.tanh"), use, *WARNED] for use in USES]
LEAF, PLAIN, THEN = (
    "y = Tensor([1.0, 2.0], requires_grad=True)",
    "y = Tensor([1.0, 2.0])",
    ["(y * y).sum().backward()", "print(y.grad)"],
)
OFF = [
    "with engine.no_grad():",
    "    try:",
    "        apply_(y, Tensor.tanh)",
    *[f"    {line}" for line in UNWRITTEN],
    "    except RuntimeError:",
    "        print('RuntimeError')",
    STATE,
]
LEAVES = [
    [LEAF, *REFUSED, *THEN], [LEAF, *OFF, *THEN], [PLAIN, *REFUSED], [PLAIN, *OFF],
    [W, "y = w * 3.0", *REFUSED], [W, "y = w * 3.0", off(change("lambda t: t + 10.0")), STATE, "y.sum().backward()", "print(w.grad)"],
    [LEAF, off(change("lambda t: t - 0.5")), off(change("lambda t: t * 2.0")), *REFUSED, *THEN], [W, "y = w.tanh().detach()", *REFUSED],
    [W, PLAIN, change("lambda t: t * w"), *REFUSED], [LEAF, *REFUSED, *OFF, *REFUSED],
]  # fmt: skip

control_in_place.aspect("the numbers and the gradients", 1.25, device=3, cases=scripts(GRAPHS, graph))(printed)
control_in_place.aspect(
    "one call, the same tensor, its memory, the count",
    0.75,
    corner=True,
    cases=scripts([[W, made, *ARRAY, *SAME] for made in MADE], memory),
)(printed)
control_in_place.aspect("leaves, and what no_grad allows", 0.5, corner=True, cases=scripts(LEAVES))(printed)
control_in_place.aspect("who used the old numbers is warned", 0.5, corner=True, cases=scripts(USED, used))(printed)


@control_in_place.on_device
def names(on, reference):
    def apply_(x, function):
        x.become(function(x.copy()))
        return x

    return {"Tensor": on.MeasuredTensor, "apply_": apply_}


control_in_place.mistake(
    "x gets another array: views of the old one notice nothing",
    swap=("x.data[...] = result.data", "x.data = result.data"),
    hint=["Is it the same memory as before?", "`x.data[...] = …` writes into the array that is there."],
)
control_in_place.mistake(
    "the change is not counted: backward computes with the wrong numbers",
    swap=("x.version.count += 1", "pass"),
    hint=["Who saved the old numbers, and how would they know?", "`x.version.count += 1`"],
)
control_in_place.mistake(
    "the place in the graph stays the old one",
    swap=("x.grad_fn, x.requires_grad = result.grad_fn, result.requires_grad", "pass"),
    hint=[
        "y became exp(y). What does backward from y know of the exp?",
        "x takes over the result's grad_fn and requires_grad.",
    ],
)
control_in_place.mistake(
    "requires_grad is not taken over",
    swap=("x.grad_fn, x.requires_grad = result.grad_fn, result.requires_grad", "x.grad_fn = result.grad_fn"),
    hint="A buffer that took in a weight requires a gradient now: `x.requires_grad = result.requires_grad`.",
)
control_in_place.mistake(
    "grad_fn is not taken over",
    swap=(
        "x.grad_fn, x.requires_grad = result.grad_fn, result.requires_grad",
        "x.requires_grad = result.requires_grad",
    ),
    hint="Backward goes through `grad_fn`: x takes the result's.",
)
control_in_place.mistake(
    "a leaf is changed like any other tensor",
    swap=("if recording and x.is_leaf and x.requires_grad:", "if False:"),
    hint=["A leaf with a grad_fn is no leaf. Where would its gradient go?", "RuntimeError, as the first thing."],
)
control_in_place.mistake(
    "leaves are refused under no_grad, too, so that no weight can be updated",
    swap=("if recording and x.is_leaf and x.requires_grad:", "if x.is_leaf and x.requires_grad:"),
    hint="Only where it would be recorded: ask `engine.is_grad_enabled()`.",
)
control_in_place.mistake(
    "every leaf is refused, also one that requires no gradient",
    swap=("if recording and x.is_leaf and x.requires_grad:", "if recording and x.is_leaf:"),
    hint="A buffer without gradient may be changed: ask `x.requires_grad` as well.",
)
control_in_place.mistake(
    "everything that requires a gradient is refused, not only leaves",
    swap=("if recording and x.is_leaf and x.requires_grad:", "if recording and x.requires_grad:"),
    hint="y = w · 2 is no leaf, and may be changed: ask `x.is_leaf` as well.",
)
control_in_place.mistake(
    "under no_grad the tensor loses its past",
    swap=("    if recording:\n", "    if True:\n"),
    hint=["Under no_grad the result has no grad_fn. Should x lose its own?", "Take over only while recording is on."],
)
control_in_place.mistake(
    "x takes over the result's counter as well",
    swap=(
        "result.grad_fn, result.requires_grad\n",
        "result.grad_fn, result.requires_grad\n        x.version = result.version\n",
    ),
    hint=[
        "Who saved the old numbers looks at x's old counter. Does it move?",
        "The counter belongs to the memory, which stays: leave it, and count.",
    ],
)
control_in_place.mistake(
    "the numbers are not written", swap=("x.data[...] = result.data", "pass"), hint="`x.data[...] = result.data`"
)
control_in_place.mistake(
    "nothing is returned", swap=("return x", "pass"), hint="`return x`, so that calls can be chained."
)
control_in_place.mistake(
    "the result is returned, not x",
    swap=("return x", "return result"),
    hint="The same tensor that came in: `return x`.",
)
control_in_place.mistake(
    "a leaf is refused, but only after its numbers were overwritten",
    source="""
def apply_(x, function):
    result = function(x)
    x.data[...] = result.data
    x.version.count += 1
    if engine.is_grad_enabled():
        if x.is_leaf and x.requires_grad:
            raise RuntimeError("a leaf")
        x.grad_fn, x.requires_grad = result.grad_fn, result.requires_grad
    return x
""",
    hint="First look, then write: after the error, x must be as before.",
)
control_in_place.mistake(
    "the function is called twice, the second time on the new numbers",
    swap=(
        "x.data[...] = result.data\n",
        "x.data[...] = result.data\n    result = function(x)\n    x.data[...] = result.data\n",
    ),
    hint="One call: its result has both, the numbers and the place in the graph.",
)
control_in_place.variant(
    "by the engine's own change of all elements",
    source="""
def apply_(x, function):
    if x.requires_grad and x.grad_fn is None and engine.is_grad_enabled():
        raise RuntimeError("a leaf")
    result = function(x)
    if engine.is_grad_enabled():
        x.grad_fn = result.grad_fn
        x.requires_grad = result.requires_grad
    return x.copy_(result)
""",
)
control_in_place.variant(
    "two cases, one after the other",
    source="""
def apply_(x, function):
    if not engine.is_grad_enabled():
        np.copyto(x.data, function(x).data)
        x.version.count = x.version.count + 1
        return x
    if x.requires_grad and x.is_leaf:
        raise RuntimeError("no")
    new = function(x)
    np.copyto(x.data, new.data)
    x.version.count = x.version.count + 1
    vars(x).update(grad_fn=new.grad_fn, requires_grad=new.requires_grad)
    return x
""",
)
