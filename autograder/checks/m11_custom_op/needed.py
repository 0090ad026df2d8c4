import numpy as np

from autograder.checks.check import check
from autograder.checks.m11_custom_op.measured import measured_sin_times


@check(
    "customop.needed",
    points=3,
    rtol=1e-4,
    atol=1e-5,
    seconds=30,
    needs=("customop.apply",),
    device=(
        "both needed: ∂L/∂a and ∂L/∂b",
        "only a's needed: ∂L/∂a",
        "only b's needed: ∂L/∂b",
        "only the row b's needed: ∂L/∂b",
    ),
)
def needed(student, rng, tools):
    """Both gradients needed, one of them, none: what is computed, what is kept, what stands in the place of the other."""
    ag, device, Tensor = student.ag, student.device, student.Tensor

    def numbers(*shape):
        return (rng.choice([-1, 1], shape) * rng.uniform(0.4, 2.6, shape)).astype(np.float32)

    large, a, b, grad, row = numbers(2, 40, 50), numbers(4, 5), numbers(4, 5), numbers(4, 5), numbers(5)
    both, only_a, only_b, none = (True, True), (True, False), (False, True), (False, False)

    def leaves(needs, arrays=(a, b)):
        return [ag.tensor(Tensor.from_host(device.queue, x), requires_grad=need) for x, need in zip(arrays, needs)]

    def gradients(needs, arrays=(a, b)):
        x, y = leaves(needs, arrays)
        with ag.Tape() as tape:
            out = student.sin_times_frugal(x, y)
        tape.backward(out, grad)
        return np.concatenate([leaf.grad.to_host() for leaf, need in zip((x, y), needs) if need], axis=None)

    def answer(needs):
        out = student.sin_times_frugal(*leaves(needs))
        given = out.grad_fn(Tensor.from_host(device.queue, grad))
        return ["nothing" if each is None else "a gradient" for each in given]

    def seen(needs):
        x, y = leaves(needs)
        with device.watch() as forward, ag.Tape() as tape:
            out = student.sin_times_frugal(x, y)
        if not any(needs):
            return [forward]
        with device.watch() as backward:
            tape.backward(out, grad)
        return [forward, backward]

    def functions(needs, which):
        sources = [launch.kernel.source for launch in seen(needs)[which]]
        return [sum(name in source for source in sources) for name in ("sin(", "cos(")]

    def kept(needs):
        x, y = leaves(needs, large)
        return tools.arrays_kept(student, device, x.shape, lambda: student.sin_times_frugal(x, y))

    return {
        "input": f"a = {np.round(a, 2).tolist()}, b = {np.round(b, 2).tolist()}",
        "out": lambda: student.sin_times_frugal(*leaves(both)).to_host(),
        "no gradient needed: out": lambda: student.sin_times_frugal(*leaves(none)).to_host(),
        "both needed: ∂L/∂a and ∂L/∂b": lambda: gradients(both),
        "only a's needed: ∂L/∂a": lambda: gradients(only_a),
        "only b's needed: ∂L/∂b": lambda: gradients(only_b),
        "only the row b's needed: ∂L/∂b": lambda: gradients(only_b, (a, row)),
        "what grad_fn gives, only a's needed": lambda: answer(only_a),
        "what grad_fn gives, only b's needed": lambda: answer(only_b),
        "both needed: kernels with sin and cos, backward": lambda: functions(both, 1),
        "only a's needed: kernels with sin and cos, backward": lambda: functions(only_a, 1),
        "only b's needed: kernels with sin and cos, backward": lambda: functions(only_b, 1),
        "only a's needed: launches of forward": lambda: len(seen(only_a)[0]),
        "no gradient needed: launches of forward": lambda: len(seen(none)[0]),
        "only b's needed: launches of backward": lambda: len(seen(only_b)[1]),
        "arrays alive after forward, out included: both needed": lambda: kept(both),
        "only a's needed: arrays alive": lambda: kept(only_a),
        "only b's needed: arrays alive": lambda: kept(only_b),
    }


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
