"""Check 7 of lesson 11: an op of the student's choice, from its formula to its kernels."""

import numpy as np

from autograder.checks.cases import Draft, Source, choice, filled
from autograder.checks.check import exercise

second = exercise(
    "customop.second",
    "The op that CHOICE names: its kernels against its formula.",
    seconds=30,
    texts=("SECOND_FORWARD", "SECOND_BACKWARD", "CHOICE"),
)


def arrays(n, work_items, rng):
    given = {name: filled((n,), "decimals", rng) for name in ("grad", "a", "b")}
    return Draft(
        given | {"work_items": work_items, "fill": int(rng.integers(10**6))},
        ("there are work-items too many",) * (work_items > n),
    )


CASES = Source(
    lambda rng: (
        arrays(n, work_items, rng) for n, work_items in ((1, 4), (2, 4), (4, 4), (3, 8), (7, 8), (8, 12), (13, 20))
    ),
    lambda rng: arrays(int(rng.integers(1, 17)), 20, rng),
)


LARGE = CASES.add(
    a=lambda a, rng: rng.choice([50.0, 100.0], a.size), b=lambda a, rng: rng.choice([-100.0, 2.0], a.size)
)


def error(student, case):
    """How far the kernels are from the formula and its slopes (a step along the imaginary axis)."""
    from tinygrad_cl.opencl.trial import tried

    formula = {
        "swiglu": lambda a, b: a / (1 + np.exp(-a)) * b,
        "gauss": lambda a, b: np.exp(-a * a) * b,
        "hypot": lambda a, b: np.sqrt(a * a + b * b),
        "lorentz": lambda a, b: a / (1 + b * b),
    }[student.CHOICE]
    grad, a, b, n, step = case.grad, case.a, case.b, case.a.size, 1e-30j
    up, x, y = (array.astype(np.float32) for array in (grad, a, b))
    rights = formula(a, b), grad * formula(a + step, b).imag / 1e-30, grad * formula(a, b + step).imag / 1e-30
    sizes = {"work_items": case.work_items, "local_size": 4, "seed": case.fill}
    if case.of == "out":
        found = tried(student.SECOND_FORWARD, "forward", x, y, None, n, result=(n,), **sizes)
    else:
        found = tried(student.SECOND_BACKWARD, "backward", up, x, y, None, None, n, result=(n, n), **sizes)
    out, right = found.pop("out")[case.of == "grad_b"], rights[("out", "grad_a", "grad_b").index(case.of)]
    relative = (out - right) / np.maximum(
        1, np.abs(right)
    )  # the last digit of float32 is 0.001 where a number is 10,000
    return {f"(your {case.of} − the formula's) / max(1, |the formula's|)": relative} | found


@second.watch(CASES.where(lambda a: a.size == 7))
def both(student, case):
    from tinygrad_cl.opencl.trial import tried

    up, x, y, n = *(array.astype(np.float32) for array in (case.grad, case.a, case.b)), case.a.size
    sizes = {"work_items": case.work_items, "local_size": 4}
    forward = tried(student.SECOND_FORWARD, "forward", x, y, None, n, result=n, **sizes)
    return {
        "forward": forward,
        "backward": tried(student.SECOND_BACKWARD, "backward", up, x, y, None, None, n, result=(n, n), **sizes),
    }


ALL = choice("of", "out", "grad_a", "grad_b")
second.aspect("for numbers as large as 100", 0.5, corner=True, cases=LARGE * ALL, few=9, many=30, rtol=1e-4, atol=2e-4)(
    error
)
for of, points in (("out", 1), ("grad_a", 1.25), ("grad_b", 1.25)):
    second.aspect(of, points, cases=CASES * choice("of", of), few=10, many=30, rtol=1e-4, atol=2e-4)(error)


LINES = (
    "        float s = 1 / (1 + exp(-a[i]));\n        grad_a[i] = grad[i] * b[i] * s * (1 + a[i] * (1 - s));\n"
    "        grad_b[i] = grad[i] * a[i] * s;"
)
second.mistake("there is no guard", swap=("if (i < n)", ""), hint="More work-items may start than there are numbers.")
second.mistake(
    "the guard lets one number too many pass", swap=("if (i < n)", "if (i <= n)"), hint="The last number is n − 1."
)
second.mistake(
    "a · s′ is missing in grad_a: the sigmoid is treated as a constant",
    swap=("s * (1 + a[i] * (1 - s))", "s"),
    hint="a stands in the formula twice: the product rule.",
)
second.mistake(
    "only the way through the sigmoid is counted in grad_a",
    swap=("s * (1 + a[i] * (1 - s))", "s * a[i] * (1 - s)"),
    hint="a stands in the formula twice: the product rule.",
)
second.mistake(
    "(1 + a) · (1 − s): the parentheses are in the wrong place",
    swap=("(1 + a[i] * (1 - s))", "((1 + a[i]) * (1 - s))"),
    hint="σ + a · σ · (1 − σ): the 1 stands outside.",
)
second.mistake(
    "b is missing in grad_a",
    swap=("grad[i] * b[i] * s *", "grad[i] * s *"),
    hint="Wiggle a: does it matter how large b is?",
)
second.mistake(
    "a is missing in grad_b",
    swap=("grad[i] * a[i] * s;", "grad[i] * s;"),
    hint="out = a · σ(a) · b. What stands before b?",
)
second.mistake(
    "the upstream gradient is missing in grad_a",
    swap=("grad[i] * b[i]", "b[i]"),
    hint="Along a path slopes multiply, from grad on.",
)
second.mistake(
    "the upstream gradient is missing in grad_b",
    swap=("grad[i] * a[i]", "a[i]"),
    hint="Along a path slopes multiply, from grad on.",
)
second.mistake(
    "the minus in the sigmoid is missing",
    swap=("exp(-a[i])", "exp(a[i])"),
    hint="σ(a) = 1 / (1 + e⁻ᵃ), which grows with a.",
)
second.mistake(
    "the factor a is missing in out", swap=("out[i] = a[i] / (1", "out[i] = 1 / (1"), hint="out = a · σ(a) · b."
)
second.mistake("the sigmoid's slope is that of tanh: 1 − s²", swap=("(1 - s)", "(1 - s * s)"), hint="σ′ = σ · (1 − σ).")
second.mistake(
    "the gradients have changed places",
    swap=[("grad_a[i] =", "grad_c[i] ="), ("grad_b[i] =", "grad_a[i] ="), ("grad_c[i] =", "grad_b[i] =")],
    hint="grad_a is ∂L/∂a.",
)


def other(choice, out, grad_a, grad_b):
    """The two kernels of another op of the list, with lanes or without."""
    return f'''
CHOICE = "{choice}"
SECOND_FORWARD = """
__kernel void forward(__global const float *a, __global const float *b,
                      __global float *out, const int n)
{{
    int i = get_global_id(0);
    if (i >= n) return;
    float x = a[i], y = b[i];
    out[i] = {out};
}}
"""
SECOND_BACKWARD = """
__kernel void backward(__global const float *grad, __global const float *a, __global const float *b,
                       __global float *grad_a, __global float *grad_b, const int n)
{{
    int i = get_global_id(0);
    if (i >= n) return;
    float g = grad[i], x = a[i], y = b[i];
    grad_a[i] = {grad_a};
    grad_b[i] = {grad_b};
}}
"""
'''


second.mistake(
    "gauss: the factor −2a is missing in grad_a",
    source=other("gauss", "exp(-x * x) * y", "g * y * exp(-x * x)", "g * exp(-x * x)"),
    hint="The chain rule: the slope of −a² is −2a.",
)
second.mistake(
    "gauss: the minus of −2a is missing in grad_a",
    source=other("gauss", "exp(-x * x) * y", "g * y * 2 * x * exp(-x * x)", "g * exp(-x * x)"),
    hint="Away from 0 the bell falls: −2a.",
)
second.mistake(
    "gauss: e^(a²) in place of e^(−a²)",
    source=other("gauss", "exp(x * x) * y", "g * y * 2 * x * exp(x * x)", "g * exp(x * x)"),
    hint="A bell: the square has a minus.",
)
second.mistake(
    "hypot: not divided by the root",
    source=other("hypot", "sqrt(x * x + y * y)", "g * x", "g * y"),
    hint="The slope of √u is 1 / (2√u).",
)
second.mistake(
    "hypot: half of the gradient, the 2 of the square is missing",
    source=other("hypot", "sqrt(x * x + y * y)", "g * x / (2 * hypot(x, y))", "g * y / (2 * hypot(x, y))"),
    hint="1 / (2√u), times 2a.",
)
second.mistake(
    "lorentz: the square of the denominator is missing in grad_b",
    source=other("lorentz", "x / (1 + y * y)", "g / (1 + y * y)", "-g * 2 * x * y / (1 + y * y)"),
    hint="The slope of 1/u is −1/u².",
)
second.mistake(
    "lorentz: the sign of grad_b",
    source=other("lorentz", "x / (1 + y * y)", "g / (1 + y * y)", "g * 2 * x * y / ((1 + y * y) * (1 + y * y))"),
    hint="The slope of 1/u is −1/u².",
)
second.variant("gauss", source=other("gauss", "exp(-x * x) * y", "-2 * x * y * g * exp(-x * x)", "exp(-x * x) * g"))
second.variant("hypot", source=other("hypot", "hypot(x, y)", "g * x / hypot(x, y)", "g * y / sqrt(x * x + y * y)"))
second.variant(
    "lorentz", source=other("lorentz", "x / (1 + y * y)", "g / fma(y, y, 1.0f)", "-2 * g * x * y * pown(1 + y * y, -2)")
)
second.variant(
    "swiglu by tanh, with the slope written out",
    source=other(
        "swiglu",
        "0.5f * x * (1 + tanh(0.5f * x)) * y",
        "g * y * (0.5f + 0.5f * tanh(0.5f * x) + x * 0.25f * (1 - tanh(0.5f * x) * tanh(0.5f * x)))",
        "g * x / (1 + exp(-x))",
    ),
)
second.variant(
    "sixteen lanes for each work-item",
    swap=[
        (
            "int i = get_global_id(0);\n    if (i < n)",
            "for (int i = 16 * get_global_id(0), end = min(n, 16 + (int)(16 * get_global_id(0))); i < end; i++)",
        )
    ],
)
