"""Check 3 of lesson 08: three operations in one node."""

import numpy as np

from autograder.checks.cases import Text, broadcast, choice, filled, fixed
from autograder.checks.check import exercise

custom_swiglu = exercise(
    "custom.swiglu", "The fused gate: value, gradients, what it keeps, and the gradient of the gradient."
)


def arriving(a, b, rng):
    return filled(np.broadcast_shapes(a.shape, b.shape), "decimals", rng)


KINDS = ("decimals", "whole", "transposed", "large")
FAR = fixed(
    {"a": np.array([-800.0, 800.0]), "b": np.array([2.0, -0.5])}, {"a": np.array(900.0), "b": np.array([[1.0], [-2.0]])}
)
PAIRS = (broadcast("a", "b", kinds=KINDS) + FAR).add(grad=arriving)
USES = choice(
    "f",
    Text("lambda swiglu, a, b: swiglu(a, b)"),
    Text("lambda swiglu, a, b: swiglu(a * 0.5, b * 2.0)"),
    Text("lambda swiglu, a, b: swiglu(a, b) + swiglu(b, a)"),
    Text("lambda swiglu, a, b: swiglu(a, a) * b"),
    Text("lambda swiglu, a, b: swiglu(swiglu(a, b), a)"),
)


@custom_swiglu.aspect("both gradients", 1.5, cases=PAIRS * USES, device=6)
def gradients(student, case):
    a, b = student.Tensor(case.a, requires_grad=True), student.Tensor(case.b, requires_grad=True)
    y = case.f(student.SwiGLU.apply, a, b)
    yield
    y.backward(case.grad)
    return {"∂L/∂a": a.grad.data, "∂L/∂b": b.grad.data}


@custom_swiglu.aspect("y", 0.5, cases=PAIRS)
def forward(student, case):
    a, b = student.Tensor(case.a), student.Tensor(case.b)
    return {"y": student.SwiGLU.apply(a, b).data, "a afterwards": a.data, "b afterwards": b.data}


@custom_swiglu.aspect(
    "it keeps a and b, and nothing else",
    0.5,
    corner=True,
    cases=fixed(*[{"shape": (n,), "seed": n} for n in (4000, 6000, 9000, 14000)]),
    at_most=("arrays kept for backward", "new arrays in memory, the result and the kept ones"),
)
def kept(student, case):
    import tracemalloc

    numbers = np.random.default_rng(case.seed)
    a, b = (student.Tensor(numbers.normal(size=case.shape), requires_grad=True) for _ in "ab")
    student.SwiGLU.apply(a, b)
    tracemalloc.start()
    try:
        y = student.SwiGLU.apply(a, b)
        new = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    kept = student.saved_bytes(y)
    return {
        "arrays kept for backward": kept / a.data.nbytes,
        "new arrays in memory, the result and the kept ones": round(new / a.data.nbytes),
    }


@custom_swiglu.aspect(
    "the gradient of the gradient",
    0.5,
    corner=True,
    cases=PAIRS.add(
        va=lambda a, rng: filled(a.shape, "decimals", rng), vb=lambda b, rng: filled(b.shape, "decimals", rng)
    ),
    few=14,
)
def second(student, case):
    a, b, up = (student.Tensor(x, requires_grad=True) for x in (case.a, case.b, case.grad))
    by_a, by_b = student.grad(student.SwiGLU.apply(a, b), [a, b], up, create_graph=True)
    found = student.grad((by_a * case.va).sum() + (by_b * case.vb).sum(), [a, b, up])
    return dict(zip(("by a", "by b", "by the upstream gradient"), (g.data for g in found)))


@custom_swiglu.on_device
def names(on, reference):
    def swiglu(a, b):
        return a * on.ag.sigmoid(a) * b

    return {"SwiGLU": on.function(swiglu, base=reference["Function"])}


custom_swiglu.mistake(
    "a · s' is missing in ∂L/∂a: the sigmoid is treated as a constant",
    swap=("* b * s * (1 + a * (1 - s))", "* b * s"),
    hint=["a stands in the formula twice, once inside of σ.", "The product rule: s + a · s · (1 − s)."],
)
custom_swiglu.mistake(
    "only the way through σ is counted in ∂L/∂a",
    swap=("* b * s * (1 + a * (1 - s))", "* b * s * a * (1 - s)"),
    hint=["a stands in the formula twice, once outside of σ.", "The product rule: s + a · s · (1 − s)."],
)
custom_swiglu.mistake(
    "the parentheses are in the wrong place: (1 + a) · (1 − s)",
    swap=("(1 + a * (1 - s))", "((1 + a) * (1 - s))"),
    hint=["The 1 is the way outside of σ. Is it multiplied by 1 − s?", "1 + a · (1 − s)."],
)
custom_swiglu.mistake(
    "the factor b is missing in ∂L/∂a",
    swap=("return grad * b * s", "return grad * s"),
    hint=["Wiggle a: does it matter for y how large b is?", "grad · b · s · (1 + a · (1 − s))."],
)
custom_swiglu.mistake(
    "in ∂L/∂b the factor a is missing: y = a · s · b",
    swap=("grad * a * s", "grad * s"),
    hint=["Wiggle b by a bit: y moves by that bit times what?", "a · σ(a)."],
)
custom_swiglu.mistake(
    "grad is forgotten in ∂L/∂b",
    swap=("grad * a * s", "a * s"),
    hint=["Along a path we multiply. What came down the path so far?", "grad · a · s."],
)
custom_swiglu.mistake(
    "grad is forgotten in ∂L/∂a",
    swap=("return grad * b * s", "return b * s"),
    hint=["Along a path we multiply. What came down the path so far?", "grad · b · s · (1 + a · (1 − s))."],
)
custom_swiglu.mistake(
    "the two gradients are in the wrong order",
    swap=(
        "return grad * b * s * (1 + a * (1 - s)), grad * a * s",
        "return grad * a * s, grad * b * s * (1 + a * (1 - s))",
    ),
    hint=["apply(a, b): which answer comes first?", "∂L/∂a, then ∂L/∂b."],
)
custom_swiglu.mistake(
    "forward is a · σ(b): the gate hangs on the wrong input",
    swap=("a * sigmoid(a) * b", "a * sigmoid(b)"),
    hint=["y = a · σ(a) · b.", "`a * sigmoid(a) * b`."],
)
custom_swiglu.mistake(
    "forward is σ(a) · b, a plain GLU: the factor a is missing",
    swap=("a * sigmoid(a) * b", "sigmoid(a) * b"),
    hint=["y = a · σ(a) · b.", "`a * sigmoid(a) * b`."],
)
custom_swiglu.mistake(
    "s is saved in forward: its numbers are right, but in the second derivative it is a constant",
    swap=[
        ("ctx.save_for_backward(a, b)", "ctx.save_for_backward(a, b, sigmoid(a))"),
        ("a, b = ctx.saved_tensors", "a, b, s = ctx.saved_tensors"),
        ("        s = a.sigmoid()\n", ""),
    ],
    hint=[
        "The gradient is right, the gradient of the gradient is not. What does s know of a?",
        "Save a and b alone, and compute `s = a.sigmoid()` in backward.",
    ],
)
custom_swiglu.mistake(
    "s is computed from arrays in backward, so the second derivative does not see it",
    swap=("s = a.sigmoid()", "s = Tensor(sigmoid(a.data))"),
    hint=[
        "The gradient is right, the gradient of the gradient is not. `.data` leaves the graph.",
        "`s = a.sigmoid()`, with the tensor's own operator.",
    ],
)
custom_swiglu.mistake(
    "backward computes with arrays throughout: there is no gradient of the gradient",
    swap=[("s = a.sigmoid()", "a, b, grad = a.data, b.data, grad.data\n        s = sigmoid(a)")],
    hint=[
        "The numbers are right. Do they know where they come from?",
        "No `.data` in backward: tensors have `*`, `+`, `-` and `.sigmoid()`.",
    ],
)
custom_swiglu.mistake(
    "a · s is saved, too: a third array is kept",
    swap=[
        ("ctx.save_for_backward(a, b)", "ctx.save_for_backward(a, b, a * sigmoid(a))"),
        ("a, b = ctx.saved_tensors", "a, b, _ = ctx.saved_tensors"),
    ],
    hint=["How many arrays does backward really need?", "`ctx.save_for_backward(a, b)`."],
)
custom_swiglu.mistake(
    "the arrays are kept on ctx as copies, so they are not the inputs any more",
    swap=[("ctx.save_for_backward(a, b)", "ctx.save_for_backward(a.copy(), b.copy())")],
    hint=["The engine knows the inputs by their very arrays. Are your copies known?", "Save a and b as they came."],
)
custom_swiglu.mistake(
    "a and b hang on ctx: the engine does not know of them, and the graph is cut there",
    swap=[
        ("ctx.save_for_backward(a, b)", "ctx.a, ctx.b = a, b"),
        ("a, b = ctx.saved_tensors", "a, b = Tensor(ctx.a), Tensor(ctx.b)"),
    ],
    hint=[
        "Who would notice if a were changed before backward? And what does a new Tensor know of a?",
        "`ctx.save_for_backward(a, b)`; `ctx.saved_tensors` gives them back with their history.",
    ],
)
custom_swiglu.variant(
    "the derivative written out, in another order",
    source="""
class SwiGLU(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(b, a)
        return b * (a / (1 + np.exp(-a)))

    @staticmethod
    def backward(ctx, grad):
        b, a = ctx.saved_tensors
        s = 0.5 + 0.5 * (0.5 * a).tanh()
        silu = a * s
        return [(s + silu - silu * s) * grad * b, silu * grad]
""",
)
custom_swiglu.variant(
    "sigmoid by tanh, and sums undone by hand",
    source="""
class SwiGLU(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return 0.5 * a * (1 + np.tanh(a / 2)) * b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        s = a.sigmoid()
        da = grad * b * (s + a * s * (1 - s))
        db = grad * a * s
        if len(b.shape) < len(db.shape):
            db = db.sum(axis=0)
        return da, db
""",
)
custom_swiglu.variant(
    "backward by recording forward again, and asking the engine",
    source="""
class SwiGLU(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * sigmoid(a) * b

    @staticmethod
    def backward(ctx, grad_y):
        a, b = ctx.saved_tensors
        s = a.sigmoid()
        inner = a * s
        slope = s + inner * (1.0 - s)
        return (grad_y * slope) * b, inner * grad_y
""",
)
