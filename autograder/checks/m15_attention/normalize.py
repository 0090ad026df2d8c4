"""Check 3 of lesson 15: rows with mean 0 and variance 1, as one operation with its gradient."""

import math

import numpy as np

from autograder.checks.cases import Draft, Source, Text, choice
from autograder.checks.check import exercise
from autograder.checks.m15_attention.leaves import node, on_device, parameter, some

attention_normalize = exercise(
    "attention.normalize",
    "Rows of ordinary numbers, small, equal and far from 0; of leaves and of what was computed; other eps.",
    seconds=30,
)
SHAPES = (1, 2), (2, 3), (3,), (3, 2), (2, 1, 3), (1, 4), (2, 5), (2, 2, 2)


def given(shape, kind, rng, options=({}, {"eps": 0.5}, {"eps": 1e-2})):
    return Draft({"p": parameter(shape, kind, rng), "x": node(rng), "options": some(rng, *options)})


def far(rng):
    small = (0.004 * rng.normal(size=(2, 5))).round(5)
    usual = rng.normal(size=(2, 5)).round(1)
    for numbers, options in ((small, {}), (usual + 1000, {}), (np.full((2, 3), 2.0), {}), (small * 5, {"eps": 0.01})):
        yield Draft({"p": on_device(numbers, "Parameter"), "x": Text("lambda p: ag.tensor(p)"), "options": options})


ROWS = Source(
    lambda rng: (given(shape, kind, rng) for kind in ("decimals", "whole") for shape in SHAPES),
    lambda rng: given(
        tuple(int(n) for n in rng.integers(2, 5, rng.integers(1, 4))), some(rng, "decimals", "whole", "transposed"), rng
    ),
)


@attention_normalize.aspect("u", 1.5, cases=ROWS + Source(far), few=14, many=40, rtol=1e-3, atol=1e-3)
def value(student, case):
    out = student.normalize(case.x(case.p), **case.options)
    yield
    return {"u": out.to_host(), "kind": type(out).__name__}


@attention_normalize.aspect("the gradient of x", 2, cases=ROWS, few=12, many=36, device=5, rtol=1e-3, atol=1e-4)
def gradient(student, case):
    with student.ag.Tape() as tape:
        out = student.normalize(case.x(case.p), **case.options)
    yield
    up = np.cos(np.arange(math.prod(out.shape))).round(1).reshape(out.shape)
    tape.backward(out, student.Tensor.from_host(student.queue, up))
    return case.p.grad if case.p.grad is None else case.p.grad.to_host()


@attention_normalize.aspect("one operation on the tape, named normalize", 0.5, corner=True, cases=choice("rows", 1, 2))
def listed(student, case):
    x = student.ag.tensor(student.Parameter.from_host(student.queue, np.arange(3.0 * case.rows).reshape(case.rows, 3)))
    with student.ag.Tape() as tape:
        student.normalize(x)
    return [str(node.op_name) for node in tape.nodes]


@attention_normalize.on_device
def names(on, reference):
    return {"normalize": lambda x, eps=1e-5: on.on_tape(lambda rows: on.ag.layer_norm(rows, eps=eps))(x)}


GRADIENT = "r * (g - row_mean(g) - u * row_mean(g * u))"
attention_normalize.mistake(
    "mean and r count as constants: the gradient is r · g",
    swap=(GRADIENT, "r * g"),
    hint=[
        "Moving x as a whole changes nothing. What gradient does your rule give to moving it?",
        "Two parts go: mean(g), and u · mean(g · u).",
    ],
)
attention_normalize.mistake(
    "mean(g) is not taken off",
    swap=("g - row_mean(g) - u", "g - u"),
    hint=["Sum your gradient over a row. Moving a row changes nothing, so that must be 0.", "− mean(g)"],
)
attention_normalize.mistake(
    "the part u · mean(g · u) is missing",
    swap=(" - u * row_mean(g * u)", ""),
    hint=["Stretching a row changes nothing. Is the sum of gradient · u about 0?", "− u · mean(g · u)"],
)
attention_normalize.mistake(
    "the part u · mean(g · u) is added, not taken off",
    swap=("- u * row_mean(g * u)", "+ u * row_mean(g * u)"),
    hint="Both means are taken off: −, −.",
)
attention_normalize.mistake(
    "u · mean(g) stands where u · mean(g · u) belongs",
    swap=("row_mean(g * u)", "row_mean(g)"),
    hint="How much does g stretch? That is the mean of g · u.",
)
attention_normalize.mistake(
    "u is forgotten in front of mean(g · u)",
    swap=("u * row_mean(g * u)", "row_mean(g * u)"),
    hint="mean(g · u) says how much; u says in which direction.",
)
attention_normalize.mistake(
    "the factor r is missing in the gradient",
    swap=(GRADIENT, GRADIENT.removeprefix("r * ")),
    hint=["A row of large numbers changes its u little when one of them moves by 1.", "r · (…)"],
)
attention_normalize.mistake(
    "the gradient is divided by r",
    swap=("[r * (g", "[1 / r * (g"),
    hint="u is x times r, so the gradient is multiplied by r, too.",
)
attention_normalize.mistake(
    "x itself stands for u in the gradient",
    swap=("u * row_mean(g * u)", "x.value * row_mean(g * x.value)"),
    hint="The formula has u, what forward computed. x is not normalized.",
)
attention_normalize.mistake(
    "what is centred stands for u in the gradient",
    swap=("u * row_mean(g * u)", "centred * row_mean(g * centred)"),
    hint="u is centred · r; the r counts twice.",
)
attention_normalize.mistake(
    "eps stands outside the root",
    swap=("rsqrt(row_mean(centred * centred) + eps)", "1 / (1 / rsqrt(row_mean(centred * centred)) + eps)"),
    hint=["For small numbers it makes a difference.", "√(variance + eps), not √variance + eps."],
)
attention_normalize.mistake(
    "eps is added to r",
    swap=("rsqrt(row_mean(centred * centred) + eps)", "rsqrt(row_mean(centred * centred)) + eps"),
    hint="eps keeps the root away from 0: it belongs inside, to the variance.",
)
attention_normalize.mistake("eps is not used", swap=(" + eps)", " + 1e-5)"), hint="eps is an argument, and may be 0.5.")
attention_normalize.mistake(
    "eps is left out", swap=(" + eps)", ")"), hint="Rows of equal numbers have variance 0. √(variance + eps)."
)
attention_normalize.mistake(
    "the variance is divided by n − 1",
    swap=("row_mean(centred * centred)", "row_mean(centred * centred) * (x.shape[-1] / (x.shape[-1] - 1))"),
    hint="Layer norm takes the plain mean of squares: n, not n − 1.",
)
attention_normalize.mistake(
    "the root is missing: divided by the variance",
    swap=("r = rsqrt(row_mean(centred * centred) + eps)", "r = 1 / (row_mean(centred * centred) + eps)"),
    hint="What is the variance of your u? The root makes it 1.",
)
attention_normalize.mistake(
    "the mean is not taken off", swap=("u = centred * r", "u = x.value * r"), hint="u is what is centred, times r."
)
attention_normalize.mistake(
    "the variance is the mean of x², not of what is centred",
    swap=("row_mean(centred * centred)", "row_mean(x.value * x.value)"),
    hint="How far are numbers from their mean? Centre first.",
)
attention_normalize.mistake(
    "many operations on the tape, not one",
    source="""
def normalize(x, eps=1e-5):
    centred = x - ag.mean(x, axis=-1, keepdims=True)
    return centred * ag.rsqrt(ag.mean(centred * centred, axis=-1, keepdims=True) + eps)
""",
    hint=[
        "The numbers are right. The tape lists an operation for each step.",
        "Compute u from `x.value`, and make one Node by `ag.apply_op`.",
    ],
)
attention_normalize.mistake(
    "the package's layer_norm is called",
    source="""
def normalize(x, eps=1e-5):
    return ag.layer_norm(x, eps=eps)
""",
    hint='Write it yourself: `ag.apply_op(…, op_name="normalize")`.',
)
attention_normalize.variant("a Tensor for a list of one: the engine takes both", swap=(f"[{GRADIENT}]", GRADIENT))
attention_normalize.variant(
    "from sums, and n in front",
    source="""
def normalize(x, eps=1e-5):
    n = x.shape[-1]

    def total(t):
        with ag.no_grad():
            return ag.sum(t, axis=-1, keepdims=True).value

    def forward(value):
        mean = total(value) / n
        variance = total((value - mean) * (value - mean)) / n
        saved["r"] = rsqrt(variance + eps)
        saved["u"] = (value - mean) * saved["r"]
        return saved["u"]

    def differentiate(g):
        u, r = saved["u"], saved["r"]
        return [(n * g - total(g) - u * total(u * g)) * r / n]

    saved = {}
    return ag.apply_op(forward, differentiate, x, op_name="normalize")
""",
)
attention_normalize.variant(
    "in NumPy, with the Jacobian of each row",
    source="""
def normalize(x, eps=1e-5):
    numbers = x.to_host().astype(np.float64)
    n = numbers.shape[-1]
    centred = numbers - numbers.mean(-1, keepdims=True)
    deviation = np.sqrt((centred ** 2).mean(-1, keepdims=True) + eps)
    u = centred / deviation
    out = Tensor.from_host(queue, u)

    def backward(g):
        g = g.to_host()
        jacobian = (np.eye(n) - 1 / n - u[..., :, None] * u[..., None, :] / n) / deviation[..., None]
        return (Tensor.from_host(queue, (jacobian * g[..., None, :]).sum(-1)),)

    return ag.apply_op(lambda value: out, backward, x, op_name="normalize")
""",
)
attention_normalize.variant(
    "the gradient in two steps: through r, then through the mean",
    source="""
def normalize(x, eps=1e-5):
    saved = []

    def forward(value):
        centred = value - row_mean(value)
        r = rsqrt(row_mean(centred * centred) + eps)
        saved[:] = [centred, r]
        return centred * r

    def differentiate(g):
        centred, r = saved
        of_centred = g * r - centred * r * r * r * row_mean(g * centred)
        return [of_centred - row_mean(of_centred)]

    return ag.apply_op(forward, differentiate, x, op_name="normalize")
""",
)
