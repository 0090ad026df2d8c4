"""Check 3 of lesson 09: two dimensions, and a guard for each."""

from autograder.checks.cases import Text
from autograder.checks.check import exercise
from autograder.checks.m09_kernels.launches import launches, numbers

bias_relu = exercise(
    "kernels.bias_relu",
    "A matrix, a bias for each column, and what is below 0 becomes 0.",
    seconds=30,
    texts=("BIAS_RELU",),
)

SHAPES = [  # rows, columns, work-items, group, first work-item
    (1, 1, (8, 2), (8, 2), (0, 0)),
    (1, range(9, 13), (16, 2), (8, 2), (0, 0)),
    (3, range(4, 7), (8, 2), (8, 2), (0, 0)),
    (range(5, 7), 16, (16, 8), (8, 2), (0, 0)),
    (2, 8, (8, 2), (8, 2), (0, 0)),
    (5, range(4, 7), (8, 2), (8, 2), (0, 2)),
    (range(18, 24), 16, (16, 24), (16, 8), (0, 0)),
    (2, 8, (8, 2), (8, 2), (0, 0), True),
]


def matrix(rng, rows, columns, work_items, group, first, huge=False):
    x = numbers(rows * columns, rng)
    x = Text(f"np.sign({x.expression}) * np.float32(3e38)") if huge else x
    return {"x": x, "bias": numbers(columns, rng), "rows": rows, "columns": columns} | {
        "work_items": work_items,
        "group": group,
        "first": first,
    }


def tags(rows, columns, work_items, group, first, huge=False):
    yield from ["numbers near the largest float"] * huge
    ends = [start + items for start, items in zip(first, work_items)]
    yield from ["there are columns too many"] * (ends[0] > columns) + ["there are rows too many"] * (ends[1] > rows)


@bias_relu.aspect("the matrix", 2, cases=launches(SHAPES, matrix, tags), few=14, many=42, rtol=1e-5, atol=1e-5)
@bias_relu.watch(launches([(3, 5, (8, 4), (8, 2), (0, 0))], matrix))
def result(student, case):
    from tinygrad_cl.opencl.trial import tried

    arguments = case.x, case.bias, None, case.rows, case.columns
    sizes = {"work_items": case.work_items, "local_size": case.group, "offset": case.first}
    return tried(student.BIAS_RELU, "bias_relu", *arguments, result=case.x.size, seed=case.fill, **sizes)


GUARD = "if (row < rows && column < columns)"
LINE = "out[i] = fmax(x[i] + bias[column], 0.0f);"
bias_relu.mistake(
    "there is no guard",
    swap=(GUARD, ""),
    hint="Which work-items have nothing to compute? Both dimensions may have too many.",
)
bias_relu.mistake(
    "only the rows are guarded",
    swap=(GUARD, "if (row < rows)"),
    hint="A work-item too far right of row 0 finds a place in row 1, and writes there. Guard the columns, too.",
)
bias_relu.mistake(
    "only the columns are guarded", swap=(GUARD, "if (column < columns)"), hint="Who is below the last row?"
)
bias_relu.mistake(
    "the place in memory is guarded, and not row and column",
    swap=(GUARD, "if (row * columns + column < rows * columns)"),
    hint="A work-item too far right has a valid place in memory: the beginning of the next row. It must not write there.",
)
bias_relu.mistake(
    "one of the two guards is enough for it: `||`", swap=("&&", "||"), hint="Row *and* column have to be inside: `&&`."
)
bias_relu.mistake(
    "the guard lets one row too many pass",
    swap=("row < rows", "row <= rows"),
    hint="The last row has the number rows − 1.",
)
bias_relu.mistake(
    "the guard lets one column too many pass",
    swap=("column < columns", "column <= columns"),
    hint="The last column has the number columns − 1.",
)
bias_relu.mistake(
    "row and column have changed places",
    swap=(
        "int column = get_global_id(0), row = get_global_id(1);",
        "int column = get_global_id(1), row = get_global_id(0);",
    ),
    hint="Dimension 0 counts columns.",
)
bias_relu.mistake(
    "a row is taken to be `rows` long",
    swap=("row * columns + column;", "row * rows + column;"),
    hint="How many numbers lie between the start of a row and the start of the next?",
)
bias_relu.mistake(
    "column after column instead of row after row",
    swap=("row * columns + column;", "column * rows + row;"),
    hint="Neighbours in memory are neighbours in a row: row * columns + column.",
)
bias_relu.mistake(
    "the bias is taken for the row", swap=("bias[column]", "bias[row]"), hint="bias has one number for each column."
)
bias_relu.mistake(
    "the bias is read at the place of the matrix",
    swap=("bias[column]", "bias[i]"),
    hint="bias has only `columns` numbers.",
)
bias_relu.mistake("there is no ReLU", swap=(LINE, "out[i] = x[i] + bias[column];"), hint="And the maximum with 0?")
bias_relu.mistake(
    "the bias comes after the ReLU",
    swap=(LINE, "out[i] = fmax(x[i], 0.0f) + bias[column];"),
    hint="First the sum, then the maximum of the sum and 0.",
)
bias_relu.mistake("fmin stands in place of fmax", swap=("fmax", "fmin"), hint="ReLU lets positive numbers pass.")
bias_relu.mistake(
    "there is no bias", swap=("x[i] + bias[column]", "x[i]"), hint="Each number gets the bias of its column first."
)
bias_relu.mistake(
    "an `int` holds a number with decimals",
    swap=(LINE, "int v = x[i] + bias[column]; out[i] = v > 0 ? v : 0;"),
    hint="In C the type decides: write `float v`.",
)
bias_relu.mistake(
    "every work-item computes the whole matrix, in a loop",
    swap=(
        "int column = get_global_id(0), row = get_global_id(1);\n    " + GUARD + " {",
        "for (int row = 0; row < rows; row++) for (int column = 0; column < columns; column++) {",
    ),
    hint="Each work-item has one number to compute: its own row, its own column.",
)
bias_relu.variant(
    "leaving early, with a conditional",
    swap=(
        f"{GUARD} {{\n        int i = row * columns + column;\n        {LINE}\n    }}",
        "if (row >= rows || column >= columns) return;\n    float v = x[row * columns + column] + bias[column];\n"
        "    out[row * columns + column] = v > 0 ? v : 0;",
    ),
)
bias_relu.variant("an int in fmax: C makes a float of it", swap=("0.0f", "0"))
bias_relu.variant(
    "loops that stride over all work-items",
    swap=(
        "int column = get_global_id(0), row = get_global_id(1);\n    " + GUARD + " {",
        "for (int row = get_global_id(1); row < rows; row += get_global_size(1) + 99)\n"
        "    for (int column = get_global_id(0); column < columns; column += get_global_size(0) + 99) {",
    ),
)
bias_relu.variant(
    "pointers to the row",
    swap=(
        f"int i = row * columns + column;\n        {LINE}",
        "__global const float *from = x + columns * row;\n        __global float *to = out + columns * row;\n"
        "        to[column] = max(0.0f, bias[column] + from[column]);",
    ),
)
