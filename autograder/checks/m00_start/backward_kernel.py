"""Check 5 of lesson 00: the gradients, a kernel with two results."""

from autograder.checks.check import exercise
from autograder.checks.m00_start.launches import launches, several_groups, slips_with_the_number

backward_kernel = exercise(
    "start.backward_kernel",
    "Your gradient kernel, between margins that must stay untouched.",
    seconds=60,
    texts=("SIN_TIMES_BACKWARD",),
)


@backward_kernel.aspect("both gradients, and nothing else is written", 2.5, cases=launches(3), rtol=1e-5, atol=1e-5)
@backward_kernel.watch(launches(3).where(lambda n: n == 17))
def run(student, case):
    from tinygrad_cl.opencl.trial import tried

    sizes = {"work_items": case.work_items, "local_size": case.group, "seed": case.fill}
    arguments = *case.inputs, None, None, case.n
    found = tried(student.SIN_TIMES_BACKWARD, "sin_times_backward", *arguments, result=(case.n, case.n), **sizes)
    grad_a, grad_b = found.pop("out")
    return {"grad_a": grad_a, "grad_b": grad_b} | found


@backward_kernel.aspect(
    "each work-item writes its own numbers", 0.5, cases=several_groups(3), corner=True, few=3, many=3
)
def share(student, case):
    from tinygrad_cl.opencl.trial import tried

    sizes = {"work_items": case.work_items - case.group, "local_size": case.group, "offset": case.group}
    arguments, source = (*case.inputs, None, None, case.n), student.SIN_TIMES_BACKWARD
    one, other = (
        tried(source, "sin_times_backward", *arguments, result=(case.n, case.n), seed=seed, **sizes)["out"]
        for seed in (case.fill, case.fill + 1)
    )
    return {
        "without the first group, some numbers are not written": [
            bool((grad != again).any()) for grad, again in zip(one, other)
        ]
    }


slips_with_the_number(backward_kernel)
GRAD_A, GRAD_B = "grad_a[i] = upstream[i] * cos(a[i]) * b[i];", "grad_b[i] = upstream[i] * sin(a[i]);"

backward_kernel.mistake(
    "the upstream gradient is not used",
    swap=("upstream[i] * ", ""),
    hint="Both lines begin with the number that came from the right: upstream[i].",
)
backward_kernel.mistake(
    "the upstream gradient is missing in grad_b",
    swap=(GRAD_B, "grad_b[i] = sin(a[i]);"),
    hint="grad_a is multiplied by upstream[i]. And grad_b?",
)
backward_kernel.mistake(
    "the upstream gradient is read at the first place only",
    swap=("upstream[i]", "upstream[0]"),
    hint="Every number of out has its own upstream gradient.",
)
backward_kernel.mistake(
    "the guard covers the first line only",
    swap=(
        f"if (i < n) {{\n        {GRAD_A}\n        {GRAD_B}\n    }}",
        f"if (i < n)\n        {GRAD_A}\n        {GRAD_B}",
    ),
    hint="C ignores how far a line is indented. Two lines under one `if` need `{ }` around them.",
)
backward_kernel.mistake(
    "grad_a has sin where cos belongs",
    swap=("cos(a[i])", "sin(a[i])"),
    hint="This is the forward line. How does sin(a)·b move with a?",
)
backward_kernel.mistake(
    "grad_b has cos where sin belongs",
    swap=("* sin(a[i])", "* cos(a[i])"),
    hint="While b moves, sin(a) is just a factor, and is not differentiated.",
)
backward_kernel.mistake(
    "the factor b is missing in grad_a", swap=(" * b[i]", ""), hint="While a moves, b is a constant factor: it stays."
)
backward_kernel.mistake(
    "cos has a minus sign",
    swap=("upstream[i] * cos", "-upstream[i] * cos"),
    hint="The derivative of sin is cos. It is the derivative of cos that has the minus sign.",
)
backward_kernel.mistake(
    "the two gradients have changed places",
    swap=[("grad_a[i]", "swap[i]"), ("grad_b[i]", "grad_a[i]"), ("swap[i]", "grad_b[i]")],
    hint="grad_a tells how the loss moves with a: that is the line with cos.",
)
backward_kernel.mistake(
    "gradients are added to memory that nobody has set",
    swap=[(GRAD_A, GRAD_A.replace("=", "+=")), (GRAD_B, GRAD_B.replace("=", "+="))],
    hint="`+=` adds to whatever lies there, and nobody has set it. Here each work-item writes once: `=`.",
)
backward_kernel.mistake(
    "grad_b is built on grad_a in place of upstream",
    swap=("grad_b[i] = upstream[i]", "grad_b[i] = grad_a[i]"),
    hint="Both gradients start from upstream[i]; neither is computed from the other.",
)
backward_kernel.mistake(
    "grad_b comes from grad_a, by a division that fails where cos(a) or b is 0",
    swap=("upstream[i] * sin(a[i])", "grad_a[i] / b[i] * tan(a[i])"),
    hint="Both gradients start from upstream[i]; neither is computed from the other.",
)
backward_kernel.mistake("grad_b is never written", swap=(GRAD_B, ""), hint="This kernel has two results.")
backward_kernel.variant(
    "over names, leaving early",
    swap=(
        f"if (i < n) {{\n        {GRAD_A}\n        {GRAD_B}\n    }}",
        "if (i >= n) return;\n    float g = upstream[i], x = a[i];\n    grad_b[i] = sin(x) * g;\n    grad_a[i] = g * b[i] * cos(x);",
    ),
)
backward_kernel.variant(
    "sine and cosine in one call",
    swap=(
        f"{GRAD_A}\n        {GRAD_B}",
        "float c, s = sincos(a[i], &c);\n        grad_a[i] = upstream[i] * c * b[i];\n        grad_b[i] = upstream[i] * s;",
    ),
)
