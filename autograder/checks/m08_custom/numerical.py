"""Check 4 of lesson 08: the gradient measured, number by number."""

import numpy as np

from autograder.checks.cases import Text, array, choice, filled, number
from autograder.checks.check import exercise
from autograder.checks.programs import programs

custom_numerical = exercise(
    "custom.numerical", "Central differences of arrays: several inputs, an upstream gradient, both precisions."
)

SHAPES = ((2,), (), (3,), (2, 3), (1,), (3, 2), (2, 2), (2, 1, 2), (0,))
KINDS = ("decimals", "transposed", "integers", "whole")
SMALL = (
    "x**3",
    "x * x",
    "np.sin(x)",
    "w * x",
    "x - w",
    "x * w + w",
    "np.tanh(x @ w.T)",
    "np.sum(x * w)",
    "x[..., None] * w",
)
FUNCTIONS = programs(
    "f", SMALL, ("x", "w"), ("np.sin({})", "np.tanh({})", "({}**2)"), ("({} * {})", "({} + {})", "({} - {})"), most=4
)
LISTS = choice("inputs", Text("[x, w]"), Text("(w, x)"), Text("[x, x]"), Text("[x, 2]"), Text("[1.5, w]"))


def arriving(f, inputs, rng):
    return filled(np.shape(f(*inputs)), "decimals", rng)


def works(f, inputs):
    try:
        return np.asarray(f(*inputs)).dtype.kind in "fi"
    except (ValueError, TypeError, IndexError, AttributeError):
        return False


OWN = (
    array("x", SHAPES)
    .each(f=lambda: [Text("lambda a: a * x"), Text("lambda a: a + x * x")])
    .add(inputs=lambda: Text("[x]"))
)
REFUSED = (
    array("x", ((2,), (2, 3), (1,), (2, 2)), ("decimals",))
    .where(lambda x: x.ndim > 0)
    .each(f=lambda: [Text("lambda x: x * x"), Text("np.sin")])
)
REFUSED = REFUSED.each(
    grad=lambda x: [None, 1.0, np.ones((1, *x.shape)), np.ones(x.shape + (1,)), np.ones(x.shape[1:])]
).where(lambda x, grad: grad is not None or x.size > 1)  # an array of one number may count as one number
PAIRS = (array("x", SHAPES, KINDS).add(w=lambda x, rng: filled(x.shape, "decimals", rng)) * FUNCTIONS * LISTS).where(
    works
)


@custom_numerical.aspect(
    "the gradients",
    2,
    cases=(OWN + PAIRS).add(grad=arriving),
    exact="a list of float64 arrays, one for each input, of its shape",
)
def gradients(student, case):
    found = student.numerical_gradient(case.f, case.inputs, case.grad)
    return {"how many": len(found)} | {f"by input {i}": g for i, g in enumerate(found)}


AT = number("at", 1.0, 50.0, 0.03, 0.0, -30.1, 3.0, low=-9.0, high=9.0)
KINDS_OF = choice("kind", Text("np.float64"), Text("np.float32")) * choice(
    "made", Text("np.float64"), Text("np.float32")
)
STEPS = choice("step", None, 1e-5, 0.2)


@custom_numerical.aspect(
    "how far it goes, in both precisions",
    0.5,
    corner=True,
    rtol=1e-3,
    at_most=("runs",),
    few=21,
    exact="float64 arrays",
    cases=KINDS_OF * STEPS * AT,
)
def reach(student, case):
    seen = []
    f = lambda x: seen.append(float(x)) or case.made(2) * case.made(x)
    (slope,) = student.numerical_gradient(f, [case.kind(case.at)], step=case.step)
    return {"slope": slope, "up": max(seen) - case.at, "down": case.at - min(seen), "runs": len(seen)}


@custom_numerical.aspect("an upstream gradient that does not fit is refused", 0.5, corner=True, cases=REFUSED)
def refused(student, case):
    return student.numerical_gradient(case.f, [case.x], case.grad)


custom_numerical.mistake(
    "only one side is measured: L(above) − L(x)",
    swap=("x[index] = below\n", "x[index] = here\n"),
    hint=["Where is the second point?", "`low` belongs to below = here − h."],
)
custom_numerical.mistake(
    "one side is measured, and divided by one step: near, but not near enough",
    swap=[("x.dtype.type(here + h), x.dtype.type(here - h)", "x.dtype.type(here + h), here")],
    hint=["The error is h, not h².", "One point on each side: here + h and here − h."],
)
custom_numerical.mistake(
    "the rise over two steps is divided by one",
    swap=("(float(above) - float(below))", "h"),
    hint=["All is twice too large.", "From below to above it is 2h."],
)
custom_numerical.mistake(
    "divided by the step that was asked for, not by the one that was taken",
    swap=("(float(above) - float(below))", "(2 * h)"),
    hint=[
        "In float32, x + h is rounded to 7 digits. How far apart are the points really?",
        "`float(above) - float(below)`.",
    ],
)
custom_numerical.mistake(
    "the number is not put back, so the next one is measured elsewhere",
    swap=("            x[index] = here\n", ""),
    hint=["What is in x[0] while x[1] is moved?", "`x[index] = here` after both runs."],
)
custom_numerical.mistake(
    "the upstream gradient is ignored: ones are used",
    swap=("change(high, low, upstream)", "change(high, low, np.ones(output.shape))"),
    hint=["L = Σ upstream · f.", "`change(high, low, upstream)`."],
)
custom_numerical.mistake(
    "the inputs themselves are moved, not copies",
    swap=[
        (
            "inputs = as_float_arrays(inputs)\n",
            "inputs = [np.asarray(x) if np.issubdtype(np.asarray(x).dtype, np.floating) else np.asarray(x, np.float64) for x in inputs]\n",
        ),
        ("            x[index] = here\n", "            x[index] = below\n"),
    ],
    hint=["What is in the caller's arrays afterwards?", "`as_float_arrays` copies; and put each number back."],
)
custom_numerical.mistake(
    "all numbers of the input are moved together",
    swap=[
        ("x[index] = above\n", "x += h\n"),
        ("x[index] = below\n", "x -= 2 * h\n"),
        ("x[index] = here\n", "x += h\n"),
    ],
    hint=["∂L/∂x[i] asks: what if only x[i] moves?", "`x[index] = above`, with the index."],
)
custom_numerical.mistake(
    "the step is the same for large and for small numbers",
    swap=("h = step * size(here)", "h = step"),
    hint=["The docstring: h = step · max(|x|, 0.1).", "`h = step * size(here)`."],
)
custom_numerical.mistake(
    "for small numbers the step is tiny, and at 0 there is none",
    swap=("h = step * size(here)", "h = step * abs(here)"),
    hint=["How far do you go at x = 0?", "max(|x|, 0.1): `size(here)`."],
)
custom_numerical.mistake(
    "the step is too small: 1e-12 by default",
    swap=("step or default_step(inputs, output)", "step or 1e-12"),
    hint=["Look at the V: where is 1e-12?", "`default_step(inputs, output)` knows the precision."],
)
custom_numerical.mistake(
    "the step is the best one of float64, in float32, too",
    swap=("step or default_step(inputs, output)", "step or 1.2e-5"),
    hint=["Which precision does f compute in?", "`default_step(inputs, output)`."],
)
custom_numerical.mistake(
    "the step that was given is not used",
    swap=("step = step or default_step(inputs, output)", "step = default_step(inputs, output)"),
    hint=["What does `step=0.3` change in your function?", "Only where no step is given: `step or default_step(…)`."],
)
custom_numerical.mistake(
    "the sign is wrong: low minus high",
    swap=("change(high, low, upstream)", "change(low, high, upstream)"),
    hint=["Every slope has the wrong sign.", "`change(high, low, …)`: above minus below."],
)
custom_numerical.mistake(
    "the results have the inputs' type: float32 rounds what was measured",
    swap=("[np.zeros(x.shape) for x in inputs]", "[np.zeros_like(x) for x in inputs]"),
    hint=["The docstring promises float64.", "`np.zeros(x.shape)`."],
)
custom_numerical.mistake(
    "an upstream gradient that is missing, or misshapen, is not refused",
    swap=("    if upstream.shape != output.shape:\n", "    if False:\n"),
    hint=[
        "What is L if upstream has another shape? NumPy may broadcast it, silently.",
        "Compare the shapes, and raise ValueError.",
    ],
)
custom_numerical.variant(
    "flat indices, own differences",
    source="""
def numerical_gradient(f, inputs, upstream=None, step=None):
    arrays = as_float_arrays(inputs)
    out = evaluate(f, arrays)
    if upstream is None:
        upstream = np.array(1.0)
    upstream = np.asarray(upstream, dtype=np.float64)
    if upstream.shape != out.shape:
        raise ValueError("upstream and f(x) differ in shape")
    if step is None:
        step = default_step(arrays, out)

    def loss(k, moved):
        values = list(arrays)
        values[k] = moved
        return np.array(f(*[v.copy()[()] for v in values])).astype(np.float64)

    results = []
    for k, x in enumerate(arrays):
        slopes = []
        for i in range(x.size):
            h = step * max(abs(float(x.flat[i])), 0.1)
            up, down = x.copy(), x.copy()
            up.flat[i] += h
            down.flat[i] -= h
            rise = np.sum((loss(k, up) - loss(k, down)) * upstream)
            slopes.append(float(rise) / (float(up.flat[i]) - float(down.flat[i])))
        results.append(np.array(slopes, dtype=np.float64).reshape(x.shape))
    return results
""",
)
custom_numerical.variant(
    "a mask of one, and L computed whole",
    source="""
def numerical_gradient(f, inputs, upstream=None, step=None):
    inputs = as_float_arrays(inputs)
    output = evaluate(f, inputs)
    upstream = np.ones(()) if upstream is None else np.array(upstream, float)
    if np.shape(upstream) != np.shape(output):
        raise ValueError("shape")
    step = step or default_step(inputs, output)
    gradients = ()
    for number, x in enumerate(inputs):
        gradient = np.empty(x.shape, float)
        for index in np.ndindex(*x.shape):
            one = np.zeros(x.shape, bool)
            one[index] = True
            h = step * size(x)
            above = np.where(one, x + h, x).astype(x.dtype)
            below = np.where(one, x - h, x).astype(x.dtype)
            high = evaluate(f, [*inputs[:number], above, *inputs[number + 1:]])
            low = evaluate(f, [*inputs[:number], below, *inputs[number + 1:]])
            gradient[index] = change(high, low, upstream) / (float(above[index]) - float(below[index]))
        gradients += (gradient,)
    return gradients
""",
)
custom_numerical.variant(
    "as many indices, since a gradient has its input's shape",
    swap=("np.ndindex(x.shape)", "np.ndindex(gradient.shape)"),
)
custom_numerical.variant(
    "the points named the other way round: both differences change their sign",
    swap=("x.dtype.type(here + h), x.dtype.type(here - h)", "x.dtype.type(here - h), x.dtype.type(here + h)"),
)
custom_numerical.variant(
    "a number of an array is of the array's type: above", swap=("x.dtype.type(here + h)", "here.dtype.type(here + h)")
)
custom_numerical.variant(
    "a number of an array is of the array's type: below", swap=("x.dtype.type(here - h)", "here.dtype.type(here - h)")
)
custom_numerical.variant(
    "the difference of two close float32 is exact: float() of below only",
    swap=("float(above) - float(below)", "above - float(below)"),
)
custom_numerical.variant(
    "the difference of two close float32 is exact: float() of above only",
    swap=("float(above) - float(below)", "float(above) - below"),
)
