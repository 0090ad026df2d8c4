"""Check 5 of lesson 11: the kernel backward, a column for each work-item."""

from autograder.checks.cases import choice
from autograder.checks.check import exercise
from autograder.checks.m09_kernels.launches import launches, numbers

backward = exercise(
    "customop.backward", "Both gradients in one launch, a column for each work-item.", seconds=30, texts=("BACKWARD",)
)

SIZES = [  # rows, columns, work-items in groups of 8, the first of them
    (1, 1, 8, 0),
    (range(2, 5), 1, 8, 0),
    (range(2, 4), range(2, 8), 8, 0),
    (1, range(2, 8), 8, 0),
    (range(3, 5), 8, 8, 0),
    (range(2, 4), range(9, 14), 8, 0),
    (range(2, 4), range(11, 14), 8, 8),
    (range(10, 14), range(5, 8), 8, 0),
]


def arrays(rng, rows, columns, work_items, first):
    """kept holds other numbers than sin(a), so that it shows who reads it."""
    given = {name: numbers(rows * columns, rng) for name in ("grad", "a", "kept")} | {"b": numbers(columns, rng)}
    return given | {"n": rows * columns, "columns": columns, "work_items": work_items, "first": first}


def tags(rows, columns, work_items, first):
    yield from ["there are work-items too many"] * (first + work_items > columns)
    yield from ["there are several rows"] * (rows > 1) + ["b is one number"] * (columns == 1)


CASES = launches(SIZES, arrays, tags)


def gradient(student, case):
    from tinygrad_cl.opencl.trial import tried

    arguments = case.grad, case.a, case.b, case.kept, None, None, case.n, case.columns
    sizes = {"work_items": case.work_items, "local_size": 8, "offset": case.first, "seed": case.fill}
    found = tried(student.BACKWARD, "sin_times_backward", *arguments, result=(case.n, case.columns), **sizes)
    return found | {"out": found["out"][case.of]}


backward.watch(launches([(3, 5, 8, 0)], arrays) * choice("of", 0))(gradient)
for of, name in enumerate(("grad_a", "grad_b, the sums of the columns")):
    backward.aspect(name, 1.5, cases=CASES * choice("of", of), few=12, many=36, rtol=1e-4, atol=1e-4)(gradient)


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
