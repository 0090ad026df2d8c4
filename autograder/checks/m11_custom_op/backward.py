import numpy as np

from autograder.checks.check import check


@check("customop.backward", points=3, rtol=1e-4, atol=1e-4, seconds=30)
def backward(student, rng, tools):
    """b as a row, as large as a, one number; work-items too many, and one column alone. `kept` holds other numbers than sin(a)."""
    from tinygrad_cl.opencl.trial import try_kernel

    columns = int(rng.integers(5, 9))
    rows = int(rng.integers(10, 14))
    cases = {  # name: (n, columns, work-items, first work-item)
        "b is a row": (rows * columns, columns, columns, 0),
        "b is as large as a, work-items too many": (rows * columns, rows * columns, 128, 0),
        "b is one number": (columns, 1, 1, 0),
        "work-item 2 alone": (rows * columns, columns, 1, 2),
        "the first work-item too many, alone": (rows * columns, columns, 1, columns),
        "the second work-item too many, alone": (rows * columns, columns, 1, columns + 1),
    }
    found, memory = (
        {"input": "n, columns: " + "; ".join(f"{n}, {c} ({name})" for name, (n, c, _, _) in cases.items())},
        [],
    )
    for name, (n, c, work_items, first) in cases.items():
        grad, a, kept = ((rng.choice([-1, 1], n) * rng.uniform(0.3, 2.6, n)).astype(np.float32) for _ in range(3))
        b = (rng.choice([-1, 1], c) * rng.uniform(0.4, 2.6, c)).astype(np.float32)
        kept = (0.35 * kept).astype(np.float32)
        right = None
        if name == "b is a row":
            right = [grad * np.resize(b, n) * np.cos(a), (grad * kept).reshape(rows, columns).sum(0)]
        (grad_a, grad_b), said = try_kernel(
            student.BACKWARD,
            "sin_times_backward",
            grad,
            a,
            b,
            kept,
            None,
            None,
            n,
            c,
            result=(n, c),
            work_items=work_items,
            local_size=1,
            offset=first,
            right=right,
        )
        if "too many, alone" not in name:
            found[f"grad_a ({name})"], found[f"grad_b ({name})"] = grad_a, grad_b
        memory.append(said)
    return found | {"memory": memory}


GUARD, LOOP = "if (j < columns)", "for (int i = j; i < n; i += columns)"
GRAD_A, SUM, STORE = "grad_a[i] = grad[i] * b[j] * cos(a[i]);", "sum += grad[i] * kept[i];", "grad_b[j] = sum;"
backward.mistake("there is no guard", swap=(GUARD, ""), hint="More work-items may start than there are columns.")
backward.mistake(
    "the guard is that of the numbers, and not of the columns",
    swap=(GUARD, "if (j < n)"),
    hint="A work-item has a column. Of those there are `columns`.",
)
backward.mistake(
    "the guard lets one column too many pass",
    swap=(GUARD, "if (j <= columns)"),
    hint="The last column has the number columns − 1.",
)
backward.mistake(
    "the sum over the column is missing: only the last number counts",
    swap=("sum += grad", "sum = grad"),
    hint="b[j] was used in every row. Add up.",
)
backward.mistake(
    "only the first number of each column is computed",
    swap=("i < n; i += columns", "i < columns; i += columns"),
    hint="From j on, in steps of a row, to the end: `i < n`.",
)
backward.mistake(
    "grad_b is added to what the memory held before",
    swap=(STORE, "grad_b[j] += sum;"),
    hint="Nobody has set grad_b before. `=`.",
)
backward.mistake(
    "a row is walked, and not a column",
    swap=(LOOP, "for (int i = j * columns; i < j * columns + columns && i < n; i++)"),
    hint="Below number j comes number j + columns.",
)
backward.mistake(
    "the column begins in its second row",
    swap=("int i = j;", "int i = j + columns;"),
    hint="Number j itself belongs to the column.",
)
backward.mistake(
    "b is read at the place of a", swap=("* b[j]", "* b[i]"), hint="b has one number for each column: `b[j]`."
)
backward.mistake(
    "the kept sine stands in the place of the cosine",
    swap=("cos(a[i])", "kept[i]"),
    hint="`kept` is sin(a). The slope of a sine is a cosine.",
)
backward.mistake(
    "the sum takes the kept sine of the first row, again and again",
    swap=("kept[i]", "kept[j]"),
    hint="Down the column, i moves on; j stays.",
)
backward.mistake(
    "the upstream gradient is missing in grad_a",
    swap=("grad[i] * b[j]", "b[j]"),
    hint="Along a path slopes multiply, from grad on.",
)
backward.mistake(
    "the upstream gradient is missing in grad_b",
    swap=("grad[i] * kept[i]", "kept[i]"),
    hint="Along a path slopes multiply, from grad on.",
)
backward.mistake(
    "b is missing in grad_a",
    swap=("grad[i] * b[j] * cos", "grad[i] * cos"),
    hint="Wiggle a: does it matter for out how large b is?",
)
backward.mistake("cos is missing in grad_a", swap=(" * cos(a[i])", ""), hint="∂ sin(a)/∂a = cos(a).")
backward.mistake("grad_a has sin in place of cos", swap=("cos(a[i])", "sin(a[i])"), hint="∂ sin(a)/∂a = cos(a).")
backward.mistake(
    "the cosine is that of what was kept: cos(sin(a))",
    swap=("cos(a[i])", "cos(kept[i])"),
    hint="The slope is taken at a.",
)
backward.mistake(
    "the cosine comes from the sine, √(1 − sin²), and has lost its sign",
    swap=("cos(a[i])", "sqrt(1 - kept[i] * kept[i])"),
    hint="Beyond π/2 the cosine is negative. A root never is.",
)
backward.mistake(
    "the sine is computed again, though forward kept it",
    swap=("grad[i] * kept[i]", "grad[i] * sin(a[i])"),
    hint="In this check `kept` holds numbers that are not sin(a). Do you read it?",
)
backward.mistake(
    "grad_b multiplies by a",
    swap=("grad[i] * kept[i]", "grad[i] * a[i]"),
    hint="The slope of sin(a) · b, seen from b, is sin(a).",
)
backward.mistake("the derivative of sin is −cos", swap=("* cos(", "* -cos("), hint="∂ sin(a)/∂a = +cos(a).")
backward.mistake(
    "grad_b is a mean, and not a sum",
    swap=(STORE, "grad_b[j] = sum / (n / columns);"),
    hint="A number that is used k times gets the sum of k gradients.",
)
backward.mistake("the sum is an int", swap=("float sum = 0.0f", "int sum = 0"), hint="In C the type decides: `float`.")
backward.variant(
    "leaving early, over rows, with the end computed before",
    swap=(
        f"{GUARD} {{\n        float sum = 0.0f;\n        {LOOP} {{\n            {GRAD_A}\n            {SUM}\n        }}\n        {STORE}\n    }}",
        "if (j >= columns) return;\n    const float own = b[j];\n    float total = 0;\n    for (int row = 0; row < n / columns; row++) {\n"
        "        int i = row * columns + j;\n        float g = grad[i];\n        total = total + kept[i] * g;\n"
        "        grad_a[i] = own * (g * cos(a[i]));\n    }\n    grad_b[j] = total;",
    ),
)
backward.variant(
    "two loops, and the sum from below",
    swap=(
        f"{LOOP} {{\n            {GRAD_A}\n            {SUM}\n        }}",
        f"{LOOP}\n            {GRAD_A}\n        for (int i = n - columns + j; i >= 0; i -= columns)\n            sum = fma(grad[i], kept[i], sum);",
    ),
)
backward.variant(
    "the sum in grad_b itself, which is set to 0 before",
    swap=[("float sum = 0.0f;", "grad_b[j] = 0;"), ("sum += ", "grad_b[j] += "), (STORE, "")],
)
backward.variant("a 0 without f: C makes a float of it", swap=("0.0f", "0"))
