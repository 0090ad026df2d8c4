"""Check 3 of lesson 15: rows with mean 0 and variance 1, as one operation with its gradient."""

import numpy as np

from autograder.checks.check import check


@check("attention.normalize", points=4, rtol=1e-3, atol=2e-5, device=("∂L/∂x", "x of shape (2, 3, 5): ∂L/∂x"))
def attention_normalize(student, rng, tools):
    """Rows of ordinary numbers, of small ones, far from 0; random gradients."""
    ag = student.ag
    x = rng.normal(size=(3, 5)) + np.array([[0.5], [-2.0], [1.0]])
    small = 0.004 * rng.normal(size=(2, 5))
    cube, many = rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 3, 5))
    up = rng.choice([-1, 1], (3, 5)) * rng.uniform(0.5, 2.0, (3, 5))

    def run(numbers, upstream=None, **options):
        leaf = ag.tensor(student.Tensor.from_host(student.queue, numbers), requires_grad=True)
        with ag.Tape() as tape:
            out = student.normalize(leaf, **options)
        if upstream is None:
            return out, tape, leaf
        tape.backward(out, student.Tensor.from_host(student.queue, upstream))
        return leaf.grad.to_host()

    def afterwards():
        *_, leaf = run(x)
        return leaf.to_host()

    def again():
        leaf = ag.tensor(student.Tensor.from_host(student.queue, x), requires_grad=True)
        with ag.Tape() as tape:
            loss = ag.sum(student.normalize(leaf) * up) + ag.sum(student.normalize(leaf * 2 + leaf * leaf) * up)
        tape.backward(loss)
        return leaf.grad.to_host()

    return {
        "input": f"x = {np.round(x, 2).tolist()}",
        "u": lambda: run(x)[0].to_host(),
        "x near 0: u": lambda: run(small)[0].to_host(),
        "eps = 0.5: u": lambda: run(x, eps=0.5)[0].to_host(),
        "x + 100: u": lambda: np.round(run(x + 100)[0].to_host(), 2),
        "∂L/∂x": lambda: run(x, up),
        "∂L/∂x, with eps = 0.5": lambda: run(x, up, eps=0.5),
        "x of shape (2, 3, 5): ∂L/∂x": lambda: run(cube, many),
        "used twice, on numbers computed before: ∂L/∂x": again,
        "operations on the tape": lambda: " ".join(str(node.op_name) for node in run(x)[1].nodes),
        "x afterwards": afterwards,
    }


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
