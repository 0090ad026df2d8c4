import numpy as np

from autograder.checks.check import check
from autograder.checks.m11_custom_op.measured import measured_sin_times


@check(
    "customop.fused",
    points=3,
    rtol=1e-4,
    atol=1e-4,
    seconds=30,
    needs=("customop.forward", "customop.backward"),
    device=(
        "∂L/∂a",
        "∂L/∂b",
        "b of shape (5,): ∂L/∂b",
        "a of shape (2, 3, 5), b of shape (3, 5): ∂L/∂b",
        "a in both places: ∂L/∂a",
    ),
)
def fused(student, rng, tools):
    """The op on the two kernels: values, gradients, launches, shapes that fit and shapes that do not. Fresh memory holds NaN."""
    ag, device = student.ag, student.device

    def numbers(*shape):
        return (rng.choice([-1, 1], shape) * rng.uniform(0.4, 2.6, shape)).astype(np.float32)

    a, b, grad, row = numbers(7, 5), numbers(7, 5), numbers(7, 5), numbers(5)
    deep, plane, deep_grad = numbers(2, 3, 5), numbers(3, 5), numbers(2, 3, 5)

    def leaf(x):
        return ag.tensor(student.Tensor.from_host(device.queue, x), requires_grad=True)

    def run(a, b, grad):
        x, y = leaf(a), leaf(b)
        with device.pool.poisoned(), device.watch() as forward, ag.Tape() as tape:
            out = student.sin_times_fused(x, y)
        with device.pool.poisoned(), device.watch() as backward:
            tape.backward(out, grad)
        return {
            "out": out.to_host(),
            "a": x.grad.to_host(),
            "b": y.grad.to_host(),
            "ops": [node.op_name for node in tape.nodes],
            "forward": [launch.name for launch in forward],
            "backward": [launch.name for launch in backward],
            "inputs": np.stack([x.to_host(), y.to_host()]) if a.shape == b.shape else None,
        }

    def same():
        x = leaf(a)
        with device.pool.poisoned(), ag.Tape() as tape:
            out = student.sin_times_fused(x, x)
            tape.backward(out, grad)
        return x.grad.to_host()

    def twice():
        x, y = leaf(a), leaf(b)
        with device.pool.poisoned(), ag.Tape() as tape:
            out = student.sin_times_fused(x, y) - student.sin_times_fused(y, x)
            tape.backward(out, grad)
        return np.stack([x.grad.to_host(), y.grad.to_host()])

    def refused(first, second):
        try:
            student.sin_times_fused(leaf(first), leaf(second))
        except ValueError:
            return "ValueError"
        return "no ValueError"

    def alive():
        x, y = leaf(a), leaf(row)
        return tools.arrays_kept(student, device, x.shape, lambda: student.sin_times_fused(x, y))

    return {
        "input": f"a = {np.round(a[0], 2).tolist()} …, b = {np.round(b[0], 2).tolist()} …, of shape (7, 5); row b = {np.round(row, 2).tolist()}",
        "out": lambda: run(a, b, grad)["out"],
        "∂L/∂a": lambda: run(a, b, grad)["a"],
        "∂L/∂b": lambda: run(a, b, grad)["b"],
        "b of shape (5,): out": lambda: run(a, row, grad)["out"],
        "b of shape (5,): ∂L/∂b": lambda: run(a, row, grad)["b"],
        "b of shape (): ∂L/∂b": lambda: run(a, row[0], grad)["b"],
        "a of shape (2, 3, 5), b of shape (3, 5): out": lambda: run(deep, plane, deep_grad)["out"],
        "a of shape (2, 3, 5), b of shape (3, 5): ∂L/∂b": lambda: run(deep, plane, deep_grad)["b"],
        "a in both places: ∂L/∂a": same,
        "f(a, b) − f(b, a): ∂L/∂a and ∂L/∂b": twice,
        "launches of forward": lambda: run(a, b, grad)["forward"],
        "launches of backward": lambda: run(a, row, grad)["backward"],
        "b of shape (5,): arrays as large as a alive after forward": alive,
        "ops on the tape": lambda: run(a, b, grad)["ops"],
        "a of shape (7, 5), b of shape (7, 1)": lambda: refused(a, b[:, :1]),
        "a of shape (5,), b of shape (7, 5)": lambda: refused(row, b),
        "a of shape (7, 5), b of shape (7,)": lambda: refused(a, b[:, 0]),
        "a and b afterwards": lambda: run(a, b, grad)["inputs"],
    }


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
    "the op has another name on the tape",
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
