"""Check 6 of lesson 11: the op on the two kernels."""

import numpy as np

from autograder.checks.cases import fixed
from autograder.checks.check import exercise
from autograder.checks.m11_custom_op.measured import measured_sin_times
from autograder.checks.m11_custom_op.uses import leaf, uses

fused = exercise(
    "customop.fused",
    "The op on the two kernels: one launch each way, and only shapes that they can do.",
    needs=("customop.forward", "customop.backward"),
    seconds=40,
)

USES = uses([((2, 3), (3,)), ((2, 3), ()), ((2, 2, 3), (2, 3)), ((3, 1), (1,)), ((2, 2, 3), (3,)), ((4,), ())])
ODD = (
    ((2, 3), (2, 1)), ((3,), (2, 3)), ((3, 2), (3,)), ((2, 3), (1, 3)), ((2, 3), (1,)), ((4,), (2,)), ((), (1,)), ((2, 3), (6,)),
    ((2, 2, 3), (2, 1, 3)), ((4, 2), (2, 2)), ((6,), (2, 3)), ((1, 2), (2, 1)), ((2, 3), (2,)), ((1, 3), (3, 3)),
)  # fmt: skip
NEAR = {"rtol": 1e-4, "atol": 1e-4}  # sums of float32 in any order


@fused.aspect("out and the gradients", 1.5, cases=USES, few=16, many=48, device=5, **NEAR)
def gradients(student, case):
    """What no work-item writes is NaN, and so is what lies behind each array, as it is where the device is another."""
    with student.device.pool.poisoned(), student.ag.Tape() as tape:
        a, b = (student.leaf(x.to_host()) for x in (case.a, case.b))
        out = case.formula(student.sin_times_fused, a, b)
    yield
    with student.device.pool.poisoned():
        tape.backward(out, case.grad)
    found = {"∂L/∂a": a.grad, "∂L/∂b": b.grad, "out": out, "a": a, "b": b}
    return {name: x if x is None else x.to_host() for name, x in found.items()}


@fused.aspect("one op, one launch each way, one array kept", 0.75, corner=True, cases=USES, few=8, many=24)
def costs(student, case, tools):
    with student.device.watch() as forward, student.ag.Tape() as tape:
        out = student.sin_times_fused(case.a, case.b)
    with student.device.watch() as backward:
        tape.backward(out, out.value)
    names = {"forward": forward, "backward": backward}
    run = lambda: student.sin_times_fused(case.a, case.b)
    return {
        "ops on the tape": " ".join(node.op_name for node in tape.nodes),
        "arrays alive after forward": tools.arrays_kept(student, student.device, case.a.shape, run),
    } | {f"launches {way}": " ".join(launch.name for launch in seen) for way, seen in names.items()}


@fused.aspect(
    "other shapes are refused",
    0.75,
    corner=True,
    cases=fixed(*[{name: leaf(np.ones(shape)) for name, shape in zip("ab", pair)} for pair in ODD]),
    few=12,
    many=14,
)
def refused(student, case):
    with student.ag.Tape():
        student.sin_times_fused(case.a, case.b)


@fused.on_device
def names(on, reference):
    return {"sin_times_fused": measured_sin_times(on, reference)}


TEST = "if a.shape[len(a.shape) - len(b.shape):] != b.shape:"
fused.mistake(
    "columns is the length of the last axis, also where b has two axes",
    swap=("a.value.size, b.value.size", "a.value.size, a.shape[-1]"),
    hint=["How many numbers does b have? After so many of a, b begins anew.", "columns = the size of b."],
)
fused.mistake(
    "a b of shape () is refused: [-0:] is all of a's shape",
    swap=("a.shape[len(a.shape) - len(b.shape):]", "a.shape[-len(b.shape):]"),
    hint=["What is (7, 5)[-0:]?", "Count from the front: `a.shape[len(a.shape) - len(b.shape):]`."],
)
fused.mistake(
    "forward starts a work-item for each row only",
    swap=("work_items=n", "work_items=x.shape[0]"),
    hint="In forward each number has a work-item. (In this check, memory that nobody wrote holds NaN.)",
)
fused.mistake(
    "n and columns have changed places in backward",
    swap=("n, columns, work_items=columns", "columns, n, work_items=columns"),
    hint="The kernel takes n first, then columns.",
)
fused.mistake(
    "forward computes only as many numbers as b has",
    swap=("n, columns, work_items=n", "columns, n, work_items=n"),
    hint="n first, then columns; and a work-item for each of the n. (In this check, memory that nobody wrote holds NaN.)",
)
fused.mistake(
    "the result is handed to backward in the place of the sine",
    swap=[
        ("return out\n", 'saved["out"] = out\n        return out\n'),
        ('b.value, saved["sin"]', 'b.value, saved["out"]'),
    ],
    hint="Which of forward's two results does backward need?",
)
fused.mistake(
    "out and kept have changed places",
    swap=('x, y, out, saved["sin"], n', 'x, y, saved["sin"], out, n'),
    hint="The kernel's arguments: a, b, out, kept, n, columns.",
)
fused.mistake(
    "a and b have changed places in backward",
    swap=("grad, a.value, b.value, saved", "grad, b.value, a.value, saved"),
    hint="The kernel's arguments: grad, a, b, kept, grad_a, grad_b, n, columns.",
)
fused.mistake(
    "grad is handed over after a and b",
    swap=("grad, a.value, b.value, saved", "a.value, b.value, grad, saved"),
    hint="The kernel's arguments: grad, a, b, kept, grad_a, grad_b, n, columns.",
)
fused.mistake(
    "grad_b has the shape of a",
    swap=("empty_like(b.value)", "empty_like(a.value)"),
    hint="∂L/∂b has the shape of b: the kernel has summed already.",
)
fused.mistake(
    "the two gradients are in the wrong order",
    swap=("return [grad_a, grad_b]", "return [grad_b, grad_a]"),
    hint="grad_fn answers in the order of apply_op's arguments.",
)
fused.mistake(
    "the sine is kept where the next call overwrites it",
    swap=("saved = {}", "saved = sin_times_fused.__dict__"),
    hint="Use the op twice before backward. Whose sine is it then? A dict of this one call.",
)
fused.mistake(
    "shapes that the kernels cannot do are let through",
    swap=(TEST, "if False:"),
    hint="b of shape (7, 1) has 7 numbers; the kernel would take them for a row.",
)
fused.mistake(
    "only the last lengths are compared",
    swap=(TEST, "if a.shape[-1] != b.shape[-1]:"),
    hint="b as large as a, or all its lengths are the last ones of a.",
)
fused.mistake(
    "only b of exactly a's shape is let in",
    swap=(TEST, "if a.shape != b.shape:"),
    hint="A row for every row of a is right, too.",
)
fused.mistake(
    "whatever NumPy broadcasts is let in",
    swap=(TEST, "if np.broadcast_shapes(a.shape, b.shape) != a.shape:"),
    hint="NumPy takes (7, 1) for (7, 5). Do your kernels?",
)
fused.mistake(
    "the sizes are compared, and not the shapes",
    swap=(TEST, "if a.value.size % b.value.size:"),
    hint="b of shape (7, 1) has 7 numbers, and 7 divides 35. It is no row all the same.",
)
fused.mistake(
    "it does not launch the kernels, but the library's",
    source="""
def sin_times_fused(a, b):
    if a.shape[len(a.shape) - len(b.shape):] != b.shape:
        raise ValueError("shapes")
    return ag.sin(a) * b
""",
    hint="Layer 3: `start(FORWARD, …)` in forward, `start(BACKWARD, …)` in grad_fn.",
)
fused.mistake(
    "the op is not called what it should be on the tape: another name, or none",
    swap=(', op_name="sin_times_fused"', ""),
    hint='`apply_op(…, op_name="sin_times_fused")`.',
)
fused.mistake(
    "the gradient of a is returned for both",
    swap=("return [grad_a, grad_b]", "return [grad_a, grad_a]"),
    hint="Two inputs, two gradients.",
)
fused.mistake(
    "kept has the size of b, and the kernel writes beyond it",
    swap=("empty_like(x), empty_like(x)", "empty_like(x), empty_like(y)"),
    hint="There is a sine for each number of a.",
)
fused.variant(
    "a work-item for each number in backward: those beyond the columns do nothing",
    swap=("work_items=columns", "work_items=n"),
)
fused.variant(
    "tensors' names, and work-items beyond need",
    source="""
def sin_times_fused(a, b):
    if len(b.shape) > len(a.shape) or any(m != n for m, n in zip(b.shape[::-1], a.shape[::-1])):
        raise ValueError("b must be as large as a, or as its last axes")
    q, n, m = a.value.queue, a.value.size, b.value.size
    sine = Tensor.from_shape(q, a.shape)

    def forward(a, b):
        result = Tensor.from_shape(q, a.shape)
        start(FORWARD, "sin_times", a, b, result, sine, n, m, work_items=n + 3)
        return result

    def grad_fn(grad):
        results = [Tensor.from_shape(q, a.shape), Tensor.from_shape(q, b.shape)]
        start(BACKWARD, "sin_times_backward", grad, a.value, b.value, sine, *results, n, m, work_items=m + 5)
        return results

    return apply_op(forward, grad_fn, a, b, op_name="sin_times_fused")
""",
)
fused.variant(
    "a helper for shapes, results by full, flat gradients reshaped",
    source="""
def sin_times_fused(a, b):
    depth = len(b.shape)
    if depth > len(a.shape) or (depth and a.shape[-depth:] != b.shape):
        raise ValueError(f"{a.shape}, {b.shape}")
    kept = []

    def forward(x, y):
        out, sine = (Tensor.from_shape(x.queue, x.size).reshape(x.shape) for _ in range(2))
        start(FORWARD, "sin_times", x, y, out, sine, x.size, y.size, work_items=x.size)
        kept.extend([x, y, sine])
        return out

    def grad_fn(grad):
        x, y, sine = kept
        grad_a = Tensor.from_shape(x.queue, x.size)
        grad_b = Tensor.from_shape(x.queue, y.size)
        start(BACKWARD, "sin_times_backward", grad, x, y, sine, grad_a, grad_b, x.size, y.size, work_items=y.size)
        return grad_a.reshape(x.shape), grad_b.reshape(y.shape)

    return apply_op(forward, grad_fn, a, b, op_name="sin_times_fused")
""",
)
