"""Check 3 of lesson 11: nothing is computed or kept that nobody needs."""

from autograder.checks.cases import Source, Text, fixed
from autograder.checks.check import exercise
from autograder.checks.m11_custom_op.measured import measured_sin_times
from autograder.checks.m11_custom_op.uses import use

needed = exercise(
    "customop.needed",
    "Nothing is computed or kept that nobody needs.",
    needs=("customop.apply",),
    seconds=40,
)

NEEDS = (True, True), (True, False), (False, True), (False, False)
SHAPES = ((2,), (2,)), ((2, 3), (3,)), ((), ()), ((2, 1), (3,)), ((3,), (2, 3)), ((2, 3), (2, 3))


def drawn(rng):
    return use("", SHAPES[rng.integers(len(SHAPES))], rng, NEEDS[rng.integers(4)])


CASES = Source(lambda rng: (use("", pair, rng, needs) for pair in SHAPES for needs in NEEDS), drawn)
LARGE = fixed(
    *[
        {name: Text(f"leaf(np.arange(4000.0).reshape(2, 40, 50), {need})") for name, need in zip("ab", needs)}
        for needs in NEEDS
    ]
)


@needed.aspect(
    "out, and the gradients that are needed", 1, cases=CASES, few=18, many=48, device=4, rtol=1e-4, atol=1e-4
)
def gradients(student, case):
    with student.ag.Tape() as tape:
        out = student.sin_times_frugal(case.a, case.b)
    yield
    if case.a.requires_grad or case.b.requires_grad:
        tape.backward(out, case.grad)
    found = {"∂L/∂a": case.a.grad, "∂L/∂b": case.b.grad}
    return {"out": out.to_host()} | {name: x if x is None else x.to_host() for name, x in found.items()}


@needed.aspect("None in the place of a gradient that nobody needs", 0.5, corner=True, cases=CASES, few=8, many=24)
def answers(student, case):
    out = student.sin_times_frugal(case.a, case.b)
    if out.grad_fn:
        found = out.grad_fn(student.Tensor.from_host(student.device.queue, case.grad))
        return " and ".join("None" if x is None else "a gradient" for x in found)


@needed.aspect(
    "nothing is computed that nobody needs",
    1,
    corner=True,
    cases=CASES,
    few=12,
    many=32,
    at_most=("launches forward", "sines forward", "sines backward", "cosines backward", "launches backward"),
)
def costs(student, case):
    def count(what, launches):
        return sum(what in launch.kernel.source for launch in launches)

    with student.device.watch() as forward, student.ag.Tape() as tape:
        out = student.sin_times_frugal(case.a, case.b)
    costs = {"launches forward": len(forward), "sines forward": count("sin(", forward)}
    if not (case.a.requires_grad or case.b.requires_grad):
        return costs
    with student.device.watch() as backward:
        tape.backward(out, case.grad)
    if not case.a.requires_grad:
        costs["launches backward"] = len(backward)
    return costs | {"sines backward": count("sin(", backward), "cosines backward": count("cos(", backward)}


@needed.aspect(
    "nothing is kept that nobody needs", 0.5, corner=True, cases=LARGE, few=4, many=4, at_most=("arrays alive",)
)
def kept(student, case, tools):
    """Arrays as large as a that are alive after forward and were not before, the result included."""
    run = lambda: student.sin_times_frugal(case.a, case.b)
    return {"arrays alive": tools.arrays_kept(student, student.device, case.a.shape, run)}


@needed.on_device
def names(on, reference):
    return {"sin_times_frugal": measured_sin_times(on, reference)}


KEEP = "if not b.requires_grad:"
A, B = "if a.requires_grad:", "if b.requires_grad:"
needed.mistake(
    "both gradients are always computed",
    swap=[(A, "if True:"), (B, "if True:")],
    hint=[
        "Count what backward launches where only one gradient is needed.",
        "Ask `a.requires_grad` and `b.requires_grad`, each for its own.",
    ],
)
needed.mistake(
    "∂L/∂a is computed, needed or not", swap=(A, "if True:"), hint="A cosine for nobody: ask `a.requires_grad`."
)
needed.mistake(
    "∂L/∂b is computed, needed or not", swap=[(B, "if True:"), (KEEP, "if False:")], hint="Ask `b.requires_grad`."
)
needed.mistake(
    "inside forward the tensor is asked whether it needs a gradient, not the node",
    swap=(KEEP, "if not y.requires_grad:"),
    hint="forward gets Tensors. What needs a gradient is said by the Nodes, a and b.",
)
needed.mistake(
    "the two questions are mixed up",
    swap=[(A, "if B.requires_grad:"), (B, "if a.requires_grad:"), ("B.requires", "b.requires")],
    hint="Whose requires_grad belongs to whose gradient?",
)
needed.mistake(
    "sin(a) is kept, also where ∂L/∂b is not needed",
    swap=(KEEP, "if False:"),
    hint=[
        "Who reads sin(a) in backward? Only one of the two gradients.",
        "Without it, forward is one kernel: `sin(v0) * v1`.",
    ],
)
needed.mistake(
    "whether sin(a) is kept hangs on a, and not on b",
    swap=(KEEP, "if not a.requires_grad:"),
    hint="Which of the two gradients needs sin(a)?",
)
needed.mistake(
    "forward is one kernel always, and backward computes the sine again",
    swap=[
        (KEEP, "if True:"),
        (
            'elementwise_binary(grad, saved["sin"], expression="MUL(v0, v1)")',
            'elementwise_binary(grad, a.value, expression="v0 * sin(v1)")',
        ),
    ],
    hint="Where ∂L/∂b is needed, sin(a) is kept, and not computed twice.",
)
needed.mistake(
    "zeros stand in the place of a gradient that nobody needs",
    swap=("grad_a = grad_b = None", "grad_a = grad_b = Tensor.full(grad.queue, grad.shape, 0)"),
    hint="Zeros cost memory and say something else. None says: not computed.",
)
needed.mistake(
    "a gradient that is not needed is left out of the list",
    swap=("return [grad_a, grad_b]", "return [each for each in (grad_a, grad_b) if each is not None]"),
    hint="The engine expects an answer for each parent, None where there is none.",
)
needed.mistake(
    "the upstream gradient is missing in ∂L/∂b",
    swap=('elementwise_binary(grad, saved["sin"], expression="MUL(v0, v1)")', 'saved["sin"]'),
    hint="Along a path slopes multiply. What came down the path so far?",
)
needed.mistake(
    "b is missing in ∂L/∂a",
    swap=('elementwise_binary(slope, b.value, expression="MUL(v0, v1)")', "slope"),
    hint="Wiggle a: does it matter for out how large b is?",
)
needed.mistake(
    "in the one-kernel forward, b is missing", swap=('"sin(v0) * v1"', '"sin(v0) + 0 * v1"'), hint="`sin(v0) * v1`."
)
needed.mistake(
    "what is kept are also the result and the product: more arrays than needed",
    swap=[
        (
            'saved["sin"] = elementwise_unary(x, expression="sin(v0)")',
            'saved["sin"] = elementwise_unary(x, expression="sin(v0)")\n        saved["copy"] = x.copy()',
        )
    ],
    hint="Count the arrays that are alive: out, and sin(a) where it is needed. Nothing else is yours.",
)
needed.variant(
    "decided before, with two forwards, and tensors' operators",
    source="""
def sin_times_frugal(a, b):
    need_a, need_b = a.requires_grad, b.requires_grad
    if need_b:
        sine = elementwise_unary(a.value, expression="sin(v0)")

    def forward(x, y):
        return y * sine if need_b else elementwise_binary(y, x, expression="v0 * sin(v1)")

    def grad_fn(g):
        grads = [None, None]
        if need_a:
            grads[0] = g * b.value * elementwise_unary(a.value, expression="cos(v0)")
        if need_b:
            grads[1] = g * sine
        return grads

    return apply_op(forward, grad_fn, a, b)
""",
)
needed.variant(
    "three small rules",
    source="""
def sin_times_frugal(a, b):
    kept = []

    def forward(x, y):
        if b.requires_grad:
            kept.append(elementwise_unary(x, expression="sin(v0)"))
            return elementwise_binary(kept[0], y, expression="MUL(v0, v1)")
        return elementwise_binary(x, y, expression="MUL(sin(v0), v1)")

    def of_a(grad):
        if a.requires_grad:
            product = elementwise_binary(grad, b.value, expression="MUL(v0, v1)")
            return elementwise_binary(product, a.value, expression="MUL(v0, cos(v1))")

    def of_b(grad):
        return elementwise_binary(grad, kept[0], expression="MUL(v0, v1)") if b.requires_grad else None

    return apply_op(forward, lambda grad: (of_a(grad), of_b(grad)), a, b, op_name="sin_times_frugal")
""",
)
