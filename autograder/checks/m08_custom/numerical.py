"""Check 4 of lesson 08: the gradient measured, number by number."""

import numpy as np

from autograder.checks.check import check


@check("custom.numerical", points=3)
def custom_numerical(student, rng, tools):
    """Central differences of arrays: several inputs, an upstream gradient, both precisions."""
    x, w = rng.normal(size=(2, 3)) + 0.2, rng.normal(size=(3, 4))
    up = rng.choice([-1, 1], (2, 4)) * rng.uniform(0.5, 2.0, (2, 4))
    wide = rng.uniform(0.2, 0.4)
    k = rng.choice([-1, 1], 4) * 2.0 ** rng.permutation(4)

    def layer(x, w):
        return np.tanh(x @ w)

    def cubes(x):
        return np.sum(x**3 * k)

    def of_layer(i):
        return student.numerical_gradient(layer, [x.copy(), w.copy()], up)[i]

    def with_a_wide_step():
        at = np.array([1.5, -2.5, 0.03, -0.02])
        return student.numerical_gradient(cubes, [at], None, wide)[0]

    def types():
        return [
            student.numerical_gradient(lambda x: np.float32(2) * x, [np.array([1.7, -30.1], np.float32)], k[:2])[
                0
            ].dtype.name,
            of_layer(0).dtype.name,
        ]

    def float32_with_a_tiny_step():
        at = np.array([1.7, -30.1, 0.7, 5.3], np.float32)
        return student.numerical_gradient(lambda x: np.float32(2) * x, [at], k, 1e-5)[0]

    def default_step():
        seen = []

        def f(x):
            seen.append(float(x))
            return x

        student.numerical_gradient(f, [1.0])
        return (max(seen) - min(seen)) / 2

    def default_step32():
        seen = []

        def f(x):
            seen.append(float(x))
            return x

        student.numerical_gradient(f, [np.float32(1.0)])
        return [round((max(seen) - min(seen)) / 2, 4), float(x[0, 0])]

    def points_where_f_rounds():
        seen, at = [], float(abs(x[1, 1]) + 1)

        def f(x):
            seen.append(float(x))
            return np.float32(x)

        student.numerical_gradient(f, [at])
        return [max(seen) - at, min(seen) - at]

    def inputs_after():
        inputs = [x.copy(), w.copy()]
        student.numerical_gradient(layer, inputs, up)
        return np.concatenate([part.ravel() for part in inputs])

    def runs():
        count = []

        def f(x):
            count.append(1)
            return layer(x, w)

        student.numerical_gradient(f, [x.copy()], up)
        return len(count) <= 2 * x.size + 2

    def refused(upstream):
        try:
            student.numerical_gradient(layer, [x.copy(), w.copy()], upstream)
        except ValueError:
            return True
        return False

    return {
        "input": f"x = {np.round(x, 3).tolist()}, w = {np.round(w, 3).tolist()}",
        "tanh(x @ w), upstream random: by x": lambda: of_layer(0),
        "tanh(x @ w), upstream random: by w": lambda: of_layer(1),
        "Σ k x³, no upstream": lambda: student.numerical_gradient(cubes, [x[0, 0] * k])[0],
        "x · y, two plain numbers": lambda: [
            float(g) for g in student.numerical_gradient(lambda a, b: a * b, [x[0, 0], w[0, 0]])
        ],
        "x³ at 3 and −2, whole numbers": lambda: student.numerical_gradient(
            lambda x: x**3 * up[0, :2], [np.array([3, -2])], up[1, :2]
        )[0],
        "Σ k x³ with a wide step": with_a_wide_step,
        "2 x in float32 with a tiny step": float32_with_a_tiny_step,
        "the step at 1, by default": default_step,
        "the step at 1 in float32, by default": default_step32,
        "how far it goes to both sides, by default, where f gives float32 for float64": points_where_f_rounds,
        "types of the results": types,
        "the inputs afterwards": inputs_after,
        "at most two runs for each number": runs,
        "no upstream for a matrix is refused": lambda: refused(None),
        "an upstream gradient of another shape is refused": lambda: refused(up.T),
    }


custom_numerical.mistake(
    "only one side is measured: L(above) − L(x)",
    swap=("x[index] = below\n", "x[index] = here\n"),
    hint=["Where is the second point?", "`low` belongs to below = here − h."],
)
custom_numerical.mistake(
    "one-sided, and divided by one step: near, but not near enough",
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
