"""Check 7 of lesson 12: a record for the table, in C expressions."""

import numpy as np

from autograder.checks.cases import Draft, Source, choice
from autograder.checks.check import exercise

primitive = exercise("jit.primitive", "Three C expressions: the damped oscillation and its two slopes.", seconds=40)

NAMES = (
    "v0 v1 g damped_2",
    "time k arrived swing",
    "mul_3 v7 g_damped_5 damped_5",
    "v1 v0 u out_4",
)  # of t, k, ∂L/∂out and out


def numbers(names, rng):
    t, k, g = (rng.permutation([0.9, -1.1, 0.4, -0.6, 1.7, 0.0]).astype(np.float32) for _ in range(3))
    return Draft({"names": names.split(), "numbers": np.concatenate([t, k, g])})


CASES = Source(
    lambda rng: [numbers(names, rng) for names in NAMES], lambda rng: numbers(NAMES[rng.integers(len(NAMES))], rng)
)


def value(student, case):
    """An expression stands in a kernel whose variables have these names."""
    from tinygrad_cl.opencl.kernels import launch

    t, k, g, out = case.names
    texts = student.damped_backward([t, k], g, {}, out) if case.of else [student.damped_forward([t, k], {})]
    head = "__kernel void check(__global float *a, __global float *b) { const int i = get_global_id(0);"
    known = f"const V {t} = a[i], {k} = a[6 + i], {g} = a[12 + i], {out} = exp(-{k} * {t}) * cos({t});"
    run = f"const V found = {texts[case.of - 1]}; b[i] = found; }}"
    source = "\n".join([student.SETTINGS, head, known if case.of else known.partition(f", {out}")[0] + ";", run])
    found = lambda: launch(source, "check", case.numbers, np.zeros(6, np.float32), work_items=6)[1]
    return {"texts": [type(text).__name__ for text in texts], "found": found}


for of, name in enumerate(("the result", "∂L/∂t", "∂L/∂k")):
    primitive.aspect(name, 1, cases=CASES * choice("of", of), few=4, many=6, rtol=1e-4, atol=1e-5)(value)

VALUE = 'f"exp(-{k} * {t}) * cos({t})"'
SLOPE_T = 'f"-{grad_var} * ({k} * {out_var} + exp(-{k} * {t}) * sin({t}))"'
SLOPE_K = 'f"-{grad_var} * {t} * {out_var}"'
primitive.mistake(
    "v0 and v1 are written by hand",
    swap=(VALUE, '"exp(-v1 * v0) * cos(v0)"'),
    hint=["In the middle of a chain the inputs are called mul_3 and v7.", "Their names come in `args`."],
)
primitive.mistake(
    "t and k have changed places",
    swap=(VALUE, 'f"exp(-{t} * {k}) * cos({k})"'),
    hint="args holds the name of t, then that of k.",
)
primitive.mistake(
    "the two slopes have changed places",
    swap=(f"[{SLOPE_T},\n            {SLOPE_K}]", f"[{SLOPE_K},\n            {SLOPE_T}]"),
    hint="The first expression belongs to the first input, t.",
)
primitive.mistake(
    "the gradient that arrives is left out of ∂L/∂t",
    swap=('f"-{grad_var} * ({k}', 'f"-1 * ({k}'),
    hint="The chain rule: what arrives, `grad_var`, times the slope.",
)
primitive.mistake(
    "the gradient that arrives is left out of ∂L/∂k",
    swap=(SLOPE_K, 'f"-{t} * {out_var}"'),
    hint="The chain rule: what arrives, `grad_var`, times the slope.",
)
primitive.mistake(
    "the product rule stops after its first half",
    swap=(SLOPE_T, 'f"-{grad_var} * {k} * {out_var}"'),
    hint=["t stands in the exponential *and* in the cosine.", "The cosine's part: −e⁻ᵏᵗ sin t."],
)
primitive.mistake(
    "the product rule has its second half alone",
    swap=(SLOPE_T, 'f"-{grad_var} * exp(-{k} * {t}) * sin({t})"'),
    hint="t stands in the exponential, too: −k · out.",
)
primitive.mistake(
    "the minus of the sine is lost",
    swap=("{out_var} + exp(", "{out_var} - exp("),
    hint="The derivative of cos t is −sin t.",
)
primitive.mistake(
    "the minus of ∂L/∂k is lost", swap=(SLOPE_K, 'f"{grad_var} * {t} * {out_var}"'), hint="∂(e⁻ᵏᵗ)/∂k = −t e⁻ᵏᵗ."
)
primitive.mistake(
    "∂L/∂k is multiplied by k in place of t",
    swap=(SLOPE_K, 'f"-{grad_var} * {k} * {out_var}"'),
    hint="∂(−k t)/∂k is −t.",
)
primitive.mistake(
    "the k in ∂L/∂t is missing",
    swap=("({k} * {out_var} +", "({out_var} +"),
    hint="The inner derivative of e⁻ᵏᵗ by t is −k.",
)
primitive.mistake(
    "e⁻ᵏᵗ is missing in front of the sine",
    swap=("exp(-{k} * {t}) * sin({t}))", "sin({t}))"),
    hint="The product rule keeps the other factor: e⁻ᵏᵗ · (−sin t).",
)
primitive.mistake(
    "parentheses are missing: the gradient multiplies the first term alone",
    swap=(SLOPE_T, 'f"-{grad_var} * {k} * {out_var} - exp(-{k} * {t}) * sin({t})"'),
    hint="`-g * a - b` is not `-g * (a + b)`.",
)
primitive.mistake("the exponent has no minus", swap=(VALUE, 'f"exp({k} * {t}) * cos({t})"'), hint="*Damped*: e⁻ᵏᵗ.")
primitive.mistake("there is no cosine", swap=(VALUE, 'f"exp(-{k} * {t})"'), hint="e⁻ᵏᵗ · cos t.")
primitive.mistake(
    "one slope comes back, not two",
    swap=(f"[{SLOPE_T},\n            {SLOPE_K}]", f"[{SLOPE_T}]"),
    hint="One for each input.",
)
primitive.mistake(
    "numbers are computed, in place of texts",
    swap=(VALUE, "np.exp(-float(len(k)) * len(t)) * np.cos(len(t))"),
    hint="The result is a text of C: nothing is computed here.",
)
primitive.mistake(
    "NumPy's names stand in the C text",
    swap=(VALUE, 'f"np.exp(-{k} * {t}) * np.cos({t})"'),
    hint="In C they are called exp and cos.",
)
primitive.mistake(
    "the gradient that arrives multiplies the second term alone",
    swap=(SLOPE_T, 'f"-{k} * {out_var} - exp(-{k} * {t}) * sin({t}) * {grad_var}"'),
    hint="Parentheses: both terms are multiplied by `grad_var`.",
)
primitive.mistake(
    "the minus stands inside the braces of the f-string: Python's minus, of a text",
    swap=(VALUE, 'f"exp({-k} * {t}) * cos({t})"'),
    hint=["What is between braces, Python computes. k is a text there.", "The minus is for C: `-{k}`."],
)
primitive.variant(
    "without out_var",
    swap=[
        (SLOPE_T, 'f"({grad_var} * exp(-({k} * {t})) * (-{k} * cos({t}) - sin({t})))"'),
        (SLOPE_K, 'f"({grad_var} * -{t} * exp(-{k} * {t}) * cos({t}))"'),
    ],
)
primitive.variant(
    "as a quotient, joined texts, a tuple",
    source="""
def damped_forward(args, attrs):
    return "(cos(" + args[0] + ") / exp(" + " * ".join(args) + "))"


def damped_backward(args, grad_var, attrs, out_var):
    time, damping = args
    decay = f"exp(-{time} * {damping})"
    return (f"({grad_var}) * -({damping}) * {out_var} - {grad_var} * {decay} * sin({time})", f"-({time} * {grad_var} * {out_var})")
""",
)
primitive.variant("∂out/∂t by out · (−k − tan t)", swap=(SLOPE_T, 'f"-{grad_var} * {out_var} * ({k} + tan({t}))"'))
