"""Check 2 of lesson 11: an op with a rule of its own, which keeps its sine."""

from autograder.checks.check import exercise
from autograder.checks.m11_custom_op.measured import measured_sin_times
from autograder.checks.m11_custom_op.uses import uses

apply = exercise("customop.apply", "An op with a rule of its own, which keeps its sine.", seconds=40)

USES = uses([((2,), ()), ((2, 3), (3,)), ((), (2,)), ((2, 1), (3,)), ((3,), (2, 3)), ((2, 3), (2, 1))])
NEAR = {"rtol": 1e-4, "atol": 1e-4}  # sums of float32 in any order


@apply.aspect("the gradients", 1.5, cases=USES, few=16, many=48, device=5, **NEAR)
def gradients(student, case):
    with student.ag.Tape() as tape:
        out = case.formula(student.sin_times, case.a, case.b)
    yield
    tape.backward(out, case.grad)
    tape.backward(out, case.grad)
    return {name: None if x.grad is None else x.grad.to_host() for name, x in (("∂L/∂a", case.a), ("∂L/∂b", case.b))}


@apply.aspect("sin(a) · b", 0.75, cases=USES, few=10, many=30, **NEAR)
def value(student, case):
    out = case.formula(student.sin_times, case.a, case.b)
    return {"out": out.to_host(), "a": case.a.to_host(), "b": case.b.to_host()}


@apply.aspect(
    "one op, one sine",
    0.75,
    corner=True,
    cases=USES,
    few=8,
    many=24,
    at_most=("launches forward", "sines forward", "sines backward"),
)
def costs(student, case):
    with student.device.watch() as forward, student.ag.Tape() as tape:
        out = case.formula(student.sin_times, case.a, case.b)
    with student.device.watch() as backward:
        tape.backward(out, case.grad)
    return {
        "ops on the tape": " ".join(node.op_name for node in tape.nodes),
        "launches forward": len(forward),
        "sines forward": sum("sin(" in launch.kernel.source for launch in forward),
        "sines backward": sum("sin(" in launch.kernel.source for launch in backward),
    }


@apply.on_device
def names(on, reference):
    return {"sin_times": measured_sin_times(on, reference)}


GRAD_B = 'elementwise_binary(grad, saved["sin"], expression="MUL(v0, v1)")'
SLOPE = 'elementwise_binary(grad, a.value, expression="v0 * cos(v1)")'
GRAD_A = 'elementwise_binary(slope, b.value, expression="MUL(v0, v1)")'
apply.mistake(
    "sin(a) is computed once more in backward",
    swap=(GRAD_B, 'elementwise_binary(grad, a.value, expression="v0 * sin(v1)")'),
    hint=[
        "The numbers are right. How many sines are computed?",
        "Forward has sin(a) already: keep it where grad_fn finds it.",
    ],
)
apply.mistake(
    "∂L/∂b multiplies by a, and not by sin(a)",
    swap=('grad, saved["sin"]', "grad, a.value"),
    hint="out = sin(a) · b. If b grows by 1, by how much does out grow?",
)
apply.mistake(
    "sin(a) is kept on the function, where the next call overwrites it",
    swap=[("saved = {}\n", "saved = sin_times.__dict__\n")],
    hint=[
        "Use the op twice before backward. Whose sine is it then?",
        "Keep it in a variable of this one call: a dict made in sin_times.",
    ],
)
apply.mistake(
    "cos is missing in ∂L/∂a", swap=('expression="v0 * cos(v1)"', 'expression="v0"'), hint="∂ sin(a)/∂a = cos(a)."
)
apply.mistake("∂L/∂a has sin in place of cos", swap=("cos(v1)", "sin(v1)"), hint="∂ sin(a)/∂a = cos(a).")
apply.mistake(
    "the derivative of sin is −cos",
    swap=("v0 * cos(v1)", "-v0 * cos(v1)"),
    hint="∂ sin(a)/∂a = +cos(a). It is cos that gets a minus.",
)
apply.mistake(
    "the cosine is that of the result of the sine: cos(sin(a))",
    swap=("(grad, a.value, expression", '(grad, saved["sin"], expression'),
    hint="The slope is taken at a, not at sin(a).",
)
apply.mistake("b is missing in ∂L/∂a", swap=(GRAD_A, "slope"), hint="Wiggle a: does it matter for out how large b is?")
apply.mistake(
    "the upstream gradient is missing in ∂L/∂b",
    swap=(GRAD_B, 'saved["sin"]'),
    hint="Along a path slopes multiply. What came down the path so far?",
)
apply.mistake(
    "the upstream gradient is missing in ∂L/∂a",
    swap=(SLOPE, 'elementwise_unary(a.value, expression="cos(v0)")'),
    hint="Along a path slopes multiply. What came down the path so far?",
)
apply.mistake(
    "the two gradients are in the wrong order",
    swap=("[grad_a, grad_b]", "[grad_b, grad_a]"),
    hint="grad_fn answers in the order of apply_op's arguments: a, then b.",
)
apply.mistake(
    "forward is a · sin(a): b is missing, as in the tutorial's first try",
    swap=('saved["sin"], y, expression', 'saved["sin"], x, expression'),
    hint="out = sin(a) · b. Where is b in your forward?",
)
apply.mistake(
    "forward is sin(b) · a: the two are swapped",
    swap=[("elementwise_unary(x,", "elementwise_unary(y,"), ('saved["sin"], y,', 'saved["sin"], x,')],
    hint="The sine is that of the first argument.",
)
apply.mistake(
    "forward adds: sin(a) + b",
    swap=('y, expression="MUL(v0, v1)"', 'y, expression="ADD(v0, v1)"'),
    hint="`MUL(v0, v1)`.",
)
apply.mistake(
    "the op is not called what it should be on the tape: another name, or none",
    swap=(', op_name="sin_times"', ""),
    hint='`apply_op(…, op_name="sin_times")`.',
)
apply.mistake(
    "it is composed of ag.sin and *: two ops on the tape",
    source="""
def sin_times(a, b):
    return ag.sin(a) * b
""",
    hint="That was layer 1. Here it is one op: `apply_op(forward, grad_fn, a, b)`.",
)
apply.mistake(
    "the gradients of a product and of a sum are mixed: grad · cos(a) + b",
    swap=(GRAD_A, GRAD_A.replace("MUL", "ADD")),
    hint="∂/∂a of sin(a) · b: b stays as a factor.",
)
apply.variant(
    "the operators of tensors, and a sine that is computed before",
    source="""
def sin_times(a, b):
    sine = elementwise_unary(a.value, expression="sin(v0)")

    def backward(g):
        return g * b.value * elementwise_unary(a.value, expression="cos(v0)"), sine * g

    return apply_op(lambda x, y: sine * y, backward, a, b, op_name="sin_times")
""",
)
apply.variant(
    "a list for what is kept, and values that forward was given",
    source="""
def sin_times(a, b, tape=None):
    kept = []

    def forward(x, y):
        sin_x = elementwise_unary(x, "sin(v0)")
        kept[:] = [x, y, sin_x]
        return elementwise_binary(y, sin_x, "v1 * v0")

    def grad_fn(grad_out):
        x, y, sin_x = kept
        gb = elementwise_binary(grad_out, sin_x, expression="MUL(v0, v1)")
        cos_x = elementwise_unary(x, expression="cos(v0)")
        ga = elementwise_binary(grad_out, y, expression="MUL(v0, v1)")
        ga = elementwise_binary(ga, cos_x, expression="MUL(v0, v1)")
        return [ga, gb]

    return apply_op(forward, grad_fn, a, b, tape=tape, op_name="sin_times")
""",
)
apply.variant(
    "nonlocal",
    source="""
def sin_times(a, b):
    sin_a = None

    def forward(x, y):
        nonlocal sin_a
        sin_a = elementwise_unary(x, expression="sin(v0)")
        return elementwise_binary(sin_a, y, expression="MUL(v0, v1)")

    def grad_fn(grad):
        product = elementwise_binary(b.value, grad, expression="MUL(v0, v1)")
        return (elementwise_binary(a.value, product, expression="cos(v0) * v1"),
                elementwise_binary(grad, sin_a, expression="MUL(v0, v1)"))

    return apply_op(forward, grad_fn, a, b, op_name="sin_times")
""",
)
