import numpy as np

from autograder.checks.check import check


@check("customop.forward", points=2, rtol=1e-5, atol=1e-6, seconds=30)
def forward(student, rng, tools):
    """b as large as a, b as one row of it, b one number; work-items too many, and one of them alone."""
    from tinygrad_cl.opencl.trial import try_kernel

    columns = int(rng.integers(5, 9))
    rows = int(rng.integers(10, 14))
    cases = {  # name: (n, columns, work-items, first work-item)
        "b is a row": (rows * columns, columns, 128, 0),
        "b is as large as a": (rows * columns, rows * columns, 128, 0),
        "b is one number": (columns, 1, columns, 0),
        "one work-item alone, in the third row": (rows * columns, columns, 1, 2 * columns + 1),
    }
    found, memory = (
        {"input": "n, columns: " + "; ".join(f"{n}, {c} ({name})" for name, (n, c, _, _) in cases.items())},
        [],
    )
    for name, (n, c, work_items, first) in cases.items():
        a = (rng.choice([-1, 1], n) * rng.uniform(0.4, 2.6, n)).astype(np.float32)
        b = (rng.choice([-1, 1], c) * rng.uniform(0.4, 2.6, c)).astype(np.float32)
        right = None
        if name == "b is a row":
            right = [np.sin(a) * np.resize(b, n), np.sin(a)]
        (out, kept), said = try_kernel(
            student.FORWARD,
            "sin_times",
            a,
            b,
            None,
            None,
            n,
            c,
            result=(n, n),
            work_items=work_items,
            local_size=1,
            offset=first,
            right=right,
        )
        found[f"out ({name})"], found[f"kept ({name})"] = out, kept
        memory.append(said)
    return found | {"memory": memory}


GUARD, KEPT, OUT = "if (i < n)", "kept[i] = sin(a[i]);", "out[i] = kept[i] * b[i % columns];"
forward.mistake(
    "there is no guard", swap=(GUARD, ""), hint="More work-items may start than there are numbers: `if (i < n)`."
)
forward.mistake(
    "the guard lets one number too many pass", swap=(GUARD, "if (i <= n)"), hint="The last number is n − 1."
)
forward.mistake(
    "b is read at the place of a, and has not so many numbers",
    swap=("b[i % columns]", "b[i]"),
    hint="Number i of a stands in which column? `i % columns`.",
)
forward.mistake(
    "b is taken for the row: i / columns",
    swap=("i % columns", "i / columns"),
    hint="b has a number for each column. The column is the remainder.",
)
forward.mistake(
    "a is read in the first row only", swap=("sin(a[i])", "sin(a[i % columns])"), hint="a has n numbers: `a[i]`."
)
forward.mistake(
    "the result is kept, and not the sine",
    swap=(f"{KEPT}\n        {OUT}", "out[i] = sin(a[i]) * b[i % columns];\n        kept[i] = out[i];"),
    hint="Backward needs sin(a) without b.",
)
forward.mistake(
    "the input is kept, and not the sine",
    swap=(f"{KEPT}\n        {OUT}", "kept[i] = a[i];\n        out[i] = sin(a[i]) * b[i % columns];"),
    hint="Kept is sin(a[i]): that is what shall not be computed twice.",
)
forward.mistake(
    "nothing is kept",
    swap=(f"{KEPT}\n        {OUT}", "out[i] = sin(a[i]) * b[i % columns];"),
    hint="Two results: out and kept.",
)
forward.mistake(
    "out and kept have changed places",
    swap=(f"{KEPT}\n        {OUT}", "out[i] = sin(a[i]);\n        kept[i] = out[i] * b[i % columns];"),
    hint="out is the product.",
)
forward.mistake(
    "the sine of the product: sin(a · b)",
    swap=(OUT, "out[i] = sin(a[i] * b[i % columns]);"),
    hint="First the sine, then times b.",
)
forward.mistake("a · sin(a): b is missing", swap=("b[i % columns]", "a[i]"), hint="out = sin(a) · b.")
forward.mistake("cos stands in place of sin", swap=("sin(a[i])", "cos(a[i])"), hint="The cosine comes in backward.")
forward.mistake(
    "the number of the work-item in its group is taken",
    swap=("get_global_id(0)", "get_local_id(0)"),
    hint="Counted over all work-items: `get_global_id(0)`.",
)
forward.mistake(
    "every work-item computes everything, in a loop",
    swap=("int i = get_global_id(0);\n    if (i < n)", "for (int i = 0; i < n; i++)"),
    hint="Each work-item has one number to compute, its own.",
)
forward.mistake(
    "an int holds the sine",
    swap=(f"{KEPT}\n        {OUT}", "int s = sin(a[i]);\n        kept[i] = s;\n        out[i] = s * b[i % columns];"),
    hint="In C the type decides: `float s`.",
)
forward.variant(
    "leaving early, with a variable for the sine",
    swap=(
        f"{GUARD} {{\n        {KEPT}\n        {OUT}\n    }}",
        "if (i >= n) return;\n    const float s = sin(a[i]);\n    int column = i - columns * (i / columns);\n"
        "    out[i] = b[column] * s;\n    kept[i] = s;",
    ),
)
forward.variant(
    "a loop that strides over all numbers",
    swap=(
        "int i = get_global_id(0);\n    if (i < n)",
        "for (int i = get_global_id(0); i < n; i += get_global_size(0) + n)",
    ),
)
