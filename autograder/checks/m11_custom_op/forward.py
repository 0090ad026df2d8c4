"""Check 4 of lesson 11: the kernel forward, two results in one launch."""

from autograder.checks.check import exercise
from autograder.checks.m09_kernels.launches import launches, numbers

forward = exercise("customop.forward", "sin(a) · b and the sine itself, in one launch.", seconds=30, texts=("FORWARD",))

SIZES = [  # rows, columns, work-items in groups of 8, the first of them
    (1, 1, 8, 0),
    (1, range(2, 8), 8, 0),
    (2, range(2, 4), 8, 0),
    (range(3, 7), 1, 8, 0),
    (1, 8, 8, 0),
    (range(4, 7), 5, 8, 0),
    (range(3, 5), range(5, 8), 32, 0),
    (3, range(4, 7), 8, 8),
]


def arrays(rng, rows, columns, work_items, first):
    sizes = {"n": rows * columns, "columns": columns, "work_items": work_items, "first": first}
    return {"a": numbers(rows * columns, rng), "b": numbers(columns, rng)} | sizes


def tags(rows, columns, work_items, first):
    yield from ["there are work-items too many"] * (first + work_items > rows * columns)
    yield from ["there are several rows"] * (rows > 1) + ["b is one number"] * (columns == 1)


@forward.aspect("out and kept", 2, cases=launches(SIZES, arrays, tags), few=16, many=48, rtol=1e-5, atol=1e-6)
@forward.watch(launches([(3, 5, 24, 0)], arrays))
def result(student, case):
    from tinygrad_cl.opencl.trial import tried

    arguments, sizes = (case.a, case.b, None, None, case.n, case.columns), {"local_size": 8, "offset": case.first}
    n = case.n, case.n
    found = tried(
        student.FORWARD, "sin_times", *arguments, result=n, work_items=case.work_items, seed=case.fill, **sizes
    )
    out, kept = found.pop("out")
    return {"out": out, "kept": kept} | found


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
