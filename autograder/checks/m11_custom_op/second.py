import numpy as np

from autograder.checks.check import check


@check("customop.second", points=4, rtol=1e-3, atol=1e-3, seconds=30)
def second(student, rng, tools):
    """The op that CHOICE names, against the library's: out and both gradients, as errors on top of random numbers."""
    from tinygrad_cl.opencl.trial import try_kernel

    ag, queue = student.ag, student.device.queue
    formulas = {
        "swiglu": lambda a, b: a * ag.sigmoid(a) * b,
        "gauss": lambda a, b: ag.exp(-(a * a)) * b,
        "hypot": lambda a, b: ag.sqrt(a * a + b * b),
        "lorentz": lambda a, b: a / (1 + b * b),
    }
    choice = student.CHOICE
    if choice not in formulas:
        raise ValueError(f"CHOICE is {choice!r}, and not one of {', '.join(formulas)}")
    n = int(rng.integers(67, 79))
    a, b, grad = ((rng.choice([-1, 1], n) * rng.uniform(0.3, 2.0, n)).astype(np.float32) for _ in range(3))
    noise = rng.uniform(1, 2, (5, n))
    x, y = (ag.tensor(student.Tensor.from_host(queue, each), requires_grad=True) for each in (a, b))
    with ag.Tape() as tape:
        out = formulas[choice](x, y)
    tape.backward(out, grad)
    right = [each.to_host() for each in (out, x.grad, y.grad)]

    def forward():
        return try_kernel(
            student.SECOND_FORWARD, "forward", a, b, None, n, result=n, work_items=80, local_size=4, right=right[0]
        )

    def backward():
        return try_kernel(
            student.SECOND_BACKWARD,
            "backward",
            grad,
            a,
            b,
            None,
            None,
            n,
            result=(n, n),
            work_items=80,
            local_size=4,
            right=right[1:],
        )

    return {
        "input": f"CHOICE = {choice!r}; what is shown are random numbers plus your error; a = {np.round(a[:4], 3).tolist()} …, "
        f"b = {np.round(b[:4], 3).tolist()} …, grad = {np.round(grad[:4], 3).tolist()} …; there out = "
        f"{np.round(right[0][:4], 3).tolist()} …, grad_a = {np.round(right[1][:4], 3).tolist()} …, "
        f"grad_b = {np.round(right[2][:4], 3).tolist()} …",
        "out": lambda: noise[0] + forward()[0] - right[0],
        "grad_a": lambda: noise[1] + backward()[0][0] - right[1],
        "grad_b": lambda: noise[2] + backward()[0][1] - right[2],
        "memory of forward": lambda: forward()[1],
        "memory of backward": lambda: backward()[1],
    }


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
